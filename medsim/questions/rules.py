"""Rules that choose a name by its spelling, whatever it means."""

from __future__ import annotations

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from medsim.builds.spelling import SpellingFeatures
from medsim.core.data import toml_of
from medsim.core.terms import lowered_column, numbers_of
from medsim.kernels.types import Flags, Ids, Ranks, Values, Vectors
from medsim.statistics.boosting import CrossFitted

_RARE_TRIGRAMS = 13
_FEATURES = [0, 1, 2, 7, 8, _RARE_TRIGRAMS, 18]
_MIN_POSITIVES = 500  # of a half

N_SCORES = 8
"""The number of scores of ``NameScores``."""

RULES: dict[str, tuple[int, int]] = toml_of(__package__, "rules.toml")
"""The number of a score by rule, and 1 to choose its largest value or -1 its smallest."""


class NameScores:
    """The scores by which rules compare names with a term.

    Args:
        names: distinct names; see ``medsim.questions.making.make_questions``.
        first: int32[n_pairs], rows of the first names of pairs that a classifier learns from.
        second: int32[n_pairs].
        labels: bool[n_pairs], true for positives.
    """

    def __init__(self, names: pl.DataFrame, first: Ids, second: Ids, labels: Flags) -> None:
        self._features = SpellingFeatures(names["lower_term"])
        self._halves = (names["component"].rank("dense") % 2).cast(pl.Int32).to_numpy()
        n_positives = np.bincount(self._halves[first[labels]], minlength=2)
        self.is_learned = bool(n_positives.min() >= _MIN_POSITIVES)
        if self.is_learned:
            of_pairs = self._features.of(first, second)
            self._classifier = CrossFitted(of_pairs, labels, self._halves[first])

    def of(self, first: Ids, second: Ids) -> Vectors:
        """Return the scores of pairs of rows of names: float32[8, n_pairs].

        They are edit distance, the same over length, difference of lengths, common prefix and
        suffix, overlap of trigrams in which rare ones count more, overlap of words, and log odds of
        a classifier that learned from the other half of the components. With fewer than 500
        positives in a half, the overlap of trigrams takes their place.
        """
        features = self._features.of(first, second)
        learned = features[_RARE_TRIGRAMS]
        if self.is_learned:
            learned = self._classifier.log_odds(features, self._halves[first])
        return np.vstack([features[_FEATURES], learned.round(4)], dtype=np.float32)


def likeness_of(names: list[str]) -> Ranks:
    """Return how alike names are: int32[n_names, n_names].

    It is 1 minus edit distance over length, in thousandths, so that sums are exact.
    """
    alike = Levenshtein.normalized_similarity
    return cdist(names, names, scorer=alike, dtype=np.int32, score_multiplier=1_000)


def scores_by_rule(pairs: pl.DataFrame) -> dict[str, Values]:
    """Return scores of pairs of a term and a choice; a rule chooses the name with the largest.

    Args:
        pairs: see ``medsim.questions.answers.asked_of``.
    """
    terms, names = lowered_column(pairs["term"]), lowered_column(pairs["name"].alias("term"))
    distinct = pl.concat([terms, names]).unique(maintain_order=True)
    first, second = (numbers_of(each, distinct).to_numpy() for each in (terms, names))
    choices = pairs.select("id", names).group_by("id", maintain_order=True).agg("lower_term")
    likeness = [likeness_of(each).sum(axis=0) for each in choices["lower_term"].to_list()]
    learned = pairs.select(pl.col("spelling").list.get(pl.col("position"))).to_series()
    scores = [*SpellingFeatures(distinct).of(first, second)[_FEATURES], learned.to_numpy()]
    scores.append(np.concatenate(likeness))
    return {name: sign * scores[number] for name, (number, sign) in RULES.items()}
