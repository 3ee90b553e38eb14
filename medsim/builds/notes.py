"""Descriptions of the tables of a build: what a row is, and what each column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DATASET = "Dataset of positives: fsn_syn, syn_syn, same_as, replaced_by or possibly_equivalent_to."
_DIFFICULTY = (
    "easy where the positives of the set have a distance of at most 5, hard where they have a "
    "larger one; negatives have the difficulty of the set that they are in."
)
_NEGATIVES = "Strategy that chose the negatives of the set: random, levenshtein or embedding."
_DISTANCE = "Levenshtein distance of the lower-cased terms, in code points."
_PAIR_ID = (
    "Identifier of the pair, the first 16 hexadecimal digits of an MD5 of its two terms in their "
    "order; the same in every set and every build."
)

ABOUT: Mapping[str, str] = {
    "concept": "A row per concept of the terminology, active or not.",
    "description": "A row per name of a concept, active or not, in any language.",
    "association": "A row per association from one concept, most often a retired one, to another.",
    "is_a": "A row per is-a relationship of a concept and a parent of it.",
    "code": "A row per code that another vocabulary has for a concept.",
    "term": "A row per term that a pair of the build may have, in order of text.",
    "pair": (
        "A row per pair of terms and set. A set is a dataset of one difficulty with negatives of "
        "one strategy; the same positives are in the sets of every strategy."
    ),
    "positive": (
        "A row per two terms that mean the same, whatever the datasets and strategies that have "
        "the pair, and whatever its direction there."
    ),
    "stats": "A row per set: its size and the Levenshtein distances of its pairs.",
}
"""A sentence or two on the rows of each view of a build."""

_SET = ("dataset", "difficulty", "negatives")

KEYS: Mapping[str, tuple[str, ...]] = {
    "concept": ("concept_id",),
    "description": ("description_id",),
    "association": ("source_id", "target_id", "kind"),
    "is_a": ("child_id", "parent_id"),
    "code": ("concept_id", "vocabulary", "code"),
    "term": ("term",),
    "pair": ("pair_id",),
    "positive": ("pair_id",),
    "stats": _SET,
}
"""The columns by which a row of each view differs from all others of its file."""

ORDER: Mapping[str, str] = {
    "concept": "By concept_id.",
    "description": "By description_id.",
    "association": "By source_id, target_id and kind.",
    "is_a": "By child_id and parent_id.",
    "code": "By concept_id, vocabulary and code.",
    "term": "By term.",
    "pair": "Drawn from the seed, so that the first rows are a sample of all.",
    "positive": "By pair_id, so that the first rows are a sample of all.",
    "stats": "By dataset, difficulty and negatives.",
}
"""The order of the rows of each view."""

NOTES: Mapping[str, Mapping[str, str]] = {
    "concept": {
        "concept_id": "Identifier of the concept in its terminology.",
        "active": "Whether the concept is in use; false where it was retired.",
        "module_id": "Module of SNOMED CT that the concept belongs to; empty where there is none.",
        "semantic_tag": (
            "Semantic tag of the fully specified name, or semantic type, such as disorder; empty "
            "where there is none."
        ),
    },
    "description": {
        "description_id": "Identifier of the name.",
        "concept_id": "Concept that the name is of.",
        "term": "The name, without its semantic tag.",
        "kind": "fsn for the fully specified or main name of the concept, synonym for any other.",
        "active": "Whether the name is in use.",
        "language": "Language of the name as a code such as en.",
        "preferred": (
            "Whether the dialect that the build was made for prefers the name to others of its "
            "kind; in builds for a dialect alone."
        ),
    },
    "association": {
        "source_id": "Concept that the association starts from.",
        "target_id": "Concept that stands in for it.",
        "kind": (
            "same_as, replaced_by or possibly_equivalent_to, of which datasets are made; of UMLS "
            "also synonymous; of SNOMED CT also moved_to, moved_from, was_a, similar_to, "
            "alternative, refers_to, possibly_replaced_by, partially_equivalent_to, or the "
            "identifier of another reference set."
        ),
        "active": "Whether the association is in use.",
    },
    "is_a": {
        "child_id": "The more specific concept.",
        "parent_id": "The more general concept, a direct parent.",
    },
    "code": {
        "concept_id": "Concept that the code is for.",
        "vocabulary": "Name of the other vocabulary as UMLS has it, such as SNOMEDCT_US.",
        "code": "The code in that vocabulary.",
    },
    "term": {
        "term": "The term as the terminology spells it.",
        "lower_term": (
            "The term in lower case and in Unicode's form C (NFC), by which terms are compared."
        ),
        "component": (
            "Number of the connected component: terms that a chain of positives links, however "
            "long, have the same; no negative joins two of them."
        ),
        "difficulty": (
            "easy if a positive of the term has a distance of at most 5, whatever the term's case; "
            "else hard; null where the term is in no positive."
        ),
    },
    "pair": {
        "pair_id": _PAIR_ID,
        "term1": "The first term; it is the anchor, for which negatives are chosen.",
        "term2": "The second term.",
        "label": "1 where the terms mean the same (a positive), 0 where they do not (a negative).",
        "distance": _DISTANCE,
        "concept1": (
            "Concept that gives the first term; of a negative, that of the positive it goes with."
        ),
        "concept2": (
            "Concept that gives the second term; of a negative, the smallest identifier among the "
            "concepts that have the term as a name."
        ),
        "similarity": (
            "Cosine of the terms' vectors in the embedding that chose the negatives, -1 to 1; null "
            "where a term has no vector, and in sets of other strategies."
        ),
        "dataset": _DATASET,
        "difficulty": _DIFFICULTY,
        "negatives": _NEGATIVES,
    },
    "positive": {
        "pair_id": _PAIR_ID,
        "term1": (
            "The first term. Where datasets have the pair in both directions, that which comes "
            "first in order of text is the first."
        ),
        "term2": "The second term.",
        "distance": _DISTANCE,
        "difficulty": "easy where the distance is at most 5, else hard.",
        "concept1": (
            "Concept that gives the first term; of several, those with the smallest identifiers."
        ),
        "concept2": "Concept that gives the second term.",
        "datasets": "The datasets that have the pair, in either direction, in order of name.",
    },
    "stats": {
        "dataset": _DATASET,
        "difficulty": _DIFFICULTY,
        "negatives": _NEGATIVES,
        "n_positives": "Number of pairs that mean the same.",
        "n_negatives": "Number of pairs that do not.",
        "shortfall": "Negatives that could not be made for want of allowed terms.",
        "n_terms": "Number of different terms in the positives.",
        "mean_distance_positives": (
            "Mean Levenshtein distance of the positives, in code points; null where there are none."
        ),
        "mean_distance_negatives": (
            "Mean Levenshtein distance of the negatives, in code points; null where there are none."
        ),
        "median_distance_negatives": "Median of the same; null where there are none.",
        "min_distance_negatives": "Least of the same; null where there are none.",
        "max_distance_negatives": "Greatest of the same; null where there are none.",
    },
}
"""Notes on each column, by view: its values, their units, the meaning of null or empty ones."""
