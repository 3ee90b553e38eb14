"""DeLong's interval of the AUC, and his test of two."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.core.errors import OptionError
from medsim.statistics.edges import area_interval
from medsim.statistics.scores import LabelledSample, labelled_sample
from medsim.statistics.significance import delong

Z95 = stats.norm.ppf(0.975)
Row = st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans())
Drawn = st.lists(Row, min_size=1, max_size=30)
Rows = list[tuple[int, int, bool]]


def scores_of(similarities: np.ndarray, labels: np.ndarray) -> LabelledSample:
    return labelled_sample(similarities, labels, np.zeros(len(labels), np.bool_))


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

    found = delong(scores1.area, scores2.area, labels)

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
        assert found.low == pytest.approx(auc1 - auc2 - Z95 * error, abs=1e-7)
        assert found.high == pytest.approx(auc1 - auc2 + Z95 * error, abs=1e-7)
        assert found.statistic == pytest.approx((auc1 - auc2) / error, abs=1e-6)
        assert found.p == pytest.approx(2 * stats.norm.sf(abs(auc1 - auc2) / error), abs=1e-9)


def test_a_similarity_does_not_differ_from_itself() -> None:
    labels = np.arange(30) % 3 == 0
    scores = scores_of(np.sin(np.arange(30.0)), labels)

    found = delong(scores.area, scores.area, labels)

    assert (found.method, found.statistic, found.p) == ("delong", 0, 1)
    assert (found.low, found.high) == (0, 0)


@pytest.mark.parametrize(("n", "verdict"), [(4, "open"), (10, "significant"), (100, "significant")])
def test_few_pairs_do_not_tell_a_perfect_similarity_from_a_constant_one(
    n: int, verdict: str
) -> None:
    labels = np.arange(n) % 2 == 0
    perfect, constant = scores_of(labels.astype(float), labels), scores_of(np.ones(n), labels)

    found = delong(constant.area, perfect.area, labels)

    assert (found.p < 0.05) == (found.high < 0) == (verdict == "significant")
    assert found.low < -0.5 < found.high


def test_two_perfect_similarities_may_differ_on_other_pairs() -> None:
    labels = np.arange(4) % 2 == 0
    perfect = scores_of(labels.astype(float), labels)

    found = delong(perfect.area, perfect.area, labels)

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
        delong(scores3.area, scores2.area, labels)
