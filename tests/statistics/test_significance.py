"""Tests of pairs and of clusters, compared with textbooks, and corrections for multiple tests."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.estimates import clustered_mean, degrees_of_error, effective_clusters
from medsim.statistics.significance import (
    bonferroni,
    clustered_difference,
    holm,
    mcnemar,
    mcnemar_of_runs,
)

Probabilities = st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=12)


def answers(n_only1: int, n_only2: int, n_both: int = 3) -> tuple[np.ndarray, np.ndarray]:
    correct1 = [True] * n_only1 + [False] * n_only2 + [True] * n_both
    correct2 = [False] * n_only1 + [True] * n_only2 + [True] * n_both
    return np.array(correct1, np.bool_), np.array(correct2, np.bool_)


@given(st.integers(0, 24), st.integers(0, 24))
def test_few_disagreements_use_the_binomial_distribution(only1: int, only2: int) -> None:
    only2 = min(only2, 24 - only1)

    result = mcnemar(*answers(only1, only2))

    expected = stats.binomtest(only1, only1 + only2).pvalue if only1 + only2 else 1.0
    assert result.method == "mcnemar_exact"
    assert result.statistic == min(only1, only2)
    assert result.p == pytest.approx(expected, rel=1e-12)
    assert np.isnan([result.low, result.high]).all()


@given(st.integers(0, 200), st.integers(0, 200))
def test_many_disagreements_use_the_chi_square_distribution(only1: int, only2: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

    only1 = max(only1, 25 - only2)

    result = mcnemar(*answers(only1, only2))

    assert result.method == "mcnemar"
    if only1 == only2:
        assert (result.statistic, result.p) == (0, 1)
    else:
        table = [[3, only1], [only2, 0]]
        expected = statsmodels_mcnemar(table, exact=False, correction=True)
        assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert result.p == pytest.approx(expected.pvalue, rel=1e-9)


def students_p(correct1: np.ndarray, correct2: np.ndarray, clusters: np.ndarray) -> float:
    """Return the smallest possible p of a test of clusters; NaN if fewer than 5 are effective."""
    if effective(clusters) < 5 - 1e-12:
        return math.nan
    differences = correct1.astype(float) - correct2
    error = jackknife(differences, clusters)
    t = abs(differences.mean()) / error if error else math.inf
    return float(2 * stats.t.sf(t, effective(clusters) / 2)) if differences.sum() else 1.0


Answer = st.tuples(st.booleans(), st.booleans(), st.integers(0, 7))


@given(st.lists(Answer, min_size=1, max_size=60))
def test_few_differing_clusters_are_tested_with_all_signs(rows) -> None:
    correct1, correct2, clusters = (np.array(value) for value in zip(*rows, strict=True))

    result = mcnemar(correct1, correct2, clusters)

    sums = [
        sum(int(a) - int(b) for a, b, cluster in rows if cluster == name) for name in set(clusters)
    ]
    signs = list(product((-1, 1), repeat=len(sums)))
    totals = [abs(sum(s * value for s, value in zip(sign, sums, strict=True))) for sign in signs]
    assert result.method == "mcnemar_clusters_exact"
    of_signs = sum(t >= abs(sum(sums)) for t in totals) / len(totals)
    expected = np.maximum(of_signs, students_p(correct1, correct2, clusters))  # NaN if it is
    assert result.p == pytest.approx(expected, nan_ok=True)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(5, 9))
def test_clusters_of_one_pair_give_nearly_the_test_of_pairs(
    only1: int, only2: int, both: int
) -> None:
    correct = answers(only1, only2, both)
    clusters = np.arange(len(correct[0])) + 3

    result = mcnemar(*correct, clusters)

    expected = mcnemar(*correct)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert result.p == pytest.approx(max(expected.p, students_p(*correct, clusters)))


def test_many_clusters_use_the_squares_of_their_differences() -> None:
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(80), 5)
    correct1, correct2 = rng.random((2, 400)) < [[0.7], [0.6]]

    result = mcnemar(correct1, correct2, clusters)

    sums = (correct1.astype(int) - correct2).reshape(80, 5).sum(axis=1)
    expected = (abs(sums.sum()) - 1) ** 2 / (sums**2).sum()
    assert result.statistic == pytest.approx(expected)
    t = stats.ttest_1samp(sums, 0).statistic
    assert result.p == pytest.approx(
        max(stats.chi2.sf(expected, 1), 2 * stats.t.sf(abs(t), 40)), rel=1e-9
    )


def test_ten_clusters_that_nearly_all_agree_are_significant() -> None:
    clusters = np.repeat(np.arange(10), 20)
    correct1, correct2 = (np.tile(np.arange(20) < n, 10) for n in (15, 9))
    correct1[clusters == 3] = correct2[clusters == 3]
    correct1[np.flatnonzero(clusters == 5)[9:12]] = False

    result = mcnemar(correct1, correct2, clusters)

    sums = np.bincount(clusters, correct1.astype(int) - correct2)
    t = stats.ttest_1samp(sums, 0).statistic
    assert result.p == pytest.approx(max(2 / 2**9, 2 * stats.t.sf(t, 5)))
    assert result.p < 0.01  # 0.03 by the chi-square in Student's distribution


def test_no_test_if_one_cluster_has_most_pairs() -> None:
    clusters = np.r_[np.zeros(300, np.int64), np.arange(1, 100)]
    correct1, correct2 = np.ones(399, np.bool_), np.arange(399) % 5 > 0

    assert mcnemar(correct1, correct2).p < 1e-9
    assert math.isnan(mcnemar(correct1, correct2, clusters).p)


def test_runs_are_tested_by_the_differences_of_their_instances() -> None:
    correct1 = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0]], np.bool_)
    correct2 = np.array([[0, 1, 1, 1], [0, 1, 0, 1]], np.bool_)

    result = mcnemar_of_runs(correct1, correct2)

    differences = [1 - 0, 2 / 3 - 1, 0 - 1 / 2, 2 / 3 - 1]
    chi_square = sum(differences) ** 2 / sum(difference**2 for difference in differences)
    assert result.method == "mcnemar_runs"
    assert result.statistic == pytest.approx(chi_square)
    assert result.p == pytest.approx(stats.chi2(1).sf(chi_square))
    assert mcnemar_of_runs(correct1[[0, 0]], correct1[:1]).p == 1
    single = mcnemar_of_runs(correct1[:1], correct2[:1])
    assert repr(single) == repr(mcnemar(correct1[0], correct2[0]))  # some values are NaN


def test_runs_reject_a_true_hypothesis_at_the_stated_rate() -> None:
    draw = np.random.default_rng(8)
    hard = draw.uniform(0.2, 0.9, size=(400, 1, 300))  # of instances, which runs have in common
    right1, right2 = (draw.random((400, 3, 300)) < hard for _ in range(2))

    p = [mcnemar_of_runs(first, second).p for first, second in zip(right1, right2, strict=True)]

    assert 0.02 < np.mean(np.array(p) < 0.05) < 0.08


@given(Probabilities)
def test_corrections_match_the_textbook_and_ignore_nan(values: list[float]) -> None:
    tested = [p for p in values if not math.isnan(p)]

    of_bonferroni, of_holm = bonferroni(np.array(values)), holm(np.array(values))

    for at, p in enumerate(values):
        if math.isnan(p):
            assert np.isnan([of_bonferroni[at], of_holm[at]]).all()
            continue
        assert of_bonferroni[at] == min(1, p * len(tested))
        steps = [q * sum(another >= q for another in tested) for q in tested if q <= p]
        assert of_holm[at] == min(1, max(steps))


Row = st.tuples(st.integers(0, 8), st.integers(0, 14))
Rows = st.lists(Row, min_size=2, max_size=9) | st.lists(Row, min_size=25, max_size=60)
NEAR = 1e-9


def without_each(values: np.ndarray, clusters: np.ndarray) -> list[float]:
    """Return the means without each cluster."""
    return [values[clusters != name].mean() for name in sorted(set(clusters.tolist()))]


def jackknife(values: np.ndarray, clusters: np.ndarray) -> float:
    """Return the standard error CV3 of a mean, cluster by cluster."""
    squares = [(mean - values.mean()) ** 2 for mean in without_each(values, clusters)]
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
    """Return the interval of a mean; NaN if fewer than five clusters are effective."""
    if effective(clusters) < 5 - 1e-12:
        return math.nan, math.nan
    mean, error = values.mean(), jackknife(values, clusters)
    size, standard_errors = effective(clusters), reach(clusters)
    if error and mean * (1 - mean) > 0:
        size = min(mean * (1 - mean) / error**2, len(values))
        if size > effective(clusters):  # as if clusters were right or wrong as a whole
            none_differs = math.exp(effective(clusters) * math.log(max(mean, 1 - mean)))
            logarithms = [math.log(size), math.log(effective(clusters))]
            size = math.exp(np.average(logarithms, weights=[1 - none_differs, none_differs]))
        squares = np.array([(without - mean) ** 2 for without in without_each(values, clusters)])
        relative = squares.var() / squares.mean() ** 2 / len(squares)
        if relative > 0:
            of_few = stats.t.ppf(0.975, min(effective(clusters) / 2, 2 / relative))
            at_widest = standard_errors * math.sqrt(max(1, size / effective(clusters)))
            standard_errors = max(standard_errors, min(of_few, at_widest))
    return wilson(mean, size, standard_errors)


def split(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([value for value, _ in rows]) / 8, np.array([cluster for _, cluster in rows])


@settings(max_examples=60)
@given(rows=Rows, hits=st.booleans())
def test_interval_of_a_mean_is_wilsons_at_the_effective_size(rows, hits) -> None:
    values, clusters = split(rows)
    values = (values > 0.5).astype(float) if hits else values

    result = clustered_mean(values, clusters)

    assert result.value == pytest.approx(values.mean())
    ends = expected_interval(values, clusters)
    assert (result.low, result.high) == pytest.approx(ends, abs=NEAR, nan_ok=True)


@given(rows=Rows, shift=st.integers(0, 3))
def test_a_difference_is_tested_by_the_jackknife(rows, shift: int) -> None:
    values, clusters = split(rows)
    others = np.roll(values, shift) ** 2  # whose mean is another
    result = clustered_difference(values, others, clusters)

    if effective(clusters) < 5 - 1e-12:
        assert math.isnan(result.p)
        return
    difference, error = values.mean() - others.mean(), jackknife(values - others, clusters)
    if not error:
        assert (result.p == 1) == (abs(difference) < 1e-12)
        return
    t = difference / error
    assert result.statistic == pytest.approx(t, abs=NEAR)
    p = 2 * stats.t.sf(abs(t), effective(clusters) / 2)
    assert result.p == pytest.approx(p, abs=NEAR)
    wide = reach(clusters) * error
    ends = max(-1, difference - wide), min(1, difference + wide)
    assert (result.low, result.high) == pytest.approx(ends, abs=NEAR)


def test_few_clusters_with_misses_widen_intervals() -> None:
    """Of 300 clusters with log-normal sizes, 1 in 100 misses."""
    draw = np.random.default_rng(10)
    quantiles = stats.norm.ppf((np.arange(300) + 0.5) / 300)
    sizes = np.maximum(1, np.round(2.8 * np.exp(quantiles))).astype(int)
    clusters = np.repeat(np.arange(300), sizes)
    n_covered = 0
    for _ in range(500):
        hits = draw.random(300) >= 0.01
        result = clustered_mean(hits[clusters].astype(float), clusters)
        n_covered += result.low <= 0.99 <= result.high
    assert n_covered / 500 > 0.92  # 0.83 with the degrees of all clusters


@pytest.mark.parametrize(("share", "harder"), [(0.97, 0.0), (0.05, 0.0), (0.97, 0.5)])
def test_intervals_near_0_and_1_contain_the_share_of_clusters_that_are_alike(share, harder) -> None:
    """Hits are beta-binomial with a correlation of 0.6, in clusters with sizes by Zipf's law."""
    draw = np.random.default_rng(12)
    sizes = np.maximum(1, np.round(191 / np.arange(1, 301))).astype(int)
    clusters = np.repeat(np.arange(300), sizes)
    misses = sizes**harder / (sizes @ sizes**harder) * sizes.sum() * (1 - share)
    n_covered = 0
    for _ in range(400):
        chances = draw.beta((1 - misses) * 2 / 3, misses * 2 / 3)
        hits = draw.random(len(clusters)) < chances[clusters]
        result = clustered_mean(hits.astype(float), clusters)
        n_covered += result.low <= share <= result.high
    assert n_covered / 400 > 0.95  # 0.84, 0.87 and 0.73 with the effective size alone


