"""Means of clustered values, held against statsmodels and against what must be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.clusters import clustered_difference, clustered_mean, clustered_share

Row = st.tuples(st.integers(0, 8), st.integers(0, 14))
Rows = st.lists(Row, min_size=2, max_size=9) | st.lists(Row, min_size=25, max_size=60)
NEAR = 1e-9


def regression(values: np.ndarray, clusters: np.ndarray):
    """The mean as a regression on a constant, with errors robust to clusters."""
    import statsmodels.api as sm

    return sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True
    )


def degrees(clusters: np.ndarray) -> float:
    """One less than the number of equally large clusters that would be worth as much."""
    shares = np.array([np.mean(clusters == name) for name in set(clusters.tolist())])
    return max(1, 1 / (shares**2).sum() - 1)


def too_few(clusters: np.ndarray) -> bool:
    return len(set(clusters)) < 10


def split(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([value for value, _ in rows]) / 8, np.array([cluster for _, cluster in rows])


@settings(max_examples=40)
@given(rows=Rows)
def test_the_interval_of_a_mean_is_that_of_a_regression_on_a_constant(rows) -> None:
    values, clusters = split(rows)
    found = clustered_mean(values, clusters)

    assert found.value == pytest.approx(values.mean())
    if too_few(clusters) or regression(values, clusters).bse[0] < 1e-9:
        assert np.isnan([found.low, found.high]).all()
        return
    reach = stats.t.ppf(0.975, degrees(clusters)) * regression(values, clusters).bse[0]
    assert found.low == pytest.approx(max(values.mean() - reach, 0), abs=NEAR)
    assert found.high == pytest.approx(min(values.mean() + reach, 1), abs=NEAR)


def test_of_equal_clusters_the_interval_is_that_of_a_regression_on_a_constant() -> None:
    values, clusters = np.random.default_rng(2).random(60), np.arange(60) % 15

    found = clustered_mean(values, clusters)

    low, high = regression(values, clusters).conf_int()[0]
    assert (found.low, found.high) == pytest.approx((low, high), abs=NEAR)


@given(rows=Rows)
def test_the_interval_of_a_share_is_wilsons_at_the_effective_size(rows) -> None:
    from statsmodels.stats.proportion import proportion_confint

    values, clusters = split(rows)
    hits = values > 0.5
    found = clustered_share(hits, clusters)

    assert found.value == pytest.approx(hits.mean())
    if too_few(clusters):
        assert math.isnan(found.low)
        return
    spread = hits.mean() * (1 - hits.mean())
    error = float(regression(hits.astype(float), clusters).bse[0])
    size = min(spread / error**2, len(hits)) if spread and error > 1e-9 else degrees(clusters) + 1
    alpha = 2 * stats.norm.sf(stats.t.ppf(0.975, degrees(clusters)))  # of Student's reach
    low, high = proportion_confint(hits.mean() * size, size, alpha, method="wilson")
    assert found.low == pytest.approx(low, abs=NEAR)
    assert found.high == pytest.approx(high, abs=NEAR)


@given(rows=Rows, shift=st.integers(0, 3))
def test_a_difference_is_tested_as_a_regression_tests_it(rows, shift: int) -> None:
    values, clusters = split(rows)
    others = np.roll(values, shift) ** 2  # whose mean is another
    found = clustered_difference(values, others, clusters)

    if too_few(clusters):
        assert math.isnan(found.p)
        return
    if np.array_equal(values, others):
        assert found.p == 1
        return
    fitted = regression(values - others, clusters)
    if fitted.bse[0] < 1e-9:
        assert math.isnan(found.p)
        return
    assert found.statistic == pytest.approx(fitted.tvalues[0], abs=1e-9)
    p = 2 * stats.t.sf(abs(fitted.tvalues[0]), degrees(clusters))
    assert found.p == pytest.approx(p, abs=NEAR)
    reach = stats.t.ppf(0.975, degrees(clusters)) * fitted.bse[0]
    ends = fitted.params[0] - reach, fitted.params[0] + reach
    assert (found.low, found.high) == pytest.approx(ends, abs=NEAR)


def test_intervals_cover_the_truth_where_clusters_differ() -> None:
    from statsmodels.stats.proportion import proportion_confint

    draw = np.random.default_rng(8)
    n_covered = n_naive = 0
    for _ in range(400):
        rates = draw.beta(2, 3, 60)
        hits = (draw.random((60, 8)) < rates[:, None]).ravel()
        clusters = np.repeat(np.arange(60), 8)
        found = clustered_share(hits, clusters)
        n_covered += found.low <= 0.4 <= found.high
        low, high = proportion_confint(hits.sum(), len(hits), method="wilson")
        n_naive += low <= 0.4 <= high
    assert 0.91 < n_covered / 400 < 0.98
    assert n_naive / 400 < 0.9


def test_a_large_cluster_among_small_ones_makes_intervals_wide() -> None:
    draw = np.random.default_rng(9)
    clusters = np.r_[np.zeros(30, np.int32), np.arange(1, 31)]
    n_covered = 0
    for _ in range(1000):
        means = draw.normal(0.5, 0.1, 31)[clusters]
        found = clustered_mean(means + draw.normal(0, 0.02, 60), clusters)
        n_covered += found.low <= 0.5 <= found.high
    assert n_covered / 1000 > 0.9  # with a degree for each cluster 0.73


def test_of_no_values_there_is_no_mean() -> None:
    none = np.empty(0)
    assert math.isnan(clustered_mean(none, none.astype(np.int32)).value)
    assert math.isnan(clustered_share(none.astype(np.bool_), none.astype(np.int32)).value)
