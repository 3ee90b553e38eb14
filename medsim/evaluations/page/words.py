"""The words of a report that need an explanation, with their meanings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.builds.page import words_of_sets
from medsim.embeddings.metrics import METRICS
from medsim.evaluations.sets import SET
from medsim.evaluations.statistic import STATISTICS

if TYPE_CHECKING:
    import polars as pl


def words_of(results: pl.DataFrame) -> dict[str, str]:
    """Return the meanings of those words that a page on these results has."""
    has = {column: {*results[column].drop_nulls()} for column in (*SET, "metric", "statistic")}
    metrics = {name: f"A metric: {one.describes}." for name, one in METRICS.all().items()}
    return {
        **words_of_sets(has),
        **{name: text for name, text in metrics.items() if name in has["metric"]},
        **{one.label: one.help for name, one in STATISTICS.items() if name in has["statistic"]},
    }
