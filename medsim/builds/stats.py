"""Sizes and distances of each dataset, as in table 2 of Schulz and Juric (2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.output import STATS_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping


def stats_row(key: Mapping[str, str], pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the row of ``stats.parquet`` for the pairs of one dataset."""
    positive = pairs.filter(pl.col("label") == 1)
    distance = pairs.filter(pl.col("label") == 0)["distance"]
    row = {
        **key,
        "n_positives": positive.height,
        "n_negatives": len(distance),
        "shortfall": positive.height - len(distance),
        "n_terms": pl.concat([positive["term1"], positive["term2"]]).n_unique(),
        "mean_distance_positives": positive["distance"].mean(),
        "mean_distance_negatives": distance.mean(),
        "median_distance_negatives": distance.median(),
        "min_distance_negatives": distance.min(),
        "max_distance_negatives": distance.max(),
    }
    return pl.DataFrame([row], schema=STATS_COLUMNS)


def table_2(stats: pl.DataFrame) -> pl.DataFrame:
    """Return the statistics as table 2 of the paper has them: a row per set of positives.

    Returns:
        dataset, difficulty, the positives' number and mean distance, then for each strategy the
        negatives' number and mean distance.
    """
    key = ["dataset", "difficulty"]
    table = stats.select(
        *key,
        pl.col("n_positives").alias("positives"),
        pl.col("mean_distance_positives").alias("distance"),
    ).unique(maintain_order=True)
    for strategy in stats["negatives"].unique(maintain_order=True):
        of_strategy = stats.filter(pl.col("negatives") == strategy).select(
            *key,
            pl.col("n_negatives").alias(strategy),
            pl.col("mean_distance_negatives").alias(f"{strategy}_distance"),
        )
        table = table.join(of_strategy, on=key, how="left", maintain_order="left")
    return table
