"""Histograms and ROC curves of similarities."""

from __future__ import annotations

import numpy as np
import pytest

from medsim.statistics.ranks import histogram, roc_curve


def drawn(n: int, *, decimals: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    labels = rng.random(n) < 0.4
    return (rng.normal(size=n) + labels).round(decimals), labels


@pytest.mark.parametrize("decimals", [12, 1])
def test_a_whole_roc_curve_is_that_of_scikit_learn(decimals: int) -> None:
    from sklearn import metrics as sklearn_metrics

    similarities, labels = drawn(300, decimals=decimals)

    found = roc_curve(similarities, labels, n_points=1000)

    false, true, _ = sklearn_metrics.roc_curve(labels, similarities, drop_intermediate=False)
    assert found.false_positives == pytest.approx(false)
    assert found.true_positives == pytest.approx(true)


def test_a_thinned_roc_curve_has_few_points_of_the_whole_one_and_almost_its_area() -> None:
    from sklearn import metrics as sklearn_metrics

    similarities, labels = drawn(20_000)

    found = roc_curve(similarities, labels, n_points=120)

    whole = roc_curve(similarities, labels, n_points=30_000)
    corners = set(zip(whole.false_positives, whole.true_positives, strict=True))
    assert set(zip(found.false_positives, found.true_positives, strict=True)) <= corners
    assert len(found.false_positives) <= 120
    assert (found.false_positives[0], found.true_positives[0]) == (0, 0)
    assert (found.false_positives[-1], found.true_positives[-1]) == (1, 1)
    area = sklearn_metrics.auc(found.false_positives, found.true_positives)
    assert area == pytest.approx(sklearn_metrics.roc_auc_score(labels, similarities), abs=1e-3)


def test_a_tie_is_a_slope() -> None:
    found = roc_curve(np.array([1.0, 1.0, 1.0, 0.0]), np.array([True, False, True, False]))

    assert found.false_positives.tolist() == [0, 0.5, 1]
    assert found.true_positives.tolist() == [0, 1, 1]


def test_histograms_of_both_kinds_share_their_bins_and_each_sums_to_one() -> None:
    similarities = np.array([0.0, 0.0, 1.0, 0.6, 1.0])
    labels = np.array([False, False, True, True, False])

    found = histogram(similarities, labels, n_bins=2)

    assert found.middles.tolist() == [0.25, 0.75]
    assert found.positives.tolist() == [0, 1]
    assert found.negatives == pytest.approx([2 / 3, 1 / 3])


def test_equal_similarities_have_a_histogram() -> None:
    found = histogram(np.full(3, 0.5), np.array([True, False, True]))

    assert found.positives.sum() == 1
    assert found.negatives.max() == 1
