"""Rank correlations: concordance of two rankings, and Spearman's correlation in resamples."""

from __future__ import annotations

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.packing import mixed
from medsim.kernels.types import Counts, FloatTable, Ids, Places, Ranks


@kernel
def _n_below(tree: Counts, rank: int) -> int:
    """Return how many of the counted ranks are below ``rank``."""
    n_counted = 0
    while rank > 0:
        n_counted += tree[rank]
        rank &= rank - 1
    return n_counted


@kernel
def _count(tree: Counts, rank: int) -> None:
    """Count a rank: the slot of rank r is r + 1, as slot 0 of the tree stays empty."""
    slot = rank + 1
    while slot < len(tree):
        tree[slot] += 1
        slot += slot & -slot


@kernel
def concordance_below(left: Ids, right: Ids) -> Counts:
    """Return, for each row, how many rows of smaller left rank are concordant, less discordant.

    A row of smaller left rank is concordant if its right rank is smaller too, and discordant if it
    is larger. Rows are counted in a binary indexed tree over the right ranks (Fenwick 1994), all
    rows that tie on the left at once. ``left`` and ``right`` are int32[n_rows]: left ranks never
    decrease, right ranks are from 0 to n_rows - 1, and both may have gaps. Returns int64[n_rows],
    in time O(n_rows log n_rows) and memory O(n_rows).
    """
    n_rows = len(left)
    net, tree = np.zeros(n_rows, np.int64), np.zeros(n_rows + 1, np.int64)
    first = 0
    while first < n_rows:
        stop = first
        while stop < n_rows and left[stop] == left[first]:
            agreeing = _n_below(tree, right[stop])
            disagreeing = first - _n_below(tree, right[stop] + 1)
            net[stop] = agreeing - disagreeing
            stop += 1
        for row in range(first, stop):
            _count(tree, right[row])
        first = stop
    return net


_GAMMA = np.uint64(0x9E3779B97F4A7C15)


@kernel
def drawn_rows(n_rows: int, seed: np.uint64, resample: np.uint64) -> Ids:
    """Draw ``n_rows`` rows with replacement, and return how often each row was drawn.

    A SplitMix64 generator (Steele et al. 2014) starts from the hash of the seed and the resample's
    number, so a resample is the same in any thread. Returns int32[n_rows], in time O(n_rows).
    """
    times = np.zeros(n_rows, np.int32)
    state = mixed(mixed(seed) ^ resample)
    for _ in range(n_rows):
        times[np.int64(mixed(state) % np.uint64(n_rows))] += 1
        state += _GAMMA
    return times


@kernel
def _centred_ranks(ranks: Ids, times: Ids) -> Ids:
    """Return, for each dense rank, how many drawn rows are below it, less how many are above."""
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
    """Return Spearman's correlation of rows with integer weights; all are int32[n_rows].

    This is Pearson's correlation of average ranks (Kendall 1948, Rank Correlation Methods). Twice
    an average rank, less its mean, is the number of rows below less the number above: a whole
    number, counted over the dense ranks from 0. So nothing is sorted, and sums are exact.
    ``times`` are the weights of rows, at most 3,000,000 in all.

    The result is from -1 to 1, or NaN if a side is constant. Time and memory O(n_rows).
    """
    return _spearman_beside(left, right, _centred_ranks(right, times), times)


@kernel
def _spearman_beside(left: Ids, right: Ids, of_right: Ids, times: Ids) -> float:
    """Return ``weighted_spearman``, with the centred ranks of the right side computed before."""
    of_left = _centred_ranks(left, times)
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
def resampled_spearman(
    sides: Ranks, right: Ids, seed: np.uint64, first: int, stop: int
) -> FloatTable:
    """Return Spearman's correlation of every side with ``right`` in the resamples of a range.

    Sides are dense ranks, int32[n_sides, n_rows]. All sides of a resample use the same rows.
    Returns float64[stop - first, n_sides], NaN where a correlation is undefined. Time
    O(n_sides * n_rows) per resample.
    """
    rhos = np.empty((stop - first, len(sides)), np.float64)
    for resample in range(first, stop):
        times = drawn_rows(len(right), seed, np.uint64(resample))
        of_right = _centred_ranks(right, times)
        for side in range(len(sides)):
            rhos[resample - first, side] = _spearman_beside(sides[side], right, of_right, times)
    return rhos


@kernel
def shared_spearman(left: Ids, right: Ids, times: Ids) -> float:
    """Return ``weighted_spearman`` over the rows with a rank on both sides.

    All are int32[n_rows]; the rank -1 means no rank.
    """
    shared = np.empty(len(times), np.int32)
    for row in range(len(times)):
        shared[row] = times[row] if left[row] >= 0 and right[row] >= 0 else 0
    return weighted_spearman(np.maximum(left, np.int32(0)), np.maximum(right, np.int32(0)), shared)


@kernel
def resampled_pairs(
    ranks: Ranks, pairs: Places, seed: np.uint64, first: int, stop: int
) -> FloatTable:
    """Return ``shared_spearman`` of some pairs of sides in the resamples of a range.

    Ranks are dense, int32[n_sides, n_rows], -1 where a side has no rank; ``pairs`` are the pairs of
    sides to correlate. Returns float64[stop - first, n_pairs], like ``resampled_spearman``.
    """
    rhos = np.empty((stop - first, len(pairs)), np.float64)
    for resample in range(first, stop):
        times = drawn_rows(ranks.shape[1], seed, np.uint64(resample))
        for pair in range(len(pairs)):
            left, right = ranks[pairs[pair, 0]], ranks[pairs[pair, 1]]
            rhos[resample - first, pair] = shared_spearman(left, right, times)
    return rhos
