"""Sections on how embeddings stand, over all sets and on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.page.set_names import kind_of_set, set_name, told_sets
from medsim.evaluations.tables.comparison import MAIN_STATISTICS, SET, best_metrics
from medsim.pages import charts
from medsim.pages.page import Chart, Section, Table, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.pages.page import Part

STATISTIC_NAMES = {"auc": "AUC", "spearman": "Spearman's correlation"}
"""What the main statistics are called."""

_HOW = {
    "auc": "AUC is the chance that a positive is more similar than a negative: 1 is perfect, and "
    "the dashed line at 0.5 is a coin. Bars are DeLong's 95% intervals.",
    "spearman": "Spearman's rank correlation of similarities with ratings: 1 is perfect. Bars are "
    "95% intervals of the BCa bootstrap.",
}
_FEW = 30  # pairs of a set that says too little to stand beside others
_FILLED = (
    "Filled points are the best of a row and what cannot be told from it (p at least 0.05 after "
    "Bonferroni's correction)."
)


def leaderboard(
    results: pl.DataFrame, comparisons: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return each embedding at its best metric on every set, with standings over all."""
    parts: list[Part] = []
    for statistic in MAIN_STATISTICS:
        best = best_metrics(results, comparisons, (statistic,)).drop_nulls("value")
        if best.is_empty():
            continue
        best = _with_standing(best)
        parts.append(_summary(_telling(best), statistic))
        groups = [best] if statistic == "spearman" else best.partition_by("input")
        parts += (_board(group, statistic, embeddings) for group in groups)
    if not parts:
        return None
    return Section(
        title="Leaderboard",
        prose="Every embedding at the metric under which it does best, on the pairs that all "
        "embeddings cover.",
        parts=parts,
    )


def by_subset(parts: pl.DataFrame) -> Section | None:
    """Return each embedding at its best metric on the parts of rated sets.

    Args:
        parts: see ``EvaluationProfile.parts``.
    """
    best = parts.drop_nulls("value")
    if best.is_empty():
        return None
    table = _board_table(_with_standing(best), STATISTIC_NAMES["spearman"])
    return Section(
        title="By subset",
        prose="Parts of rated sets: pairs of which both words are about as frequent, have about as "
        "many topics or are of one domain, and pairs that are associated or not.",
        parts=[Table(caption="Spearman's correlation on parts of rated sets", frame=table)],
    )


def _telling(best: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of sets that have enough pairs to tell, or all where none has."""
    telling = best.filter(pl.col("n_pairs") >= _FEW)
    return telling if telling.height else best


def _left_out(best: pl.DataFrame) -> str:
    """Return a sentence on the sets that are not drawn, nothing where all are."""
    if _telling(best).height == best.height:
        return ""
    return f" Sets of fewer than {_FEW} pairs are in the table only."


def _with_standing(best: pl.DataFrame) -> pl.DataFrame:
    """Return rows with standings; an embedding without another to compare with is the best."""
    if "among_best" in best.columns:
        return best
    zero = pl.lit(0, pl.Int64)
    return best.with_columns(
        zero.alias("n_better"), zero.alias("n_worse"), pl.lit(True).alias("among_best")
    )


def _summary(best: pl.DataFrame, statistic: str) -> Table:
    frame = (
        best.group_by("embedding")
        .agg(
            pl.len().cast(pl.Int64).alias("sets"),
            pl.col("among_best").sum().cast(pl.Int64).alias("among the best on"),
            pl.col("n_better").sum().alias("wins"),
            pl.col("n_worse").sum().alias("losses"),
            pl.col("value").mean().alias(f"mean {STATISTIC_NAMES[statistic]}"),
        )
        .sort(
            "among the best on",
            f"mean {STATISTIC_NAMES[statistic]}",
            "embedding",
            descending=[True, True, False],
        )
    )
    return Table(
        caption=f"Standings by {STATISTIC_NAMES[statistic]}, over all sets of {_FEW} pairs or "
        "more; wins and losses are significant differences from another",
        frame=frame,
    )


def _board(best: pl.DataFrame, statistic: str, embeddings: Sequence[str]) -> Chart:
    title = STATISTIC_NAMES[statistic]
    telling = _telling(best)
    rows = telling.select(
        kind_of_set(telling).alias("panel"),
        set_name(telling).alias("y"),
        pl.col("embedding").alias("contender"),
        "value",
        "low",
        "high",
        pl.col("among_best").alias("filled"),
    )
    labelled = statistic != "spearman"
    spec = charts.dots(
        embeddings,
        x=title,
        y=distinct(rows["y"]),
        panels=distinct(rows["panel"]) if labelled else (),
        line=charts.CHANCE if statistic == "auc" else None,
    )
    where = best["input"][0] if labelled else "rated pairs"
    return Chart(
        title=f"{title[0].upper()}{title[1:]} on {where}",
        says=f"{_HOW[statistic]} {_FILLED}{_left_out(best)}",
        spec=spec,
        rows=rows if labelled else rows.drop("panel"),
        table=Table(caption=f"{title} on {where}", frame=_board_table(best, title)),
    )


def _board_table(best: pl.DataFrame, title: str) -> pl.DataFrame:
    return best.select(
        *told_sets(best),
        "embedding",
        "metric",
        pl.col("value").alias(title),
        pl.col("low").alias("from"),
        pl.col("high").alias("to"),
        pl.col("n_pairs").alias("pairs"),
        pl.col("n_better").alias("better than"),
        pl.col("n_worse").alias("worse than"),
        pl.col("among_best").alias("among the best"),
    )


def accuracy(
    results: pl.DataFrame, comparisons: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return how many pairs each embedding tells rightly, by difficulty and strategy."""
    best = best_metrics(results, comparisons, ("accuracy",)).drop_nulls("value")
    if best.is_empty():
        return None
    telling = _telling(best)
    rows = telling.select(
        kind_of_set(telling).alias("y"),
        pl.col("embedding").alias("contender"),
        "value",
        pl.format("{}: {}", "input", "dataset").alias("name"),
    )
    chart = Chart(
        title="Accuracy by difficulty and strategy of negatives",
        says="Each point is a dataset, each bar across the mean of the datasets; the dashed line "
        "at 0.5 is a coin where there are as many negatives as positives. A pair is taken for a "
        "positive if it is at least as similar as a threshold, which is the best on these very "
        "pairs; the table has the accuracy at a threshold that was chosen on other pairs as well."
        f"{_left_out(best)}",
        spec=charts.strips(embeddings, x="accuracy", y=distinct(rows["y"])),
        rows=rows,
        table=Table(
            caption="Accuracy, with 95% intervals (Wilson)", frame=_accuracy_table(best, results)
        ),
    )
    return Section(
        title="Accuracy",
        prose="The share of pairs that each embedding tells rightly, at the metric under which it "
        "tells most of them.",
        parts=[chart],
    )


def _accuracy_table(best: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
    held_out = results.filter(statistic="accuracy_heldout", subset="common")
    return best.join(
        held_out.select(*SET, "embedding", "metric", pl.col("value").alias("held out")),
        on=[*SET, "embedding", "metric"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    ).select(
        *SET,
        "embedding",
        "metric",
        pl.col("value").alias("accuracy"),
        pl.col("low").alias("from"),
        pl.col("high").alias("to"),
        "held out",
        pl.col("n_pairs").alias("pairs"),
    )
