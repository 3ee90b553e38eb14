"""The rows of a leaderboard: a model on a build each, from the results of evaluations."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from medsim.core.config import MINIMAL
from medsim.evaluations.sets import CONFUSIONS, with_parts
from medsim.evaluations.statistic import BASELINE
from medsim.evaluations.training_data import trained_here
from medsim.leaderboards.options import KIND_COLUMNS

ID = ["build_fingerprint", "key"]
"""The columns that identify a row: the build, and the model with its options."""

CHECKED, DIFFERENT, UNCHECKED = "checked", "different", "unchecked"
"""Whether a score was found again, differs (with the reason), or is a claim of its submitter."""

MAX_GAP = 1e-4
"""The scores of one model on machines of other kinds differ less."""

IS_DIFFERENT = pl.col("check").str.starts_with(DIFFERENT)
"""Whether the score of a row differs, so that it has no rank."""

_CONFUSED = ["build", "model", "part_value"]


def result_rows(result: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return a row per build and model of a result, from ``read_result``."""
    models = result["models"].rename({"name": "model"})
    builds = result["builds"].rename({"name": "build", "fingerprint": "build_fingerprint"})
    rows = result["headlines"].join(models, on="model").join(builds, on="build")
    rows = rows.join(_confused(result["scores"]), on=["build", "model"], how="left")
    split_name = pl.format("{} {} split", "source", "split")
    declared = rows.select("trained_on", "build", "source", "vocabulary").rows()
    return rows.with_columns(
        pl.coalesce(split_name, "build").alias("build"),
        key=pl.concat_str("fingerprint", "options", "metric", "evaluated", separator="\n"),
        coverage=pl.col("n_covered") / pl.col("n_pairs"),
        n_clusters=pl.col("changes").list.len().cast(pl.Int64),
        trained_here=pl.Series([trained_here(*row) for row in declared], dtype=pl.String),
        check=pl.lit(UNCHECKED),
    )


def _confused(scores: pl.DataFrame) -> pl.DataFrame:
    """Return how often a synonym is nearer than a negative of some kinds: build, model, kinds.

    Minimal negatives count, or if there are none Levenshtein negatives.
    """
    found = with_parts(scores.filter(pl.col("model") != BASELINE, statistic=CONFUSIONS[0]))
    best = found.sort(pl.col("negatives") != MINIMAL).unique(_CONFUSED, keep="first")
    return best.pivot("part_value", on_columns=[*KIND_COLUMNS], index=_CONFUSED[:2], values="value")


def merged_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per build and model, with declared training data if a row has it.

    If files have different scores or intervals of a model, each has a row, and check says so. The
    name and the version of a build are those that most of its rows have.
    """
    named = (pl.col(name).mode().sort().first() for name in ("build", "version"))
    rows = rows.with_columns(name.over("build_fingerprint") for name in named)
    ends = (pl.col(name) for name in ("value", "low", "high"))
    is_apart = pl.any_horizontal((end.max() - end.min()).over(ID) > MAX_GAP for end in ends)
    claims = pl.format("{} in {}", pl.col("value").round(3), "file").str.join(", ").over(ID)
    rows = rows.sort("trained_on", nulls_last=True, maintain_order=True).with_columns(
        check=pl.when(is_apart).then(pl.format(f"{DIFFERENT}: {{}}", claims)).otherwise("check"),
        claim=pl.when(is_apart).then("file"),
    )
    return rows.unique([*ID, "claim"], keep="first", maintain_order=True).drop("claim")
