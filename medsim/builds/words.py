"""The words that name sets of pairs, with their meanings, for pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core import queries
from medsim.core.config import EASY_DISTANCE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_DIFFICULTIES = {
    "easy": f"Sets whose positives differ by at most {EASY_DISTANCE} edits: letters put in, taken "
    "out or changed.",
    "hard": f"Sets whose positives differ by more than {EASY_DISTANCE} edits.",
}
_NEGATIVES = {
    "random": "Two terms of different meaning; the second is drawn by chance.",
    "levenshtein": "Two terms of different meaning that look alike: the second is the nearest to "
    "the first by the number of letters put in, taken out or changed.",
    "embedding": "Two terms of different meaning; the second is the one that the vectors of an "
    "embedding find most similar to the first.",
}


def words_of_sets(has: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the meanings of the datasets, difficulties and negatives that a page has."""
    datasets = {one.name: queries.query(one.query).sentence for one in queries.datasets()}
    strategies = {name: text for name, text in _NEGATIVES.items() if name in has["negatives"]}
    return {
        **{name: text for name, text in datasets.items() if name in has["dataset"]},
        **{name: text for name, text in _DIFFICULTIES.items() if name in has["difficulty"]},
        **{f"{name} negatives": text for name, text in strategies.items()},
    }
