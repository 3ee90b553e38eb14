"""A classifier of rows in parts: each part is scored by what was learned from the others."""

from __future__ import annotations

import math

import numpy as np

from medsim.kernels.boosting import N_BINS, Trees, binned, boosted_trees, log_odds
from medsim.kernels.types import ByteTable, Flags, Ids, Singles, Values, Vectors

_N_TREES = 200
_SEEN = 0.4  # share of the features that a tree sees
_N_STRATA = 50


class CrossFitted:
    """A gradient boosting classifier for each part, trained on the other parts.

    Features are divided into 255 bins, at values that are equally frequent in all rows. Trees are
    large, add little each and see 40% of the features, so that a forest or another boosting on the
    same features knows hardly more. The result is the same on every processor, with any number of
    threads.

    Args:
        features: float32[n_features, n_rows], without NaN.
        labels: bool[n_rows].
        parts: int32[n_rows], from 0 on.
        n_parts: number of parts.
    """

    def __init__(self, features: Vectors, labels: Flags, parts: Ids, n_parts: int = 2) -> None:
        self._edges = np.array([_edges(values) for values in features])
        bins = binned(features, self._edges)
        others = [parts != part for part in range(n_parts)]
        self._trees = [_trained(np.compress(other, bins, 1), labels[other]) for other in others]

    def log_odds(self, features: Vectors, parts: Ids) -> Values:
        """Return the log odds of positives for rows of all parts: float64[n_rows]."""
        bins, odds = binned(features, self._edges), np.empty(len(parts))
        for part, trees in enumerate(self._trees):
            odds[parts == part] = log_odds(np.compress(parts == part, bins, 1), trees)
        return odds


def _edges(values: Singles) -> Singles:
    """Return the largest value of each bin but the last, ascending: float32[N_BINS]."""
    ascending = np.sort(values)
    edges = np.unique(ascending)[:-1]
    if len(edges) >= N_BINS:
        edges = np.unique(ascending[np.arange(1, N_BINS) * len(ascending) // N_BINS])
    return np.append(edges, np.full(N_BINS - len(edges), np.inf, np.float32))


def _trained(bins: ByteTable, labels: Flags) -> Trees:
    n_positives = int(np.count_nonzero(labels))
    share = (n_positives + 0.5) / (len(labels) + 1)
    # Rounded, as logarithms may differ in the last digit between processors.
    start = round(math.log(share / (1 - share)), 9)
    n_drawn = math.ceil(_SEEN * len(bins))
    return boosted_trees(bins, labels, start, _N_TREES, n_drawn)


def strata_of_scores(scores: Values, parts: Ids) -> Ids:
    """Return strata of rows of the same part with nearly equal scores: int32[n_rows], from 0 on.

    Each part is divided into 50 strata, at scores that divide its rows equally.

    Args:
        scores: float64[n_rows].
        parts: int32[n_rows], from 0 on.
    """
    strata = np.empty(len(scores), np.int32)
    for part in np.unique(parts):
        members = parts == part
        ascending = np.sort(scores[members])
        cuts = ascending[np.arange(1, _N_STRATA) * len(ascending) // _N_STRATA]
        strata[members] = part * _N_STRATA + np.searchsorted(cuts, scores[members], side="right")
    return strata
