"""The columns of tables that several rooms write or read."""

from __future__ import annotations

from typing import TypeAlias

import polars as pl

Columns: TypeAlias = dict[str, pl.DataType | type[pl.DataType]]
"""The columns of a table in their order."""


def columns(dtype: type[pl.DataType], *names: str) -> Columns:
    """Return columns of one type, to be joined with others by ``|``."""
    return dict.fromkeys(names, dtype)


CANONICAL_TABLES: dict[str, Columns] = {
    "concept": columns(pl.String, "concept_id")
    | columns(pl.Boolean, "active")
    | columns(pl.String, "module_id", "semantic_tag"),
    "description": columns(pl.String, "description_id", "concept_id", "term", "kind")
    | columns(pl.Boolean, "active")
    | columns(pl.String, "language"),
    "association": columns(pl.String, "source_id", "target_id", "kind")
    | columns(pl.Boolean, "active"),
    "is_a": columns(pl.String, "child_id", "parent_id"),
    "code": columns(pl.String, "concept_id", "vocabulary", "code"),
}
"""The tables that every source fills, each with its columns in order.

Codes are those that other vocabularies, named as UMLS names them, have for a concept.
"""

TERM_COLUMNS: Columns = {
    "term": pl.String,
    "covered": pl.Boolean,
    "n_words": pl.Int32,
    "n_unknown_words": pl.Int32,
}
"""The columns of the terms of an input, and whether an embedding covers them."""
