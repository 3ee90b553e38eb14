"""Conclusions from results: the best metric of each embedding, and how contenders stand."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.options import CORRECTIONS
from medsim.evaluations.sets import SET
from medsim.statistics.standings import Comparison, standings

if TYPE_CHECKING:
    from collections.abc import Iterable

ALPHA = 0.05
"""The level of significance."""


def best_metrics(
    results: pl.DataFrame,
    comparisons: pl.DataFrame,
    statistics: Iterable[str],
    *,
    subset: str = "common",
    correction: str = CORRECTIONS[0],
) -> pl.DataFrame:
    """Return every embedding at its best metric, a row per set of pairs and embedding.

    Args:
        results: ``RESULT_COLUMNS``.
        comparisons: ``COMPARISON_COLUMNS``.
        statistics: which to tell.
        subset: "common", the pairs that all embeddings cover, or "own".
        correction: of p-values, one of ``CORRECTIONS``.

    Returns:
        What names a set, statistic, embedding, metric, value, low, high, n_pairs (that were
        scored); and on common pairs, where there are several embeddings, n_better, n_worse (than
        how many others, significantly), among_best (the best, or not to be told from it).
    """
    chosen = _chosen(results, statistics, subset)
    best = (
        chosen.sort(*SET, "statistic", "embedding", "metric")
        .sort("value", descending=True, nulls_last=True, maintain_order=True)
        .group_by(*SET, "statistic", "embedding", maintain_order=True)
        .first()
        .sort(*SET, "statistic", "embedding")
    )
    if subset != "common":
        return best
    return _with_standings(best, comparisons, "embeddings", correction)


def all_metrics(
    results: pl.DataFrame,
    comparisons: pl.DataFrame,
    statistics: Iterable[str],
    *,
    subset: str = "common",
    correction: str = CORRECTIONS[0],
) -> pl.DataFrame:
    """Return every embedding under every metric, a row per set, embedding and metric.

    Arguments and result as of ``best_metrics``; standings are among the metrics of an embedding.
    """
    chosen = _chosen(results, statistics, subset).sort(*SET, "statistic", "embedding", "metric")
    if subset != "common":
        return chosen
    return _with_standings(chosen, comparisons, "metrics", correction)


def metric_standings(every: pl.DataFrame) -> pl.DataFrame:
    """Return how the metrics of each embedding stand over all sets.

    Args:
        every: of ``all_metrics`` on common pairs.

    Returns:
        A row per statistic, embedding and metric: the mean value, n_sets, on how many of them the
        metric has the highest value (n_first) or cannot be told from the best (n_among_best), and
        the sums of n_better and n_worse.
    """
    every = with_standing(every)
    highest = pl.col("value").max().over(*SET, "statistic", "embedding")
    return (
        every.drop_nulls("value")
        .with_columns((pl.col("value") == highest).alias("first"))
        .group_by("statistic", "embedding", "metric")
        .agg(
            pl.col("value").mean().alias("mean"),
            pl.len().alias("n_sets"),
            pl.col("first").sum().alias("n_first"),
            pl.col("among_best").sum().alias("n_among_best"),
            pl.col("n_better").sum(),
            pl.col("n_worse").sum(),
        )
        .sort("statistic", "embedding", "mean", descending=[False, False, True])
    )


def embedding_standings(best: pl.DataFrame) -> pl.DataFrame:
    """Return how embeddings stand over all sets, the best first.

    Args:
        best: of ``best_metrics`` on common pairs, without values that are missing.

    Returns:
        A row per statistic and embedding: n_sets, on how many of them it is among the best
        (n_among_best), the sums of n_better and n_worse, and the mean value.
    """
    return (
        with_standing(best)
        .group_by("statistic", "embedding")
        .agg(
            pl.len().cast(pl.Int64).alias("n_sets"),
            pl.col("among_best").sum().cast(pl.Int64).alias("n_among_best"),
            pl.col("n_better").sum(),
            pl.col("n_worse").sum(),
            pl.col("value").mean().alias("mean"),
        )
        .sort(
            "statistic",
            "n_among_best",
            "mean",
            "embedding",
            descending=[False, True, True, False],
        )
    )


def with_standing(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with standings; a contender without another to compare with is the best."""
    if "among_best" in rows.columns:
        return rows
    none = pl.lit(0, pl.Int64)
    return rows.with_columns(n_better=none, n_worse=none, among_best=pl.lit(True))


def retrieval_at_best_metric(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each embedding and index at the metric of its highest MRR.

    Args:
        rows: ``RETRIEVAL_COLUMNS`` of one input and subset.
    """
    best = (
        rows.filter(
            pl.col("statistic") == "mrr", pl.col("difficulty").is_null(), pl.col("length").is_null()
        )
        .sort("metric")
        .sort("value", descending=True, maintain_order=True)
        .group_by("embedding", "index", maintain_order=True)
        .first()
    )
    on = ["embedding", "index", "metric"]
    return rows.join(best.select(on), on=on, nulls_equal=True, maintain_order="left")


def best_separating_metrics(overall: pl.DataFrame) -> pl.DataFrame:
    """Return the row of each embedding at the metric of its lowest overlap error, in their order.

    Args:
        overall: ``SEPARATION_COLUMNS`` of one input, of all triples together.
    """
    return (
        overall.sort("overlap_error", "metric")
        .group_by("embedding", maintain_order=True)
        .first()
        .sort("embedding")
    )


def _chosen(results: pl.DataFrame, statistics: Iterable[str], subset: str) -> pl.DataFrame:
    return results.filter(
        pl.col("statistic").is_in(list(statistics)), pl.col("subset") == subset
    ).select(
        *SET,
        "statistic",
        "embedding",
        "metric",
        "value",
        "low",
        "high",
        pl.col("n_covered").alias("n_pairs"),
    )


def _with_standings(
    rows: pl.DataFrame, comparisons: pl.DataFrame, between: str, correction: str
) -> pl.DataFrame:
    """Return rows with how their contenders stand among each other."""
    side = "embedding" if between == "embeddings" else "metric"
    key = [*SET, "of"] if between == "embeddings" else [*SET, "of", "embedding1"]
    among = comparisons.filter(pl.col("between") == between)
    if among.is_empty():
        return rows
    found = [
        {**dict(zip(key, values, strict=True)), side: name, **asdict(standing)}
        for values, group in among.group_by(key)
        for name, standing in standings(_comparisons(group, side, correction), alpha=ALPHA).items()
    ]
    columns = dict.fromkeys([*key, side], pl.String)
    standing_columns = {"n_better": pl.Int64, "n_worse": pl.Int64, "among_best": pl.Boolean}
    stand = pl.DataFrame(found, schema={**columns, **standing_columns}, orient="row").rename(
        {"of": "statistic"} | ({} if side == "embedding" else {"embedding1": "embedding"})
    )
    on = [*SET, "statistic", "embedding", *(["metric"] if side == "metric" else [])]
    return rows.join(
        stand, on=on, how="left", nulls_equal=True, maintain_order="left"
    ).with_columns(
        pl.col("n_better", "n_worse").fill_null(0),
        pl.col("among_best").fill_null(pl.col("value").is_not_null()),
    )


def _comparisons(group: pl.DataFrame, side: str, correction: str) -> list[Comparison]:
    columns = [f"{side}1", f"{side}2", "difference", f"p_{correction}"]
    return [
        Comparison(
            first=first,
            second=second,
            difference=math.nan if difference is None else difference,
            p=math.nan if p is None else p,
        )
        for first, second, difference, p in group.select(columns).iter_rows()
    ]
