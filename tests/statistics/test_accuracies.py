"""Accuracies, compared with scipy's binomial distribution and bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.bca import acceleration, accuracy_of


def flags(n: int, n_right: int) -> np.ndarray:
    return np.arange(n) < n_right


def by_scipy(n: int, n_right: int) -> tuple[float, float]:
    """Return the ends of Efron's interval (1987, equation 3.4) of a binomial distribution."""
    law = stats.binom(n, n_right / n)
    left_out = np.array([(n_right - right) / (n - 1) for right in flags(n, n_right)])
    bias = stats.norm.ppf(law.cdf(n_right - 1) + law.pmf(n_right) / 2)
    speed = acceleration(left_out)
    ends = []
    for tail in (0.025, 0.975):
        reach = bias + stats.norm.ppf(tail)
        ends.append(law.ppf(stats.norm.cdf(bias + reach / (1 - speed * reach))) / n)
    return ends[0], ends[1]


@given(st.integers(2, 3000), st.floats(0, 1))
def test_interval_matches_the_binomial_distribution(n: int, share: float) -> None:
    n_right = min(n - 1, 1 + int(share * (n - 1)))

    result = accuracy_of(flags(n, n_right))

    low, high = by_scipy(n, n_right)
    assert result.value == n_right / n
    # A share on a step of the distribution may fall to either side of it by rounding.
    assert math.isclose(result.low, low, abs_tol=1e-12) or abs(result.low - low) * n < 1.001
    assert math.isclose(result.high, high, abs_tol=1e-12) or abs(result.high - high) * n < 1.001
    assert result.low <= result.value <= result.high


@pytest.mark.parametrize(("n_runs", "n"), [(1, 1000), (1, 100), (3, 200)])
def test_interval_is_near_the_bootstrap_of_scipy(n_runs: int, n: int) -> None:
    draw = np.random.default_rng(3)
    runs = draw.random((n_runs, n)) < draw.uniform(0.3, 1, size=n)

    simulated = stats.bootstrap(
        (runs.mean(axis=0),), np.mean, n_resamples=20_000, method="BCa", batch=500, rng=draw
    ).confidence_interval

    result = accuracy_of(runs)
    assert result.value == pytest.approx(runs.mean())
    assert abs(result.low - simulated.low) < 1.6 / (n_runs * n)
    assert abs(result.high - simulated.high) < 1.6 / (n_runs * n)
    again = accuracy_of(runs[[0, 0]])
    assert (again.value, again.low, again.high) == pytest.approx(
        (accuracy_of(runs[0]).value, accuracy_of(runs[0]).low, accuracy_of(runs[0]).high), abs=1e-9
    )


@pytest.mark.parametrize(
    ("n", "truth", "most"),
    [(200, 0.7, 0.97), *((n, p, 1) for n in (4, 10, 30, 100) for p in (0.9, 0.95, 0.98, 0.99))],
)
def test_intervals_have_the_stated_coverage(n: int, truth: float, most: float) -> None:
    chances = stats.binom(n, truth).pmf(np.arange(n + 1))

    holds = [
        (estimate := accuracy_of(flags(n, n_right))).low <= truth <= estimate.high
        for n_right in range(n + 1)
    ]

    # With few instances and near 1 the coverage is above 95%.
    assert (0.93 if most < 1 else 0.95) < chances[holds].sum() <= most + 1e-9


@pytest.mark.parametrize("n_right", [0, 9])
def test_perfect_and_zero_accuracy_have_wilsons_interval(n_right: int) -> None:
    result = accuracy_of(flags(9, n_right))

    expected = stats.binomtest(n_right, 9).proportion_ci(method="wilson")
    assert (result.low, result.high) == pytest.approx(tuple(expected))
    assert math.isnan(accuracy_of(flags(0, 0)).value)
