"""Conclusions from results: the best metric of each embedding, and their standings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError, unknown_name
from medsim.embeddings.metrics import METRICS
from medsim.evaluations.options import CORRECTIONS
from medsim.evaluations.sets import SET, in_means, with_enough_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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

    Returns:
        What names a set, statistic, embedding, metric, value, low, high, n_pairs (that were
        scored); and on common pairs, where there are several embeddings, n_better, n_worse (than
        how many others, significantly), among_best (the best, or not significantly worse).
    """
    of_one = [*SET, "statistic", "embedding"]
    best = (
        _chosen(results, statistics, subset)
        .sort("value", "metric", descending=[True, False], nulls_last=True)
        .unique(of_one, keep="first", maintain_order=True)
        .sort(of_one)
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


def at_metrics(results: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the results of each embedding at one metric.

    Args:
        results: of pairs.
        metrics: names, of which one fits each embedding, or EMBEDDING=NAME for one alone.

    Raises:
        OptionError: a name is unknown, or none or several fit an embedding.
    """
    has = {
        name: sorted(set(group["metric"]))
        for (name,), group in results.group_by("embedding", maintain_order=True)
    }
    named = [one.split("=", 1) for one in metrics if "=" in one]
    own = dict(named)
    if len(own) < len(named):
        raise OptionError("`metrics` names two metrics for one embedding; one is accepted")
    shared = [one for one in metrics if "=" not in one]
    for metric in (*shared, *own.values()):
        METRICS.get(metric)
    for name in own:
        if name not in has:
            raise OptionError(unknown_name("embedding", name, sorted(map(str, has))))
    chosen = []
    for name, known in has.items():
        given = [own[str(name)]] if name in own else shared
        fitting = [metric for metric in given if metric in known]
        if len(fitting) != 1:
            raise OptionError(
                f"{name} needs one metric of {', '.join(known)}, not "
                f"{', '.join(given) or 'none'}; give it by `metrics`, such as {name}={known[0]}"
            )
        chosen.append((name, fitting[0]))
    at = pl.DataFrame(chosen, schema=["embedding", "metric"], orient="row")
    return results.join(at, on=["embedding", "metric"], how="semi", maintain_order="left")


def standings_only(every: pl.DataFrame) -> pl.DataFrame:
    """Return how many other metrics of its embedding each is significantly better and worse than.

    Of rows of ``all_metrics``: what names a set, statistic, embedding, metric, n_better, n_worse.
    """
    columns = (*SET, "statistic", "embedding", "metric", "n_better", "n_worse")
    return with_standing(every.drop_nulls("value")).select(columns)


def metric_spread(
    results: pl.DataFrame, statistics: Iterable[str], *, subset: str = "common"
) -> pl.DataFrame:
    """Return how much each embedding's values vary with the metric.

    The variance is that over all metrics of an embedding on one set, divided by their number.

    Returns:
        A row per statistic and embedding: the least, median and greatest variance over the sets on
        which two metrics or more have a value, and how many these are (n_sets). What has none is
        left out.
    """
    of_set = [*SET, "statistic", "embedding"]
    variances = (
        _chosen(results, statistics, subset)
        .drop_nulls("value")
        .group_by(of_set)
        .agg(pl.col("value").var(ddof=0).alias("variance"), pl.len().alias("n_metrics"))
        .filter(pl.col("n_metrics") > 1)
    )
    variance = pl.col("variance")
    return (
        variances.group_by("statistic", "embedding")
        .agg(
            variance.min().alias("least"),
            variance.median().alias("median"),
            variance.max().alias("greatest"),
            pl.len().cast(pl.Int64).alias("n_sets"),
        )
        .sort("statistic", "embedding")
    )


def metric_standings(every: pl.DataFrame) -> pl.DataFrame:
    """Return the standings of each embedding's metrics over all sets, by ``all_metrics``.

    Returns:
        A row per statistic, embedding and metric: the mean value, n_sets, on how many of them the
        metric has the highest value (n_first) or is not significantly worse (n_among_best), and
        the sums of n_better and n_worse. The mean is over the sets of ``in_means``.
    """
    every = with_standing(every.drop_nulls("value"))
    highest = pl.col("value").max().over(*SET, "statistic", "embedding")
    return (
        every.with_columns((pl.col("value") == highest).alias("first"), in_mean=in_means(every))
        .group_by("statistic", "embedding", "metric")
        .agg(
            pl.col("value").filter("in_mean").mean().alias("mean"),
            pl.len().alias("n_sets"),
            pl.col("first").sum().alias("n_first"),
            pl.col("among_best").sum().alias("n_among_best"),
            pl.col("n_better").sum(),
            pl.col("n_worse").sum(),
        )
        .sort("statistic", "embedding", "mean", "metric", descending=[False, False, True, False])
    )


def embedding_standings(best: pl.DataFrame) -> pl.DataFrame:
    """Return the standings of embeddings over all sets, the best first, by ``best_metrics``.

    Sets of few pairs count where there are no others, see ``with_enough_pairs``.

    Returns:
        A row per statistic and embedding: n_sets, on how many of them it is among the best
        (n_among_best), the sums of n_better and n_worse, and the mean value over the sets of
        ``in_means``. One without a value on any set has no mean.
    """
    of_one = ["statistic", "embedding"]
    ranked = with_enough_pairs(with_standing(best.drop_nulls("value")))
    found = (
        ranked.with_columns(in_mean=in_means(ranked))
        .group_by(of_one)
        .agg(
            pl.len().cast(pl.Int64).alias("n_sets"),
            pl.col("among_best").sum().cast(pl.Int64).alias("n_among_best"),
            pl.col("n_better").sum(),
            pl.col("n_worse").sum(),
            pl.col("value").filter("in_mean").mean().alias("mean"),
        )
    )
    every = best.select(of_one).unique().join(found, on=of_one, how="left")
    order = ("statistic", "n_among_best", "mean", "embedding")
    return every.with_columns(pl.exclude("mean").fill_null(0)).sort(
        *order, descending=[False, True, True, False], nulls_last=True
    )


def with_standing(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with standings; one without another to compare with is the best."""
    if "among_best" in rows.columns:
        return rows
    none = pl.lit(0, pl.Int64)
    return rows.with_columns(n_better=none, n_worse=none, among_best=pl.lit(True))


def retrieval_at_best_metric(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each embedding and index of an input at the metric of its highest MRR."""
    best = (
        rows.filter(pl.col("difficulty").is_null(), pl.col("length").is_null(), statistic="mrr")
        .sort("value", "metric", descending=[True, False])
        .unique(["embedding", "index"], keep="first", maintain_order=True)
    )
    on = ["embedding", "index", "metric"]
    return rows.join(best.select(on), on=on, maintain_order="left")


def _chosen(results: pl.DataFrame, statistics: Iterable[str], subset: str) -> pl.DataFrame:
    columns = (*SET, "statistic", "embedding", "metric", "value", "low", "high")
    chosen = results.filter(pl.col("statistic").is_in(list(statistics)), subset=subset)
    return chosen.select(*columns, n_pairs="n_covered")


def _with_standings(
    rows: pl.DataFrame, comparisons: pl.DataFrame, between: str, correction: str
) -> pl.DataFrame:
    """Return rows with the standings of their embeddings, or metrics."""
    among = comparisons.filter(between=between)
    if among.is_empty():
        return rows
    compared = between.removesuffix("s")
    key = [*SET, "of", *(["embedding1"] if compared == "metric" else [])]
    found = standings(among, key, compared, correction).rename(
        {"of": "statistic", "embedding1": "embedding", "name": compared}, strict=False
    )
    on = [column for column in found.columns if column in rows.columns]
    return rows.join(
        found, on=on, how="left", nulls_equal=True, maintain_order="left"
    ).with_columns(
        pl.col("n_better", "n_worse").fill_null(0),
        pl.col("among_best").fill_null(value=True) & pl.col("value").is_not_null(),
    )


def standings(
    comparisons: pl.DataFrame,
    key: Sequence[str],
    compared: str,
    correction: str = CORRECTIONS[0],
) -> pl.DataFrame:
    """Return the standings of embeddings or metrics that are compared with each other.

    A difference is significant where its corrected p is below ``ALPHA``. The best is the one that
    is ahead of most others, by value, less those that are ahead of it; with differences of one
    value each, that is the highest value. Where several are, each counts as the best, and one is
    among the best where it does not differ significantly from one of them.

    Args:
        comparisons: ``COMPARISON_COLUMNS``, each two of a family once, in either direction.
        key: the columns that name a family.
        compared: "embedding" or "metric".
        correction: of p-values, one of ``CORRECTIONS``.

    Returns:
        The key, name, n_better, n_worse (than how many others, significantly) and among_best.
    """
    sides = [f"{compared}1", f"{compared}2"]
    ahead = pl.col("difference").fill_null(0).fill_nan(0).sign()
    p = pl.col(f"p_{correction}").fill_nan(None).fill_null(1.0)
    differs = (ahead != 0) & (p < ALPHA)
    both = pl.concat(
        comparisons.select(
            *key,
            pl.col(name).alias("name"),
            pl.col(other).alias("other"),
            (ahead * sign).alias("ahead"),
            differs.alias("differs"),
        )
        for (name, other), sign in ((sides, 1), (sides[::-1], -1))
    )
    lead = both.group_by(*key, "name").agg(pl.col("ahead").sum().alias("lead"))
    best = lead.filter(pl.col("lead") == pl.col("lead").max().over(key))
    best = best.select(*key, pl.col("name").alias("other"), pl.lit(True).alias("of_best"))
    joined = both.join(best, on=[*key, "other"], how="left", nulls_equal=True)
    found = joined.group_by(*key, "name").agg(
        (pl.col("differs") & (pl.col("ahead") > 0)).sum().cast(pl.Int64).alias("n_better"),
        (pl.col("differs") & (pl.col("ahead") < 0)).sum().cast(pl.Int64).alias("n_worse"),
        (pl.col("of_best").fill_null(value=False) & ~pl.col("differs")).any().alias("near"),
    )
    own = best.rename({"other": "name"})
    return (
        found.join(own, on=[*key, "name"], how="left", nulls_equal=True)
        .with_columns(among_best=pl.col("near") | pl.col("of_best").fill_null(value=False))
        .drop("near", "of_best")
        .sort(*key, "name")
    )
