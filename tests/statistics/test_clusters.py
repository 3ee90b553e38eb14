"""Intervals and tests of clustered values, held against leaving each cluster out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.significance import (
    clustered_difference,
    clustered_mean,
    degrees_of_error,
    effective_clusters,
)

Row = st.tuples(st.integers(0, 8), st.integers(0, 14))
Rows = st.lists(Row, min_size=2, max_size=9) | st.lists(Row, min_size=25, max_size=60)
NEAR = 1e-9


def without_each(values: np.ndarray, clusters: np.ndarray) -> list[float]:
    """The means without each cluster."""
    return [values[clusters != name].mean() for name in sorted(set(clusters.tolist()))]


def jackknife(values: np.ndarray, clusters: np.ndarray) -> float:
    """The standard error CV3 of a mean, cluster by cluster."""
    squares = [(one - values.mean()) ** 2 for one in without_each(values, clusters)]
    error = math.sqrt((len(squares) - 1) / len(squares) * sum(squares))
    return error if error > 1e-12 else 0.0


def effective(clusters: np.ndarray) -> float:
    shares = [np.mean(clusters == name) for name in set(clusters.tolist())]
    return 1 / sum(share * share for share in shares)


def reach(clusters: np.ndarray) -> float:
    return float(stats.t.ppf(0.975, effective(clusters) / 2))


def wilson(value: float, size: float, reach: float) -> tuple[float, float]:
    from statsmodels.stats.proportion import proportion_confint

    return proportion_confint(value * size, size, 2 * stats.norm.sf(reach), method="wilson")


def expected_interval(values: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """The interval of a mean; NaN where fewer than five clusters are effective."""
    if effective(clusters) < 5 - 1e-12:
        return math.nan, math.nan
    mean, error = values.mean(), jackknife(values, clusters)
    size, standard_errors = effective(clusters), reach(clusters)
    if error and mean * (1 - mean) > 0:
        size = min(mean * (1 - mean) / error**2, len(values))
        squares = np.array([(one - mean) ** 2 for one in without_each(values, clusters)])
        relative = squares.var() / squares.mean() ** 2 / len(squares)
        if relative > 0:
            of_few = stats.t.ppf(0.975, min(effective(clusters) / 2, 2 / relative))
            at_widest = standard_errors * math.sqrt(size / effective(clusters))
            standard_errors = max(standard_errors, min(of_few, at_widest))
    return wilson(mean, size, standard_errors)


def split(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([value for value, _ in rows]) / 8, np.array([cluster for _, cluster in rows])


@settings(max_examples=60)
@given(rows=Rows, hits=st.booleans())
def test_the_interval_of_a_mean_is_wilsons_at_the_jackknifes_effective_size(rows, hits) -> None:
    values, clusters = split(rows)
    values = (values > 0.5).astype(float) if hits else values

    found = clustered_mean(values, clusters)

    assert found.value == pytest.approx(values.mean())
    ends = expected_interval(values, clusters)
    assert (found.low, found.high) == pytest.approx(ends, abs=NEAR, nan_ok=True)


@given(rows=Rows, shift=st.integers(0, 3))
def test_a_difference_is_tested_by_the_jackknife(rows, shift: int) -> None:
    values, clusters = split(rows)
    others = np.roll(values, shift) ** 2  # whose mean is another
    found = clustered_difference(values, others, clusters)

    if effective(clusters) < 5 - 1e-12:
        assert math.isnan(found.p)
        return
    difference, error = values.mean() - others.mean(), jackknife(values - others, clusters)
    if not error:
        assert (found.p == 1) == (abs(difference) < 1e-12)
        return
    t = difference / error
    assert found.statistic == pytest.approx(t, abs=NEAR)
    p = 2 * stats.t.sf(abs(t), effective(clusters) / 2)
    assert found.p == pytest.approx(p, abs=NEAR)
    wide = reach(clusters) * error
    ends = max(-1, difference - wide), min(1, difference + wide)
    assert (found.low, found.high) == pytest.approx(ends, abs=NEAR)


def test_few_clusters_that_miss_make_intervals_wide() -> None:
    """One in a hundred of 300 clusters of log-normal sizes misses."""
    draw = np.random.default_rng(10)
    quantiles = stats.norm.ppf((np.arange(300) + 0.5) / 300)
    sizes = np.maximum(1, np.round(2.8 * np.exp(quantiles))).astype(int)
    clusters = np.repeat(np.arange(300), sizes)
    n_covered = 0
    for _ in range(500):
        hits = draw.random(300) >= 0.01
        found = clustered_mean(hits[clusters].astype(float), clusters)
        n_covered += found.low <= 0.99 <= found.high
    assert n_covered / 500 > 0.92  # 0.83 with the degrees of all clusters


def test_degrees_of_an_error_are_those_of_a_chi_square_law() -> None:
    draw = np.random.default_rng(11)
    assert degrees_of_error(0.0, np.r_[0.1, np.zeros(999)]) == pytest.approx(2, rel=0.01)
    assert degrees_of_error(0.0, np.zeros(9)) == math.inf
    found = [degrees_of_error(0.0, draw.normal(size=2000)) for _ in range(100)]
    assert np.mean(found) == pytest.approx(2000, rel=0.02)


@pytest.mark.parametrize("sizes", [[3] * 4, [100, 1, 1, 1, 1, 1, 1], [10, 10, 1, 1, 1, 1]])
def test_fewer_than_five_effective_clusters_have_no_interval_and_no_test(sizes) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(1).random(len(clusters))

    assert effective_clusters(clusters) < 5
    assert np.isnan(
        [clustered_mean(values, clusters).low, clustered_mean(values, clusters).high]
    ).all()
    assert math.isnan(clustered_difference(values, 1 - values, clusters).p)


def test_five_equal_clusters_are_enough() -> None:
    clusters = np.repeat(np.arange(5), 3)
    values = np.random.default_rng(1).random(15)

    assert effective_clusters(clusters) == 5
    assert 0 <= clustered_mean(values, clusters).low < values.mean()
    assert 0 < clustered_difference(values, 1 - values, clusters).p <= 1


def test_intervals_cover_the_truth_where_clusters_differ() -> None:
    from statsmodels.stats.proportion import proportion_confint

    draw = np.random.default_rng(8)
    n_covered = n_naive = 0
    for _ in range(400):
        rates = draw.beta(2, 3, 60)
        hits = (draw.random((60, 8)) < rates[:, None]).ravel()
        found = clustered_mean(hits.astype(float), np.repeat(np.arange(60), 8))
        n_covered += found.low <= 0.4 <= found.high
        low, high = proportion_confint(hits.sum(), len(hits), method="wilson")
        n_naive += low <= 0.4 <= high
    assert 0.93 < n_covered / 400 < 0.98
    assert n_naive / 400 < 0.9


def test_a_large_cluster_among_small_ones_makes_intervals_wide() -> None:
    draw = np.random.default_rng(9)
    clusters = np.r_[np.zeros(10, np.int32), np.arange(1, 31)]  # a quarter of the values
    n_covered = 0
    for _ in range(1000):
        means = draw.normal(0.5, 0.1, 31)[clusters]
        found = clustered_mean(means + draw.normal(0, 0.02, 40), clusters)
        n_covered += found.low <= 0.5 <= found.high
    assert n_covered / 1000 > 0.93


def test_of_no_values_there_is_no_mean() -> None:
    none = np.empty(0)
    assert math.isnan(clustered_mean(none, none.astype(np.int32)).value)
