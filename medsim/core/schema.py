"""The columns of every table that medsim writes."""

from __future__ import annotations

import polars as pl

CANONICAL_TABLES: dict[str, dict[str, pl.DataType | type[pl.DataType]]] = {
    "concept": {
        "concept_id": pl.String,
        "active": pl.Boolean,
        "module_id": pl.String,
        "semantic_tag": pl.String,
    },
    "description": {
        "description_id": pl.String,
        "concept_id": pl.String,
        "term": pl.String,
        "kind": pl.String,
        "active": pl.Boolean,
        "language": pl.String,
    },
    "association": {
        "source_id": pl.String,
        "target_id": pl.String,
        "kind": pl.String,
        "active": pl.Boolean,
    },
    "is_a": {"child_id": pl.String, "parent_id": pl.String},
    "code": {"concept_id": pl.String, "vocabulary": pl.String, "code": pl.String},
}
"""The tables that every source fills, each with its columns in order.

Codes are those that other vocabularies, named as UMLS names them, have for a concept.
"""

PAIR_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "pair_id": pl.String,
    "term1": pl.String,
    "term2": pl.String,
    "label": pl.Int8,
    "distance": pl.Int32,
    "concept1": pl.String,
    "concept2": pl.String,
}
"""The columns of a file of pairs; dataset, difficulty and negatives come from its folders."""

EMBEDDED_PAIR_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    **PAIR_COLUMNS,
    "similarity": pl.Float32,
}
"""The columns of a file of pairs with embedding negatives.

The similarity is the cosine under the embedding; null where a term has no vector.
"""

STATS_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "n_positives": pl.Int64,
    "n_negatives": pl.Int64,
    "shortfall": pl.Int64,
    "n_terms": pl.Int64,
    "mean_distance_positives": pl.Float64,
    "mean_distance_negatives": pl.Float64,
    "median_distance_negatives": pl.Float64,
    "min_distance_negatives": pl.Int32,
    "max_distance_negatives": pl.Int32,
}
"""The columns of ``stats.parquet``: sizes, Levenshtein distances in code points."""

EVALUATED_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "pair_id": pl.String,
    "term1": pl.String,
    "term2": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "label": pl.Int8,
    "rating": pl.Float64,
}
"""The columns of an evaluation's pairs; input comes from their folder."""

TERM_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "term": pl.String,
    "covered": pl.Boolean,
    "n_words": pl.Int32,
    "n_unknown_words": pl.Int32,
}
"""The columns of what an embedding has of an input's terms."""

RESULT_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "input": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "subset": pl.String,
    "embedding": pl.String,
    "metric": pl.String,
    "statistic": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_pairs": pl.Int64,
    "n_covered": pl.Int64,
    "signature": pl.String,
}
"""The columns of ``results.parquet``; low and high are the ends of a 95% interval."""

COMPARISON_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "input": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "between": pl.String,
    "embedding1": pl.String,
    "metric1": pl.String,
    "embedding2": pl.String,
    "metric2": pl.String,
    "of": pl.String,
    "value1": pl.Float64,
    "value2": pl.Float64,
    "difference": pl.Float64,
    "test": pl.String,
    "statistic": pl.Float64,
    "p": pl.Float64,
    "p_bonferroni": pl.Float64,
    "p_holm": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_pairs": pl.Int64,
}
"""The columns of ``comparisons.parquet``; low and high are of the difference."""

COVERAGE_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "input": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "embedding": pl.String,
    "n_terms": pl.Int64,
    "n_terms_uncovered": pl.Int64,
    "n_pairs": pl.Int64,
    "n_pairs_uncovered": pl.Int64,
    "n_pairs_common": pl.Int64,
}
"""The columns of ``coverage.parquet``."""

OVERLAP_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "input": pl.String,
    "of": pl.String,
    "embedding1": pl.String,
    "embedding2": pl.String,
    "n1": pl.Int64,
    "n2": pl.Int64,
    "n_both": pl.Int64,
    "share1": pl.Float64,
    "share2": pl.Float64,
}
"""The columns of ``overlap.parquet``; a share is of what both have in what one has."""

RETRIEVAL_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "input": pl.String,
    "embedding": pl.String,
    "metric": pl.String,
    "index": pl.String,
    "subset": pl.String,
    "difficulty": pl.String,
    "length": pl.String,
    "statistic": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_terms": pl.Int64,
    "n_covered": pl.Int64,
    "recall": pl.Float64,
    "signature": pl.String,
}
"""The columns of ``retrieval.parquet``; a missing difficulty or length stands for all of them."""

RETRIEVED_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "term": pl.String,
    "difficulty": pl.String,
    "n_words": pl.Int32,
    "component": pl.Int32,
    "covered": pl.Boolean,
    "rank": pl.Int64,
    "linked_term": pl.String,
    "linked_similarity": pl.Float32,
    "nearest_term": pl.String,
    "nearest_similarity": pl.Float32,
    "nearest_linked": pl.Boolean,
    "recall": pl.Float32,
}
"""The columns of what an embedding finds for each term that is linked to another.

The recall of a sampled term is the share of its ten nearest terms that an approximate index found.
"""

SEPARATION_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "input": pl.String,
    "embedding": pl.String,
    "metric": pl.String,
    "category1": pl.String,
    "category2": pl.String,
    "n_terms1": pl.Int64,
    "n_terms2": pl.Int64,
    "n_triples": pl.Int64,
    "n_errors": pl.Int64,
    "overlap_error": pl.Float64,
    "mean_similarity": pl.Float64,
    "signature": pl.String,
}
"""The columns of ``separation.parquet``; a row without categories is of all triples together."""

