"""The section that a report of an evaluation begins with: the result in sentences and a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.shown import number
from medsim.evaluations.conclusions import best_metrics, embedding_standings, with_standing
from medsim.evaluations.page.standing_sections import FILLED, board_table
from medsim.evaluations.sets import FEW, SET, with_enough_pairs
from medsim.evaluations.statistic import STATISTICS, tabulated_names
from medsim.evaluations.tables.labels import hardest_first, set_name
from medsim.pages import charts
from medsim.pages.page import Chart, Section, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.evaluations.statistic import Statistic

    Row = dict[str, Any]

_NAMED = 3  # embeddings that a sentence names at most
_INTERVAL = "95% interval"


def standing_order(
    results: pl.DataFrame, comparisons: pl.DataFrame, embeddings: Sequence[str]
) -> list[str]:
    """Return embeddings in the order of their standings, by the first statistic that there is."""
    for name in tabulated_names(best=True):
        best = with_enough_pairs(_best(results, comparisons, name))
        if best.height:
            found = embedding_standings(best)["embedding"].to_list()
            return found + sorted(set(embeddings) - set(found))
    return sorted(embeddings)


def result(
    results: pl.DataFrame, comparisons: pl.DataFrame, warnings: Sequence[str]
) -> Section | None:
    """Return the result in a few sentences, with the chart of the set that says most."""
    sentences: list[str] = []
    chart = None
    for statistic in map(STATISTICS.__getitem__, tabulated_names(best=True)):
        best = _best(results, comparisons, statistic.name)
        if best.is_empty():
            continue
        key = _telling_set(with_enough_pairs(best))
        sentences.append(_on_set(key, statistic))
        if chart is None:
            chart = _chart(key, statistic)
            sentences += _over_sets(with_enough_pairs(best), statistic)
    if chart is None:
        return None
    if warnings:
        sentences.append(f"{counted(len(warnings), 'warning')} under “Inputs and options”.")
    return Section(title="Result", prose="", parts=[chart], result=sentences)


def _best(results: pl.DataFrame, comparisons: pl.DataFrame, statistic: str) -> pl.DataFrame:
    return with_standing(best_metrics(results, comparisons, (statistic,)).drop_nulls("value"))


def _telling_set(best: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the set that says most, best first.

    It is the largest of hard pairs with the nearest negatives, else the largest of all.
    """
    named = best.with_columns(name=set_name(best, with_kind=True))
    hardest = hardest_first(named["name"])[0]
    is_hard = pl.col("difficulty").eq_missing("hard") & pl.col("negatives").eq_missing(
        named.filter(name=hardest)["negatives"][0]
    )
    hard = named.filter(is_hard)
    rows = hard if hard.height else named
    largest = rows.sort("n_pairs", *SET, descending=[True, *[False] * len(SET)]).head(1)
    of_set = rows.join(largest.select(SET), on=SET, how="semi", nulls_equal=True)
    return of_set.sort("value", "embedding", descending=[True, False])


def _on_set(key: pl.DataFrame, statistic: Statistic[Any]) -> str:
    """Return a sentence on who is best on a set, by how much, and whether that is much."""
    rows = key.to_dicts()
    first, others = rows[0], rows[1:]
    where = f"{first['name']} ({counted(first['n_pairs'], 'pair')})"
    size = "" if first["n_pairs"] >= FEW else ", too few to conclude from,"
    said = f"On {where}{size} {first['embedding']} has {_article(statistic)} of {_with_ends(first)}"
    return f"{said}{_beside(others)}{_against_chance(first, statistic)}."


def _article(statistic: Statistic[Any]) -> str:
    return f"an {statistic.label}" if statistic.label[0] in "AEIOU" else f"a {statistic.label}"


def _with_ends(row: Row) -> str:
    """Return a value with its interval."""
    value = number(row["value"], ".3f")
    if row["low"] is None or row["high"] is None:
        return f"{value} (without an interval)"
    return f"{value} ({_INTERVAL} {number(row['low'], '.3f')} to {number(row['high'], '.3f')})"


def _beside(others: Sequence[Row]) -> str:
    """Return how the best stands beside the others of its set."""
    if not others:
        return ""
    tied = [row["embedding"] for row in others if row["among_best"]]
    if tied:
        return f", and cannot be told from {listed(tied, _NAMED)}"
    second = others[0]
    return f", significantly ahead of {second['embedding']} at {_with_ends(second)}"


def _against_chance(row: Row, statistic: Statistic[Any]) -> str:
    """Return how a value stands beside that by chance."""
    chance = 0.0 if statistic.chance is None else statistic.chance
    if row["low"] is None or row["high"] is None or row["low"] > chance:
        return ""
    if row["high"] >= chance:
        return f"; it cannot be told from chance, {chance:g}"
    if statistic.chance is None:
        return "; it ranks pairs against the ratings"
    return f"; that is below chance, {chance:g}: negatives look more alike than positives"


def _over_sets(best: pl.DataFrame, statistic: Statistic[Any]) -> list[str]:
    """Return a sentence on standings over all sets, nothing where there is one set."""
    n_sets = best.select(SET).n_unique()
    if n_sets == 1:
        return []
    standings = embedding_standings(best).to_dicts()
    if len(standings) == 1:
        ends = best.sort("value").to_dicts()
        said = (
            f"Over {n_sets} sets its {statistic.label} goes from {_with_ends(ends[0])} to "
            f"{_with_ends(ends[-1])}, with a mean of {number(standings[0]['mean'], '.3f')}."
        )
        return [said]
    shown = [
        f"{row['embedding']} on {row['n_among_best']} (mean {statistic.label} "
        f"{number(row['mean'], '.3f')})"
        for row in standings[:_NAMED]
        if row["n_among_best"]
    ]
    these = "this is" if len(shown) == 1 else "these are"
    return [f"Of {n_sets} sets, {these} most often among the best: {listed(shown)}."]


def _chart(key: pl.DataFrame, statistic: Statistic[Any]) -> Chart:
    names, where = distinct(key["embedding"]), key["name"][0]
    label = statistic.label
    rows = charts.points(
        key.with_columns(contender=pl.lit("")),
        y="embedding",
        ends=("low", "high"),
        filled="among_best",
    )
    return Chart(
        title=f"{label[0].upper()}{label[1:]} on {where}, {counted(key['n_pairs'][0], 'pair')}",
        says=f"{statistic.help} Every embedding is at its best metric. {FILLED}",
        spec=charts.ranking(names, charts.ValueAxis(title=label, line=statistic.chance)),
        rows=rows,
        table=board_table(key, f"{label} on {where}", label),
    )
