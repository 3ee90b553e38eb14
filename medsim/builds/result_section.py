"""The section that the report of a build begins with: what came out, in sentences and a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.config import DIFFICULTIES, EASY_DISTANCE
from medsim.core.errors import counted, listed
from medsim.pages import charts
from medsim.pages.page import Chart, PageTable, Section, distinct

if TYPE_CHECKING:
    from medsim.builds.output import BuildManifest
    from medsim.builds.report_data import BuildReportData

_POSITIVES = "positives"


def result(manifest: BuildManifest, data: BuildReportData) -> Section:
    """Return what came out: how many pairs, how far apart, and what could not be made."""
    parts = data.sizes.filter(pl.col("difficulty").is_in(DIFFICULTIES) & (pl.col(_POSITIVES) > 0))
    sentences = [*_sizes(data.sizes, str(manifest.source.get("name")))]
    if parts.height:
        sentences.append(_distances(parts, data.distances))
    if manifest.shortfall:
        sentences.append(f"{counted(manifest.shortfall, 'negative')} could not be made.")
    if manifest.warnings:
        warnings = counted(len(manifest.warnings), "warning")
        sentences.append(f"{warnings} under “Terminology and options”.")
    return Section(
        title="Result", prose="", parts=[_chart(parts)] if parts.height else [], result=sentences
    )


def _sizes(sizes: pl.DataFrame, name: str) -> list[str]:
    """Return a sentence on the largest dataset, and one on those that are empty."""
    whole = sizes.filter(pl.col("difficulty") == "all").drop_nulls(_POSITIVES)
    empty = whole.filter(pl.col(_POSITIVES) == 0)["dataset"].to_list()
    if len(empty) == whole.height:
        return [f"{name} gives no positives, pairs of terms that mean the same."]
    most = whole.sort(_POSITIVES, "dataset", descending=[True, False]).row(0, named=True)
    hard = sizes.filter(dataset=most["dataset"], difficulty="hard")[_POSITIVES].sum()
    of_all = f"{whole.height - len(empty)} of " if empty else "all "
    of_all += counted(whole.height, "dataset")
    said = (
        f"{name} gives positives, pairs of terms that mean the same, for {of_all}. The largest, "
        f"{most['dataset']}, has {most[_POSITIVES]:,}, of which {hard:,} are hard: their terms "
        f"differ by more than {EASY_DISTANCE} edits."
    )
    return (
        [said, f"{listed(empty)} {'has' if len(empty) == 1 else 'have'} none."] if empty else [said]
    )


def _distances(parts: pl.DataFrame, distances: pl.DataFrame) -> str:
    """Return a sentence on the distances in the largest hard set, or the largest if none is."""
    hard = parts.filter(difficulty="hard")
    most = (hard if hard.height else parts).sort(_POSITIVES, "dataset", descending=[True, False])
    dataset, difficulty = most.select("dataset", "difficulty").row(0)
    of_set = distances.filter(dataset=dataset, difficulty=difficulty)
    means = {
        kind: float(np.average(rows["distance"], weights=rows["n"]))
        for (kind,), rows in of_set.group_by("kind", maintain_order=True)
    }
    own = means.pop(_POSITIVES)
    said = f"In {dataset}, {difficulty}, positives are {own:.1f} edits apart in the mean"
    if means:
        said += ", " + listed([f"{kind} {mean:.1f}" for kind, mean in means.items()])
    nearer = [str(kind) for kind, mean in means.items() if mean < own]
    if nearer:
        said += f": {listed(nearer)} look more alike than what means the same, so looks mislead"
    return f"{said}."


def _chart(sizes: pl.DataFrame) -> Chart:
    """Return the positives of each dataset, easy and hard."""
    rows = sizes.select(
        pl.col("dataset").alias("y"),
        pl.col("difficulty").alias("contender"),
        *(pl.col("positives").alias(column) for column in ("value", "low", "high")),
        pl.lit(True).alias("filled"),
    )
    return Chart(
        title="Positives of each dataset",
        says="Positives are pairs of terms that mean the same: easy ones differ by at most 5 "
        "edits, hard ones by more. Each strategy adds as many negatives, wherever there are "
        "enough.",
        spec=charts.dots(
            DIFFICULTIES,
            x=charts.ValueAxis(
                title="positives, on a logarithmic scale", scale={"type": "log"}, digits=",.0f"
            ),
            y=distinct(rows["y"]),
            names=("difficulty", "dataset"),
        ),
        rows=rows,
        table=PageTable(
            caption="Positives", frame=sizes.select("dataset", "difficulty", "positives")
        ),
    )
