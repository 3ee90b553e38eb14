"""Sections on how embeddings stand, over all sets and on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.evaluations.conclusions import best_metrics, embedding_standings, with_standing
from medsim.evaluations.sets import FEW, SET, with_enough_pairs
from medsim.evaluations.statistic import STATISTICS, tabulated_names
from medsim.evaluations.tables.labels import (
    LABELS,
    headed,
    set_columns,
    set_kind,
    set_name,
    why_missing,
)
from medsim.pages import charts
from medsim.pages.page import Chart, PageTable, Section, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.evaluations.statistic import Statistic
    from medsim.pages.page import Part

FILLED = (
    "Filled points are the best of a row and what cannot be told from it (p at least 0.05 after "
    "Bonferroni's correction)."
)
"""The sentence that says which points are filled."""


def leaderboard(
    results: pl.DataFrame, comparisons: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return each embedding at its best metric on every set, with standings over all."""
    parts: list[Part] = []
    every = best_metrics(results, comparisons, tabulated_names(best=True))
    for statistic in map(STATISTICS.__getitem__, tabulated_names(best=True)):
        best = with_standing(every.filter(statistic=statistic.name).drop_nulls("value"))
        if best.is_empty():
            continue
        parts.append(_standings(best, statistic))
        groups = [best] if statistic.of == "rated" else best.partition_by("input")
        parts += (_board(group, statistic, embeddings) for group in groups)
    if every.is_empty():
        return None
    return Section(
        title="Leaderboard",
        prose="Every embedding at the metric under which it does best, on the pairs that all "
        f"embeddings cover.{_missing(every)}",
        parts=parts,
    )


def by_subset(parts: pl.DataFrame) -> Section | None:
    """Return each embedding at its best metric on the parts of rated sets."""
    if parts.is_empty():
        return None
    groups = with_standing(parts.drop_nulls("value")).group_by("statistic", maintain_order=True)
    labels = {LABELS[str(name)]: group for (name,), group in groups}
    return Section(
        title="By subset",
        prose="Parts of rated sets: pairs of which both words are about as frequent, have about as "
        "many topics or are of one domain, and pairs that are associated or not."
        f"{_missing(parts)}",
        parts=[
            board_table(group, f"{label} on parts of rated sets", label)
            for label, group in labels.items()
        ],
    )


def _missing(rows: pl.DataFrame) -> str:
    """Return a sentence on the values that are missing, nothing where all are there."""
    why = why_missing(rows)
    return f" Without a value: {why}." if why else ""


def _left_out(best: pl.DataFrame) -> str:
    """Return a sentence on the sets that are not drawn, nothing where all are."""
    if with_enough_pairs(best).height == best.height:
        return ""
    return f" Sets of fewer than {FEW} pairs are in the table only, where they are paler."


def _standings(best: pl.DataFrame, statistic: Statistic[Any]) -> PageTable:
    standings = embedding_standings(best).rename(
        {
            "n_sets": "sets",
            "n_among_best": "among the best on",
            "n_better": "wins",
            "n_worse": "losses",
            "mean": f"mean {statistic.label}",
        }
    )
    return PageTable(
        caption=f"Standings by {statistic.label}, over all sets of {FEW} pairs or more; wins and "
        "losses are significant differences from another, and the mean leaves out sets that "
        "another contains",
        frame=standings.drop("statistic"),
        view="results",
    )


def _board(best: pl.DataFrame, statistic: Statistic[Any], embeddings: Sequence[str]) -> Chart:
    label, is_rated = statistic.label, statistic.of == "rated"
    drawn = with_enough_pairs(best)
    rows = charts.points(
        drawn,
        panel=set_kind(drawn),
        y=set_name(drawn),
        contender="embedding",
        ends=("low", "high"),
        filled="among_best",
        n="n_pairs",
    )
    where = "rated pairs" if is_rated else best["input"][0]
    return Chart(
        title=f"{label[0].upper()}{label[1:]} on {where}",
        says=f"{statistic.help} {FILLED}{_left_out(best)}",
        spec=charts.dots(
            embeddings,
            x=charts.ValueAxis(title=label, line=statistic.chance),
            y=distinct(rows["y"]),
            panels=() if is_rated else distinct(rows["panel"]),
            sized=True,
        ),
        rows=rows.drop("panel") if is_rated else rows,
        table=board_table(best, f"{label} on {where}", label),
    )


def board_table(best: pl.DataFrame, caption: str, label: str) -> PageTable:
    """Return a table of embeddings at their best metrics, in which small sets are marked."""
    names = ("metric", "value", "low", "high", "n_pairs", "n_better", "n_worse", "among_best")
    frame = headed(best, [*set_columns(best), "embedding", *names], value=label)
    return PageTable(caption=caption, frame=frame, few=FEW, view="results")


def accuracy(
    results: pl.DataFrame, comparisons: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return the accuracy of each embedding by difficulty and strategy."""
    best = best_metrics(results, comparisons, ("accuracy",)).drop_nulls("value")
    if best.is_empty():
        return None
    drawn = with_enough_pairs(best)
    rows = drawn.select(
        y=set_kind(drawn),
        contender="embedding",
        value="value",
        name=pl.format("{}: {}", "input", "dataset"),
    )
    key = [*SET, "embedding", "metric"]
    held_out = results.filter(statistic="accuracy_heldout", subset="common")
    table = best.join(
        held_out.select(*key, pl.col("value").alias("held out")),
        on=key,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    chart = Chart(
        title="Accuracy by difficulty and strategy of negatives",
        says="Each point is a dataset, each bar across the mean of the datasets; the dashed line "
        "at 0.5 is a coin where there are as many negatives as positives. A pair is taken for a "
        "positive if it is at least as similar as a threshold, which is the best on these very "
        "pairs; the table has the accuracy at a threshold that was chosen on other pairs as well, "
        "where there are others."
        f"{_left_out(best)}",
        spec=charts.strips(embeddings, x="accuracy", y=distinct(rows["y"])),
        rows=rows,
        table=PageTable(
            caption="Accuracy, with 95% intervals (Wilson)",
            frame=headed(
                table, [*key, "value", "low", "high", "held out", "n_pairs"], value="accuracy"
            ),
            few=FEW,
        ),
    )
    return Section(
        title="Accuracy",
        prose="The share of pairs that each embedding tells rightly, at the metric under which it "
        "tells most of them.",
        parts=[chart],
    )
