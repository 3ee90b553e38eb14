"""Sections on distances and lengths in the report of a build."""

from __future__ import annotations

import polars as pl
import pytest

pytest.importorskip("altair", reason="needs medsim[report]")

from medsim.builds.page import distances, lengths


def counted(values: list[int], **named) -> pl.DataFrame:
    frame = pl.DataFrame({"x": values}).group_by("x").len("n").sort("x")
    told = [pl.lit(value).alias(name) for name, value in named.items()]
    return frame.select(*told, "x", pl.col("n").cast(pl.Int64))


def test_distances_are_shares_of_all_pairs_of_a_kind() -> None:
    named = {"dataset": "fsn_syn", "difficulty": "hard"}
    values = {"positives": [1, 1, 2, 3], "random negatives": [2] * 198 + [9, 9]}
    frame = pl.concat(
        counted(one, **named, kind=kind).rename({"x": "distance"}) for kind, one in values.items()
    )

    section = distances(frame, list(values))

    assert section is not None
    [chart] = section.parts
    shares = {
        kind: dict(chart.rows.filter(kind=kind).select("x", "share").rows()) for kind in values
    }
    assert shares["positives"] == {0: 0, 1: 50, 2: 25, 3: 25}
    assert shares["random negatives"] == pytest.approx({0: 0, 1: 0, 2: 99, 3: 0})
    assert "above 3" in chart.says
    table = chart.table.frame.filter(pl.col("pairs of") == "positives").row(0, named=True)
    assert (table["n"], table["mean"], table["median"], table["largest"]) == (4, 1.75, 1, 3)


def test_long_terms_share_bins() -> None:
    section = lengths(counted(list(range(1, 241)), unit="characters").rename({"x": "length"}))

    assert section is not None
    [chart] = section.parts
    widths = chart.rows["x"].diff().drop_nulls().unique()
    assert widths.to_list() == [4.0]
    assert chart.rows["share"].sum() == pytest.approx(100 * 239 / 240)
