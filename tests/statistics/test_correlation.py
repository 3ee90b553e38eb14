"""Pearson's correlation, its test, and the smallest detectable correlation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.estimates import pearson_test, smallest_detectable, two_sided_student


@pytest.mark.parametrize("n", [4, 5, 8, 12, 40])
def test_correlation_matches_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    for weight in (0.0, 0.3, -1.0, 3.0):
        left = rng.normal(size=n)
        right = weight * left + rng.normal(size=n)
        expected = stats.pearsonr(left, right)

        result = pearson_test(left, right)

        low, high = expected.confidence_interval(0.95)
        assert result.n == n
        assert result.r.value == pytest.approx(expected.statistic, abs=1e-13)
        assert result.p == pytest.approx(expected.pvalue, rel=1e-9)
        assert (result.r.low, result.r.high) == pytest.approx((low, high), abs=1e-12)
        assert stats.t.sf(result.t, n - 2) == pytest.approx(
            result.p / 2 if result.t > 0 else 1 - result.p / 2
        )


@pytest.mark.parametrize(
    ("left", "right"), [([1, 2, 4], [1, 5, 4]), (range(5), [0, -2, -4, -6, -8])]
)
def test_three_values_or_a_line_have_a_test_but_no_interval(left, right) -> None:
    result = pearson_test(np.array(left, float), np.array(right, float))

    expected = stats.pearsonr(left, right)
    assert result.r.value == pytest.approx(expected.statistic)
    assert result.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert np.isnan([result.r.low, result.r.high]).all()


@pytest.mark.parametrize(
    ("left", "right"),
    [([1.0, 2.0], [2.0, 1.0]), ([], []), ([1.0] * 5, range(5)), ([1.0, 2.0, math.inf], range(3))],
)
def test_undefined_correlation_is_nan(left, right) -> None:
    result = pearson_test(np.array(left), np.array(right, np.float64))

    assert np.isnan([result.r.value, result.t, result.p]).all()


@given(st.floats(-1e4, 1e4), st.integers(1, 400))
def test_student_tails_match_scipy(t: float, degrees: int) -> None:
    # For one degree, where the tails are 1 - 2 atan(t) / pi, SciPy is off by 3e-9 below t = 1e-7.
    expected = 2 * stats.t.sf(abs(t), degrees)

    assert two_sided_student(t, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-300)


def test_power_of_the_smallest_detectable_correlation_matches_statsmodels() -> None:
    # A correlation's inverse hyperbolic tangent is a mean of n - 3 values of variance 1.
    from statsmodels.stats.power import NormalIndPower

    for n in (5, 12, 200):
        result = smallest_detectable(n)

        of_test = NormalIndPower(ddof=3).power(math.atanh(result), n, 0.05, ratio=0)
        assert of_test == pytest.approx(0.8, abs=1e-6)


def test_no_correlation_is_detectable_with_three_values() -> None:
    assert math.isnan(smallest_detectable(3))
    assert smallest_detectable(4) > 0.99