ASSIGNMENT_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "annotator": pl.String,
    "position": pl.Int32,
    "entry_id": pl.String,
    "item_id": pl.String,
    "showing": pl.Int8,
    "left": pl.String,
    "right": pl.String,
}
"""The columns of a study's ``key/assignment.parquet``: a row per annotator and pair that is shown.

Positions count from 1; a pair that an annotator sees twice has showings 1 and 2.
"""

JUDGED_ITEM_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "item_id": pl.String,
    "pair_id": pl.String,
    "term1": pl.String,
    "term2": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "label": pl.Int8,
    "concept1": pl.String,
    "concept2": pl.String,
}
"""The columns of ``key/items.parquet`` of a study of a build: a row per pair."""

GRADED_ITEM_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "item_id": pl.String,
    "term1": pl.String,
    "term2": pl.String,
    "group": pl.Int32,
}
"""The first columns of ``key/items.parquet`` of a graded study: a row per pair.

Groups of raters count from 1; group 0 is the consistency set, which all rate. Further columns are
those that the file of pairs had beside the terms, as text.
"""

ANSWER_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "annotator": pl.String,
    "entry_id": pl.String,
    "item_id": pl.String,
    "showing": pl.Int8,
    "position": pl.Int32,
    "value": pl.Int8,
}
"""The columns of answers that were checked: a row per entry that was answered.

The value is the answer's place in the study's scale (``medsim.studies.sheets.Scale``).
"""

RATED_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "term1": pl.String,
    "term2": pl.String,
    "rating": pl.Float64,
    "deviation": pl.Float64,
    "n_ratings": pl.Int32,
}
"""The first columns of a rated set that a graded study makes; ratings are from 0 to 10.

Further columns are those that the file of pairs had beside the terms, as text.
"""

WORD_PAIR_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "term1": pl.String,
    "term2": pl.String,
    "class": pl.String,
    "domain": pl.String,
    "associated": pl.Boolean,
    "reason": pl.String,
    "count1": pl.Int64,
    "count2": pl.Int64,
    "topics1": pl.Int64,
    "topics2": pl.Int64,
}
"""The columns of pairs of words to rate; topics are null where they are not known."""

WIC_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "term1": pl.String,
    "term2": pl.String,
    "sentence1": pl.String,
    "sentence2": pl.String,
    "start1": pl.Int32,
    "start2": pl.Int32,
    "end1": pl.Int32,
    "end2": pl.Int32,
    "cat": pl.String,
    "label": pl.Int8,
}
"""The columns of instances of words in context, in the order of BioWiC's files.

Starts and ends are code points of the sentence, ends exclusive; cat is one of
``medsim.wic.GROUPS``; label is 1 where both terms have the same meaning, else 0.
"""

MENTION_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "corpus": pl.String,
    "document_id": pl.String,
    "sentence_start": pl.Int32,
    "sentence": pl.String,
    "start": pl.Int32,
    "end": pl.Int32,
    "term": pl.String,
    "kind": pl.String,
    "vocabulary": pl.String,
    "code": pl.String,
}
"""The columns of mentions in sentences of corpora: a row per mention that has one code.

The sentence starts at a code point of its document (title, a space, abstract); start and end are
code points of the sentence, end exclusive. Vocabularies are named as UMLS names them, as MSH.
"""

WIC_MENTION_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "corpus": pl.String,
    "document_id": pl.String,
    "sentence_start": pl.Int32,
    "sentence": pl.String,
    "start": pl.Int32,
    "end": pl.Int32,
    "term": pl.String,
    "concept_id": pl.String,
}
"""The columns of a benchmark's mentions: one of every sentence, in order of term and concept."""

WIC_INSTANCE_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "split": pl.String,
    **WIC_COLUMNS,
    "concept1": pl.String,
    "concept2": pl.String,
    "corpus1": pl.String,
    "document1": pl.String,
    "sentence_start1": pl.Int32,
    "corpus2": pl.String,
    "document2": pl.String,
    "sentence_start2": pl.Int32,
}
"""The columns of a benchmark's instances with their provenance."""

WIC_STATISTIC_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "table": pl.String,
    "split": pl.String,
    "of": pl.String,
    "what": pl.String,
    "number": pl.Int64,
}
"""The columns of a benchmark's statistics; see ``medsim.wic.statistics``."""

WIC_RESULT_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "data": pl.String,
    "model": pl.String,
    "subset": pl.String,
    "statistic": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_instances": pl.Int64,
    "n_uncovered": pl.Int64,
}
"""The columns of ``results.parquet`` of models on words in context.

The statistic is an accuracy, low and high the ends of its 95% interval, or a threshold. A subset is
"all", a group, "seen", "partly_seen" or "unseen", or, of a threshold, "fold 1" and so on.
"""

WIC_PREDICTION_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "model": pl.String,
    "instance": pl.Int64,
    "cat": pl.String,
    "seen": pl.String,
    "label": pl.Int8,
    "prediction": pl.Int8,
    "score": pl.Float64,
    "covered": pl.Boolean,
    "fold": pl.Int32,
}
"""The columns of ``predictions.parquet``, a row per model and instance of the test split.

Instances count from 1 in the order of their file. Score is null where a model has none, fold where
there are splits.
"""

WIC_COMPARISON_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "data": pl.String,
    "between": pl.String,
    "model1": pl.String,
    "model2": pl.String,
    "accuracy1": pl.Float64,
    "accuracy2": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "within": pl.Boolean,
    "test": pl.String,
    "statistic": pl.Float64,
    "p": pl.Float64,
    "p_bonferroni": pl.Float64,
    "p_holm": pl.Float64,
    "n_instances": pl.Int64,
}
"""The columns of ``comparisons.parquet`` of models on words in context.

Between "models" there is a test, p-values corrected for the number of all such rows. Between a
model and a "reference", "human" or "chance", there is the interval of the difference, and whether
it holds 0.
"""
