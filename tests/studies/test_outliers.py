"""Raters who agree less than the others do."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.raters import mean, rated, spearman, with_gaps

from medsim.studies.graded import standings_of


@pytest.mark.parametrize(
    ("n_good", "n_random", "n_items", "least_found"),
    [
        *((n_good, 1, 120, 0.98) for n_good in (2, 3, 6)),
        (4, 2, 120, 0.98),
        (3, 2, 120, 0.95),
        (4, 3, 120, 0.95),
        (11, 1, 50, 0.96),  # a consistency set
        *(
            pytest.param(n_good, n_random, 120, 0.98, marks=pytest.mark.slow)
            for n_good, n_random in ((4, 1), (12, 1), (6, 2), (12, 2))
        ),
    ],
)
def test_random_raters_are_found_and_good_ones_are_left(
    n_good: int, n_random: int, n_items: int, least_found: float
) -> None:
    seeds = range(100 if n_random < 2 else 60)
    groups = [rated(n_good, n_items, seed, n_random=n_random) for seed in seeds]

    flags = np.array([standings_of(ratings).outlying for ratings in groups])
    assert flags[:, n_good:].mean() >= least_found
    assert flags[:, :n_good].mean() <= 0.015


@pytest.mark.parametrize(("n_good", "n_random", "most"), [(3, 0, 0.015), (12, 0, 0.015), (0, 8, 0)])
def test_of_raters_who_are_all_good_or_all_random_hardly_one_is_an_outlier(
    n_good: int, n_random: int, most: float
) -> None:
    groups = [rated(n_good, 120, seed, n_random=n_random, noise=0.95) for seed in range(100)]

    assert np.mean([standings_of(ratings).outlying for ratings in groups]) <= most


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


def test_who_reverses_the_scale_or_rates_all_alike_is_an_outlier_and_who_rated_one_is_not() -> None:
    ratings = rated(5, 120, seed=6)
    ratings[2] = 6 - ratings[2]
    assert np.flatnonzero(standings_of(with_gaps(ratings, seed=7)).outlying).tolist() == [2]
    ratings = rated(5, 60, seed=8)
    ratings[1] = 4
    ratings[3, 1:] = np.nan

    assert np.flatnonzero(standings_of(ratings).outlying).tolist() == [1]


def test_of_two_raters_of_few_shared_items_and_where_nobody_agrees_there_are_no_outliers() -> None:
    assert not standings_of(rated(1, 50, seed=1, n_random=1)).outlying.any()
    opposed = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [0, 3, 0, 3], [3, 0, 3, 0]], np.float64)
    assert not standings_of(opposed).outlying.any()

    few = np.full((2, 120), np.nan)
    few[0, [3, 90]], few[1, [3, 90]] = (6, 0), (0, 6)

    assert not standings_of(np.vstack([rated(4, 120, seed=5), few])).outlying.any()
