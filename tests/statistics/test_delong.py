"""DeLong's interval of the AUC and test of two, and the jackknife of clusters."""

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
    by_positive = np.cov(np.array([one.mean(axis=1) for one in won]))
    by_negative = np.cov(np.array([one.mean(axis=0) for one in won]))
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
def test_interval_and_test_are_those_of_the_covariance_matrix(rows: Rows) -> None:
    first, second, labels = arrays(rows)
    scores1, scores2 = scores_of(first, labels), scores_of(second, labels)

    found = delong(scores1.area, scores2.area)

    if min(labels.sum(), (~labels).sum()) < 2:
        assert np.isnan([found.p, found.low, scores1.area.auc.low]).all()
        return
    matrix = covariance([first, second], labels)
    auc1, auc2 = (wins(side[labels], side[~labels]).mean() for side in (first, second))
    reach = Z95 * math.sqrt(matrix[0, 0])
    if reach > 1e-9 and auc1 - reach >= 0 and auc1 + reach <= 1:
        assert scores1.area.auc.low == pytest.approx(auc1 - reach, abs=1e-9)
        assert scores1.area.auc.high == pytest.approx(auc1 + reach, abs=1e-9)
    error = math.sqrt(max(0, matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1]))
    if error > 1e-6:
        assert found.low == pytest.approx(max(-1, auc1 - auc2 - Z95 * error), abs=1e-7)
        assert found.high == pytest.approx(min(1, auc1 - auc2 + Z95 * error), abs=1e-7)
        assert found.statistic == pytest.approx((auc1 - auc2) / error, abs=1e-6)
        assert found.p == pytest.approx(2 * stats.norm.sf(abs(auc1 - auc2) / error), abs=1e-9)


def test_a_similarity_does_not_differ_from_itself_but_a_perfect_one_may_on_other_pairs() -> None:
    labels = np.arange(4) % 2 == 0
    some, perfect = (scores_of(side, labels).area for side in (np.arange(4.0), labels * 1.0))

    for area, end in ((some, 0), (perfect, 1 - perfect.auc.low)):
        found = delong(area, area)
        assert (found.method, found.statistic, found.p) == ("delong", 0, 1)
        assert -found.low == found.high == pytest.approx(end)


@pytest.mark.parametrize(("n", "verdict"), [(4, "open"), (10, "significant"), (100, "significant")])
def test_few_pairs_do_not_tell_a_perfect_similarity_from_a_constant_one(
    n: int, verdict: str
) -> None:
    labels = np.arange(n) % 2 == 0
    perfect, constant = scores_of(labels.astype(float), labels), scores_of(np.ones(n), labels)

    found = delong(constant.area, perfect.area)

    assert (found.p < 0.05) == (found.high < 0) == (verdict == "significant")
    assert found.low < -0.5 < found.high


@pytest.mark.parametrize(("auc", "n"), [(1.0, 4), (0.0, 10), (0.96, 10), (0.5, 6)])
def test_the_ends_of_the_score_interval_are_as_far_as_their_own_errors_reach(
    auc: float, n: int
) -> None:
    """As Newcombe (2006) has method 5, by hand."""
    found = area_interval(auc, n, n)

    for end in {found.low, found.high} - {auc}:
        shared = (n - 1) * ((1 - end) / (2 - end) + end / (1 + end))
        error = math.sqrt(end * (1 - end) * (1 + shared)) / n
        assert abs(auc - end) == pytest.approx(Z95 * error, abs=1e-9)
    assert 0 <= found.low <= auc <= found.high <= 1
    assert found.low < found.high


@pytest.mark.parametrize("n", [4, 10, 30, 100])
@pytest.mark.parametrize("auc", [0.9, 0.99])
def test_intervals_near_1_cover_the_truth_about_as_often_as_they_say(n: int, auc: float) -> None:
    rng = np.random.default_rng(n)
    labels = np.arange(n) % 2 == 0
    apart = math.sqrt(2) * stats.norm.ppf(auc)

    n_covering = 0
    for _ in range(300):
        found = scores_of(rng.normal(size=n) + apart * labels, labels).area.auc
        n_covering += found.low <= auc <= found.high

    assert n_covering / 300 > 0.85  # 0.03 to 0.93 by DeLong's interval cut at 1


def auc_of(side: np.ndarray, labels: np.ndarray) -> float:
    return float(wins(side[labels], side[~labels]).mean())


