"""Scores of labelled and of rated pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.statistics.options import Resampling
from medsim.statistics.scores import LabelledSample, RatedSample, labelled_sample, rated_samples

INF = math.inf
Similarities = st.sampled_from([-INF, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, INF])
Rows = list[tuple[float, bool, bool]]
Labelled = st.lists(st.tuples(Similarities, st.booleans(), st.booleans()), max_size=25)


def scores_of(rows: Rows) -> LabelledSample:
    return labelled_sample(
        np.array([row[0] for row in rows], np.float64),
        np.array([row[1] for row in rows], np.bool_),
        np.array([row[2] for row in rows], np.bool_),
    )


def plain(similarities: list[float], labels: list[bool]) -> LabelledSample:
    rows = zip(similarities, labels, strict=True)
    return scores_of([(similarity, label, False) for similarity, label in rows])


def n_right(rows: Rows, threshold: float) -> int:
    return sum((similarity >= threshold) == label for similarity, label, _ in rows)


def most_right(rows: Rows) -> int:
    """Return the most pairs that a threshold gets right, at each value or beyond finite values."""
    return max(n_right(rows, threshold) for threshold in [*(row[0] for row in rows), -INF, INF])


def finite(rows: Rows) -> list[float]:
    """Return similarities that scikit-learn accepts, in the same order."""
    return [max(-9.0, min(9.0, row[0])) for row in rows]


@given(Labelled)
def test_auc_and_average_precision_match_scikit_learn(rows: Rows) -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    scores, labels = scores_of(rows), [row[1] for row in rows]

    result = [scores.area.auc.value, scores.average_precision.value]
    if len(set(labels)) < 2:
        assert np.isnan([*result, *scores.area.placements]).all()
    else:
        oracles = (roc_auc_score, average_precision_score)
        expected = [oracle(labels, finite(rows)) for oracle in oracles]
        assert result == pytest.approx(expected, abs=1e-12)


@given(Labelled)
def test_no_threshold_is_more_accurate_and_none_splits_ties(rows: Rows) -> None:
    scores = scores_of(rows)
    if rows:
        assert scores.accuracy.value == most_right(rows) / len(rows)
        assert n_right(rows, scores.threshold.value) == most_right(rows) == scores.correct.sum()
    else:
        assert math.isnan(scores.accuracy.value)
        assert math.isnan(scores.threshold.value)


@given(Labelled)
def test_held_out_pairs_use_the_threshold_of_the_others(rows: Rows) -> None:
    held_out, fitted = ([row for row in rows if row[2] == flag] for flag in (True, False))

    result = scores_of(rows).accuracy_heldout

    if held_out and fitted:
        threshold = scores_of(fitted).threshold.value
        assert result.value == n_right(held_out, threshold) / len(held_out)
        assert result.low <= result.value <= result.high
    else:
        assert math.isnan(result.value)


@pytest.mark.parametrize(
    ("similarities", "labels", "threshold"),
    [
        ([0.1, 0.2, 0.6, 0.9], "--++", 0.4),  # midway between neighbours
        ([0.0, 1.0, 2.0, 3.0], "+-+-", -INF),  # the lowest of equally good ones
        ([0.0, 1.0, 2.0, 3.0], "-+-+", 0.5),
        ([1.0, np.nextafter(1.0, 2.0)], "-+", np.nextafter(1.0, 2.0)),  # no number is between
        ([-INF, 0.0], "-+", 0.0),
        ([-INF, INF], "-+", INF),
        ([-1.7e308, 1.7e308], "-+", 0.0),
        ([0.0, INF, INF], "---", INF),  # any threshold classifies infinity as positive
        ([0.0, INF, INF], "+--", -INF),
    ],
)
def test_the_threshold_is_the_lowest_best_one(
    similarities: list[float], labels: str, threshold: float
) -> None:
    scores = plain(similarities, [label == "+" for label in labels])

    assert scores.threshold.value == threshold
    right = [
        (similarity >= threshold) == (label == "+")
        for similarity, label in zip(similarities, labels, strict=True)
    ]
    assert scores.accuracy.value == pytest.approx(np.mean(right))


@pytest.mark.parametrize("n_positive", [0, 6, 10, 14, 20])
def test_constant_similarity_has_chance_scores(n_positive: int) -> None:
    scores = plain([0.5] * 20, [pair < n_positive for pair in range(20)])

    assert scores.accuracy.value == max(n_positive, 20 - n_positive) / 20
    if 0 < n_positive < 20:
        assert scores.area.auc.value == 0.5
        assert scores.area.auc.low < 0.3
        assert scores.area.auc.high > 0.7
        assert scores.average_precision.value == n_positive / 20


@given(Labelled)
def test_the_order_of_pairs_changes_no_score(rows: Rows) -> None:
    there, back = scores_of(rows), scores_of(rows[::-1])

    for name in ("average_precision", "accuracy", "accuracy_heldout", "threshold"):
        assert repr(getattr(there, name)) == repr(getattr(back, name))
    assert there.area.auc.value == pytest.approx(back.area.auc.value, abs=0, nan_ok=True)
    assert there.correct.tolist() == back.correct.tolist()[::-1]


@pytest.mark.parametrize(("n_right", "n_pairs"), [(0, 1), (0, 9), (5, 9), (9, 9), (650, 700)])
def test_accuracy_has_wilsons_interval(n_right: int, n_pairs: int) -> None:
    from statsmodels.stats.proportion import proportion_confint

    held_out = [(1.0 if pair < n_right else -1.0, True, True) for pair in range(n_pairs)]

    result = scores_of([(0.5, True, False), (-0.5, False, False), *held_out]).accuracy_heldout

    expected = proportion_confint(n_right, n_pairs, method="wilson")
    assert (result.low, result.high) == pytest.approx(expected, abs=1e-12)


def rated(similarities: np.ndarray, ratings: np.ndarray) -> RatedSample:
    resampling = Resampling(seed=0, resamples=100, threads=1)
    return rated_samples([similarities], ratings, resampling)[0]


Rated = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), max_size=20)


@given(Rated)
def test_correlations_match_scipy(rows: list[tuple[int, int]]) -> None:
    left, right = (np.array([row[side] for row in rows], float) for side in (0, 1))

    scores = rated(left, right)

    result = [scores.spearman.value, scores.pearson.value, scores.kendall.value]
    if len(set(left)) < 2 or len(set(right)) < 2:  # of fewer than two pairs as well
        assert np.isnan(result).all()
    else:
        oracles = (stats.spearmanr, stats.pearsonr, stats.kendalltau)
        expected = [oracle(left, right).statistic for oracle in oracles]
        assert result == pytest.approx(expected, abs=1e-12)


def test_pearson_and_spearman_have_intervals_and_kendall_has_none() -> None:
    rng = np.random.default_rng(2)
    left = rng.normal(size=40)
    right = left + rng.normal(size=40)

    result = rated(left, right)

    expected = stats.pearsonr(left, right).confidence_interval(0.95)
    assert (result.pearson.low, result.pearson.high) == pytest.approx(tuple(expected), abs=1e-12)
    assert result.spearman.low < result.spearman.value < result.spearman.high
    assert np.isnan([result.kendall.low, result.kendall.high]).all()


def test_infinite_similarities_are_ranked_but_have_no_pearson() -> None:
    result = rated(np.array([-INF, 1.0, INF, 2.0, 3.0]), np.array([0.0, 1.0, 5.0, 2.0, 4.0]))

    assert result.spearman.value == result.kendall.value == 1
    assert math.isnan(result.pearson.value)


def test_huge_and_tiny_values_neither_overflow_nor_vanish() -> None:
    values, ratings = np.array([1.0, 3.0, 2.0, 5.0]), np.array([1.0, 2.0, 3.0, 4.0])
    expected = stats.pearsonr(values, ratings).statistic

    for scale in (1e-300, 1e300):
        result = rated(values * scale, ratings).pearson.value
        assert result == pytest.approx(expected, abs=1e-12)


def test_accuracy_has_no_test_if_one_cluster_dominates_a_label() -> None:
    draw = np.random.default_rng(12)
    clusters = np.r_[np.zeros(90, np.int64), np.arange(1, 60), np.arange(150)]
    labels = np.arange(len(clusters)) < 149
    held_out = np.arange(len(clusters)) % 2 == 0
    first, second = (
        labelled_sample(draw.normal(labels), labels, held_out, clusters) for _ in range(2)
    )

    assert math.isnan(first.accuracy_difference(second).p)
    assert math.isnan(first.auc_difference(second).p)


@given(st.lists(st.tuples(Similarities, st.booleans(), st.integers(0, 30)), max_size=40))
def test_the_threshold_does_not_depend_on_a_large_cluster_that_is_left_out(rows: Rows) -> None:
    similarities, labels, clusters = (np.array([row[at] for row in rows]) for at in range(3))
    none = np.zeros(len(rows), np.bool_)

    result = labelled_sample(
        similarities.astype(float), labels.astype(bool), none, clusters.astype(np.int64)
    )

    names = sorted({row[2] for row in rows})
    assert len(result.left_out) == len(names)
    for name, accuracy in zip(names, result.left_out, strict=True):
        others = [row for row in rows if row[2] != name]
        if not others:
            assert math.isnan(accuracy)
        elif 20 * (len(rows) - len(others)) >= len(rows):
            assert accuracy == pytest.approx(most_right(others) / len(others))
        else:
            expected = n_right(others, result.threshold.value) / len(others)
            assert accuracy == pytest.approx(expected)


def test_a_cluster_that_moves_the_thresholds_does_not_make_accuracies_differ() -> None:
    """A quarter of the pairs have the same shift; both embeddings are equally good."""
    draw = np.random.default_rng(14)
    clusters = np.tile(np.r_[np.zeros(100, np.int64), np.arange(1, 301)], 2)
    labels, none = np.arange(800) < 400, np.zeros(800, np.bool_)
    n_alarms = 0
    for _ in range(100):
        shifts = draw.normal(size=(2, 2, 301))[:, labels.astype(int), clusters]
        drawn = draw.normal(1.8 * labels + shifts, 0.1)
        first, second = (labelled_sample(side, labels, none, clusters) for side in drawn)
        n_alarms += first.accuracy_difference(second).p < 0.05
    assert n_alarms <= 6  # 15 with the thresholds of all pairs
