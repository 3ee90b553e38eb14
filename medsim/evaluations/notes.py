"""Descriptions of the tables of an evaluation: what a row is, and what each column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_INPUT = "Name of the input: of a build its folder's, of a rated file the file's without its end."
_EMBEDDING = "Name of the embedding, as it was given."
_METRIC = "Name of the metric by which terms are compared, such as avg_cos."
_COVERED = {"input": _INPUT, "embedding": _EMBEDDING}
_IN_FOLDERS = {**_COVERED, "metric": _METRIC}
_SET = {
    "input": _INPUT,
    "dataset": (
        "Of a build the dataset, retrieval or separation; of a rated file the rating, and of a "
        "part of it the rating, a slash and the part, such as mean/count=10-99."
    ),
    "difficulty": "easy or hard; null of rated files, of separation and of all difficulties.",
    "negatives": (
        "Strategy of the negatives: random, levenshtein or embedding; null where a row is of no "
        "set of a build."
    ),
}
_SUBSET = (
    "common for what all embeddings of the input cover, the same for all; own for what the "
    "embedding itself covers."
)
_SIGNATURE = "All that decides the score, in one line: versions, fingerprints, options, seed."
_TERM = "Term of the input as it is spelled there."

ABOUT: Mapping[str, str] = {
    "results": "A row per set, subset, embedding, metric and statistic.",
    "comparisons": (
        "A row per set, statistic and two embeddings, each at its best metric, or two metrics of "
        "one embedding, that a test compared on the pairs that all embeddings cover."
    ),
    "coverage": "A row per set and embedding: how many terms and pairs have no vector.",
    "overlap": (
        "A row per input and two embeddings: how much of what they know they share. Rows without "
        "an input are of the whole vocabularies of word vectors."
    ),
    "pair": "A row per pair of the input and set that has it.",
    "term": "A row per term of the input: whether the embedding covers it.",
    "word": (
        "A row per word of the input's terms that the embedding has; no rows of what embeds whole "
        "terms."
    ),
    "vocabulary": "A row per word that the embedding has.",
    "retrieval": (
        "A row per input, embedding, index, subset, difficulty, length and statistic; no rows "
        "without --retrieval."
    ),
    "retrieved": "A row per term that is linked to another: what the embedding finds for it.",
    "separation": (
        "A row per input, embedding, metric and two categories, in the order in which they were "
        "named, and one of all triples together; no rows without categories."
    ),
    "separated": (
        "A row per far category and term of the first near category that has a vector: its "
        "overlap error."
    ),
    "score": "A row per pair of the input: its similarity under one embedding and metric.",
    "separation_part": (
        "The rows of separation.parquet of one input, embedding and metric, as they were "
        "computed, so that a later run adds to them."
    ),
}
"""A sentence or two on the rows of each table of an evaluation."""

ORDER: Mapping[str, str] = {
    "results": "By input; sets of pairs by name, then retrieval, then separation.",
    "comparisons": "By input and set; sets of pairs by name, then retrieval.",
    "coverage": "By input, set and embedding.",
    "overlap": "By input and the names of both embeddings; whole vocabularies last.",
    "pair": "As the files of the input have them, one set after the other.",
    "term": "By term.",
    "word": "By word.",
    "vocabulary": "By word.",
    "retrieval": "By input and embedding.",
    "retrieved": "By term.",
    "separation": "By input and embedding; categories as they were named, all triples last.",
    "separated": "By far category as they were named, then by term.",
    "score": "By pair_id.",
    "separation_part": "Categories as they were named, all triples last.",
}
"""The order of the rows of each table."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "results": (*_SET, "subset", "embedding", "metric", "statistic"),
    "comparisons": (*_SET, "between", "embedding1", "metric1", "embedding2", "metric2", "of"),
    "coverage": (*_SET, "embedding"),
    "overlap": ("input", "embedding1", "embedding2"),
    "pair": ("pair_id", "dataset", "difficulty", "negatives"),
    "term": ("term",),
    "word": ("word",),
    "vocabulary": ("word",),
    "retrieval": (
        *("input", "embedding", "metric", "index"),
        *("subset", "difficulty", "length", "statistic"),
    ),
    "retrieved": ("term",),
    "separation": ("input", "embedding", "metric", "category1", "category2"),
    "separated": ("far", "term"),
    "score": ("pair_id",),
    "separation_part": ("category1", "category2"),
}
"""The columns by which a row of each table differs from all others of its file."""

