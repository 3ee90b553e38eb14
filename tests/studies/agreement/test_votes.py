"""Majority votes, and the quality of labels against them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.errors import OptionError
from medsim.studies.agreement.votes import NO_TRUTH, majority, quality
from medsim.studies.sheets import DONT_KNOW, NOT_SAME, SAME

MISSING = -1


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ((SAME, SAME, NOT_SAME), SAME),
        ((NOT_SAME, SAME, NOT_SAME), NOT_SAME),
        ((SAME, NOT_SAME, DONT_KNOW), NO_TRUTH),
        ((SAME, DONT_KNOW, DONT_KNOW), NO_TRUTH),
        ((DONT_KNOW, DONT_KNOW, DONT_KNOW), NO_TRUTH),
        ((SAME, SAME, MISSING), SAME),
        ((SAME, MISSING, MISSING), NO_TRUTH),
        ((SAME, SAME, NOT_SAME, NOT_SAME), NO_TRUTH),
        ((SAME, SAME, SAME, NOT_SAME), SAME),
        ((SAME, SAME, MISSING, MISSING), NO_TRUTH),
        ((NOT_SAME,), NOT_SAME),
    ],
)
def test_more_than_half_of_all_annotators_decide(votes: tuple[int, ...], expected: int) -> None:
    assert majority(np.array([votes], np.int8)).tolist() == [expected]


@given(st.lists(st.lists(st.integers(-1, 2), min_size=5, max_size=5), min_size=1, max_size=20))
def test_the_majority_is_that_of_counting(rows: list[list[int]]) -> None:
    found = majority(np.array(rows, np.int8))

    for row, judgement in zip(rows, found, strict=True):
        winners = [v for v, n in Counter(row).items() if n >= 3 and v in {SAME, NOT_SAME}]
        assert [judgement] == (winners or [NO_TRUTH])


def test_quality_is_that_of_scikit_learn_and_statsmodels() -> None:
    from sklearn.metrics import accuracy_score, precision_score, recall_score
    from statsmodels.stats.proportion import proportion_confint

    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 200).astype(np.int8)
    truth = np.where(rng.random(200) < 0.85, labels, 1 - labels).astype(np.int8)
    truth[rng.random(200) < 0.1] = NO_TRUTH
    known = truth != NO_TRUTH

    found = quality(labels, truth)

    assert (found.n_pairs, found.n_with_truth) == (200, known.sum())
    pair = truth[known], labels[known]
    assert found.accuracy.value == pytest.approx(accuracy_score(*pair))
    assert found.recall.value == pytest.approx(recall_score(*pair))
    assert found.precision.value == pytest.approx(precision_score(*pair))
    for estimate, n in [
        (found.accuracy, known.sum()),
        (found.recall, (truth == SAME).sum()),
        (found.precision, labels[known].sum()),
    ]:
        expected = proportion_confint(round(estimate.value * n), n, method="wilson")
        assert (estimate.low, estimate.high) == pytest.approx(expected)


def test_shares_of_no_pairs_are_nan() -> None:
    found = quality(np.array([0, 0], np.int8), np.array([NO_TRUTH, NOT_SAME], np.int8))

    assert found.accuracy.value == 1
    assert math.isnan(found.recall.value)
    assert math.isnan(found.precision.value)
    assert found.n_with_truth == 1


def test_labels_that_are_none_are_refused() -> None:
    with pytest.raises(OptionError, match="label 2 is neither 1 nor 0"):
        quality(np.array([1, 2], np.int8), np.array([1, 1], np.int8))
    with pytest.raises(OptionError, match="there are 1 labels for 2 pairs"):
        quality(np.array([1], np.int8), np.array([1, 1], np.int8))
