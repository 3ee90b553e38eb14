"""Evaluates the models of a leaderboard again, where model and build are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.core.errors import MedsimError, listed
from medsim.core.progress import Progress
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.options import COVERAGES, HUB
from medsim.evaluations.evaluate import evaluate
from medsim.evaluations.output import RESULT
from medsim.evaluations.result_file import deciding, read_result
from medsim.evaluations.sets import HEADLINE_DATASET
from medsim.leaderboards.rows import CHECKED, DIFFERENT, ID, MAX_GAP, result_rows
from medsim.systems.scorers import PREDICTED

if TYPE_CHECKING:
    from medsim.leaderboards.options import LeaderboardOptions


_SCORED: dict[str, Any] = {"metrics": [*COSINES.values()], "datasets": [HEADLINE_DATASET]}
"""The options of an evaluation that computes little but the headline score."""


def checked(rows: pl.DataFrame, options: LeaderboardOptions, progress: Progress) -> pl.DataFrame:
    """Return rows with the column check, after evaluating models again.

    Raises:
        InputError: a build or an embedding of the options cannot be read.
    """
    found = pl.concat([rows.clear(), *_found(rows, options, progress)], how="diagonal").unique(ID)
    found = found.select(*ID, "fingerprint", "value", "changes")
    both = rows.join(found, on=ID, how="left", suffix="_found", maintain_order="left")
    return rows.with_columns(check=pl.Series([*map(_state, both.iter_rows(named=True))]))


def _state(row: Mapping[str, Any]) -> str:
    """Return whether score and changes are those that were found, as far as machines may differ."""
    if (value := row["value_found"]) is None:
        return str(row["check"])
    changes, others = (np.array(row[name]) for name in ("changes", "changes_found"))
    is_same = row["fingerprint"] == row["fingerprint_found"] and len(changes) == len(others)
    is_same &= abs(row["value"] - value) <= MAX_GAP
    if is_same and np.linalg.norm(changes - others) <= MAX_GAP:
        return CHECKED
    return f"{DIFFERENT}: {value:.3f} found"


def _found(
    rows: pl.DataFrame, options: LeaderboardOptions, progress: Progress
) -> Iterator[pl.DataFrame]:
    """Yield the rows of new evaluations; a model of a hub that cannot be had gives a warning.

    Services are not asked, since the address in a result would get the terms of the build.
    """
    texts = {deciding({"coverage": name, "independent_pairs": False}): name for name in COVERAGES}
    rows = rows.filter(pl.col("evaluated").is_in([*texts]))
    for name in rows.filter(metric=PREDICTED)["model"].unique().sort():
        progress.warn(f"{name} stays unchecked: it is a system without vectors")
    jobs: list[tuple[Mapping[str, Any], str, str | None]] = [
        (options.embeddings or {}, text, None)
        for text in rows["evaluated"].unique(maintain_order=True)
    ]
    on_hub = rows.filter(pl.col("address").str.starts_with(HUB)).unique("key", maintain_order=True)
    names = ("model", "address", "options", "evaluated", "key")
    for model, address, chosen, text, key in on_hub.select(names).iter_rows():
        jobs.append(({model: f"{address},{chosen.replace(', ', ',')}".rstrip(",")}, text, key))
    if not any(models for models, *_ in jobs):
        progress.warn("nothing is checked: no model is on a hub; name models with `embeddings`")
    for models, text, key in (job for job in jobs if job[0]):
        try:
            with TemporaryDirectory() as folder:
                out, coverage = Path(folder) / "results", texts[text]
                evaluate(
                    options.checks, models, out, coverage=coverage, **_SCORED, progress=progress
                )
                again = result_rows(read_result(out / RESULT))
                yield again if key is None else again.with_columns(key=pl.lit(key))
        except MedsimError as error:
            if key is None:
                raise
            progress.warn(f"{listed([*models])} stays unchecked: {error}")