_SEPARATION = {
    "category1": "Category of the first term; null in the row of all triples.",
    "category2": "Category of the second term, or of the far one; null in the row of all triples.",
    "n_terms1": "Number of terms of the first category that have a vector; of all, of all.",
    "n_terms2": "The same of the second category; null in the row of all triples.",
    "n_triples": "Number of triples; null where the two categories make none.",
    "n_errors": "Number of triples that are wrong; null where the two categories make none.",
    "overlap_error": (
        "Share of wrong triples of two near categories and a far one, 0 to 1; null of other rows."
    ),
    "category_error": (
        "Share of wrong triples of two terms of one category and one of another, 0 to 1; null of "
        "other rows, and in evaluations with far categories."
    ),
    "mean_similarity": (
        "Mean similarity of a term of either category; null where there is none, and in the row "
        "of all triples."
    ),
}

NOTES: Mapping[str, Mapping[str, str]] = {
    "results": {
        **_SET,
        "subset": _SUBSET,
        "embedding": _EMBEDDING,
        "metric": _METRIC,
        "statistic": "Name of the statistic, such as auc.",
        "value": (
            "Value of the statistic; null where no pair is covered, where only positives or only "
            "negatives are, and of correlations where a single pair is covered, or all ratings or "
            "all similarities are equal."
        ),
        "low": "Lower end of its 95% interval; null where there is none.",
        "high": "Upper end of its 95% interval; null where there is none.",
        "n_pairs": "Number of pairs of the set; of retrieval and separation, of terms.",
        "n_covered": "Number of those that the statistic is computed of.",
        "signature": _SIGNATURE,
    },
    "comparisons": {
        **_SET,
        "between": "embeddings, or metrics of one embedding.",
        "embedding1": "Name of the first embedding.",
        "metric1": "Metric of the first.",
        "embedding2": "Name of the second embedding; of metrics, the same.",
        "metric2": "Metric of the second.",
        "of": "Name of the statistic that is compared.",
        "value1": "Value of the first; null where it is not defined.",
        "value2": "Value of the second; null where it is not defined.",
        "difference": "value1 less value2; null where one is not defined.",
        "test": (
            "Name of the test: delong_clusters (AUC), mcnemar_clusters or, where few differ, "
            "mcnemar_clusters_exact (accuracies), bca (Spearman's correlation, a bootstrap), "
            "clustered_t (retrieval); of independent pairs delong, and mcnemar or mcnemar_exact."
        ),
        "statistic": "Statistic of the test; null where it has none or is not defined.",
        "p": "Two-sided p-value; null where it is not defined.",
        "p_bonferroni": (
            "The same after Bonferroni's correction for all comparisons of one statistic among "
            "the same models on the same set; null where p is."
        ),
        "p_holm": "The same after Holm's correction; null where p is.",
        "low": "Lower end of the 95% interval of the difference; null where the test has none.",
        "high": "Upper end of the 95% interval of the difference; null where the test has none.",
        "n_pairs": "Number of pairs that the test is of; of retrieval, of terms.",
    },
    "coverage": {
        **_SET,
        "embedding": _EMBEDDING,
        "n_terms": "Number of different terms of the set.",
        "n_terms_uncovered": "Number of those that have no vector.",
        "n_pairs": "Number of pairs of the set.",
        "n_pairs_uncovered": "Number of those of which a term has no vector.",
        "n_pairs_common": "Number of pairs of which every embedding has both terms.",
        "n_pairs_oov": "Number of pairs of which any word has no vector (out of vocabulary).",
    },
    "overlap": {
        "input": "Name of the input; null for whole vocabularies.",
        "of": "words of the input's terms, terms that are covered, or vocabulary.",
        "embedding1": "Name of the first embedding.",
        "embedding2": "Name of the second embedding.",
        "n1": "Number that the first has.",
        "n2": "Number that the second has.",
        "n_both": "Number that both have.",
        "share1": "n_both over n1; null where the first has none.",
        "share2": "n_both over n2; null where the second has none.",
    },
    "pair": {
        "input": _INPUT,
        "pair_id": (
            "Identifier of the pair, the first 16 hexadecimal digits of an MD5 of its two terms "
            "in their order; as in builds."
        ),
        "term1": "The first term.",
        "term2": "The second term.",
        **{name: note for name, note in _SET.items() if name != "input"},
        "label": "1 where the terms mean the same, 0 where not; null of rated pairs.",
        "rating": "Rating of the pair on the scale of its file; null of the pairs of builds.",
    },
    "term": {
        **_COVERED,
        "term": _TERM,
        "covered": "Whether the term has a vector.",
        "n_words": "Number of its words; null where the embedding takes whole terms.",
        "n_unknown_words": (
            "Number of its words that have no vector; null where the embedding takes whole terms."
        ),
    },
    "word": {**_COVERED, "word": "Word as the embedding spells it."},
    "vocabulary": {
        "embedding": _EMBEDDING,
        "word": "Word as the embedding spells it; bytes that are no UTF-8 as escapes.",
    },
    "retrieval": {
        "input": _INPUT,
        "embedding": _EMBEDDING,
        "metric": "cos or avg_cos: the cosine of one vector a term.",
        "index": "Index that was searched: flat (exact), ivf or hnsw.",
        "subset": (
            "common for all linked terms, of which those without a vector count as not found; own "
            "for those that have a vector and a linked term with one."
        ),
        "difficulty": "easy or hard, of the term; null for both together.",
        "length": "Number of words of the term, 1 to 4 or 5+; null for any.",
        "statistic": "Name of the statistic, such as mrr.",
        "value": "Value of the statistic, 0 to 1; null where there are no terms.",
        "low": "Lower end of its 95% interval; null where there is none.",
        "high": "Upper end of its 95% interval; null where there is none.",
        "n_terms": "Number of linked terms of that difficulty and length.",
        "n_covered": "Number of those in the subset own.",
        "recall": (
            "Mean share of the ten nearest terms that the index found, of sampled terms; null for "
            "exact search."
        ),
        "signature": _SIGNATURE,
    },
    "retrieved": {
        **_IN_FOLDERS,
        "index": "Index that was searched: flat (exact), ivf or hnsw.",
        "term": _TERM,
        "difficulty": "easy or hard: that of the easiest positive of the term.",
        "n_words": "Number of words of the term.",
        "component": "Connected component of the term, as in the build.",
        "covered": "Whether the term has a vector.",
        "rank": (
            "Rank of the most similar linked term among all others, from 1, ties counted against "
            "the embedding; null where none was found."
        ),
        "linked_term": (
            "That linked term; where an approximate index found none, the most similar linked one "
            "by exact search; null where none has a vector."
        ),
        "linked_similarity": "Cosine of the term and the linked one; null where there is none.",
        "nearest_term": "The nearest of all other terms; null where the term has no vector.",
        "nearest_similarity": "Cosine of the term and the nearest; null where there is none.",
        "nearest_linked": "Whether the nearest is a linked one; null where there is none.",
        "recall": (
            "Share of the ten nearest terms that the index found; null for exact search and for "
            "terms that were not sampled."
        ),
    },
    "separation": {**_IN_FOLDERS, **_SEPARATION, "signature": _SIGNATURE},
    "separated": {
        **_IN_FOLDERS,
        "far": "Name of the far category.",
        "term": "Term of the first near category.",
        "n_triples": "Number of triples of the term: the second category's terms times the far's.",
        "n_errors": (
            "Number of those in which the term is no more similar to the near than to the far."
        ),
        "overlap_error": "n_errors over n_triples, 0 to 1; null where there are no triples.",
    },
    "score": {
        **_IN_FOLDERS,
        "pair_id": "Identifier of the pair, as in the view pair.",
        "similarity": (
            "Similarity of its terms, larger for what is more similar; null where a term is not "
            "covered."
        ),
    },
    "separation_part": {**_IN_FOLDERS, **_SEPARATION},
}
"""Notes on each column, by table: its values, their units, the meaning of null ones."""
