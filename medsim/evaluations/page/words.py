"""The words of a report that need an explanation, with their meanings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core import queries
from medsim.embeddings.metrics import METRICS
from medsim.evaluations.sets import SET
from medsim.evaluations.statistic import STATISTICS

if TYPE_CHECKING:
    import polars as pl

_DIFFICULTIES = {
    "easy": "Sets whose positives differ by at most 5 edits: letters put in, taken out or changed.",
    "hard": "Sets whose positives differ by more than 5 edits.",
}
_NEGATIVES = {
    "random": "Two terms of different meaning; the second is drawn by chance.",
    "levenshtein": "Two terms of different meaning that look alike: the second is the nearest to "
    "the first by the number of letters put in, taken out or changed.",
    "embedding": "Two terms of different meaning; the second is the one that the vectors of an "
    "embedding find most similar to the first.",
}


def words_of(results: pl.DataFrame) -> dict[str, str]:
    """Return the meanings of those words that a page on these results has."""
    has = {column: {*results[column].drop_nulls()} for column in (*SET, "metric", "statistic")}
    datasets = {one.name: queries.query(one.query).sentence for one in queries.datasets()}
    metrics = {name: f"A metric: {one.describes}." for name, one in METRICS.all().items()}
    strategies = {name: text for name, text in _NEGATIVES.items() if name in has["negatives"]}
    return {
        **{name: text for name, text in datasets.items() if name in has["dataset"]},
        **{name: text for name, text in _DIFFICULTIES.items() if name in has["difficulty"]},
        **{f"{name} negatives": text for name, text in strategies.items()},
        **{name: text for name, text in metrics.items() if name in has["metric"]},
        **{one.label: one.help for name, one in STATISTICS.items() if name in has["statistic"]},
    }