def areas_without_each(side: np.ndarray, labels: np.ndarray, clusters: np.ndarray) -> list[float]:
    """Return the AUC without each cluster, computed again for each."""
    names = sorted(set(clusters.tolist()))
    return [auc_of(side[clusters != name], labels[clusters != name]) for name in names]


def jackknife(value: float, others: list[float]) -> float:
    """Return the standard error CV3 of MacKinnon, Nielsen and Webb (2023)."""
    error = math.sqrt((len(others) - 1) / len(others) * sum((one - value) ** 2 for one in others))
    return error if error > 1e-12 else 0.0


def effective_of(labels: np.ndarray, clusters: np.ndarray) -> float:
    """Return the effective number of clusters of the class with fewer."""
    found = []
    for members in (labels, ~labels):
        _, sizes = np.unique(clusters[members], return_counts=True)
        found.append(sizes.sum() ** 2 / (sizes**2).sum())
    return min(found)


@given(st.lists(st.tuples(Row, st.integers(0, 9)), min_size=12, max_size=60))
def test_the_interval_of_clusters_is_wilsons_at_the_jackknifes_effective_size(
    rows: list[tuple[Rows, int]],
) -> None:
    from statsmodels.stats.proportion import proportion_confint

    first, second, labels = arrays([row for row, _ in rows])
    clusters = np.array([cluster for _, cluster in rows])
    if labels.all() or not labels.any():
        return

    sides = [scores_of(side, labels, clusters).area for side in (first, second)]
    found = delong(*sides)

    effective = effective_of(labels, clusters)
    if effective < 5 - 1e-12:
        assert np.isnan([sides[0].auc.low, sides[0].auc.high, found.p]).all()
        return
    auc, others = auc_of(first, labels), areas_without_each(first, labels, clusters)
    error, size = jackknife(auc, others), effective
    if error and 0 < auc < 1:
        size = min(auc * (1 - auc) / error**2, len(labels))
    reach = stats.t.ppf(0.975, effective / 2)
    if size > effective:  # then few clusters may dominate the error (Satterthwaite 1946)
        shares = np.square(np.array(others) - auc)
        degrees = 2 * len(shares) * shares.mean() ** 2 / max(shares.var(), 1e-300)
        of_few = stats.t.ppf(0.975, min(effective / 2, degrees))
        reach = min(of_few, reach * math.sqrt(size / effective))
    ends = proportion_confint(auc * size, size, 2 * stats.norm.sf(reach), method="wilson")
    assert (sides[0].auc.low, sides[0].auc.high) == pytest.approx(ends, abs=1e-9)

    difference = auc - auc_of(second, labels)
    without = zip(others, areas_without_each(second, labels, clusters), strict=True)
    error = jackknife(difference, [one - other for one, other in without])
    if error:
        p = 2 * stats.t.sf(abs(difference) / error, effective / 2)
        assert found.p == pytest.approx(p, abs=1e-9)


@given(Drawn, st.integers(1, 4))
def test_pairs_that_are_copied_within_their_cluster_tell_nothing_new(rows: Rows, n: int) -> None:
    first, second, labels = arrays(rows)
    of_all = (np.repeat(first, n), np.repeat(labels, n), np.repeat(np.arange(len(rows)), n))
    copied, others = scores_of(*of_all), scores_of(np.repeat(second, n), *of_all[1:])
    alone, beside = (scores_of(side, labels, np.arange(len(rows))) for side in (first, second))

    found, expected = delong(copied.area, others.area), delong(alone.area, beside.area)

    assert found.method == "delong_clusters"
    assert found.p == pytest.approx(expected.p, abs=1e-6, nan_ok=True)


def test_a_large_cluster_among_small_ones_does_not_make_differences_significant() -> None:
    rng = np.random.default_rng(6)
    clusters = np.tile(np.r_[np.zeros(33, np.int32), np.arange(1, 101)], 2)
    labels = np.arange(266) < 133

    def drawn() -> LabelledSample:
        of_cluster = rng.normal(size=(2, 101))[np.where(labels, 0, 1), clusters]
        return scores_of(labels + of_cluster + rng.normal(size=266), labels, clusters)

    p = np.array([drawn().auc_difference(drawn()).p for _ in range(400)])

    assert not np.isnan(p).any()
    assert (p < 0.05).mean() < 0.08


@pytest.mark.parametrize("n_clusters", [5, 30])
def test_a_perfect_similarity_and_a_constant_one_are_told_apart_alike_by_both_tests(
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
