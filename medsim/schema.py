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
}
"""The tables that every source fills, each with its columns in order."""

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
