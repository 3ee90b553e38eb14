"""Sections in the shape of the paper: embeddings at fixed metrics, and what the metric changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.conclusions import metric_spread
from medsim.evaluations.paper import PAPER, PAPER_METRICS
from medsim.evaluations.statistic import STATISTICS
from medsim.evaluations.tables.labels import headed
from medsim.evaluations.tables.readable import as_in_paper
from medsim.pages import charts
from medsim.pages.page import Chart, PageTable, Section

if TYPE_CHECKING:
    from collections.abc import Sequence


def fixed_metrics(fixed: pl.DataFrame) -> Section | None:
    """Return each embedding at the metric that the paper fixes for its kind."""
    parts: list[Chart | PageTable] = []
    for number, one in PAPER.items():
        if not one.fixed:
            continue
        rows = fixed.filter(statistic=one.table)
        if one.negatives:
            rows = rows.filter(negatives=one.negatives)
        if rows["value"].null_count() == rows.height:
            continue
        label = STATISTICS[one.table].label
        of = f", {one.negatives} negatives" if one.negatives else ""
        caption = f"{label[0].upper()}{label[1:]}{of}; table {number} of the paper"
        parts += [
            PageTable(caption=caption, frame=frame) for frame in map(_upright, as_in_paper(rows))
        ]
    if not parts:
        return None
    return Section(
        title="Fixed metrics",
        prose=f"Every word embedding under {PAPER_METRICS[0]} and every other under "
        f"{PAPER_METRICS[1]}, compared with each other at these. A cell has the value, how many "
        "others it is significantly better (+) and worse (\u2212) than after Bonferroni's "
        "correction, and a star for the best and what cannot be told from it. A dash is a missing "
        "value, as the leaderboard explains.",
        parts=parts,
    )


def _upright(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with a row per embedding, or per set where these are more."""
    index = ["embedding", "metric"]
    sets = frame.drop(index, strict=False)
    if sets.width <= frame.height or not {*index} <= {*frame.columns}:
        return frame
    names = frame.select(pl.concat_str(index, separator=" ", ignore_nulls=True)).to_series()
    return sets.transpose(include_header=True, header_name="set", column_names=names.to_list())


def spread_of_metrics(results: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return how much each embedding's scores vary with the metric."""
    parts = [
        chart
        for number, one in PAPER.items()
        if one.table.startswith("spread-")
        and (chart := _spread(results, number, one.table.removeprefix("spread-"), embeddings))
    ]
    if not parts:
        return None
    return Section(
        title="Variance between metrics",
        prose="How much it matters by which metric two terms are compared: the variance of a "
        "score over the metrics of an embedding, on one set.",
        parts=parts,
    )


def _spread(
    results: pl.DataFrame, number: str, name: str, embeddings: Sequence[str]
) -> Chart | None:
    spread = metric_spread(results, (name,))
    if spread.is_empty():
        return None
    statistic = STATISTICS[name]
    row = f"{statistic.of} pairs"
    rows = charts.points(
        spread, y=pl.lit(row), value="median", ends=("least", "greatest"), contender="embedding"
    )
    table = headed(spread, pl.exclude("statistic"))
    return Chart(
        title=f"Variance of {statistic.label} between metrics",
        says="Points are medians over the sets, bars go from the least to the greatest; "
        f"{number.replace('-', ' ')} of the paper.",
        spec=charts.dots(
            embeddings,
            x=charts.ValueAxis(
                title=f"variance of {statistic.label}", scale={"zero": True}, digits=".2g"
            ),
            y=[row],
            names=("embedding", ""),
        ),
        rows=rows,
        table=PageTable(
            caption=f"Variance of {statistic.label} over the metrics of an embedding",
            frame=table,
            formats=dict.fromkeys(("least", "median", "greatest"), ".2g"),
        ),
    )
