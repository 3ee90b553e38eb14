"""Tables of an evaluation, in the shape of those of Schulz and Juric (AAAI 2020)."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError, unknown_name
from medsim.evaluations.ratings.properties import PARTS
from medsim.evaluations.tables.space_tables import readable_space
from medsim.statistics.standings import Comparison, standings

if TYPE_CHECKING:
    from collections.abc import Iterable

SET = ("input", "dataset", "difficulty", "negatives")
"""What names a set of pairs."""

MAIN_STATISTICS = ("auc", "spearman")
"""The statistic by which labelled pairs, and rated pairs, are told first."""

STATISTICS = ("auc", "accuracy", "spearman")
"""The statistics whose differences are tested."""

PAPER = {
    "4": "auc",
    "5": "accuracy",
    "6": "spearman",
    "A.1": "coverage",
    "A.2": "overlap",
    "B.1": "metrics",
    "C.1": "all-auc",
    "C.2": "all-accuracy",
    "C.3": "all-spearman",
    "D.1": "categories",
}
"""Tables by the number of the paper's table whose shape they have."""

TABLES = (
    "best",
    *STATISTICS,
    *(f"all-{statistic}" for statistic in STATISTICS),
    "metrics",
    "parts",
    "coverage",
    "overlap",
    "retrieval",
    "separation",
    "categories",
)
"""The tables that there are."""

IS_PART = pl.col("dataset").str.contains(f"/({'|'.join(PARTS)})=")
"""Whether rows are of a part of a rated set, such as "mean/count=10-99"."""

CORRECTIONS = ("bonferroni", "holm")
"""How p-values are corrected for the number of comparisons; the first is the paper's."""

ALPHA = 0.05
"""The level of significance."""


def checked_table(name: str) -> str:
    """Return the table that a name or a number of the paper means.

    Raises:
        OptionError: there is none.
    """
    found = PAPER.get(name.upper(), name)
    if found not in TABLES:
        raise OptionError(unknown_name("table", name, [*TABLES, *PAPER]))
    return found


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
    if "n_better" not in every.columns:  # no embedding has several metrics
        none = [pl.lit(0, pl.Int64).alias("n_better"), pl.lit(0, pl.Int64).alias("n_worse")]
        every = every.with_columns(*none, pl.lit(True).alias("among_best"))
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


def readable(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return tables as they are to be read: a row per set, a column per embedding or metric.

    A cell has the value, on parts of rated sets with its interval, the metric where columns are
    embeddings, how many others it is significantly better (+) and worse (-) than, and a star for
    the best and what cannot be told from it; of an embedding's own pairs, how many there are.

    Args:
        rows: of ``best_metrics``, which gives one table, or of ``all_metrics``, which gives one for
            all embeddings that have the same metrics; any other table is only rid of what says
            nothing.
    """
    space = readable_space(rows)
    if space is not None:
        return space
    if "value" not in rows.columns:
        return [_without_empty(rows)]
    if not rows.select(*SET, "statistic", "embedding").is_duplicated().any():
        return [_spread(rows, "embedding")]
    of_embedding = rows.group_by("embedding", maintain_order=True).agg(pl.col("metric").unique())
    families: dict[frozenset[str], list[str]] = {}
    for embedding, metrics in of_embedding.iter_rows():
        families.setdefault(frozenset(metrics), []).append(embedding)
    return [
        _spread(rows.filter(pl.col("embedding").is_in(members)).sort("embedding"), "metric")
        for members in families.values()
    ]


def _spread(rows: pl.DataFrame, over: str) -> pl.DataFrame:
    """Return a table with a column per embedding or metric."""
    compared = "n_better" in rows.columns
    parts = [pl.col("value").map_elements(_rounded, pl.String)]
    if rows.select(IS_PART.any()).item():
        ends = (pl.col(end).map_elements(_rounded, pl.String) for end in ("low", "high"))
        parts.append(pl.format("[{}, {}]", *ends))
    index = [*SET, "statistic"]
    if over == "metric":
        index = ["embedding", *index, "n_pairs"]
    elif compared:
        parts.append(pl.col("metric"))
        index.append("n_pairs")
    else:
        parts += [pl.col("metric"), pl.col("n_pairs").map_elements("({:,})".format, pl.String)]
    if compared:
        parts.append(pl.format("+{}\u2212{}", "n_better", "n_worse"))
        parts.append(pl.when("among_best").then(pl.lit("*")))
    cell = pl.concat_str(parts, separator=" ", ignore_nulls=True)
    told = rows.with_columns(pl.when(pl.col("value").is_not_null()).then(cell).alias("cell"))
    return _without_empty(told.pivot(over, index=index, values="cell"))


def _rounded(value: float) -> str:
    return f"{value:.3f}"


def _without_empty(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table without the columns of a set's name that say nothing in any row."""
    told = [c for c in frame.columns if c not in SET or frame[c].null_count() < frame.height]
    return frame.select(told)
