"""Ranks of values, rank correlations, scores of ranks, and histograms and ROC curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from medsim.kernels.resampling import concordance_below
from medsim.kernels.types import Counts, Flags, FloatTable, Ids, Rows, Values
from medsim.statistics.estimates import Estimate, clustered_mean, quotients
from medsim.statistics.significance import Test, clustered_difference

_Numbers = TypeVar("_Numbers", Values, FloatTable)

_LOST = 1e-12  # relative: far above the rounding of sums of some thousand numbers


class Ranked(NamedTuple):
    """Values by rank.

    Attributes:
        distinct: float64[n_distinct], the values that occur, in order.
        ranks: int32[n_pairs], the dense rank of each pair's value: its row in ``distinct``.
    """

    distinct: Values
    ranks: Ids


def ranked(values: Values) -> Ranked:
    """Return the dense ranks of values, float64[n_pairs] without NaN; one sort."""
    distinct, ranks = np.unique(values, return_inverse=True)
    return Ranked(distinct, ranks.astype(np.int32))


def label_counts(values: Values, labels: Flags) -> tuple[Values, Counts, Counts]:
    """Return the distinct values in order, and how many True and False labels each has.

    Args:
        values: float64[n_pairs] without NaN.
        labels: bool[n_pairs].
    """
    distinct, ranks = ranked(values)
    return distinct, *counts_by_label(ranks, labels, len(distinct))


def counts_by_label(
    groups: Rows | Ids, labels: Flags, n_groups: int | None = None
) -> tuple[Counts, Counts]:
    """Return how many True and False labels each group has, int64[n_groups] each.

    ``n_groups`` is by default the number of the last group plus 1.
    """
    n_groups = int(groups.max(initial=-1)) + 1 if n_groups is None else n_groups
    n_true, n_false = (
        np.bincount(groups[chosen], minlength=n_groups) for chosen in (labels, ~labels)
    )
    return n_true, n_false


def without_rounding_errors(means: _Numbers) -> _Numbers:
    """Return the means, where any that differ by at most 1e-12 of the largest become equal.

    So means of the same numbers are tied, in whatever order they were added: in floating point,
    0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1. The shape stays the same, and so does NaN.
    """
    distinct, places = np.unique(means, return_inverse=True)
    if not len(distinct):
        return means
    apart = ~(np.diff(distinct) <= _LOST * np.nanmax(np.abs(means), initial=0))  # NaN is the last
    firsts = np.flatnonzero(np.concatenate([[True], apart]))
    numbers = np.concatenate([[0], np.cumsum(apart)])
    tied: _Numbers = distinct[firsts[numbers]][places].reshape(means.shape)
    return tied


def concordances(left: Ids, right: Ids) -> Counts:
    """Return for each pair the number of concordant minus the number of discordant other pairs.

    Both sides are dense ranks, int32[n_pairs]; a pair that ties on either side counts as neither.
    Time O(n_pairs log n_pairs).
    """
    if not len(left):
        return np.zeros(0, np.int64)
    order = np.argsort(left, kind="stable")
    up_left, up_right = left[order], right[order]
    # In reversed order, the pairs above are below.
    down_left, down_right = (up_left[-1] - up_left)[::-1], (up_right.max() - up_right)[::-1]
    below = concordance_below(up_left, up_right)
    above = concordance_below(down_left.copy(), down_right.copy())[::-1]
    net = np.empty(len(left), np.int64)
    net[order] = below + above
    return net


def kendall(left: Ids, right: Ids) -> float:
    """Return Kendall's tau-b (Kendall 1945) of dense ranks, int32[n_pairs]; NaN if constant."""
    free_left, free_right = _n_untied(left), _n_untied(right)
    if free_left == 0 or free_right == 0:
        return math.nan
    return int(concordances(left, right).sum() // 2) / math.sqrt(free_left * free_right)


def leave_one_out_spearman(left: Ids, right: Ids) -> Values:
    """Return Spearman's correlation without each of the pairs in turn.

    Let a be, for each pair, the number of pairs below it on the left minus the number above: twice
    its average rank, centred. Without pair i, a falls by 1 for every pair above i, rises by 1 for
    every pair below, and stays for ties with i; b on the right likewise. So the sums of a a, b b
    and a b without i differ from the sums with i by running sums over the pairs above and below i,
    and by the concordance of i. All are whole numbers, and exact.

    Args:
        left: int32[n_pairs], dense ranks of one side, at most 3,000,000.
        right: int32[n_pairs], dense ranks of the other side.

    Returns:
        float64[n_pairs]; NaN where a side without the pair is constant. Time
        O(n_pairs log n_pairs), memory O(n_pairs).
    """
    a, b = _centred(left), _centred(right)
    squares_left = (a * a).sum() - a * a - 2 * _lean(left, a) + _n_others(left)
    squares_right = (b * b).sum() - b * b - 2 * _lean(right, b) + _n_others(right)
    products = (a * b).sum() - a * b - _lean(right, a) - _lean(left, b) + concordances(left, right)
    spreads = np.sqrt(squares_left.astype(np.float64) * squares_right.astype(np.float64))
    return quotients(products, spreads)


def _n_untied(ranks: Ids) -> int:
    """Return the number of untied pairs of ranks."""
    n_tied = np.bincount(ranks)
    return math.comb(len(ranks), 2) - int((n_tied * (n_tied - 1) // 2).sum())


def _centred(ranks: Ids) -> Counts:
    """Return for each value the number of values below it minus the number above."""
    n_tied = np.bincount(ranks)
    return (2 * np.cumsum(n_tied) - n_tied - len(ranks))[ranks]


def _n_others(ranks: Ids) -> Counts:
    """Return how many values differ from each."""
    return len(ranks) - np.bincount(ranks)[ranks]


def _lean(ranks: Ids, numbers: Counts) -> Counts:
    """Return for each pair the sum of ``numbers`` of the pairs above it minus those below.

    Sums of numbers stay within 2**53.
    """
    sums = np.bincount(ranks, weights=numbers).astype(np.int64)
    leans: Counts = sums.sum() - 2 * np.cumsum(sums) + sums
    return leans[ranks]


def histogram(similarities: Values, labels: Flags, n_bins: int = 40) -> tuple[Values, FloatTable]:
    """Return the histogram of finite similarities of positives and of negatives.

    The bins have equal widths, from the least to the largest similarity.

    Returns:
        float64[n_bins], the middle of each bin; float64[2, n_bins], shares of the positives and of
        the negatives. Both classes have pairs.
    """
    ends = np.histogram_bin_edges(similarities, n_bins)
    counts = np.array(
        [np.histogram(similarities[members], ends)[0] for members in (labels, ~labels)]
    )
    return (ends[:-1] + ends[1:]) / 2, counts / counts.sum(axis=1, keepdims=True)


def roc_curve(similarities: Values, labels: Flags, n_points: int = 120) -> FloatTable:
    """Return the ROC curve of similarities, from (0, 0) to (1, 1).

    Pairs of the same similarity count at once, so a tie is a slope and not a step. If the curve has
    more corners than ``n_points``, only corners next to equal steps along it are kept. Both classes
    have pairs.

    Returns:
        float64[2, at most n_points]: the shares of negatives and of positives that are at least as
        similar as each threshold, ascending.
    """
    _, n_positive, n_negative = label_counts(similarities, labels)
    counts = n_negative[::-1], n_positive[::-1]
    curve: FloatTable = np.array([np.r_[0, np.cumsum(count)] / count.sum() for count in counts])
    along = curve.sum(axis=0)
    if len(along) <= n_points:
        return curve
    steps = np.linspace(0, along[-1], n_points)
    return curve[:, np.unique(np.searchsorted(along, steps).clip(0, len(along) - 1))]


NOT_FOUND = 0
"""The rank of a linked term that was not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSample:
    """Ranks of the nearest linked term of each term.

    Attributes:
        ranks: int64[n_terms], from 1, or ``NOT_FOUND``.
        clusters: int[n_terms]; terms of a cluster are linked.
    """

    ranks: Counts
    clusters: Rows

    def accuracy_at(self, depth: int) -> Estimate:
        """Return the share of terms with a linked term among the nearest ``depth``."""
        return clustered_mean(self._hits_at(depth), self.clusters)

    def accuracy_difference(self, other: RankSample, depth: int) -> Test:
        """Test the difference in accuracy from other ranks of the same terms."""
        return clustered_difference(self._hits_at(depth), other._hits_at(depth), self.clusters)

    def mean_reciprocal_rank(self) -> Estimate:
        """Return the mean reciprocal rank, 0 for terms not found (Voorhees, TREC-8, 1999)."""
        return clustered_mean(self._reciprocal(), self.clusters)

    def reciprocal_difference(self, other: RankSample) -> Test:
        """Test the difference in mean reciprocal rank from other ranks."""
        return clustered_difference(self._reciprocal(), other._reciprocal(), self.clusters)

    def _hits_at(self, depth: int) -> Values:
        return ((self.ranks > NOT_FOUND) & (self.ranks <= depth)).astype(np.float64)

    def _reciprocal(self) -> Values:
        return np.where(self.ranks > NOT_FOUND, 1 / np.maximum(self.ranks, 1), 0.0)
