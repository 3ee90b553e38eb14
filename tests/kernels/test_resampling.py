"""Correlations of ranks: concordance of two rankings, and Spearman's of resampled pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.hashing import MASK, mixed
from scipy import stats

from medsim.kernels.resampling import (
    concordance_below,
    drawn_rows,
    resampled_pairs,
    resampled_spearman,
    shared_spearman,
    weighted_spearman,
)

pytestmark = pytest.mark.kernels

GAMMA = 0x9E3779B97F4A7C15
Rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), max_size=25)


def dense(values: list[int]) -> np.ndarray:
    return stats.rankdata(values, "dense").astype(np.int32) - 1


def times_drawn(n_rows: int, seed: int, resample: int) -> list[int]:
    state = mixed(mixed(seed) ^ resample)
    draws = [mixed((state + GAMMA * draw) & MASK) % n_rows for draw in range(n_rows)]
    return [draws.count(row) for row in range(n_rows)]


def spearman(left: np.ndarray, right: np.ndarray) -> float:
    if len(set(left)) < 2 or len(set(right)) < 2:
        return math.nan
    return float(stats.spearmanr(left, right).statistic)


@given(st.integers(1, 30), st.integers(0, MASK), st.integers(0, 1 << 20))
def test_rows_are_drawn_by_splitmix64_from_seed_and_number(
    n_rows: int, seed: int, resample: int
) -> None:
    drawn = drawn_rows(n_rows, np.uint64(seed), np.uint64(resample))

    assert drawn.dtype == np.int32
    assert drawn.tolist() == times_drawn(n_rows, seed, resample)


@given(Rows)
def test_a_weighted_correlation_is_that_of_repeated_rows(rows: list[tuple[int, int, int]]) -> None:
    left, right = dense([row[0] for row in rows]), dense([row[1] for row in rows])
    times = np.array([row[2] for row in rows], np.int32)

    rho = weighted_spearman(left, right, times)

    expected = spearman(np.repeat(left, times), np.repeat(right, times))
    assert rho == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_equal_and_opposite_orders_correlate_exactly() -> None:
    ranks, once = dense([3, 1, 4, 1, 5, 9, 2, 6]), np.ones(8, np.int32)

    assert weighted_spearman(ranks, ranks, once) == 1
    assert weighted_spearman(ranks, ranks.max() - ranks, once) == -1


def test_all_sides_of_a_resample_have_the_same_rows_in_any_range() -> None:
    sides = np.stack([dense([3, 1, 4, 1, 5, 9, 2, 6, 5]), dense([1, 1, 2, 3, 5, 8, 9, 4, 4])])
    right, seed = dense([2, 7, 1, 8, 2, 8, 1, 8, 2]), np.uint64(7)

    whole = resampled_spearman(sides, right, seed, 0, 12)
    parts = [resampled_spearman(sides, right, seed, *ends) for ends in ((0, 5), (5, 6), (6, 12))]

    np.testing.assert_array_equal(np.concatenate(parts), whole)
    for resample, side in np.ndindex(whole.shape):
        times = times_drawn(9, 7, resample)
        expected = spearman(np.repeat(sides[side], times), np.repeat(right, times))
        assert whole[resample, side] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(Rows, st.sets(st.integers(0, 24)), st.sets(st.integers(0, 24)))
def test_rows_without_a_rank_on_a_side_do_not_count(
    rows: list[tuple[int, int, int]], lacks_left: set[int], lacks_right: set[int]
) -> None:
    left, right = dense([row[0] for row in rows]), dense([row[1] for row in rows])
    times = np.array([row[2] for row in rows], np.int32)
    left[[at for at in lacks_left if at < len(rows)]] = -1
    right[[at for at in lacks_right if at < len(rows)]] = -1

    rho = shared_spearman(left, right, times)

    both = (left >= 0) & (right >= 0)
    expected = spearman(np.repeat(left[both], times[both]), np.repeat(right[both], times[both]))
    assert rho == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_pairs_of_sides_are_correlated_in_the_same_resamples() -> None:
    sides = [[3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8, 2, 8, 1], [1, 1, 2, 3, 5, 8, 13]]
    ranks, seed = np.stack([dense(side) for side in sides]), np.uint64(3)
    pairs = np.array([[0, 2], [1, 2], [1, 0]], np.int64)

    rhos = resampled_pairs(ranks, pairs, seed, 0, 10)

    for column, (first, other) in enumerate(pairs):
        alone = resampled_spearman(ranks[[first]], ranks[other], seed, 0, 10)
        np.testing.assert_array_equal(rhos[:, [column]], alone)
    np.testing.assert_array_equal(resampled_pairs(ranks, pairs, seed, 4, 6), rhos[4:6])


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30))
def test_concordance_counts_rows_with_smaller_left_ranks(rows: list[tuple[int, int]]) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    places = [sorted({row[side] for row in rows}) for side in (0, 1)]
    left, right = (
        np.array([places[side].index(row[side]) for row in rows], np.int32) for side in (0, 1)
    )

    net = concordance_below(left, right)

    assert net.tolist() == [
        sum((b > d) - (b < d) for c, d in rows if c < a)  # d below b agrees with c below a
        for a, b in rows
    ]
