"""Tables of the space around terms: what is found near them, and how far categories are apart."""

from __future__ import annotations

import polars as pl

_OF_CATEGORIES = (
    "input",
    "embedding",
    "metric",
    "category1",
    "category2",
    "n_terms1",
    "n_terms2",
    "mean_similarity",
)


def similarities_of_categories(separation: pl.DataFrame) -> pl.DataFrame:
    """Return mean similarities within and across categories, a row per two of them (table D.1).

    Args:
        separation: ``SEPARATION_COLUMNS``.
    """
    return separation.drop_nulls("category1").select(_OF_CATEGORIES)


def readable_space(rows: pl.DataFrame) -> list[pl.DataFrame] | None:
    """Return tables of retrieval, separation or categories as they are to be read.

    Args:
        rows: any table of an evaluation.

    Returns:
        None where it is none of these.
    """
    if "length" in rows.columns:
        return [_found(rows)]
    if "overlap_error" in rows.columns:
        return [_apart(rows)]
    if "mean_similarity" in rows.columns:
        groups = rows.group_by("input", maintain_order=True)
        return [_within_and_across(group) for _, group in groups]
    return None


def _found(rows: pl.DataFrame) -> pl.DataFrame:
    """Return scores of retrieval, with the half width of their intervals, a column a statistic."""
    index = ["input", "embedding", "index", "recall", "difficulty", "length", "n_terms"]
    half = ((pl.col("high") - pl.col("low")) / 2).map_elements(" \N{PLUS-MINUS SIGN}{:.3f}".format)
    told = rows.with_columns(
        pl.col("difficulty", "length").fill_null("all"),
        pl.when(pl.col("subset") == "own").then("n_covered").otherwise("n_terms").alias("n_terms"),
        _rounded("recall"),
        pl.concat_str(_rounded("value"), half.fill_null("")).alias("value"),
    )
    table = told.pivot("statistic", index=index, values="value")
    return table if table["recall"].null_count() < table.height else table.drop("recall")


def _apart(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the overlap errors of all triples."""
    of_all = rows.filter(pl.col("category1").is_null()).with_columns(_rounded("overlap_error"))
    return of_all.select(
        "input",
        "embedding",
        "metric",
        pl.col("n_terms1").alias("n_terms"),
        "n_triples",
        "overlap_error",
    )


def _within_and_across(rows: pl.DataFrame) -> pl.DataFrame:
    """Return mean similarities of categories with a column per second category."""
    told = rows.with_columns(_rounded("mean_similarity"))
    index = ["input", "embedding", "metric", "category1"]
    return told.pivot("category2", index=index, values="mean_similarity")


def _rounded(*columns: str) -> pl.Expr:
    return pl.col(*columns).map_elements("{:.3f}".format, pl.String)
