"""Sizes and distances of each dataset, as in table 2 of Schulz and Juric (2020)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from medsim.builds.output import STATS, Build
from medsim.core.config import MINIMAL
from medsim.core.terms import is_multi_word
from medsim.pages.readable import percent


def stats_row(key: Mapping[str, str], pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the row of ``stats.parquet`` for the pairs of one dataset.

    Args:
        key: columns that identify the set.
        pairs: term1_id, term2_id, label and distance.
    """
    positive = pairs.filter(pl.col("label") == 1)
    distance = pairs.filter(pl.col("label") == 0)["distance"]
    row = {
        **key,
        "n_positives": positive.height,
        "n_negatives": len(distance),
        "shortfall": 0 if key["negatives"] == MINIMAL else positive.height - len(distance),
        "n_terms": pl.concat([positive["term1_id"], positive["term2_id"]]).n_unique(),
        "mean_distance_positives": positive["distance"].mean(),
        "mean_distance_negatives": distance.mean(),
        "median_distance_negatives": distance.median(),
        "min_distance_negatives": distance.min(),
        "max_distance_negatives": distance.max(),
    }
    return pl.DataFrame([row], schema=STATS.dtypes)


def table_2(build: Build) -> pl.DataFrame:
    """Return table 2 of the paper for a build: rows for each dataset, and its easy and hard parts.

    Returns:
        dataset; difficulty ("all", "easy" or "hard"); size (positives, plus the negatives of the
        strategy that has most); positives and their mean distance; for each strategy, the number of
        negatives and their mean distance; and multi_word, see ``multi_word_shares``. The last row
        has only multi_word, for all datasets together.
    """
    key = ["dataset", "difficulty"]
    stats, means = build.stats(), []
    for label in ("positives", "negatives"):
        mean, n_pairs = f"mean_distance_{label}", pl.col(f"n_{label}")
        total = n_pairs.sum()
        overall = pl.when(total > 0).then((pl.col(mean) * n_pairs).sum() / total)
        means.append(overall.alias(mean))
    wholes = stats.group_by("dataset", "negatives", maintain_order=True).agg(
        pl.lit("all").alias("difficulty"), pl.col("n_positives", "n_negatives").sum(), *means
    )
    every = pl.concat([wholes, stats], how="diagonal").sort(*key, "negatives")
    most = pl.col("n_negatives").max().over(key)
    table = every.select(
        *key,
        (pl.col("n_positives") + most).alias("size"),
        pl.col("n_positives").alias("positives"),
        pl.col("mean_distance_positives").alias("distance"),
    ).unique(maintain_order=True)
    for strategy in stats["negatives"].unique(maintain_order=True):
        of_strategy = every.filter(pl.col("negatives") == strategy).select(
            *key,
            pl.col("n_negatives").alias(strategy),
            pl.col("mean_distance_negatives").alias(f"{strategy}_distance"),
        )
        table = table.join(of_strategy, on=key, how="left", maintain_order="left")
    shares = multi_word_shares(build.pairs(lazy=True))
    with_shares = table.join(shares, on=key, how="left", maintain_order="left")
    return pl.concat([with_shares, shares.filter(dataset="all")], how="diagonal")


def readable_table_2(table: pl.DataFrame) -> list[pl.DataFrame]:
    """Return table 2 in a readable form, with shares in per cent."""
    return [table.with_columns(percent("multi_word"))]


def multi_word_shares(pairs: pl.LazyFrame) -> pl.DataFrame:
    """Return the share of terms with inner white space, among both terms of every pair.

    Returns:
        dataset, difficulty and multi_word, for each set, each dataset ("all" difficulties) and all
        datasets ("all" twice).
    """
    several = pl.sum_horizontal(is_multi_word(pl.col(f"term{n}")).cast(pl.Int64) for n in (1, 2))
    of_sets = (
        pairs.group_by("dataset", "difficulty")
        .agg(several.sum().alias("n_several"), (2 * pl.len()).alias("n_terms"))
        .collect()
    )
    every = pl.lit("all")
    of_datasets = of_sets.with_columns(difficulty=every)
    return (
        pl.concat([of_sets, of_datasets, of_datasets.with_columns(dataset=every)])
        .group_by("dataset", "difficulty")
        .agg((pl.col("n_several").sum() / pl.col("n_terms").sum()).alias("multi_word"))
        .sort("dataset", "difficulty")
    )
