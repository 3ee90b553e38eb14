"""Means of graded ratings, and how steady a rater is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from medsim.core.errors import OptionError
from medsim.studies.agreement.graded_ratings import consistency, scaled_means

NAN = math.nan


def test_means_and_deviations_are_on_a_scale_of_ten() -> None:
    found = scaled_means(np.array([[6, 0, 3, NAN, NAN], [6, 3, NAN, 1, NAN], [6, 6, 4, NAN, NAN]]))

    assert found.mean == pytest.approx([10, 5, 35 / 6, 10 / 6, NAN], nan_ok=True)
    assert found.deviation == pytest.approx([0, 5, math.sqrt(0.5) / 0.6, NAN, NAN], nan_ok=True)
    assert found.n_ratings.tolist() == [3, 3, 2, 1, 0]


def test_deviations_are_those_of_numpy() -> None:
    ratings = np.random.default_rng(1).integers(0, 7, (12, 30)).astype(np.float64)

    found = scaled_means(ratings)

    assert found.mean == pytest.approx(ratings.mean(axis=0) / 0.6)
    assert found.deviation == pytest.approx(ratings.std(axis=0, ddof=1) / 0.6)


def test_consistency_is_counted_over_items_that_were_rated_twice() -> None:
    first = np.array([0, 1, 2, 3, 6, NAN, 5])
    second = np.array([0, 2, 2, 5, 6, 4, NAN])

    found = consistency(first, second)

    assert found.n_items == 5
    assert found.equal.value == pytest.approx(3 / 5)
    assert found.within_one.value == pytest.approx(4 / 5)
    assert found.equal.low < 3 / 5 < found.equal.high
    assert found.mean_difference == pytest.approx(3 / 5)
    assert found.spearman == pytest.approx(stats.spearmanr(first[:5], second[:5]).statistic)


def test_nothing_rated_twice_has_no_consistency() -> None:
    found = consistency(np.array([1.0, NAN]), np.array([NAN, 1.0]))

    assert found.n_items == 0
    assert math.isnan(found.equal.value)
    assert math.isnan(found.mean_difference)
    assert math.isnan(found.spearman)


def test_ratings_outside_the_scale_are_refused() -> None:
    for wrong in (7.0, -1.0, math.inf):
        with pytest.raises(OptionError, match=f"rating {wrong:g} is out of range; 0 to 6"):
            scaled_means(np.array([[3.0, wrong]]))
    with pytest.raises(OptionError, match="there are 1 first ratings and 2 second ones"):
        consistency(np.ones(1), np.ones(2))
