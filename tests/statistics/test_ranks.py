"""Kendall's tau and the jackknife of Spearman's correlation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.ranks import concordances, kendall, leave_one_out_spearman, ranked

Pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=30)


def ranks_of(rows: list[tuple[int, int]]) -> list[np.ndarray]:
    return [ranked(np.array([row[side] for row in rows], float)).ranks for side in (0, 1)]


def spearman(left: np.ndarray, right: np.ndarray) -> float:
    if len(set(left)) < 2 or len(set(right)) < 2:
        return math.nan
    return float(stats.spearmanr(left, right).statistic)


def test_dense_ranks_count_the_distinct_values_below() -> None:
    found = ranked(np.array([2.0, -np.inf, 0.0, -0.0, np.inf, 2.0]))

    assert found.ranks.tolist() == [2, 0, 1, 1, 3, 2]
    assert found.ranks.dtype == np.int32
    assert found.distinct.tolist() == [-np.inf, 0.0, 2.0, np.inf]


@given(Pairs)
def test_concordances_are_those_of_every_two_pairs(rows: list[tuple[int, int]]) -> None:
    signs = [sum(int(np.sign(a - c) * np.sign(b - d)) for c, d in rows) for a, b in rows]

    assert concordances(*ranks_of(rows)).tolist() == signs


@given(Pairs)
def test_kendall_is_that_of_scipy(rows: list[tuple[int, int]]) -> None:
    left, right = ranks_of(rows)

    expected = stats.kendalltau(left, right).statistic if len(rows) > 1 else math.nan

    assert kendall(left, right) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(Pairs)
def test_leaving_one_out_in_closed_form_is_leaving_it_out(rows: list[tuple[int, int]]) -> None:
    left, right = ranks_of(rows)

    found = leave_one_out_spearman(left, right)

    expected = [
        spearman(np.delete(left, pair), np.delete(right, pair)) for pair in range(len(left))
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_leaving_one_out_is_exact_for_many_pairs_with_and_without_ties() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=3000)
    left = ranked(values).ranks
    for right in (ranked(values + rng.normal(size=3000)).ranks, ranked(values.round(1)).ranks):
        found = leave_one_out_spearman(left, right)

        for pair in range(0, 3000, 211):
            expected = spearman(np.delete(left, pair), np.delete(right, pair))
            assert found[pair] == pytest.approx(expected, abs=1e-13)


def test_nothing_has_no_ranks() -> None:
    none = ranked(np.zeros(0)).ranks

    assert (
        len(none) == len(concordances(none, none)) == len(leave_one_out_spearman(none, none)) == 0
    )
    assert math.isnan(kendall(none, none))
