"""DeLong's interval of the AUC and his test of two, and Obuchowski's of clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.core.errors import OptionError
from medsim.statistics.edges import area_interval
from medsim.statistics.roc import delong
from medsim.statistics.scores import LabelledSample, labelled_sample

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


def test_a_similarity_does_not_differ_from_itself() -> None:
    labels = np.arange(30) % 3 == 0
    scores = scores_of(np.sin(np.arange(30.0)), labels)

    found = delong(scores.area, scores.area)

    assert (found.method, found.statistic, found.p) == ("delong", 0, 1)
    assert (found.low, found.high) == (0, 0)


@pytest.mark.parametrize(("n", "verdict"), [(4, "open"), (10, "significant"), (100, "significant")])
def test_few_pairs_do_not_tell_a_perfect_similarity_from_a_constant_one(
    n: int, verdict: str
) -> None:
    labels = np.arange(n) % 2 == 0
    perfect, constant = scores_of(labels.astype(float), labels), scores_of(np.ones(n), labels)

    found = delong(constant.area, perfect.area)

    assert (found.p < 0.05) == (found.high < 0) == (verdict == "significant")
    assert found.low < -0.5 < found.high


def test_two_perfect_similarities_may_differ_on_other_pairs() -> None:
    labels = np.arange(4) % 2 == 0
    perfect = scores_of(labels.astype(float), labels)

    found = delong(perfect.area, perfect.area)

    assert (found.statistic, found.p) == (0, 1)
    assert found.low == -found.high == pytest.approx(perfect.area.auc.low - 1)


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


def test_scores_of_other_pairs_are_refused() -> None:
    labels = np.array([True, False, True])
    scores3, scores2 = scores_of(np.arange(3.0), labels), scores_of(np.arange(2.0), labels[:2])

    with pytest.raises(OptionError, match="there are 3 labels for 2 pairs"):
        delong(scores3.area, scores2.area)


def obuchowski(side: np.ndarray, labels: np.ndarray, clusters: np.ndarray) -> float:
    """Return the variance of an AUC by Obuchowski (1997), sum by sum as it stands there."""
    won = wins(side[labels], side[~labels])
    auc, (n_positive, n_negative) = won.mean(), won.shape
    of_positive, of_negative = clusters[labels], clusters[~labels]
    names = sorted(set(clusters))
    first = [(won.mean(axis=1) - auc)[of_positive == name].sum() for name in names]
    second = [(won.mean(axis=0) - auc)[of_negative == name].sum() for name in names]
    i10, i01, i = len(set(of_positive)), len(set(of_negative)), len(names)
    s10 = i10 / ((i10 - 1) * n_positive) * sum(x * x for x in first)
    s01 = i01 / ((i01 - 1) * n_negative) * sum(y * y for y in second)
    s11 = i / (i - 1) * sum(x * y for x, y in zip(first, second, strict=True))
    return s10 / n_positive + s01 / n_negative + 2 * s11 / (n_positive * n_negative)


@given(st.lists(st.tuples(Row, st.integers(0, 9)), min_size=6, max_size=40))
def test_the_interval_of_clusters_is_that_of_obuchowski(rows: list[tuple[Rows, int]]) -> None:
    first, _, labels = arrays([row for row, _ in rows])
    clusters = np.array([cluster for _, cluster in rows])

    auc = scores_of(first, labels, clusters).area.auc

    if min(len(set(clusters[labels])), len(set(clusters[~labels]))) < 2:
        assert math.isnan(auc.low)
        return
    sizes = [np.count_nonzero(clusters == name) for name in set(clusters)]
    degrees = max(1, sum(sizes) ** 2 / sum(size**2 for size in sizes) - 1)
    reach = stats.t.ppf(0.975, degrees) * math.sqrt(max(0, obuchowski(first, labels, clusters)))
    if reach > 1e-6 and auc.value - reach >= 0.1 and auc.value + reach <= 0.9:
        assert auc.low == pytest.approx(auc.value - reach, abs=1e-9)


@given(Drawn, st.integers(1, 4))
def test_pairs_that_are_copied_within_their_cluster_tell_nothing_new(rows: Rows, n: int) -> None:
    first, second, labels = arrays(rows)
    of_all = (np.repeat(first, n), np.repeat(labels, n), np.repeat(np.arange(len(rows)), n))
    copied, others = scores_of(*of_all), scores_of(np.repeat(second, n), *of_all[1:])
    alone = scores_of(first, labels, np.arange(len(rows)))

    found = delong(copied.area, others.area)
    expected = delong(scores_of(first, labels).area, scores_of(second, labels).area)

    assert found.method == "delong_clusters"
    if not math.isnan(expected.p):
        assert found.statistic == pytest.approx(expected.statistic, abs=1e-6)
    ends = [(one.area.auc.low, one.area.auc.high) for one in (copied, alone)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9, nan_ok=True)


def test_students_law_of_equal_clusters_has_a_degree_for_each_but_one() -> None:
    rng = np.random.default_rng(5)
    labels, clusters = np.arange(60) % 2 == 0, np.arange(60) // 4
    sides = [scores_of(rng.normal(size=60) + labels, labels, clusters) for _ in range(2)]

    found = delong(sides[0].area, sides[1].area)

    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.statistic), 14), abs=1e-9)
    reach = (found.high - found.low) / 2
    error = abs((sides[0].area.auc.value - sides[1].area.auc.value) / found.statistic)
    assert reach == pytest.approx(stats.t.ppf(0.975, 14) * error, rel=1e-9)


def test_a_large_cluster_among_small_ones_does_not_make_differences_significant() -> None:
    rng = np.random.default_rng(6)
    clusters = np.tile(np.r_[np.zeros(100, np.int32), np.arange(1, 101)], 2)
    labels = np.arange(400) < 200

    def drawn() -> LabelledSample:
        of_cluster = rng.normal(size=(2, 101))[np.where(labels, 0, 1), clusters]
        return scores_of(labels + of_cluster + rng.normal(size=400), labels, clusters)

    p = np.array([drawn().auc_difference(drawn()).p for _ in range(400)])

    assert (p < 0.05).mean() < 0.1  # with a degree for each cluster 0.34


def test_no_interval_of_a_difference_is_wider_than_any_difference() -> None:
    labels, clusters = np.array([False, False, True, True]), np.array([0, 1, 0, 1])
    first, second = np.array([0.1, 0.4, 0.3, 0.4]), np.array([0.4, 0.3, 0.2, 0.1])
    sides = [scores_of(side, labels, clusters) for side in (first, second)]

    found = delong(sides[0].area, sides[1].area)

    assert found.p > 0.05
    assert -1 <= found.low < 0 < found.high <= 1


def test_one_cluster_has_no_interval_and_no_test() -> None:
    labels = np.arange(8) % 2 == 0
    scores = scores_of(np.sin(np.arange(8.0)), labels, np.zeros(8, np.int32))

    found = delong(scores.area, scores.area)

    assert np.isnan([scores.area.auc.low, found.statistic, found.p, found.low]).all()
    assert math.isnan(scores.accuracy.low)
    assert 0 < scores.accuracy.value < 1
