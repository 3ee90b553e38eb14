"""DeLong's interval of an AUC, the test of two AUCs, and the jackknife of clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.estimates import area_interval
from medsim.statistics.scores import LabelledSample, delong, labelled_sample

Z95 = stats.norm.ppf(0.975)
Row = st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans())
Drawn = st.lists(Row, min_size=1, max_size=30)
Rows = list[tuple[int, int, bool]]


def scores_of(
    similarities: np.ndarray, labels: np.ndarray, clusters: np.ndarray | None = None
) -> LabelledSample:
    return labelled_sample(similarities, labels, np.zeros(len(labels), np.bool_), clusters)


def wins(positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """Return 1, 0.5 or 0 for each positive against each negative."""
    return (np.sign(positives[:, None] - negatives[None, :]) + 1) / 2


def covariance(sides: list[np.ndarray], labels: np.ndarray) -> np.ndarray:
    """Return the covariance matrix of AUCs by DeLong et al. (1988), equations 4 to 6."""
    won = [wins(side[labels], side[~labels]) for side in sides]
    by_positive = np.cov(np.array([table.mean(axis=1) for table in won]))
    by_negative = np.cov(np.array([table.mean(axis=0) for table in won]))
    return by_positive / labels.sum() + by_negative / (~labels).sum()


def arrays(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first, second, labels = zip(*rows, strict=True)
    return np.array(first, float), np.array(second, float), np.array(labels, np.bool_)


@given(Drawn)
def test_placements_are_shares_of_the_other_class(rows: Rows) -> None:
    similarities, _, labels = arrays(rows)

    placed = scores_of(similarities, labels).area.placements

    if labels.all() or not labels.any():
        assert np.isnan(placed).all()
    else:
        won = wins(similarities[labels], similarities[~labels])
        np.testing.assert_allclose(placed[labels], won.mean(axis=1), atol=1e-15)
        np.testing.assert_allclose(placed[~labels], won.mean(axis=0), atol=1e-15)


@given(Drawn)
def test_interval_and_test_match_the_covariance_matrix(rows: Rows) -> None:
    first, second, labels = arrays(rows)
    scores1, scores2 = scores_of(first, labels), scores_of(second, labels)

    result = delong(scores1.area, scores2.area)

    if min(labels.sum(), (~labels).sum()) < 2:
        assert np.isnan([result.p, result.low, scores1.area.auc.low]).all()
        return
    matrix = covariance([first, second], labels)
    auc1, auc2 = (wins(side[labels], side[~labels]).mean() for side in (first, second))
    reach = Z95 * math.sqrt(matrix[0, 0])
    if reach > 1e-9 and auc1 - reach >= 0 and auc1 + reach <= 1:
        assert scores1.area.auc.low == pytest.approx(auc1 - reach, abs=1e-9)
        assert scores1.area.auc.high == pytest.approx(auc1 + reach, abs=1e-9)
    error = math.sqrt(max(0, matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1]))
    if error > 1e-6:
        assert result.low == pytest.approx(max(-1, auc1 - auc2 - Z95 * error), abs=1e-7)
        assert result.high == pytest.approx(min(1, auc1 - auc2 + Z95 * error), abs=1e-7)
        assert result.statistic == pytest.approx((auc1 - auc2) / error, abs=1e-6)
        assert result.p == pytest.approx(2 * stats.norm.sf(abs(auc1 - auc2) / error), abs=1e-9)


def test_a_similarity_does_not_differ_from_itself_but_a_perfect_one_may_on_other_pairs() -> None:
    labels = np.arange(4) % 2 == 0
    some, perfect = (scores_of(side, labels).area for side in (np.arange(4.0), labels * 1.0))

    for area, end in ((some, 0), (perfect, 1 - perfect.auc.low)):
        result = delong(area, area)
        assert (result.method, result.statistic, result.p) == ("delong", 0, 1)
        assert -result.low == result.high == pytest.approx(end)


@pytest.mark.parametrize(("n", "verdict"), [(4, "open"), (10, "significant"), (100, "significant")])
def test_perfect_and_constant_do_not_differ_significantly_with_few_pairs(
    n: int, verdict: str
) -> None:
    labels = np.arange(n) % 2 == 0
    perfect, constant = scores_of(labels.astype(float), labels), scores_of(np.ones(n), labels)

    result = delong(constant.area, perfect.area)

    assert (result.p < 0.05) == (result.high < 0) == (verdict == "significant")
    assert result.low < -0.5 < result.high


@pytest.mark.parametrize(("auc", "n"), [(1.0, 4), (0.0, 10), (0.96, 10), (0.5, 6)])
def test_score_interval_ends_where_the_error_at_the_end_reaches(auc: float, n: int) -> None:
    """Computes method 5 of Newcombe (2006) by hand."""
    result = area_interval(auc, n, n)

    for end in {result.low, result.high} - {auc}:
        shared = (n - 1) * ((1 - end) / (2 - end) + end / (1 + end))
        error = math.sqrt(end * (1 - end) * (1 + shared)) / n
        assert abs(auc - end) == pytest.approx(Z95 * error, abs=1e-9)
    assert 0 <= result.low <= auc <= result.high <= 1
    assert result.low < result.high


@pytest.mark.parametrize("n", [4, 10, 30, 100])
@pytest.mark.parametrize("auc", [0.9, 0.99])
def test_intervals_near_1_have_about_the_stated_coverage(n: int, auc: float) -> None:
    rng = np.random.default_rng(n)
    labels = np.arange(n) % 2 == 0
    apart = math.sqrt(2) * stats.norm.ppf(auc)

    n_covering = 0
    for _ in range(300):
        result = scores_of(rng.normal(size=n) + apart * labels, labels).area.auc
        n_covering += result.low <= auc <= result.high

    assert n_covering / 300 > 0.85  # 0.03 to 0.93 by DeLong's interval cut at 1


def auc_of(side: np.ndarray, labels: np.ndarray) -> float:
    return float(wins(side[labels], side[~labels]).mean())


def areas_without_each(side: np.ndarray, labels: np.ndarray, clusters: np.ndarray) -> list[float]:
    """Return the AUC without each cluster, each computed from its pairs."""
    names = sorted(set(clusters.tolist()))
    return [auc_of(side[clusters != name], labels[clusters != name]) for name in names]


def jackknife(value: float, others: list[float]) -> float:
    """Return the standard error CV3 of MacKinnon, Nielsen and Webb (2023)."""
    error = math.sqrt(
        (len(others) - 1) / len(others) * sum((other - value) ** 2 for other in others)
    )
    return error if error > 1e-12 else 0.0


def effective_of(labels: np.ndarray, clusters: np.ndarray) -> float:
    """Return the effective number of clusters of the class with fewer."""
    numbers = []
    for members in (labels, ~labels):
        _, sizes = np.unique(clusters[members], return_counts=True)
        numbers.append(sizes.sum() ** 2 / (sizes**2).sum())
    return min(numbers)


@given(st.lists(st.tuples(Row, st.integers(0, 9)), min_size=12, max_size=60))
def test_interval_of_clusters_is_wilsons_at_the_effective_size(
    rows: list[tuple[Rows, int]],
) -> None:
    from statsmodels.stats.proportion import proportion_confint

    first, second, labels = arrays([row for row, _ in rows])
    clusters = np.array([cluster for _, cluster in rows])
    if labels.all() or not labels.any():
        return

    sides = [scores_of(side, labels, clusters).area for side in (first, second)]
    result = delong(*sides)

    effective = effective_of(labels, clusters)
    if effective < 5 - 1e-12:
        assert np.isnan([sides[0].auc.low, sides[0].auc.high, result.p]).all()
        return
    auc, others = auc_of(first, labels), areas_without_each(first, labels, clusters)
    error, size = jackknife(auc, others), effective
    if error and 0 < auc < 1:
        size = min(auc * (1 - auc) / error**2, len(labels))
    reach = stats.t.ppf(0.975, effective / 2)
    if size > effective:  # then few clusters may dominate the error (Satterthwaite 1946)
        none_differs = max(auc, 1 - auc) ** effective
        size = size ** (1 - none_differs) * effective**none_differs
        shares = np.square(np.array(others) - auc)
        degrees = 2 * len(shares) * shares.mean() ** 2 / max(shares.var(), 1e-300)
        of_few = stats.t.ppf(0.975, min(effective / 2, degrees))
        reach = min(of_few, reach * math.sqrt(size / effective))
    ends = proportion_confint(auc * size, size, 2 * stats.norm.sf(reach), method="wilson")
    assert (sides[0].auc.low, sides[0].auc.high) == pytest.approx(ends, abs=1e-9)

    difference = auc - auc_of(second, labels)
    without = zip(others, areas_without_each(second, labels, clusters), strict=True)
    error = jackknife(difference, [own_area - area for own_area, area in without])
    if error:
        p = 2 * stats.t.sf(abs(difference) / error, effective / 2)
        assert result.p == pytest.approx(p, abs=1e-9)


@given(Drawn, st.integers(1, 4))
def test_copies_of_pairs_within_a_cluster_change_nothing(rows: Rows, n: int) -> None:
    first, second, labels = arrays(rows)
    of_all = (np.repeat(first, n), np.repeat(labels, n), np.repeat(np.arange(len(rows)), n))
    copied, others = scores_of(*of_all), scores_of(np.repeat(second, n), *of_all[1:])
    alone, beside = (scores_of(side, labels, np.arange(len(rows))) for side in (first, second))

    result, expected = delong(copied.area, others.area), delong(alone.area, beside.area)

    assert result.method == "delong_clusters"
    assert result.p == pytest.approx(expected.p, abs=1e-6, nan_ok=True)


def test_a_large_cluster_among_small_ones_does_not_make_differences_significant() -> None:
    rng = np.random.default_rng(6)
    clusters = np.tile(np.r_[np.zeros(33, np.int32), np.arange(1, 101)], 2)
    labels = np.arange(266) < 133

    def sample() -> LabelledSample:
        of_cluster = rng.normal(size=(2, 101))[np.where(labels, 0, 1), clusters]
        return scores_of(labels + of_cluster + rng.normal(size=266), labels, clusters)

    p = np.array([sample().auc_difference(sample()).p for _ in range(400)])

    assert not np.isnan(p).any()
    assert (p < 0.05).mean() < 0.08


@pytest.mark.parametrize("n_clusters", [5, 30])
def test_both_tests_agree_on_a_perfect_and_a_constant_similarity(
    n_clusters: int,
) -> None:
    clusters = np.tile(np.repeat(np.arange(n_clusters), 4), 2)
    labels = np.arange(8 * n_clusters) < 4 * n_clusters
    perfect = scores_of(labels.astype(float), labels, clusters)
    constant = scores_of(np.ones(len(labels)), labels, clusters)

    of_auc, of_accuracy = perfect.auc_difference(constant), perfect.accuracy_difference(constant)

    significant = n_clusters == 30
    assert (of_auc.p < 0.05) == (of_accuracy.p < 0.05) == significant
    assert (of_auc.low > 0) == significant
