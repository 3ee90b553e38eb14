"""Tests of Cohen's kappa and of mean accuracies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.statistics.resampling import Resampling
from medsim.studies.agreement.kappa import cohens_kappa, mean_accuracy

NONE = Resampling(seed=0, resamples=0, threads=1)


def resampling(seed: int = 0, resamples: int = 2000, threads: int = 1) -> Resampling:
    return Resampling(seed=seed, resamples=resamples, threads=threads)


def judged(n: int, share: float, seed: int) -> np.ndarray:
    """Return what two annotators say, who see the same in a share of units."""
    drawn = np.random.default_rng(seed)
    first = drawn.integers(0, 3, n)
    second = np.where(drawn.random(n) < share, first, drawn.integers(0, 3, n))
    return np.column_stack([first, second]).astype(np.int8)


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=1, max_size=30))
def test_kappa_is_that_of_scikit_learn(answers: list[tuple[int, int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    both = [pair for pair in answers if -1 not in pair]
    found = cohens_kappa(np.array(answers, np.int8), 3, NONE).value

    if len({value for pair in both for value in pair}) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))


def test_kappa_of_a_published_table() -> None:
    # 20 and 15 of 50 alike, 5 and 10 not: 0.7 seen, 0.5 by chance.
    table = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15

    assert cohens_kappa(np.array(table, np.int8), 2, NONE).value == pytest.approx(0.4)


def test_the_interval_of_kappa_is_near_that_of_a_large_sample() -> None:
    table = judged(400, 0.7, 1)
    found = cohens_kappa(table, 3, resampling())
    drawn = np.random.default_rng(2)
    naive = []
    for _ in range(500):
        one, other = table[drawn.integers(0, len(table), len(table))].T
        by_chance = sum((one == value).mean() * (other == value).mean() for value in range(3))
        naive.append(((one == other).mean() - by_chance) / (1 - by_chance))

    assert found.low == pytest.approx(np.quantile(naive, 0.025), abs=0.02)
    assert found.high == pytest.approx(np.quantile(naive, 0.975), abs=0.02)


def test_neither_order_nor_threads_change_an_interval() -> None:
    table = judged(60, 0.7, 3)
    shuffled = np.random.default_rng(4).permutation(table)

    found = cohens_kappa(table, 3, resampling())

    assert cohens_kappa(shuffled, 3, resampling(threads=3)) == found
    assert cohens_kappa(table, 3, resampling(seed=1)) != found


def test_a_mean_accuracy_is_that_of_annotators_whatever_they_share() -> None:
    drawn = np.random.default_rng(5)
    correct = drawn.choice([-1, 0, 1], (200, 3), p=[0.3, 0.2, 0.5]).astype(np.int8)
    shares = [(own[own >= 0] == 1).mean() for own in correct.T]

    found = mean_accuracy(correct, resampling())

    assert found.value == pytest.approx(np.mean(shares))
    resamples = [correct[drawn.integers(0, 200, 200)] for _ in range(500)]
    naive = [np.mean([(own[own >= 0] == 1).mean() for own in again.T]) for again in resamples]
    assert found.low == pytest.approx(np.quantile(naive, 0.025), abs=0.02)
    assert found.high == pytest.approx(np.quantile(naive, 0.975), abs=0.02)
