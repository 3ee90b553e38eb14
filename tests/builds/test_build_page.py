"""The sentences at the start of a build's report."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from medsim.builds.page import distance_section, result
from medsim.core.manifest import Output

pytest.importorskip("altair", reason="needs medsim[report]")


def sentences(
    positives: dict[str, tuple[int, int]], distances: dict[str, list[int]], **facts: Any
) -> list[str]:
    """Return the sentences for a build with some easy and hard positives in each dataset.

    ``distances`` are the distances in syn_syn, hard, by kind of pair.
    """
    rows = [
        (name, difficulty, n)
        for name, (easy, hard) in positives.items()
        for difficulty, n in (("all", easy + hard), ("easy", easy), ("hard", hard))
    ]
    stats = [
        ("syn_syn", "hard", kind, distance, 1)
        for kind, values in distances.items()
        for distance in values
    ]
    manifest: Any = SimpleNamespace(
        source={"name": "mesh"},
        shortfall=0,
        warnings=[],
        outputs={
            "pairs/a": Output(rows=4812, fingerprint="a"),
            "stats": Output(rows=9, fingerprint="b"),
        },
    )
    sizes = pl.DataFrame(rows, schema=["dataset", "difficulty", "positives"], orient="row")
    counted = pl.DataFrame(
        stats, schema=["dataset", "difficulty", "kind", "distance", "n"], orient="row"
    )
    vars(manifest).update(facts)
    return list(result(manifest, sizes, counted).result)


def test_the_summary_gives_the_distances_of_the_largest_hard_set() -> None:
    actual = sentences(
        {"fsn_syn": (1, 2), "syn_syn": (3, 1200), "same_as": (0, 0)},
        {"positives": [10, 20], "levenshtein negatives": [8], "random negatives": [30, 31]},
        shortfall=2,
        warnings=["a"],
    )

    assert actual == [
        (
            "This build of mesh has 4,812 pairs: synonyms (positives) and Levenshtein and random "
            "negatives in 2 of 3 datasets; this release has no pairs for same_as."
        ),
        "The largest dataset, syn_syn, has 1,203 positives, 1,200 of them hard.",
        (
            "In syn_syn, hard, synonyms are 15.0 edits apart on average, Levenshtein negatives 8.0 "
            "and random negatives 30.5: spelling alone misleads, as Levenshtein negatives are "
            "closer than synonyms."
        ),
        "2 negatives could not be made.",
    ]


def test_farther_negatives_are_not_called_misleading() -> None:
    actual = sentences(
        {"fsn_syn": (1, 0), "syn_syn": (0, 2)}, {"positives": [10], "random negatives": [30]}
    )

    assert actual[-1] == (
        "In syn_syn, hard, synonyms are 10.0 edits apart on average, random negatives 30.0: no "
        "negatives are closer than synonyms."
    )
    assert actual[0].endswith("(positives) and random negatives in all 2 datasets.")
    assert sentences({"syn_syn": (0, 0)}, {}) == ["mesh has no positives (pairs of synonyms)."]


def counts(values: list[int], **named) -> pl.DataFrame:
    frame = pl.DataFrame({"x": values}).group_by("x").len("n").sort("x")
    columns = [pl.lit(value).alias(name) for name, value in named.items()]
    return frame.select(*columns, "x", pl.col("n").cast(pl.Int64))


def test_distances_are_shares_of_all_pairs_of_a_kind() -> None:
    named = {"dataset": "fsn_syn", "difficulty": "hard"}
    values = {"positives": [1, 1, 2, 3], "random negatives": [2] * 198 + [9, 9]}
    frame = pl.concat(
        counts(row, **named, kind=kind).rename({"x": "distance"}) for kind, row in values.items()
    )

    section = distance_section(frame, list(values))

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


def test_many_distances_share_bins() -> None:
    named = {"dataset": "fsn_syn", "difficulty": "hard", "kind": "positives"}
    distances = counts(list(range(1, 241)), **named).rename({"x": "distance"})

    section = distance_section(distances, ["positives"])

    assert section is not None
    [chart] = section.parts
    widths = chart.rows["x"].diff().drop_nulls().unique()
    assert widths.to_list() == [4.0]
    assert chart.rows["share"].sum() == pytest.approx(100 * 239 / 240)
