"""Names of sets, headings of columns and texts of numbers, for tables and pages alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.cells import number
from medsim.evaluations.sets import SET
from medsim.evaluations.statistic import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LEAST_P = 0.001  # that is written out

LABELS = {name: statistic.label for name, statistic in STATISTICS.items()}
"""The labels of statistics by their names."""

HEADINGS = LABELS | {
    "among_best": "among the best",
    "category1": "category",
    "category2": "other category",
    "embedding1": "embedding",
    "embedding2": "other embedding",
    "high": "to",
    "length": "words",
    "linked_similarity": "its similarity",
    "linked_term": "nearest term that means the same",
    "low": "from",
    "metric1": "metric",
    "metric2": "other metric",
    "n_better": "better than",
    "n_pairs_common": "pairs that all cover",
    "n_pairs_uncovered": "pairs without",
    "n_terms1": "terms",
    "n_terms2": "other terms",
    "n_terms_uncovered": "terms without a vector",
    "n_worse": "worse than",
    "nearest_similarity": "similarity",
    "p_bonferroni": "p, Bonferroni",
    "rank": "its rank",
}
"""The headings of columns on pages that are not made of the columns' names."""


def headed(frame: pl.DataFrame, columns: Iterable[str] | pl.Expr, **own: str) -> pl.DataFrame:
    """Return columns of a frame under their headings.

    A heading is that of ``own`` or of ``HEADINGS``, else the name with spaces and without "n_".
    """
    headings = HEADINGS | own
    return frame.select(columns).rename(
        lambda name: headings.get(name, name.removeprefix("n_").replace("_", " "))
    )


def set_columns(frame: pl.DataFrame) -> list[str]:
    """Return those columns of ``SET`` that have a value in any row."""
    present = [column for column in SET if column in frame.columns]
    return [column for column in present if frame[column].null_count() < frame.height]


def set_kind(frame: pl.DataFrame) -> pl.Series:
    """Return the difficulty and strategy of each row's set, an empty text for rated pairs."""
    difficulty = pl.format("{}, {} negatives", "difficulty", "negatives")
    return frame.select(difficulty.fill_null("").alias("kind")).to_series()


def set_name(frame: pl.DataFrame, *, with_kind: bool = False) -> pl.Series:
    """Return the name of each row's set.

    Returns:
        Text; where an input has several ratings the name says which.
    """
    several = pl.col("dataset").n_unique().over("input") > 1
    rated = pl.col("difficulty").is_null()
    of_rated = pl.when(several).then(pl.format("{}: {}", "input", "dataset")).otherwise("input")
    full = pl.format("{}: {}, {}, {} negatives", "input", "dataset", "difficulty", "negatives")
    of_labelled = full if with_kind else pl.col("dataset")
    name = pl.when(rated).then(of_rated).otherwise(of_labelled)
    return frame.select(name.alias("name")).to_series()


def with_contenders(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of retrieval with a contender: the embedding, and the index if several are."""
    several = rows["index"].n_unique() > 1
    name = pl.format("{} ({})", "embedding", "index") if several else pl.col("embedding")
    return rows.with_columns(name.alias("contender"))


def in_order_of(rows: pl.DataFrame, embeddings: Sequence[str]) -> pl.DataFrame:
    """Return rows with those of each embedding where it stands in an order, else as they were."""
    at = {name: at for at, name in enumerate(embeddings)}
    place = pl.col("embedding").replace_strict(at, default=len(at), return_dtype=pl.Int64)
    return rows.sort(place, maintain_order=True)


def hardest_first(names: pl.Series) -> list[str]:
    """Return the different names of sets, those of hard positives and Levenshtein first."""
    return sorted(set(names), key=lambda one: ("hard, levenshtein" not in one, one))


def apart(column: str, taken: Sequence[str]) -> pl.Expr:
    """Return a column's names for use as columns; those that are taken as "statistic (set)"."""
    told = pl.format("{} ({})", column, pl.lit(column))
    return pl.when(pl.col(column).is_in(taken)).then(told).otherwise(column).alias(column)


def rounded(column: str, form: str = ".3f") -> pl.Expr:
    """Return numbers as texts, by default with three decimals."""
    return pl.col(column).map_elements(lambda value: number(value, form), pl.String)


def percent(column: str) -> pl.Expr:
    """Return shares as texts in per cent, with a decimal."""
    cents = 100 * pl.col(column)
    text = cents.map_elements(lambda value: f"{number(value, '.1f')}%", pl.String)
    return text.alias(column)


def p_text(p: float) -> str:
    """Return a p with three decimals, or "< 0.001" where it is less."""
    return f"< {_LEAST_P}" if p < _LEAST_P else number(p, ".3f")
