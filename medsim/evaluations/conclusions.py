"""Best metrics of embeddings, standings and errors of categories, from results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from medsim.core.config import SET_COLUMNS
from medsim.core.errors import OptionError, check_known
from medsim.embeddings.metrics import METRICS
from medsim.evaluations.options import CORRECTIONS
from medsim.evaluations.sets import (
    HEADLINE,
    SET,
    WHOLE_SUBSET,
    both_ways,
    in_means,
    of_synonyms,
    with_enough_pairs,
    with_facts,
)
from medsim.evaluations.statistic import BASELINE, statistics_of
from medsim.pages.sentences import ALPHA
from medsim.systems.scorers import PREDICTED


def best_metrics(
    results: pl.DataFrame,
    comparisons: pl.DataFrame,
    statistics: Iterable[str],
    *,
    subset: str = "common",
    correction: str = CORRECTIONS[0],
    baseline: bool = False,
    every: bool = False,
) -> pl.DataFrame:
    """Return every embedding at its best metric, a row per set of pairs and embedding.

    With ``baseline`` there is also a row for the best baseline of each set, without standings. With
    ``every`` there is a row for each metric, and standings are among the metrics of an embedding.

    Returns:
        The columns of a set, statistic, embedding, metric, value, low, high, n_pairs (scored); and
        on common pairs with several embeddings n_better and n_worse (the number of others that it
        is significantly better or worse than) and among_best (best, or not significantly worse).
    """
    of_one = [*SET, "statistic", "embedding"]
    rows = _chosen(results, statistics, subset, baseline=baseline)
    if every:
        rows = rows.sort(*of_one, "metric")
        return _with_standings(rows, comparisons, "metrics", subset, correction)
    best_first = rows.sort("value", "metric", descending=[True, False], nulls_last=True)
    best = best_first.unique(of_one, keep="first", maintain_order=True).sort(of_one)
    return _with_standings(best, comparisons, "embeddings", subset, correction)


def headline_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of ``best_metrics`` with those of the headline first, the best of a build on top.

    The first and the last columns are those that matter, as Polars hides others when it prints.
    """
    is_headline = pl.col("statistic") == HEADLINE
    value = pl.when(is_headline).then(-pl.col("value"))
    build = pl.when(is_headline).then(pl.col("input"))
    ordered = rows.sort(~is_headline, build, value, maintain_order=True, nulls_last=True)
    first = ["input", "embedding", "statistic", "value", "low", "high", "metric", "n_pairs"]
    last = [name for name in (*SET_COLUMNS, "among_best") if name in rows.columns]
    return ordered.select(*first, pl.exclude(*first, *last), *last)


