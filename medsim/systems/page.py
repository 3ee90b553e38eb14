"""The part of a report on scores of ranked lists."""

from __future__ import annotations

from typing import Any

import polars as pl

from medsim.pages import charts
from medsim.pages.page import Chart, PageTable, Section, distinct
from medsim.pages.readable import headed
from medsim.pages.sentences import p_shown
from medsim.systems.rankings import (
    RankedOutput,
    answer_sample,
    ranking_sentences,
    readable_rankings,
)

_FEW_POINTS = 20  # of a curve, which are drawn
_CAPTIONS = {
    "accuracy_at_1": "Accuracy in percent",
    "parent": "Near misses in percent",
    "answered": "Answers and their precision, in percent",
    "stratum": "Accuracy@1 of strata in percent",
}


def ranking_section(
    ranked: RankedOutput[Any], items: str, scored: pl.DataFrame | None = None
) -> Section:
    """Return the section on scores of ranked lists: who leads, and how much can be answered.

    Args:
        ranked: the output.
        items: what is looked up, such as "mention".
        scored: model, rank and score of each item, if some models have probabilities.
    """
    results, comparisons, tables = ranked.results(), ranked.comparisons(), []
    for frame in readable_rankings(results):
        caption = next(said for column, said in _CAPTIONS.items() if column in frame.columns)
        tables.append(PageTable(caption=caption, frame=headed(frame, pl.all())))
    tests = headed(comparisons.with_columns(p_shown("p", "p_bonferroni", "p_holm")), pl.all())
    tables.append(PageTable(caption="Paired comparisons", frame=tests, view="comparison"))
    models = distinct(results["model"])
    parts = [_coverage(ranked.curves(), models)]
    if scored is not None:
        calibrated = results.filter(statistic="calibration_error")["model"].implode()
        parts.append(_calibration(scored.filter(pl.col("model").is_in(calibrated)), models))
    return Section(
        title="Scores",
        result=ranking_sentences(results, comparisons, items),
        parts=[*parts, *tables],
    )


def _coverage(curves: pl.DataFrame, models: list[str]) -> Chart:
    drawn = curves.with_columns(
        choice=pl.format("{}, {}", "corpus", pl.col("stratum").str.replace_all("_", " ")),
        contender="model",
        at=pl.int_range(pl.len()),
        is_point=pl.len().over("corpus", "stratum", "model") <= _FEW_POINTS,
    )
    return Chart(
        title="How much is answered, and how much of it is right",
        says="Each point is a threshold on a model's scores. Its distance from the left is the "
        "share of items with an answer of at least this score, and its height is the share of "
        "these that are right. A system whose answers have no scores is one point.",
        spec=charts.curves(
            models,
            distinct(drawn["choice"]),
            x=("coverage", "share answered"),
            y=("precision", "share of answers that are right"),
            noun="model",
            diagonal=False,
            with_points=True,
        ),
        rows=drawn.select("choice", "contender", "at", "coverage", "precision", "is_point"),
        table=PageTable(caption="Thresholds", frame=headed(curves, pl.all()), view="curve"),
        narrow=True,
    )


def _calibration(scored: pl.DataFrame, models: list[str]) -> Chart:
    rows = []
    for (model,), of_model in scored.group_by("model", maintain_order=True):
        sample = answer_sample(of_model.with_columns(cluster=pl.int_range(pl.len())))
        rows += [(model, *point) for point in zip(*sample.calibration(), strict=True)]
    columns = {"model": pl.String, **dict.fromkeys(("score", "right", "answers"), pl.Float64)}
    table = pl.DataFrame(rows, columns, orient="row").with_columns(pl.col("answers").cast(pl.Int64))
    return Chart(
        title="Scores from 0 to 1, and how many of the answers are right",
        says="Answers are in ten bins by their score. On the dashed diagonal, as many are right as "
        "the score says, if it is a probability; below it, fewer. Codes without a match count as "
        "wrong.",
        spec=charts.curves(
            models,
            (),
            x=("score", "mean score"),
            y=("right", "share right"),
            noun="model",
            with_points=True,
        ),
        rows=table.select(
            "score", "right", contender="model", at=pl.int_range(pl.len()), is_point=True
        ),
        table=PageTable(caption="Bins", frame=headed(table, pl.all())),
        narrow=True,
    )
