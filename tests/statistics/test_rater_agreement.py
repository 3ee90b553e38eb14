"""Inter-annotator agreement on a graded scale."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from fixtures.raters import mean, mean_of_others, rated, spearman, with_gaps
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from medsim.statistics import rater_agreement as module
from medsim.statistics.options import Resampling
from medsim.statistics.rater_agreement import rater_agreement

Ratings = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(1, 12)),
    elements=st.sampled_from([math.nan, 0.0, 1.0, 2.0, 5.0, 6.0]),
)


def resampling(resamples: int, seed: int = 0, threads: int = 1) -> Resampling:
    return Resampling(seed=seed, resamples=resamples, threads=threads)


def iaa(ratings: np.ndarray) -> tuple[float, float]:
    """Return IAA-1 and IAA-2."""
    raters = range(len(ratings))
    return (
        mean([spearman(ratings[i], ratings[j]) for i, j in combinations(raters, 2)]),
        mean([spearman(ratings[i], mean_of_others(ratings, i)) for i in raters]),
    )


@given(Ratings)
def test_agreement_matches_scipy_over_shared_items(ratings: np.ndarray) -> None:
    result = rater_agreement(ratings, fewest=2)

    expected = iaa(ratings)
    assert (result.iaa1.value, result.iaa2.value) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    for rater, given_ratings in enumerate(ratings):
        others = [spearman(given_ratings, values) for i, values in enumerate(ratings) if i != rater]
        assert result.with_others[rater] == pytest.approx(mean(others), abs=1e-12, nan_ok=True)
        with_mean = spearman(given_ratings, mean_of_others(ratings, rater))
        assert result.with_mean[rater] == pytest.approx(with_mean, abs=1e-12, nan_ok=True)


def rating_few(ratings: np.ndarray, n_items: int) -> np.ndarray:
    """Return ratings where the first rater rated only the last ``n_items``."""
    ratings[0, :-n_items] = np.nan
    return ratings


@pytest.mark.parametrize(
    "ratings",
    [
        with_gaps(rated(4, 25, seed=1), seed=2),
        # The others' means have far more ranks than the first rater has items.
        rating_few(rated(6, 40, seed=1), 8),
        rating_few(with_gaps(rated(7, 30, seed=5), seed=3), 12),
    ],
)
def test_correlations_without_an_item_match_scipy(ratings, monkeypatch) -> None:
    ratings[:3, 7] = np.nan
    samples = []
    monkeypatch.setattr(module, "bca_estimate", lambda *parts: samples.append(parts))

    rater_agreement(ratings, resampling(100), fewest=2)

    n_items = ratings.shape[1]
    expected = np.array([iaa(np.delete(ratings, item, axis=1)) for item in range(n_items)])
    assert samples[0][2] == pytest.approx(expected[:, 0], abs=1e-12)
    assert samples[1][2] == pytest.approx(expected[:, 1], abs=1e-12)


def test_intervals_are_near_scipy_with_other_resamples() -> None:
    ratings = rated(3, 40, seed=3)
    expected = stats.bootstrap(
        (np.arange(40),),
        lambda items: iaa(ratings[:, items]),
        vectorized=False,
        n_resamples=300,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval

    result = rater_agreement(ratings, resampling(10_000, seed=1))

    for at, estimate in enumerate((result.iaa1, result.iaa2)):
        ends = expected.low[at], expected.high[at]
        assert (estimate.low, estimate.high) == pytest.approx(ends, abs=0.04)
        assert estimate.low < estimate.value < estimate.high


def test_results_do_not_depend_on_threads() -> None:
    ratings = with_gaps(rated(4, 30, seed=4), seed=5)

    single = rater_agreement(ratings, resampling(200))

    assert repr(rater_agreement(ratings, resampling(200, threads=4))) == repr(single)
    assert rater_agreement(ratings, resampling(200, seed=9)).iaa1 != single.iaa1


def test_raters_who_share_no_items_have_no_agreement() -> None:
    ratings = np.array([[1, 2, math.nan, math.nan], [math.nan, math.nan, 3, 4]])

    result = rater_agreement(ratings, resampling(100))

    assert math.isnan(result.iaa1.value)
    assert math.isnan(result.iaa1.low)
    assert math.isnan(rater_agreement(np.empty((3, 0)), resampling(100)).iaa2.value)


def test_raters_with_too_few_shared_items_change_nothing() -> None:
    good = rated(4, 120, seed=5)
    few = np.full((2, 120), np.nan)
    few[0, [3, 90]], few[1, [3, 90]] = (6, 0), (0, 6)
    alone = rater_agreement(good, resampling(200))

    result = rater_agreement(np.vstack([good, few]), resampling(200))

    assert repr(result.iaa1) == repr(alone.iaa1)
    assert result.with_others[:4].tolist() == alone.with_others.tolist()
    assert np.isnan(result.with_others[4:]).all()
    assert np.isnan(result.with_mean[4:]).all()


def test_the_order_of_raters_does_not_untie_means() -> None:
    whole = np.random.default_rng(0).integers(1, 6, (6, 40)).astype(float)
    expected = rater_agreement(whole).iaa2.value
    for order in (range(6), range(5, -1, -1), [3, 0, 5, 1, 4, 2]):
        tenths = (whole / 10)[list(order)]
        assert rater_agreement(tenths).iaa2.value == pytest.approx(expected)
