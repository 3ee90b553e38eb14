"""The names of sets of pairs as a reader sees them."""

from __future__ import annotations

import polars as pl

from medsim.evaluations.tables.comparison import SET


def kind_of_set(frame: pl.DataFrame) -> pl.Series:
    """Return how hard each row's set is: its difficulty and strategy, empty for rated pairs."""
    difficulty = pl.format("{}, {} negatives", "difficulty", "negatives")
    return frame.select(difficulty.fill_null("").alias("kind")).to_series()


def set_name(frame: pl.DataFrame, *, with_kind: bool = False) -> pl.Series:
    """Return the name of each row's set.

    Args:
        frame: with what names a set: input, dataset, difficulty, negatives.
        with_kind: whether the name says input, difficulty and strategy as well; else rated pairs
            have the input's name, and sets of a build that of the dataset.

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


def hardest_first(names: pl.Series) -> list[str]:
    """Return the different names of sets, what is hardest first: hard, levenshtein negatives."""
    return sorted(set(names), key=lambda one: ("hard, levenshtein" not in one, one))


def told_sets(frame: pl.DataFrame) -> list[str]:
    """Return those columns of a set's name that say something in any row."""
    return [column for column in SET if frame[column].null_count() < frame.height]
