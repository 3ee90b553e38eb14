"""Ranks of values, and rank correlations of two sides of the same pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.concordance import concordance_below

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Ids, Values


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


def concordances(left: Ids, right: Ids) -> Counts:
    """Return for each pair how many others agree with it in order, less how many disagree.

    Of dense ranks, int32[n_pairs] each; another pair that ties on either side counts as neither.
    Time O(n_pairs log n_pairs).
    """
    if not len(left):
        return np.zeros(0, np.int64)
    order = np.argsort(left, kind="stable")
    up_left, up_right = left[order], right[order]
    # Seen from the top, what lies above lies below.
    down_left, down_right = (up_left[-1] - up_left)[::-1], (up_right.max() - up_right)[::-1]
    below = concordance_below(up_left, up_right)
    above = concordance_below(down_left.copy(), down_right.copy())[::-1]
    net = np.empty(len(left), np.int64)
    net[order] = below + above
    return net


def kendall(left: Ids, right: Ids) -> float:
    """Return Kendall's tau-b (Kendall 1945) of dense ranks; NaN where a side is constant."""
    free_left, free_right = _n_untied(left), _n_untied(right)
    if free_left == 0 or free_right == 0:
        return math.nan
    return int(concordances(left, right).sum() // 2) / math.sqrt(free_left * free_right)


def leave_one_out_spearman(left: Ids, right: Ids) -> Values:
    """Return Spearman's correlation of all pairs but one, for each that can be left out.

    Let a be, for each pair, how many are below it on the left less how many are above: twice its
    average rank, centred. Without pair i, the a of every other pair above i falls by 1, of every
    one below rises by 1, and stays where it ties with i; b on the right likewise. So the sums of
    a a, b b and a b without i differ from those with it by sums over the pairs above and below i,
    which running sums give, and by the concordance of i. All are whole numbers, and exact.

    Args:
        left: int32[n_pairs], dense ranks of one side, at most 3,000,000.
        right: int32[n_pairs], of the other.

    Returns:
        float64[n_pairs]; NaN where a side without the pair is constant. Time
        O(n_pairs log n_pairs), memory O(n_pairs).
    """
    a, b = _centred(left), _centred(right)
    squares_left = (a * a).sum() - a * a - 2 * _lean(left, a) + _n_others(left)
    squares_right = (b * b).sum() - b * b - 2 * _lean(right, b) + _n_others(right)
    products = (a * b).sum() - a * b - _lean(right, a) - _lean(left, b) + concordances(left, right)
    defined = (squares_left > 0) & (squares_right > 0)
    spreads = np.sqrt(squares_left.astype(np.float64) * squares_right.astype(np.float64))
    correlations = np.full(len(a), np.nan)
    correlations[defined] = products[defined] / spreads[defined]
    return correlations


def _n_untied(ranks: Ids) -> int:
    """Return the number of pairs of pairs that differ."""
    n_tied = np.bincount(ranks)
    return math.comb(len(ranks), 2) - int((n_tied * (n_tied - 1) // 2).sum())


def _centred(ranks: Ids) -> Counts:
    """Return how many values are below each, less how many are above."""
    n_tied = np.bincount(ranks)
    return (2 * np.cumsum(n_tied) - n_tied - len(ranks))[ranks]


def _n_others(ranks: Ids) -> Counts:
    """Return how many values differ from each."""
    return len(ranks) - np.bincount(ranks)[ranks]


def _lean(ranks: Ids, numbers: Counts) -> Counts:
    """Return the sum of the numbers of all pairs that rank above each, less those below.

    Sums of numbers stay within 2**53.
    """
    sums = np.bincount(ranks, weights=numbers).astype(np.int64)
    leans: Counts = sums.sum() - 2 * np.cumsum(sums) + sums
    return leans[ranks]