def at_metrics(results: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the results of each embedding at one metric.

    Args:
        results: of pairs.
        metrics: names of metrics, one for each kind of embedding, or EMBEDDING=NAME for one; a
            system without vectors needs none.

    Raises:
        OptionError: a name is unknown, or none or several fit an embedding.
    """
    every = results.group_by("embedding", maintain_order=True)
    metrics_of = dict(every.agg(pl.col("metric").unique().sort()).iter_rows())
    named = [text.split("=", 1) for text in metrics if "=" in text]
    metric_of = dict(named)
    if len(metric_of) < len(named):
        raise OptionError("`metrics` names two metrics for one embedding; one is accepted")
    shared = [text for text in metrics if "=" not in text]
    for metric in (*shared, *metric_of.values()):
        if metric != PREDICTED:
            METRICS.get(metric)
    check_known("embedding", sorted(metrics_of), *metric_of)
    chosen = []
    for name, known_metrics in metrics_of.items():
        candidates = known_metrics if known_metrics == [PREDICTED] else shared
        candidates = [metric_of[name]] if name in metric_of else candidates
        fitting = [metric for metric in candidates if metric in known_metrics]
        if len(fitting) != 1:
            raise OptionError(
                f"{name} needs one metric of {', '.join(known_metrics)}, not "
                f"{', '.join(candidates) or 'none'}; give it by `metrics`, such as "
                f"{name}={known_metrics[0]}"
            )
        chosen.append((name, fitting[0]))
    at = pl.DataFrame(chosen, schema=["embedding", "metric"], orient="row")
    return results.join(at, on=["embedding", "metric"], how="semi", maintain_order="left")


def metric_spread(
    results: pl.DataFrame, statistics: Iterable[str], *, subset: str = "common"
) -> pl.DataFrame:
    """Return how much each embedding's values vary with the metric.

    The variance is over all metrics of an embedding on one set, divided by their number.

    Returns:
        A row per statistic and embedding: the smallest, median and largest variance over the sets
        on which two metrics or more have a value, and the number of these sets (n_sets). Rows
        without any are left out.
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


def embedding_standings(best: pl.DataFrame) -> pl.DataFrame:
    """Return the standings of embeddings over all sets, the best first, by ``best_metrics``.

    Sets of few pairs count only if all sets are, see ``with_enough_pairs``; those of parent_child
    do not, see ``of_synonyms``.

    Returns:
        A row per statistic and embedding: n_sets, the number of sets on which it is among the best
        (n_among_best), the sums of n_better and n_worse, and the mean value over the sets of
        ``in_means``, null without any value.
    """
    of_one = ["statistic", "embedding"]
    ranked = with_enough_pairs(with_standing(of_synonyms(best).drop_nulls("value")))
    sums = (
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
    every = best.select(of_one).unique().join(sums, on=of_one, how="left")
    order = ("statistic", "n_among_best", "mean", "embedding")
    return every.with_columns(pl.exclude("mean").fill_null(0)).sort(
        *order, descending=[False, True, True, False], nulls_last=True
    )


def with_standing(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with standings; an embedding with no other to compare with is the best."""
    if "among_best" in rows.columns:
        return rows
    none, is_model = pl.lit(0, pl.Int64), pl.col("embedding") != BASELINE
    return rows.with_columns(
        n_better=pl.when(is_model).then(none),
        n_worse=pl.when(is_model).then(none),
        among_best=pl.when(is_model).then(True),
    )


def _chosen(
    results: pl.DataFrame, statistics: Iterable[str], subset: str, *, baseline: bool = False
) -> pl.DataFrame:
    columns = (*SET, "statistic", "embedding", "metric", "value", "low", "high")
    chosen = results.filter(
        pl.col("statistic").is_in(list(statistics)),
        pl.col("subset").is_in([subset, WHOLE_SUBSET]),
        pl.col("embedding") != ("" if baseline else BASELINE),
    )
    return chosen.select(*columns, n_pairs="n_covered")


def _with_standings(
    rows: pl.DataFrame, comparisons: pl.DataFrame, between: str, subset: str, correction: str
) -> pl.DataFrame:
    """Return rows on common pairs with the standings of their embeddings, or metrics.

    Standings are null for baselines, and on sets where no test is defined.
    """
    among = comparisons.filter(between=between)
    if among.is_empty() or subset != "common":
        return rows
    compared, names = between.removesuffix("s"), ("n_better", "n_worse", "among_best")
    key = [*SET, "of", *(["embedding1"] if compared == "metric" else [])]
    counts = standings(among, key, compared, correction).rename(
        {"of": "statistic", "embedding1": "embedding", "name": compared}, strict=False
    )
    is_tested = pl.col(f"p_{correction}").is_not_null().any().alias("is_tested")
    tested = among.group_by(*SET, statistic="of").agg(is_tested)
    is_ranked = pl.col("is_tested").fill_null(value=True) & (pl.col("embedding") != BASELINE)
    ranked = with_facts(rows, counts).with_columns(
        pl.col("n_better", "n_worse").fill_null(0),
        pl.col("among_best").fill_null(value=True) & pl.col("value").is_not_null(),
    )
    standing = (pl.when(is_ranked).then(name).alias(name) for name in names)
    return with_facts(ranked, tested).with_columns(standing).drop("is_tested")


def standings(
    comparisons: pl.DataFrame, key: Sequence[str], compared: str, correction: str = CORRECTIONS[0]
) -> pl.DataFrame:
    """Return the standings of embeddings or metrics that are compared with each other.

    A difference is significant if its corrected p-value is below ``ALPHA``. The best has the
    largest number of others with a lower value minus the number with a higher value; if each has
    one value, it is the highest. If several are the best, an embedding is among the best if it does
    not differ significantly from one of them.

    Args:
        comparisons: ``SET_COMPARISONS``, each two of a family once, in either direction.
        key: the columns that name a family.
        compared: "embedding" or "metric".
        correction: of p-values, one of ``CORRECTIONS``.

    Returns:
        The key, name, n_better and n_worse (numbers of significant differences) and among_best.
    """
    ahead = pl.col("difference").fill_null(0).fill_nan(0).sign()
    p = pl.col(f"p_{correction}").fill_nan(None).fill_null(1.0)
    both = both_ways(comparisons, compared).select(
        *key,
        name=f"{compared}1",
        other=f"{compared}2",
        ahead=ahead,
        differs=(ahead != 0) & (p < ALPHA),
    )
    both = both.with_columns(lead=pl.col("ahead").sum().over(*key, "name"))
    both = both.with_columns(is_best=pl.col("lead") == pl.col("lead").max().over(key))
    best = pl.col("name").filter("is_best").unique().over(key, mapping_strategy="join")
    is_near = pl.col("other").is_in(best) & ~pl.col("differs")
    return (
        both.with_columns(is_near=is_near)
        .group_by(*key, "name")
        .agg(
            (pl.col("differs") & (pl.col("ahead") > 0)).sum().cast(pl.Int64).alias("n_better"),
            (pl.col("differs") & (pl.col("ahead") < 0)).sum().cast(pl.Int64).alias("n_worse"),
            (pl.col("is_near") | pl.col("is_best")).any().alias("among_best"),
        )
        .sort(*key, "name")
    )


_MAX_TERMS = 5  # of either end
_OF = ["input", "statistic", "far", "embedding"]
_ENDS = ("best", "worst")


def errors_of(separation: pl.DataFrame) -> pl.DataFrame:
    """Return the errors of ``SEPARATION`` that tables show, a row per error and metric.

    Returns:
        input, statistic, far (null for all triples together), embedding, metric, n_triples,
        n_errors, value. With one far category the row of all triples together is left out.
    """
    measures = [measure.name for measure in statistics_of("separation")]
    index = ("category1", "input", "far", "embedding", "metric", "n_triples", "n_errors")
    named = separation.rename({"category2": "far"})
    every = named.unpivot(measures, index=index, variable_name="statistic").drop_nulls("value")
    of_far = pl.col("statistic") == "overlap_error"
    shown = every.filter(pl.col("category1").is_null() | of_far)
    long = shown.select(*_OF, "metric", "n_triples", "n_errors", "value")
    n_far = pl.col("far").n_unique().over("input", "statistic", "embedding", "metric")
    of_one = of_far & (n_far == 2)  # noqa: PLR2004 — and null
    return long.filter(pl.col("far").is_not_null() | ~of_one)


def overall_errors(separation: pl.DataFrame) -> pl.DataFrame:
    """Return the errors of all triples together, a row per input, embedding and metric."""
    errors = errors_of(separation)
    of_all = pl.col("far").is_null()
    return errors.filter(of_all | ~of_all.any().over("input", "statistic", "embedding", "metric"))


def best_and_worst(errors: pl.DataFrame) -> pl.DataFrame:
    """Return each embedding's errors at its best and at its worst metric, see ``standing``.

    Of metrics with equal errors the first by name is used.
    """
    ends = (
        errors.sort("value", "metric", descending=[standing == "worst", False])
        .unique(_OF, keep="first", maintain_order=True)
        .with_columns(standing=pl.lit(standing))
        for standing in _ENDS
    )
    return pl.concat(ends).sort(*_OF, "standing", nulls_last=True)


def extreme_terms(separated: pl.DataFrame) -> pl.DataFrame:
    """Return the terms with the lowest and the highest overlap errors under each metric.

    Returns:
        input, embedding, metric, far, standing ("best" or "worst"), term, n_triples, n_errors and
        overlap_error, ordered by error, then by text.
    """
    key = ["input", "embedding", "metric", "far"]
    rank = pl.int_range(pl.len()).over(key)
    ranked = (
        separated.drop_nulls("overlap_error")
        .sort(*key, "overlap_error", "term")
        .with_columns(is_best=rank < _MAX_TERMS, is_worst=rank >= pl.len().over(key) - _MAX_TERMS)
        .filter(pl.col("is_best") | pl.col("is_worst"))
    )
    best, worst = (pl.lit(standing) for standing in _ENDS)
    standing = pl.when("is_best").then(best).otherwise(worst).alias("standing")
    return ranked.select(*key, standing, "term", "n_triples", "n_errors", "overlap_error")
