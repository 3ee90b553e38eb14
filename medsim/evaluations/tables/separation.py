"""Tables of category separation: errors, mean similarities, and terms with fewest and most errors.

They are tables 6 and D.1 of Schulz and Juric (AAAI 2020).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.shown import MISSING
from medsim.evaluations.statistic import statistics_of
from medsim.evaluations.tables.labels import apart, percent, rounded

if TYPE_CHECKING:
    from medsim.evaluations.output import Evaluation

TABLES = ("separation", "all-separation", "separation-terms", "categories", "all-categories")
"""The tables of ``medsim compare`` on category separation."""

_MOST_TERMS = 5  # of either end
_OF = ["input", "statistic", "far", "embedding"]
_STANDINGS = ("best", "worst")


def separation_table(evaluation: Evaluation, name: str) -> pl.DataFrame:
    """Return a table of the separation of categories, one of ``TABLES``.

    "separation" has the error of all triples of each embedding at its best and its worst metric,
    for each far category and, where there are several, for all together; "categories" the mean
    similarities at these metrics; "all-separation" and "all-categories" every metric;
    "separation-terms" the terms of the first near category with the lowest and the highest error.

    Raises:
        InputError: the evaluation has no such results.
    """
    if name == "separation-terms":
        outputs = evaluation.manifest.outputs
        if not any(path.endswith("/terms.parquet") for path in outputs if "metric=" in path):
            raise InputError(
                f"{evaluation.folder} has no errors of terms; evaluate with `near` and `far`"
            )
        return extreme_terms(evaluation.separated().collect())
    rows = evaluation.separation()
    if rows.is_empty():
        raise InputError(f"{evaluation.folder} has no such results; evaluate with `separation`")
    if name == "all-categories":
        return rows.drop_nulls("category1")
    errors = errors_of(rows)
    if name == "all-separation":
        return errors
    if name == "separation":
        return best_and_worst(errors)
    return _means(rows, best_and_worst(overall_errors(rows)))


def errors_of(separation: pl.DataFrame) -> pl.DataFrame:
    """Return the errors of ``SEPARATION_COLUMNS`` that tables show, a row per error and metric.

    Returns:
        input, statistic, far (null for all triples together), embedding, metric, n_triples,
        n_errors, value. Of one far category that of all triples together is left out.
    """
    long = pl.concat(
        separation.filter(pl.col("category1").is_null() | of_far).select(
            "input",
            pl.lit(statistic).alias("statistic"),
            pl.col("category2").alias("far"),
            "embedding",
            "metric",
            "n_triples",
            "n_errors",
            pl.col(statistic).alias("value"),
        )
        for statistic in (one.name for one in statistics_of("separation"))
        for of_far in [pl.col("overlap_error").is_not_null() & (statistic == "overlap_error")]
    ).drop_nulls("value")
    n_far = pl.col("far").n_unique().over("input", "statistic", "embedding", "metric")
    of_one = (n_far == 2) & (pl.col("statistic") == "overlap_error")  # noqa: PLR2004 — and null
    return long.filter(pl.col("far").is_not_null() | ~of_one)


def overall_errors(separation: pl.DataFrame) -> pl.DataFrame:
    """Return the errors of all triples together, a row per input, embedding and metric."""
    errors = errors_of(separation)
    of_all = pl.col("far").is_null()
    return errors.filter(of_all | ~of_all.any().over("input", "statistic", "embedding", "metric"))


def best_and_worst(errors: pl.DataFrame) -> pl.DataFrame:
    """Return each embedding's errors at its best and at its worst metric, which ``standing`` tells.

    Of metrics with equal errors the first by name is taken.
    """
    ranked = errors.sort("value", "metric")
    worst = errors.sort("value", "metric", descending=[True, False])
    ends = zip((ranked, worst), _STANDINGS, strict=True)
    return pl.concat(
        frame.unique(_OF, keep="first", maintain_order=True).with_columns(
            pl.lit(standing).alias("standing")
        )
        for frame, standing in ends
    ).sort(*_OF, "standing", nulls_last=True)


def extreme_terms(separated: pl.DataFrame) -> pl.DataFrame:
    """Return the terms with the lowest and the highest overlap errors under each metric.

    Returns:
        input, embedding, metric, far, standing ("best" or "worst"), term, n_triples, n_errors and
        overlap_error, in order of it, and of text where it is equal.
    """
    of = ["input", "embedding", "metric", "far"]
    rank = pl.int_range(pl.len()).over(of)
    ranked = (
        separated.drop_nulls("overlap_error")
        .sort(*of, "overlap_error", "term")
        .with_columns(is_best=rank < _MOST_TERMS, is_worst=rank >= pl.len().over(of) - _MOST_TERMS)
        .filter(pl.col("is_best") | pl.col("is_worst"))
    )
    best, worst = (pl.lit(standing) for standing in _STANDINGS)
    standing = pl.when("is_best").then(best).otherwise(worst).alias("standing")
    return ranked.select(*of, standing, "term", "n_triples", "n_errors", "overlap_error")


def _means(separation: pl.DataFrame, best: pl.DataFrame) -> pl.DataFrame:
    """Return the mean similarities at each embedding's best and worst metric."""
    overall = best.drop("far", "n_triples", "n_errors")
    means = separation.drop_nulls("category1").select(
        *("input", "embedding", "metric", "category1", "category2", "n_terms1", "n_terms2"),
        "mean_similarity",
    )
    return overall.join(means, on=["input", "embedding", "metric"], maintain_order="left_right")


