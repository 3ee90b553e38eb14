"""Scores of answers by thresholds, beside the definitions and scikit-learn."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import precision_recall_curve, roc_auc_score

from medsim.statistics.selective import AnswerSample

ITEMS = st.lists(
    st.tuples(st.one_of(st.none(), st.sampled_from([0.1, 0.5, 0.9])), st.booleans()),
    min_size=1,
    max_size=5,
)


def sample_of(rows: list[tuple[float | None, bool]]) -> AnswerSample:
    scores = np.array([math.nan if score is None else score for score, _ in rows])
    right = np.array([is_right for _, is_right in rows]) & ~np.isnan(scores)
    return AnswerSample(scores=scores, right=right, clusters=np.arange(len(rows)))


def drawn(n_items: int, seed: int = 3) -> AnswerSample:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(n_items), 2)
    right = rng.random(n_items) < scores
    scores[rng.random(n_items) < 0.2] = np.nan
    return AnswerSample(
        scores=scores,
        right=right & ~np.isnan(scores),
        clusters=rng.integers(0, n_items // 8, n_items),
    )


@given(ITEMS)
def test_risk_area_is_the_mean_over_all_orders_of_ties(
    rows: list[tuple[float | None, bool]],
) -> None:
    sample = sample_of(rows)
    keys = np.where(np.isnan(sample.scores), -1, sample.scores)
    areas = []
    for order in permutations(range(len(rows))):
        if (np.diff(keys[list(order)]) <= 0).all():
            wrong = ~sample.right[list(order)]
            areas.append(np.mean(np.cumsum(wrong) / np.arange(1, len(rows) + 1)))
    assert sample.at_thresholds(0.95)[1].value == pytest.approx(np.mean(areas))


@given(ITEMS, st.sampled_from([0.5, 0.95, 1.0]))
def test_coverage_is_the_largest_at_a_threshold(
    rows: list[tuple[float | None, bool]], precision: float
) -> None:
    sample = sample_of(rows)
    shares = [0.0]
    for threshold in {score for score, _ in rows if score is not None}:
        chosen = [is_right for score, is_right in rows if score is not None and score >= threshold]
        if np.mean(chosen) >= precision:
            shares.append(len(chosen) / len(rows))
    assert sample.at_thresholds(precision)[0].value == pytest.approx(max(shares))


def test_curve_and_shares_are_those_of_scikit_learn() -> None:
    sample = drawn(400)
    given_ = ~np.isnan(sample.scores)
    precision, recall, thresholds = precision_recall_curve(
        sample.right[given_], sample.scores[given_]
    )
    curve = sample.curve()
    assert curve["threshold"][::-1] == pytest.approx(thresholds)
    assert curve["precision"][::-1] == pytest.approx(precision[:-1])
    right = curve["coverage"] * curve["precision"] * len(sample.scores)
    assert right[::-1] / sample.right.sum() == pytest.approx(recall[:-1])
    assert sample.precision().value == pytest.approx(sample.right[given_].mean())
    assert sample.answered().value == given_.mean()


def test_calibration_is_that_of_scikit_learn() -> None:
    sample = drawn(500)
    scores = sample.scores - 0.001  # no score is at the edge of a bin
    sample = AnswerSample(scores=scores, right=sample.right, clusters=sample.clusters)
    given_ = ~np.isnan(scores)
    shares, means = calibration_curve(sample.right[given_], scores[given_].clip(0), n_bins=10)
    ours = sample.calibration()
    assert ours[0] == pytest.approx(means, abs=1e-3)
    assert ours[1] == pytest.approx(shares)
    assert ours[2].sum() == given_.sum()
    error = np.average(np.abs(ours[0] - ours[1]), weights=ours[2])
    assert sample.calibration_error().value == pytest.approx(error)
    assert 0 < error < 0.1


def test_detection_is_the_area_under_the_roc_curve() -> None:
    sample = drawn(300)
    known = np.random.default_rng(1).random(300) < 0.7
    scores = np.where(np.isnan(sample.scores), -1, sample.scores)
    assert sample.detection(known).value == pytest.approx(roc_auc_score(known, scores))


def test_intervals_hold_the_values_of_a_larger_sample() -> None:
    whole = replace(drawn(40_000), clusters=np.zeros(40_000, np.int64))  # without an interval
    parts = [drawn(400, seed) for seed in range(10, 22)]
    estimates = [part.at_thresholds(0.8) for part in parts]
    for at, value in enumerate(score.value for score in whole.at_thresholds(0.8)):
        held = [each[at].low <= value <= each[at].high for each in estimates]
        assert sum(held) >= 9


@pytest.mark.parametrize("scores", [[], [math.nan] * 9])
def test_nothing_answered_has_no_precision(scores: list[float]) -> None:
    n_items = len(scores)
    right, clusters = np.zeros(n_items, np.bool_), np.arange(n_items)
    sample = AnswerSample(scores=np.array(scores, float), right=right, clusters=clusters)
    assert math.isnan(sample.precision().value)
    assert math.isnan(sample.calibration_error().value)
    assert sample.at_thresholds(0.95)[1].value == 1 or not n_items
    assert sample.at_thresholds(0.95)[0].value == 0 or not n_items
    assert len(sample.curve()["threshold"]) == 0
