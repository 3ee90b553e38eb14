"""Agreement of raters of a graded scale, and which raters are outliers."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from oracles.ranks import spearman as of_all
from scipy import stats

from medsim.core.errors import OptionError
from medsim.studies.agreement import rater_agreement as module
from medsim.studies.agreement.rater_agreement import rater_agreement, standings_of

Ratings = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(1, 12)),
    elements=st.sampled_from([math.nan, 0.0, 1.0, 2.0, 5.0, 6.0]),
)


def rated(
    n_good: int, n_items: int, seed: int, *, n_random: int = 0, noise: float = 0.8
) -> np.ndarray:
    """Return ratings of people who see the same thing with noise, then of some who see nothing."""
    rng = np.random.default_rng(seed)
    spread = noise * np.exp(0.3 * rng.normal(size=(n_good, 1)))
    seen = rng.normal(size=n_items) + spread * rng.normal(size=(n_good, n_items))
    good = np.clip(np.round(3 + 1.8 * seen / np.sqrt(1 + spread**2)), 0, 6)
    return np.vstack([good, rng.integers(0, 7, (n_random, n_items))]).astype(np.float64)


def with_gaps(ratings: np.ndarray, seed: int, share: float = 0.2) -> np.ndarray:
    gaps = np.random.default_rng(seed).random(ratings.shape) < share
    return np.where(gaps, np.nan, ratings)


def spearman(left: np.ndarray, right: np.ndarray) -> float:
    """Return Spearman's correlation over what both have; NaN where a side is constant."""
    both = ~np.isnan(left) & ~np.isnan(right)
    return of_all(left[both], right[both])


def mean_of_others(ratings: np.ndarray, rater: int) -> np.ndarray:
    others = np.delete(ratings, rater, axis=0)
    with np.errstate(invalid="ignore"):  # nothing by nothing, where no other rated an item
        return np.nansum(others, axis=0) / (~np.isnan(others)).sum(axis=0)


def mean(values: list[float]) -> float:
    told = [value for value in values if not math.isnan(value)]
    return sum(told) / len(told) if told else math.nan


def iaa(ratings: np.ndarray) -> tuple[float, float]:
    """Return IAA-1 and IAA-2."""
    raters = range(len(ratings))
    return (
        mean([spearman(ratings[i], ratings[j]) for i, j in combinations(raters, 2)]),
        mean([spearman(ratings[i], mean_of_others(ratings, i)) for i in raters]),
    )


@given(Ratings)
def test_agreement_is_that_of_scipy_over_what_both_rated(ratings: np.ndarray) -> None:
    found = rater_agreement(ratings, fewest=2, resamples=0)

    expected = iaa(ratings)
    assert (found.iaa1.value, found.iaa2.value) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    for rater, given_ratings in enumerate(ratings):
        others = [spearman(given_ratings, one) for i, one in enumerate(ratings) if i != rater]
        assert found.with_others[rater] == pytest.approx(mean(others), abs=1e-12, nan_ok=True)
        with_mean = spearman(given_ratings, mean_of_others(ratings, rater))
        assert found.with_mean[rater] == pytest.approx(with_mean, abs=1e-12, nan_ok=True)


def rating_few(ratings: np.ndarray, n_items: int) -> np.ndarray:
    """Return ratings of which the first rater gave only the last ``n_items``."""
    ratings[0, :-n_items] = np.nan
    return ratings


@pytest.mark.parametrize(
    "ratings",
    [
        with_gaps(rated(4, 25, seed=1), seed=2),
        # The means of the others have far more ranks than the first rater has items.
        rating_few(rated(6, 40, seed=1), 8),
        rating_few(with_gaps(rated(7, 30, seed=5), seed=3), 12),
    ],
)
def test_the_correlations_without_an_item_are_those_of_scipy(ratings, monkeypatch) -> None:
    ratings[:3, 7] = np.nan
    seen = []
    monkeypatch.setattr(module, "bca_estimate", lambda *parts: seen.append(parts))

    rater_agreement(ratings, fewest=2, resamples=100)

    n_items = ratings.shape[1]
    expected = np.array([iaa(np.delete(ratings, item, axis=1)) for item in range(n_items)])
    assert seen[0][2] == pytest.approx(expected[:, 0], abs=1e-12)
    assert seen[1][2] == pytest.approx(expected[:, 1], abs=1e-12)