def test_a_miss_in_a_small_cluster_lowers_the_interval_of_a_perfect_score() -> None:
    clusters = np.repeat(np.arange(30), [100, 50, *[10] * 27, 1])
    hits = np.ones(len(clusters))
    perfect = clustered_mean(hits, clusters)
    hits[-1] = 0

    result = clustered_mean(hits, clusters)

    assert 0.6 < perfect.low < 0.8
    assert perfect.low - 0.01 < result.low < perfect.low  # 0.97 with the effective size alone
    assert perfect.high == 1 > result.high


def test_degrees_of_an_error_match_a_chi_square_distribution() -> None:
    draw = np.random.default_rng(11)
    assert degrees_of_error(0.0, np.r_[0.1, np.zeros(999)]) == pytest.approx(2, rel=0.01)
    assert degrees_of_error(0.0, np.zeros(9)) == math.inf
    result = [degrees_of_error(0.0, draw.normal(size=2000)) for _ in range(100)]
    assert np.mean(result) == pytest.approx(2000, rel=0.02)


@pytest.mark.parametrize("sizes", [[3] * 4, [100, 1, 1, 1, 1, 1, 1], [10, 10, 1, 1, 1, 1]])
def test_fewer_than_five_effective_clusters_have_no_interval_and_no_test(sizes) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(1).random(len(clusters))

    assert effective_clusters(clusters) < 5
    result = clustered_mean(values, clusters)
    assert np.isnan([result.low, result.high]).all()
    assert math.isnan(clustered_difference(values, 1 - values, clusters).p)
