"""Spearman's correlation of pairs that are drawn with replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.hashing import mixed

if TYPE_CHECKING:
    from medsim.kernels.types import Ids, Places, Ranks, Table

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


@kernel
def drawn_rows(n_rows: int, seed: np.uint64, resample: np.uint64) -> Ids:
    """Return how often each row is drawn when as many are drawn with replacement as there are.

    A SplitMix64 generator (Steele et al. 2014) whose state begins with the hash of the seed and the
    resample's number, so a resample is the same whoever draws it. int32[n_rows], time O(n_rows).
    """
    times = np.zeros(n_rows, np.int32)
    state = mixed(mixed(seed) ^ resample)
    for _ in range(n_rows):
        times[np.int64(mixed(state) % np.uint64(n_rows))] += 1
        state += _GAMMA
    return times


@kernel
def _centred_ranks(ranks: Ids, times: Ids) -> Ids:
    """Return for each dense rank how many drawn rows are below it less how many are above."""
    centred = np.zeros(len(ranks), np.int32)
    n_drawn = 0
    for row in range(len(ranks)):
        centred[ranks[row]] += times[row]
        n_drawn += times[row]
    n_below = 0
    for rank in range(len(ranks)):
        n_tied = centred[rank]
        centred[rank] = 2 * n_below + n_tied - n_drawn
        n_below += n_tied
    return centred


@kernel
def weighted_spearman(left: Ids, right: Ids, times: Ids) -> float:
    """Return Spearman's correlation of rows of which each counts a number of times.

    It is Pearson's correlation of average ranks (Kendall 1948, Rank Correlation Methods). Twice an
    average rank, less its mean, is the number of rows below less the number above: a whole number,
    found by counting over the dense ranks, which are from 0. So nothing is sorted, and sums are
    exact. Rows count ``times``, at most 3,000,000 in all.

    From -1 to 1; NaN where a side is constant. Time and memory O(n_rows).
    """
    of_left, of_right = _centred_ranks(left, times), _centred_ranks(right, times)
    square_left, square_right, product = np.int64(0), np.int64(0), np.int64(0)
    for row in range(len(times)):
        if times[row]:
            n_times = np.int64(times[row])
            a, b = np.int64(of_left[left[row]]), np.int64(of_right[right[row]])
            square_left += n_times * a * a
            square_right += n_times * b * b
            product += n_times * a * b
    if square_left == 0 or square_right == 0:
        return np.nan
    return float(product) / np.sqrt(float(square_left) * float(square_right))


@kernel
def resampled_spearman(sides: Ranks, right: Ids, seed: np.uint64, first: int, stop: int) -> Table:
    """Return Spearman's correlation of each of some sides in each of some resamples.

    Sides are dense ranks, int32[n_sides, n_rows], each correlated with those of ``right``.
    float64[stop - first, n_sides], all sides of a resample in the same rows; NaN where one is not
    defined. Time O(n_sides * n_rows) each.
    """
    found = np.empty((stop - first, len(sides)), np.float64)
    for resample in range(first, stop):
        times = drawn_rows(len(right), seed, np.uint64(resample))
        for side in range(len(sides)):
            found[resample - first, side] = weighted_spearman(sides[side], right, times)
    return found


@kernel
def shared_spearman(left: Ids, right: Ids, times: Ids) -> float:
    """Return ``weighted_spearman`` over the rows that have a rank on both sides; -1 is none."""
    shared = np.empty(len(times), np.int32)
    for row in range(len(times)):
        shared[row] = times[row] if left[row] >= 0 and right[row] >= 0 else 0
    return weighted_spearman(np.maximum(left, np.int32(0)), np.maximum(right, np.int32(0)), shared)


@kernel
def resampled_pairs(ranks: Ranks, pairs: Places, seed: np.uint64, first: int, stop: int) -> Table:
    """Return ``shared_spearman`` of some pairs of sides in each of some resamples.

    Ranks are dense, int32[n_sides, n_rows], -1 where a side has none; ``pairs`` are the sides that
    are correlated. float64[stop - first, n_pairs], else as of ``resampled_spearman``.
    """
    found = np.empty((stop - first, len(pairs)), np.float64)
    for resample in range(first, stop):
        times = drawn_rows(ranks.shape[1], seed, np.uint64(resample))
        for pair in range(len(pairs)):
            left, right = ranks[pairs[pair, 0]], ranks[pairs[pair, 1]]
            found[resample - first, pair] = shared_spearman(left, right, times)
    return found