def test_intervals_are_near_those_of_scipy_for_other_resamples() -> None:
    ratings = rated(3, 40, seed=3)
    expected = stats.bootstrap(
        (np.arange(40),),
        lambda items: iaa(ratings[:, items]),
        vectorized=False,
        n_resamples=300,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval

    found = rater_agreement(ratings, seed=1)

    for at, estimate in enumerate((found.iaa1, found.iaa2)):
        ends = expected.low[at], expected.high[at]
        assert (estimate.low, estimate.high) == pytest.approx(ends, abs=0.04)
        assert estimate.low < estimate.value < estimate.high


def test_results_do_not_depend_on_threads() -> None:
    ratings = with_gaps(rated(4, 30, seed=4), seed=5)

    one = rater_agreement(ratings, resamples=200, threads=1)

    assert repr(rater_agreement(ratings, resamples=200, threads=4)) == repr(one)
    assert rater_agreement(ratings, resamples=200, seed=9).iaa1 != one.iaa1


def test_raters_who_share_no_items_have_no_agreement() -> None:
    ratings = np.array([[1, 2, math.nan, math.nan], [math.nan, math.nan, 3, 4]])

    found = rater_agreement(ratings, resamples=100)

    assert math.isnan(found.iaa1.value)
    assert math.isnan(found.iaa1.low)
    assert math.isnan(rater_agreement(np.empty((3, 0)), resamples=100).iaa2.value)


@pytest.mark.parametrize(
    ("n_good", "n_random", "least_found"),
    [
        *((n_good, 1, 0.98) for n_good in (2, 3, 4, 6, 12)),
        *((n_good, 2, 0.98) for n_good in (4, 6, 12)),
        (3, 2, 0.95),
        (4, 3, 0.95),
    ],
)
def test_random_raters_are_found_and_good_ones_are_left(
    n_good: int, n_random: int, least_found: float
) -> None:
    groups = [
        rated(n_good, 120, seed, n_random=n_random) for seed in range(100 if n_random < 2 else 60)
    ]

    flags = np.array([standings_of(ratings).outlying for ratings in groups])
    assert flags[:, n_good:].mean() >= least_found
    assert flags[:, :n_good].mean() <= 0.015


@pytest.mark.parametrize(("n_good", "n_random", "most"), [(3, 0, 0.015), (12, 0, 0.015), (0, 8, 0)])
def test_of_raters_who_are_all_good_or_all_random_hardly_one_is_an_outlier(
    n_good: int, n_random: int, most: float
) -> None:
    groups = [rated(n_good, 120, seed, n_random=n_random, noise=0.95) for seed in range(100)]

    assert np.mean([standings_of(ratings).outlying for ratings in groups]) <= most


def test_random_raters_are_found_on_a_consistency_set_of_fifty() -> None:
    groups = [rated(11, 50, seed, n_random=1) for seed in range(60)]

    flags = np.array([standings_of(ratings).outlying for ratings in groups])
    assert flags[:, 11].mean() >= 0.96
    assert flags[:, :11].mean() <= 0.005


def test_a_rater_is_measured_by_the_average_of_the_others_among_themselves() -> None:
    ratings = with_gaps(rated(4, 40, seed=3, n_random=1, noise=1.2), seed=2)

    found = standings_of(ratings)

    for rater in range(5):
        others = [other for other in range(5) if other != rater]
        own = mean([spearman(ratings[rater], ratings[other]) for other in others])
        average = mean(
            [
                mean([spearman(ratings[one], ratings[other]) for other in others if other != one])
                for one in others
            ]
        )
        assert (found.own[rater], found.others[rater]) == pytest.approx((own, average))
        for share in (0.1, 0.5, 0.9, 1):
            outlying = standings_of(ratings, share=share).outlying
            assert outlying[rater] == (own < share * average)


def test_a_rater_is_found_by_gaps_and_by_reversal_too() -> None:
    ratings = rated(5, 120, seed=6)
    ratings[2] = 6 - ratings[2]

    assert np.flatnonzero(standings_of(with_gaps(ratings, seed=7)).outlying).tolist() == [2]


def test_who_gives_one_rating_to_all_is_an_outlier_and_who_rated_one_item_is_not() -> None:
    ratings = rated(5, 60, seed=8)
    ratings[1] = 4
    ratings[3, 1:] = np.nan

    assert np.flatnonzero(standings_of(ratings).outlying).tolist() == [1]


def test_of_two_raters_and_where_nobody_agrees_there_are_no_outliers() -> None:
    assert not standings_of(rated(1, 50, seed=1, n_random=1)).outlying.any()
    opposed = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [0, 3, 0, 3], [3, 0, 3, 0]], np.float64)
    assert not standings_of(opposed).outlying.any()


def test_who_shares_too_few_items_changes_nothing() -> None:
    good = rated(4, 120, seed=5)
    few = np.full((2, 120), np.nan)
    few[0, [3, 90]], few[1, [3, 90]] = (6, 0), (0, 6)
    alone = rater_agreement(good, resamples=200)

    found = rater_agreement(np.vstack([good, few]), resamples=200)

    assert repr(found.iaa1) == repr(alone.iaa1)
    assert found.with_others[:4].tolist() == alone.with_others.tolist()
    assert np.isnan(found.with_others[4:]).all()
    assert np.isnan(found.with_mean[4:]).all()
    assert not standings_of(np.vstack([good, few])).outlying.any()


def test_resamples_out_of_range_are_refused() -> None:
    with pytest.raises(OptionError, match="5 resamples are out of range"):
        rater_agreement(np.ones((2, 3)), resamples=5)
