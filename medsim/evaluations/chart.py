"""Charts of an evaluation's statistics, as Altair objects."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from medsim.evaluations.conclusions import best_metrics, with_standing
from medsim.evaluations.readable import set_kind, set_name, with_contenders
from medsim.evaluations.sets import CONFUSIONS, LADDER, parts_of_sets, whole_sets
from medsim.pages import charts

if TYPE_CHECKING:
    from medsim.evaluations.statistic import Statistic

_WIDTH, _PANEL_WIDTH = 480, 320


def chart_of(statistic: Statistic[Any], subset: str, *tables: pl.DataFrame) -> Any:
    """Return a chart of a statistic with confidence intervals and one point per embedding.

    Args:
        statistic: the statistic.
        subset: of the pairs or terms.
        tables: the table of the statistic's kind; results and comparisons for pairs.

    Returns:
        The chart, an Altair object; None if the tables do not have the statistic.
    """
    others = {"retrieval": _of_retrieval, "separation": _of_separation}
    points_of = others.get(statistic.kind, _of_pairs)
    points = points_of(statistic.name, subset, *tables).drop_nulls("value")
    if points.is_empty():
        return None
    names = points["panel"].unique().sort().to_list()
    panels = names if len(names) > 1 else ()
    spec = charts.dots(
        points["contender"].unique().sort().to_list(),
        x=charts.ValueAxis(title=statistic.label, line=statistic.chance),
        y=points["y"].unique(maintain_order=True).to_list(),
        panels=panels,
    )
    (spec["spec"] if panels else spec)["width"] = _PANEL_WIDTH if panels else _WIDTH
    colours = (files("medsim.pages") / "palette.css").read_text(encoding="utf-8")
    found_colours = re.findall(r"--(\w+): *(#[0-9a-f]+)", colours)
    palette = dict(reversed(found_colours))  # the first is that of light pages
    text = json.dumps(spec).replace("contender", "embedding")
    coloured = re.sub(r"var\(--(\w+)\)", lambda name: palette[name[1]], text)
    rows = points.rename({"contender": "embedding"}).to_dicts()
    return alt.Chart.from_dict({**json.loads(coloured), "datasets": {"rows": rows}})


def _of_pairs(
    name: str, subset: str, results: pl.DataFrame, comparisons: pl.DataFrame
) -> pl.DataFrame:
    """Return every embedding at its best metric on each set of pairs, one panel per kind."""
    of_sets = parts_of_sets if name in (*CONFUSIONS, *LADDER) else whole_sets
    results, comparisons = of_sets(results), of_sets(comparisons)
    best = best_metrics(results, comparisons, (name,), subset=subset, baseline=True)
    best = with_standing(best)
    kind = set_kind(best).replace("", "rated pairs")
    return score_points(best, panel=kind, y=set_name(best))


def score_points(
    scores: pl.DataFrame, contender: str | pl.Expr = "embedding", **others: Any
) -> pl.DataFrame:
    """Return the points of scores with their intervals, filled if among the best.

    See ``charts.points`` for the other arguments.
    """
    filled = pl.col("among_best").fill_null(value=True)
    return charts.points(scores, contender=contender, ends=("low", "high"), filled=filled, **others)


def _of_retrieval(name: str, subset: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return every embedding and index at its retrieval metric, one panel per build."""
    chosen = pl.col("length").is_null()
    rows = rows.filter(chosen, statistic=name, subset=subset)
    return charts.points(
        with_contenders(rows),
        panel="input",
        y=pl.col("difficulty").fill_null("all"),
        ends=("low", "high"),
    )


def _of_separation(name: str, subset: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return every embedding under every metric, over all triples, one panel per build."""
    del subset  # each embedding is scored on the terms that it covers
    whole = rows.filter(pl.col("category1").is_null() & pl.col("category2").is_null())
    return charts.points(whole, panel="input", y="metric", contender="embedding", value=name)
