"""Names of sets, headings of columns and texts of numbers, for tables and pages alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import listed
from medsim.core.shown import number
from medsim.evaluations.sets import SET
from medsim.evaluations.statistic import STATISTICS, statistics_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LEAST_P = 0.001  # that is written out
_NAMED = 3  # sets that a sentence names at most

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


def why_missing(rows: pl.DataFrame) -> str:
    """Return why statistics of pairs have no value, and on which sets; nothing if all have one.

    Args:
        rows: what names a set, statistic, value, and n_pairs that it is computed of.
    """
    n_pairs, is_missing = pl.col("n_pairs"), pl.col("value").is_null()
    labelled = [one.name for one in statistics_of("labelled")]
    reason = (
        pl.when(n_pairs == 0)
        .then(pl.lit("no pair is covered"))
        .when(pl.col("statistic").is_in(labelled))
        .then(pl.lit("only positives or only negatives are covered"))
        .when(n_pairs == 1)
        .then(pl.lit("a single pair has no correlation"))
        .when(is_missing.all().over(*SET, "statistic"))
        .then(pl.lit("all ratings, or all similarities, are equal"))
        .otherwise(pl.lit("all similarities are equal"))
    )
    named = rows.select(set=pl.concat_str(SET, separator=" ", ignore_nulls=True), reason=reason)
    sets = named.filter(rows["value"].is_null()).unique(maintain_order=True)
    said = [
        f"{reason} ({listed(of_reason['set'].to_list(), _NAMED)})"
        for (reason,), of_reason in sets.group_by("reason", maintain_order=True)
    ]
    return "; ".join(said)


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
    """Return numbers as texts, by default with three decimals; nulls stay."""
    return pl.col(column).map_elements(lambda value: number(value, form), pl.String)


def percent(column: str) -> pl.Expr:
    """Return shares as texts in per cent, with a decimal."""
    cents = 100 * pl.col(column)
    text = cents.map_elements(lambda value: f"{number(value, '.1f')}%", pl.String)
    return text.alias(column)


def p_text(p: float) -> str:
    """Return a p with three decimals, or "< 0.001" where it is less."""
    return f"< {_LEAST_P}" if p < _LEAST_P else number(p, ".3f")
