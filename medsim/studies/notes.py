"""Descriptions of the tables of studies: what a row is, and what each column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ITEM_ID = "Identifier of the item in this study; its annotators never see it."
OTHER = "Any further column of the file of pairs, under its own name, as text."
TERM1, TERM2 = "The first term or word of the pair.", "The second term or word of the pair."
SETS = {
    "dataset": "Dataset of the build that the pair was drawn from.",
    "difficulty": "easy or hard, of the set.",
    "negatives": "Strategy of the negatives of the set: random, levenshtein or embedding.",
}
PAIR_ID = "Identifier of the pair in the build."

ASSIGNMENT_NOTES: Mapping[str, str] = {
    "annotator": "Name of the annotator.",
    "position": "Place among what the annotator sees, from 1.",
    "entry_id": "Identifier by which answers name it; it reveals nothing.",
    "item_id": ITEM_ID,
    "showing": "1, or 2 where the annotator sees the item for the second time.",
    "left": "Text on the left side, or the only one.",
    "right": "Text on the right side; empty where there is one text.",
}
"""Notes on the columns of the view assignment."""

JUDGED_ITEM_NOTES: Mapping[str, str] = {
    "item_id": ITEM_ID,
    "pair_id": PAIR_ID,
    "term1": TERM1,
    "term2": TERM2,
    **SETS,
    "label": "1 where the build says that the terms mean the same, else 0.",
    "concept1": "Concept of the first term in the build.",
    "concept2": "Concept of the second term in the build.",
}
"""Notes on the items of a study of a build."""

GRADED_ITEM_NOTES: Mapping[str, str] = {
    "item_id": ITEM_ID,
    "term1": TERM1,
    "term2": TERM2,
    "group": "Group of raters that sees the pair, from 1; 0 for the consistency set, of all.",
    "OTHER": OTHER,
}
"""Notes on the items of a graded study."""

CONTEXT_ITEM_NOTES: Mapping[str, str] = {
    "item_id": ITEM_ID,
    "group": "0 where all annotators see the instance, else the number of the one who does.",
    "term1": "Term of the first sentence.",
    "term2": "Term of the second sentence.",
    "sentence1": "The first sentence.",
    "sentence2": "The second sentence.",
    "start1": "Where the first term begins, in code points of its sentence from 0.",
    "start2": "Where the second term begins, in code points of its sentence from 0.",
    "end1": "Where the first term ends, exclusive.",
    "end2": "Where the second term ends, exclusive.",
    "cat": "Group of the instance: term_identity, abbreviations, synonyms or label_similarity.",
    "label": "1 where both terms have the same meaning by the benchmark, else 0.",
    "marked1": "The first sentence as it is shown, its term between \u27e6 and \u27e7.",
    "marked2": "The second sentence as it is shown, its term between \u27e6 and \u27e7.",
}
"""Notes on the items of a study of words in context."""

DOMAIN_ITEM_NOTES: Mapping[str, str] = {
    "item_id": ITEM_ID,
    "word": "The word.",
    "class": "Class of the word, such as noun.",
    "count": "Number of times that the corpus has it, in all its forms.",
    "topics": "Number of topics that it occurs in; null where that is not known.",
}
"""Notes on the items of a study of words' domains."""

ASSOCIATION_ITEM_NOTES: Mapping[str, str] = {
    "item_id": ITEM_ID,
    "term1": TERM1,
    "term2": TERM2,
    "OTHER": OTHER,
}
"""Notes on the items of a study of associations."""

WORD_PAIR_NOTES: Mapping[str, str] = {
    "term1": "The first word, in order of text.",
    "term2": "The second word.",
    "class": "Class of both words, such as noun.",
    "domain": "Domain of both words: biomedical or general.",
    "associated": "Whether a terminology, people or norms associate the words.",
    "reason": "What associates them, such as a relation of the terminology; random of others.",
    "count1": "Number of times that the corpus has the first word, in all its forms.",
    "count2": "The same of the second word.",
    "topics1": "Number of topics that the first word occurs in; null where that is not known.",
    "topics2": "The same of the second word; null where that is not known.",
    "topic1": "Most frequent topic of the first word; null where that is not known.",
    "topic2": "The same of the second word; null where that is not known.",
}
"""Notes on the columns of pairs of words to rate."""