def readable_separation(rows: pl.DataFrame) -> list[pl.DataFrame] | None:
    """Return a table of separation as it is to be read; None of any other table.

    Cells of the best and the worst metric are parted by a slash, as in the paper.
    """
    if {"far", "term"} <= {*rows.columns}:
        return [_without_one(rows).with_columns(percent("overlap_error"))]
    if "far" in rows.columns:
        of_each = rows.group_by("statistic", maintain_order=True)
        return [_errors(str(name), of_statistic) for (name,), of_statistic in of_each]
    if "mean_similarity" in rows.columns:
        of_each = rows.group_by("input", maintain_order=True)
        return [_similarities(of_input) for _, of_input in of_each]
    return None


def _errors(statistic: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return errors, a row per embedding or, where there are no standings, per metric."""
    shown = rows.with_columns(pl.col("far").fill_null("all"), percent("value")).drop("statistic")
    shown = shown if statistic == "overlap_error" else shown.drop("far")
    if "standing" in rows.columns:
        key = [column for column in _OF if column in shown.columns]
        shown = shown.group_by(key, maintain_order=True).agg(_both("metric", "value"))
    return shown.rename({"value": statistic})


def _similarities(rows: pl.DataFrame) -> pl.DataFrame:
    """Return mean similarities of an input's categories.

    A row is of an embedding or, where no categories are near, of one of its categories.
    """
    index = ["input", "embedding", "metric"]
    cells = rows.with_columns(rounded("mean_similarity", ".2f").fill_null(MISSING))
    if "standing" not in rows.columns:
        index.append("category1")
        return _by_category(cells, index)
    statistic = str(rows["statistic"][0])
    cells = (
        cells.with_columns(percent("value"))
        .group_by("input", "embedding", "category1", "category2", maintain_order=True)
        .agg(_both("metric", "value", "mean_similarity"))
        .rename({"value": statistic})
    )
    index.append(statistic)
    if statistic == "category_error":
        index.append("category1")
        return _by_category(cells, index)
    names = rows["category1"].unique(maintain_order=True)
    at = [pl.col(f"category{n}").replace_strict(names, range(len(names))) for n in (1, 2)]
    return (
        cells.filter(at[0] <= at[1])
        .sort(at[0] == at[1], maintain_order=True)  # across, then within
        .sort("input", "embedding", maintain_order=True)
        .with_columns(pair=pl.format("sim({}, {})", "category1", "category2"))
        .pivot("pair", index=index, values="mean_similarity")
    )


def _by_category(cells: pl.DataFrame, index: list[str]) -> pl.DataFrame:
    named = cells.with_columns(apart("category2", index))
    return named.pivot("category2", index=index, values="mean_similarity")


def _both(*columns: str) -> list[pl.Expr]:
    """Return the texts of the best and the worst metric in one, or the one that both are."""
    return [
        pl.concat_str(
            pl.col(column).filter(standing="best").first(),
            pl.col(column).filter(standing="worst").first(),
            separator="/",
        ).alias(column)
        for column in columns
    ]


def _without_one(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows without the column of their input and far category where there is only one."""
    return rows.drop(column for column in ("input", "far") if rows[column].n_unique() == 1)
