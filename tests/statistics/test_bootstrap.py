"""BCa bootstrap of Spearman's correlation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.ranks import spearman
from scipy import stats

from medsim.statistics.bca import Distribution, bca_interval, bca_p
from medsim.statistics.estimates import perfect_correlation
from medsim.statistics.options import Resampling, fewest_for
from medsim.statistics.ranks import leave_one_out_spearman, ranked
from medsim.statistics.scores import SpearmanBootstrap, rated_samples, redrawn
from medsim.statistics.significance import bonferroni

if TYPE_CHECKING:
    from medsim.statistics.significance import Test

Normals = st.lists(st.floats(-3, 3), min_size=2, max_size=60)


def correlated(n_pairs: int, seed: int, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ratings = rng.normal(size=n_pairs)
    return ratings + noise * rng.normal(size=n_pairs), ratings


def naive_acceleration(left: np.ndarray, right: np.ndarray) -> float:
    left_out = np.array(
        [spearman(np.delete(left, pair), np.delete(right, pair)) for pair in range(len(left))]
    )
    from_mean = left_out.mean() - left_out
    return float((from_mean**3).sum() / (6 * (from_mean**2).sum() ** 1.5))


def resampling(resamples: int = 10_000, seed: int = 0, threads: int = 1) -> Resampling:
    return Resampling(seed=seed, resamples=resamples, threads=threads)


def bca_spearman(left, right, **options) -> Test:
    return SpearmanBootstrap([left], right, resampling(**options)).correlation(0)


def bca_spearman_difference(left, other, right, **options) -> Test:
    return SpearmanBootstrap([left, other], right, resampling(**options)).difference(0, 1)


def test_interval_matches_scipy_for_the_same_resamples() -> None:
    left, right = correlated(25, seed=1)
    left = left.round(1)
    for level in (0.95, 0.8):
        expected = stats.bootstrap(
            (left, right),
            spearman,
            paired=True,
            vectorized=False,
            n_resamples=400,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(9),
        )
        result = Distribution(
            estimate=spearman(left, right),
            resampled=np.sort(expected.bootstrap_distribution),
            acceleration=naive_acceleration(left, right),
        )

        assert bca_interval(result, level) == pytest.approx(
            tuple(expected.confidence_interval), abs=1e-9
        )


@given(Normals, st.floats(-3, 3), st.floats(-0.15, 0.15), st.floats(0.3, 0.98))
def test_p_is_below_alpha_if_the_interval_excludes_0(
    values: list[float], estimate: float, acceleration: float, level: float
) -> None:
    result = Distribution(estimate=estimate, resampled=np.sort(values), acceleration=acceleration)
    low, high = bca_interval(result, level)
    p = bca_p(result)

    assert 2 / (len(values) + 1) <= p <= 1
    if p < 1 - level - 1e-9:
        assert low >= -1e-9 or high <= 1e-9


def test_p_is_the_alpha_whose_interval_ends_at_0() -> None:
    resampled = np.sort(np.random.default_rng(6).normal(0.2, 0.15, 2000))
    for shift, acceleration in ((0.0, 0.0), (0.02, 0.05), (-0.02, -0.08), (-0.35, 0.02)):
        result = Distribution(
            estimate=0.2 + shift, resampled=resampled + shift, acceleration=acceleration
        )
        p = bca_p(result)

        low, high = bca_interval(result, 1 - p)
        assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-6)
        assert 0.001 < p < 1


@pytest.mark.parametrize("n_distinct", [2, 5, 1000])
def test_results_do_not_depend_on_threads(n_distinct: int) -> None:
    left, right = correlated(50, seed=n_distinct)
    left = np.floor(left * n_distinct)
    result = {
        repr(bca_spearman(left, right, seed=3, resamples=333, threads=threads))
        for threads in (1, 2, 5)
    }

    assert len(result) == 1


def test_differences_use_the_same_resamples() -> None:
    left, right = correlated(200, seed=7, noise=0.5)
    near, far = left, left + 0.3 * np.random.default_rng(1).normal(size=200)

    result = bca_spearman_difference(near, far, right, threads=1)

    alone = [bca_spearman(side, right) for side in (near, far)]
    assert result.statistic == alone[0].statistic - alone[1].statistic
    assert result.low < result.statistic < result.high
    assert result.high - result.low < 0.7 * (alone[0].high - alone[0].low)


def test_number_of_resamples_limits_p_and_zeros_count_on_neither_side() -> None:
    for estimate, values, p in (
        (0.5, np.linspace(0.1, 0.9, 999), 0.002),
        (0.0, np.zeros(9), 1),
        (0.0, np.array([-1.0, *[0.0] * 98, 1.0]), 1),
    ):
        result = Distribution(estimate=estimate, resampled=values, acceleration=0.0)
        assert bca_p(result) == pytest.approx(p)
    assert 0.0005 <= bca_spearman(*correlated(300, seed=1), resamples=4000).p < 0.001


def test_difference_matches_scipy_within_resampling_error() -> None:
    left, right = correlated(40, seed=8)
    other = left + np.random.default_rng(3).normal(size=40)
    expected = stats.bootstrap(
        (left, other, right),
        lambda a, b, c: spearman(a, c) - spearman(b, c),
        paired=True,
        vectorized=False,
        n_resamples=1500,
        method="BCa",
        rng=np.random.default_rng(2),
    ).confidence_interval

    result = bca_spearman_difference(left, other, right, threads=1)

    # An end's own error with 1,500 resamples is about 0.01.
    assert (result.low, result.high) == pytest.approx(tuple(expected), abs=0.03)
    assert bca_spearman(left, right, resamples=100).statistic == pytest.approx(
        spearman(left, right), abs=1e-12
    )


def test_sides_that_rank_alike_do_not_differ() -> None:
    left = np.arange(20.0)
    alike = SpearmanBootstrap([left, np.exp(left)], left, resampling(999))

    differ = alike.difference(0, 1)

    assert (differ.statistic, differ.p, differ.low, differ.high) == (0, 1, 0, 0)


@pytest.mark.parametrize(
    ("n", "low", "verdict"), [(3, -1, "open"), (4, -0.69, "open"), (5, 0.16, "significant")]
)
def test_few_pairs_that_rank_alike_prove_little(n: int, low: float, verdict: str) -> None:
    is_significant = verdict == "significant"
    pairs = np.arange(float(n))
    sides = SpearmanBootstrap([pairs, -pairs], pairs, resampling(999))

    alike, reversed_, differ = sides.correlation(0), sides.correlation(1), sides.difference(0, 1)

    assert (alike.low, alike.high) == pytest.approx((low, 1), abs=0.005)
    assert (reversed_.low, reversed_.high) == pytest.approx((-1, -low), abs=0.005)
    assert (alike.p < 0.05) == is_significant
    assert differ.statistic == pytest.approx(2)
    assert (differ.p < 0.05) == (differ.low > 0) == is_significant


@pytest.mark.parametrize("n", [4, 10, 29])
def test_interval_of_few_pairs_includes_the_analytic_interval(n: int) -> None:
    left = np.arange(float(n))
    right = np.array([*left[:-2], left[-1], left[-2]])
    result = bca_spearman(left, right, resamples=400)
    z, error = math.atanh(result.statistic), math.sqrt((1 + result.statistic**2 / 2) / (n - 3))

    assert result.low <= math.tanh(z - stats.norm.ppf(0.975) * error) + 1e-12
    assert result.high >= math.tanh(z + stats.norm.ppf(0.975) * error) - 1e-12
    assert result.p >= 2 * stats.norm.sf(abs(z) / error) - 1e-12


def test_interval_of_thirty_pairs_is_the_bootstrap_interval() -> None:
    left, right = correlated(30, seed=3)
    bootstrap = SpearmanBootstrap([left], right, resampling(400))
    distribution = Distribution(
        estimate=spearman(left, right),
        resampled=np.sort(bootstrap._resampled[:, 0]),
        acceleration=naive_acceleration(left, right),
    )

    result = bootstrap.correlation(0)

    assert (result.low, result.high) == pytest.approx(bca_interval(distribution, 0.95), abs=1e-9)
    assert result.p == pytest.approx(bca_p(distribution))


@pytest.mark.slow
@pytest.mark.parametrize("levels", [None, 5])
@pytest.mark.parametrize("n", [4, 10])
def test_interval_of_few_pairs_covers_the_truth(n: int, levels: int | None) -> None:
    rho, rng = 0.95, np.random.default_rng(12)

    def sample(n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
        left = rng.normal(size=n_pairs)
        right = rho * left + math.sqrt(1 - rho**2) * rng.normal(size=n_pairs)
        return left, right if levels is None else np.clip(np.round(1.2 * right + 2), 0, levels - 1)

    truth = stats.spearmanr(*sample(200_000)).statistic
    result = [bca_spearman(*sample(n), resamples=300) for _ in range(200)]
    defined = [test for test in result if not math.isnan(test.statistic)]

    covering = [test.low <= truth <= test.high for test in defined]
    assert len(defined) > 180
    assert sum(covering) / len(defined) > 0.93


@pytest.mark.parametrize("n", [5, 6, 10])
def test_the_lower_end_of_a_perfect_correlation_is_where_it_becomes_unlikely(n: int) -> None:
    """With a true correlation at that end, about one sample in 40 has equal ranks."""
    low = perfect_correlation(1, n).low
    rho = 2 * math.sin(math.pi * low / 6)  # of normal values with that rank correlation
    x, noise = np.random.default_rng(5).normal(size=(2, 20_000, n))
    y = rho * x + math.sqrt(1 - rho * rho) * noise

    perfect = (x.argsort(axis=1) == y.argsort(axis=1)).all(axis=1).mean()

    assert 0.01 < perfect < 0.035


@pytest.mark.parametrize(
    ("left", "right", "statistic"),
    [
        ([], [], math.nan),
        ([1.0], [1.0], math.nan),
        ([1.0, 2.0], [1.0, 2.0], 1.0),
        ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], math.nan),
        ([2.0] * 700, [*range(700)], math.nan),
    ],
)
def test_too_few_pairs_or_a_constant_side_have_no_interval(
    left: list[float], right: list[float], statistic: float
) -> None:
    sides = [np.array(left)] * 2
    bootstrap = SpearmanBootstrap(sides, np.array(right), resampling(100))

    assert bootstrap.correlation(0).statistic == pytest.approx(statistic, nan_ok=True)
    for result in (bootstrap.correlation(0), bootstrap.difference(0, 1)):
        assert np.isnan([result.p, result.low, result.high]).all()


def test_acceleration_ignores_undefined_correlations() -> None:
    left, right = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0, 3.0])
    left_out = leave_one_out_spearman(ranked(left).ranks, ranked(right).ranks)
    assert np.isnan(left_out).tolist() == [False, False, False, True]

    result = bca_spearman(left, right, resamples=200)

    assert result.low <= result.statistic <= result.high


def test_results_do_not_depend_on_the_other_similarities() -> None:
    rng = np.random.default_rng(8)
    ratings = np.sort(rng.integers(0, 9, 40)).astype(float)
    sides = [np.round(ratings + rng.normal(size=40), 1) for _ in range(3)]
    settings = resampling(300, seed=5, threads=2)

    together = SpearmanBootstrap(sides, ratings, settings)

    for side in range(3):
        alone = SpearmanBootstrap([sides[side]], ratings, settings)
        assert together.correlation(side) == alone.correlation(0)
        other = (side + 1) % 3
        pair = SpearmanBootstrap([sides[side], sides[other]], ratings, settings)
        assert together.difference(side, other) == pair.difference(0, 1)
    forward, other = together.difference(0, 1), together.difference(1, 0)
    mirrored = (-other.statistic, -other.high, -other.low)
    assert (forward.statistic, forward.low, forward.high) == pytest.approx(mirrored)
    assert forward.p == pytest.approx(other.p)


def test_redrawn_samples_have_more_resamples_of_the_same_bootstrap() -> None:
    left, right = correlated(40, seed=3)
    other, _ = correlated(40, seed=4)
    settings = Resampling(seed=5, resamples=100, threads=1, grows=True)
    few = rated_samples([other, left, right[::-1]], right, settings)

    first, second = redrawn([few[1], few[0]], settings)

    assert first.spearman_difference(second) == bca_spearman_difference(
        left, other, right, seed=5, resamples=200
    )
    assert first.spearman_difference(second) != few[1].spearman_difference(few[0])


@pytest.mark.parametrize("n_comparisons", [1, 45, 50, 51, 253, 4950])
def test_default_smallest_p_stays_below_alpha_for_any_number_of_comparisons(
    n_comparisons: int,
) -> None:
    grown = Resampling(seed=0, resamples=10_000, threads=1, grows=True)
    resamples = grown.for_comparisons(n_comparisons).resamples

    assert resamples == max(10_000, 200 * n_comparisons)
    corrected = bonferroni(np.array([2 / (resamples + 1)] + [1.0] * (n_comparisons - 1)))[0]
    assert grown.least_p(n_comparisons) == pytest.approx(corrected)
    assert corrected <= 0.01


def test_fixed_number_of_resamples_does_not_grow() -> None:
    fixed = resampling()
    assert fixed.for_comparisons(253) == fixed
    assert fixed.least_p(253) > 0.05
    assert [fewest_for(n, 0.05) for n in (1, 3, 253)] == [40, 120, 10_120]
    for n in range(1, 3000):
        enough = fewest_for(n, 0.05)
        assert 2 * n / (enough + 1) < 0.05 <= 2 * n / enough
