"""Sections on how far apart the terms of pairs are, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.pages import charts
from medsim.pages.page import Chart, PageTable, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

_COVERED = 0.99  # share of pairs and terms up to whose distance or length histograms are drawn
_BINS = 60
_QUANTILES = {"5%": 0.05, "25%": 0.25, "median": 0.5, "75%": 0.75, "95%": 0.95}


def distances(found: pl.DataFrame, kinds: Sequence[str]) -> Section | None:
    """Return how distances lie; see ``BuildReportData.distances``."""
    if found.is_empty():
        return None
    panel = pl.format("{}, {}", "dataset", "difficulty").alias("panel")
    counted = found.with_columns(panel).rename({"distance": "x"})
    rows, end = _binned(counted, ["panel", "kind"])
    panels = list(counted["panel"].unique(maintain_order=True))
    table = _quantiles(counted, ["dataset", "difficulty", "kind"]).rename({"kind": "pairs of"})
    spec = charts.histograms(kinds, x="Levenshtein distance", panels=panels, whole=True)
    says = (
        "Share of the pairs at each distance. Where negatives lie left of the positives, looks "
        f"alone mislead. Distances above {end}, of at most {100 * (1 - _COVERED):.0f}% of pairs, "
        "are in the table only."
    )
    chart = Chart(
        title="Distances of positives and negatives",
        says=says,
        spec=spec,
        rows=rows,
        table=PageTable(caption="Levenshtein distances", frame=table, formats={"mean": ",.2f"}),
    )
    return Section(
        title="Distances",
        prose="How many characters have to be changed, added or removed to turn one term of a "
        "pair into the other, ignoring case.",
        parts=[chart],
    )


def lengths(found: pl.DataFrame) -> Section | None:
    """Return how long terms are; see ``BuildReportData.lengths``."""
    if found.is_empty():
        return None
    counted = found.rename({"unit": "panel", "length": "x"})
    units = list(counted["panel"].unique(maintain_order=True))
    binned = [_binned(counted.filter(panel=unit), ["panel"]) for unit in units]
    rows = pl.concat([one for one, _ in binned]).with_columns(pl.lit("terms").alias("kind"))
    ends = " and ".join(f"{end} {unit}" for unit, (_, end) in zip(units, binned, strict=True))
    chart = Chart(
        title="Lengths of terms",
        says=f"Share of the different terms of all positives at each length, up to {ends}.",
        spec=charts.histograms(
            ["terms"], x="length", panels=units, columns=2, independent=True, whole=True
        ),
        rows=rows,
        table=PageTable(
            caption="Lengths of terms",
            frame=_quantiles(counted, ["panel"]).rename({"panel": "in"}),
            formats={"mean": ",.2f"},
        ),
    )
    return Section(
        title="Lengths",
        prose="How long the terms are, counted in characters (code points) and in words between "
        "spaces.",
        parts=[chart],
    )


def _binned(counted: pl.DataFrame, key: Sequence[str]) -> tuple[pl.DataFrame, int]:
    """Return shares in bins, in per cent, and the value at which they end.

    ``counted`` says how many, n, have the value x, by the key of a histogram.
    """
    by_value = counted.group_by("x").agg(pl.col("n").sum()).sort("x")
    below = by_value["n"].cum_sum() / by_value["n"].sum()
    end = int(by_value.filter(below >= _COVERED)["x"][0])
    width = max(1, -(-end // _BINS))
    end = (end // width + 1) * width - 1  # of a whole bin
    middle = pl.col("x") // width * width + (width - 1) / 2
    rows = (
        counted.with_columns((100 * pl.col("n") / pl.col("n").sum().over(key)).alias("share"))
        .filter(pl.col("x") <= end)
        .group_by(*key, middle.alias("x"), maintain_order=True)
        .agg(pl.col("share").sum())
    )
    middles = pl.DataFrame({"x": [start + (width - 1) / 2 for start in range(0, end + 1, width)]})
    grid = counted.select(key).unique(maintain_order=True).join(middles, how="cross")
    return grid.join(rows, on=[*key, "x"], how="left", maintain_order="left").with_columns(
        pl.col("share").fill_null(0.0)
    ), end


def _quantiles(counted: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    rows = []
    groups = counted.partition_by(key, as_dict=True, maintain_order=True)
    for name, group in groups.items():
        ordered = group.sort("x")
        below = ordered["n"].cum_sum()
        n = int(ordered["n"].sum())
        at = {
            title: int(ordered.filter(below >= share * n)["x"][0])
            for title, share in _QUANTILES.items()
        }
        mean = float((ordered["x"] * ordered["n"]).sum()) / n
        named = dict(zip(key, name, strict=True))
        rows.append({**named, "n": n, "mean": mean, **at, "largest": int(ordered["x"][-1])})
    return pl.DataFrame(rows)
