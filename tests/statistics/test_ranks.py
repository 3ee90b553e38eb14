"""Kendall's tau, the jackknife of Spearman's correlation, histograms and ROC curves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.ranks import (
    concordances,
    histogram,
    kendall,
    leave_one_out_spearman,
    ranked,
    roc_curve,
)

Pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=30)


def ranks_of(rows: list[tuple[int, int]]) -> list[np.ndarray]:
    return [ranked(np.array([row[side] for row in rows], float)).ranks for side in (0, 1)]


def spearman(left: np.ndarray, right: np.ndarray) -> float:
    if len(set(left)) < 2 or len(set(right)) < 2:
        return math.nan
    return float(stats.spearmanr(left, right).statistic)


def test_dense_ranks_count_the_distinct_values_below() -> None:
    result = ranked(np.array([2.0, -np.inf, 0.0, -0.0, np.inf, 2.0]))

    assert result.ranks.tolist() == [2, 0, 1, 1, 3, 2]
    assert result.ranks.dtype == np.int32
    assert result.distinct.tolist() == [-np.inf, 0.0, 2.0, np.inf]


@given(Pairs)
def test_concordances_match_counting_every_two_pairs(rows: list[tuple[int, int]]) -> None:
    signs = [sum(int(np.sign(a - c) * np.sign(b - d)) for c, d in rows) for a, b in rows]

    assert concordances(*ranks_of(rows)).tolist() == signs


@given(Pairs)
def test_kendall_matches_scipy(rows: list[tuple[int, int]]) -> None:
    left, right = ranks_of(rows)

    expected = stats.kendalltau(left, right).statistic if len(rows) > 1 else math.nan

    assert kendall(left, right) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(Pairs)
def test_leave_one_out_matches_computing_each_again(rows: list[tuple[int, int]]) -> None:
    left, right = ranks_of(rows)

    result = leave_one_out_spearman(left, right)

    expected = [
        spearman(np.delete(left, pair), np.delete(right, pair)) for pair in range(len(left))
    ]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-13)


def test_leave_one_out_is_exact_for_many_pairs_with_and_without_ties() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=3000)
    left = ranked(values).ranks
    for right in (ranked(values + rng.normal(size=3000)).ranks, ranked(values.round(1)).ranks):
        result = leave_one_out_spearman(left, right)

        for pair in range(0, 3000, 211):
            expected = spearman(np.delete(left, pair), np.delete(right, pair))
            assert result[pair] == pytest.approx(expected, abs=1e-13)


def test_empty_values_have_no_ranks() -> None:
    none = ranked(np.zeros(0)).ranks

    assert (
        len(none) == len(concordances(none, none)) == len(leave_one_out_spearman(none, none)) == 0
    )
    assert math.isnan(kendall(none, none))


def sample(n: int, *, decimals: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    labels = rng.random(n) < 0.4
    return (rng.normal(size=n) + labels).round(decimals), labels


@pytest.mark.parametrize("decimals", [12, 1])
def test_whole_roc_curve_matches_scikit_learn(decimals: int) -> None:
    from sklearn import metrics as sklearn_metrics

    similarities, labels = sample(300, decimals=decimals)

    result = roc_curve(similarities, labels, n_points=1000)

    false, true, _ = sklearn_metrics.roc_curve(labels, similarities, drop_intermediate=False)
    assert result == pytest.approx(np.array([false, true]))


def test_thinned_roc_curve_has_few_points_and_almost_the_same_area() -> None:
    from sklearn import metrics as sklearn_metrics

    similarities, labels = sample(20_000)

    result = roc_curve(similarities, labels, n_points=120)

    whole = roc_curve(similarities, labels, n_points=30_000)
    assert set(zip(*result, strict=True)) <= set(zip(*whole, strict=True))
    assert result.shape[1] <= 120
    assert result[:, [0, -1]].tolist() == [[0, 1], [0, 1]]
    area = sklearn_metrics.auc(*result)
    assert area == pytest.approx(sklearn_metrics.roc_auc_score(labels, similarities), abs=1e-3)


def test_a_tie_is_a_slope() -> None:
    result = roc_curve(np.array([1.0, 1.0, 1.0, 0.0]), np.array([True, False, True, False]))

    assert result.tolist() == [[0, 0.5, 1], [0, 1, 1]]


def test_histograms_of_both_classes_share_bins_and_sum_to_1() -> None:
    similarities = np.array([0.0, 0.0, 1.0, 0.6, 1.0])
    labels = np.array([False, False, True, True, False])

    middles, shares = histogram(similarities, labels, n_bins=2)

    assert middles.tolist() == [0.25, 0.75]
    assert shares == pytest.approx(np.array([[0, 1], [2 / 3, 1 / 3]]))
    _, of_equal = histogram(np.full(3, 0.5), np.array([True, False, True]))
    assert of_equal.sum(axis=1).tolist() == of_equal.max(axis=1).tolist() == [1, 1]
