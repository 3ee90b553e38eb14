"""Comparisons of vectors and of bags of words, against twins that share no code."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.metrics import METRICS, SIMILARITIES
from scipy import stats

from medsim.kernels.bags import (
    averaged,
    dynamax_overlaps,
    overlaps,
    positive_maxima,
    word_pairs,
)
from medsim.kernels.vectors import centred_cosines, kendalls, mean_ranks, means, untied_pairs

pytestmark = pytest.mark.kernels

DRAW = np.random.default_rng(4)
TIED = DRAW.integers(-2, 3, (6, 9)).astype(np.float32)
TIED[0], TIED[1] = 0, 2  # no direction, no order
UNTIED = DRAW.normal(size=(5, 70)).astype(np.float32)
WORDS = np.array([0, 3, 3, 2, 5, 4, 1], np.int32)
STARTS = np.array([0, 2, 2, 5, 6, 7], np.int64)  # the second bag is empty


def every_pair(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.divmod(np.arange(n_rows * n_rows), n_rows)
    return first.astype(np.int32), second.astype(np.int32)


@pytest.mark.parametrize("vectors", [TIED, UNTIED, TIED[:, :1]])
def test_ranks_are_those_of_scipy(vectors: np.ndarray) -> None:
    assert (mean_ranks(vectors) == stats.rankdata(vectors, axis=1)).all()


@pytest.mark.parametrize("vectors", [TIED, UNTIED, TIED[:, :1], TIED[:, :2]])
def test_correlations_are_those_of_the_twins(vectors: np.ndarray) -> None:
    first, second = every_pair(len(vectors))
    ranks, origin = mean_ranks(vectors), np.zeros(len(vectors))
    results = {
        "cos": centred_cosines(vectors, origin, first, second),
        "pearson": centred_cosines(vectors, means(vectors), first, second),
        "spearman": centred_cosines(ranks, means(ranks), first, second),
        "kendall": kendalls(ranks, untied_pairs(ranks), first, second),
    }
    for name, twin in SIMILARITIES.items():
        rows = vectors.astype(float)
        expected = [twin(rows[a], rows[b]) for a, b in zip(first, second, strict=True)]
        assert results[name] == pytest.approx(expected, abs=1e-9), name


def test_a_pair_with_ties_in_one_row_is_counted_correctly() -> None:
    rows = np.vstack([np.arange(9), TIED[4], np.arange(9)[::-1]]).astype(np.float32)
    ranks = mean_ranks(rows)
    first, second = every_pair(3)
    expected = [
        stats.kendalltau(rows[a], rows[b]).statistic for a, b in zip(first, second, strict=True)
    ]
    assert kendalls(ranks, untied_pairs(ranks), first, second) == pytest.approx(expected)


def test_the_mean_of_equal_values_is_that_value() -> None:
    equal = np.full((1, 7), 0.1, np.float32)
    assert means(equal)[0] == equal[0, 0]


def test_bags_are_pooled_by_mean_and_by_positive_maximum() -> None:
    terms = np.array([2, 1, 0], np.int32)
    bag = TIED[[3, 2, 5]].astype(float)
    mean = averaged(TIED, WORDS, STARTS, terms)
    most = positive_maxima(TIED, WORDS, STARTS, terms)
    assert mean[0] == pytest.approx(bag.mean(axis=0))
    assert (most[0] == bag.max(axis=0).clip(0)).all()
    assert not mean[1].any()
    assert not most[1].any()


def test_overlaps_of_fuzzy_sets_are_those_of_the_twins() -> None:
    terms = np.array([0, 2, 3, 4], np.int32)
    first, second = (terms[side] for side in every_pair(4))
    pooled = positive_maxima(TIED, WORDS, STARTS, np.arange(5, dtype=np.int32))
    bags = [TIED[WORDS[STARTS[i] : STARTS[i + 1]]].astype(float) for i in range(5)]
    results = {
        "max_jaccard": overlaps(pooled, first, second),
        "fuzzy_jaccard": dynamax_overlaps(TIED, WORDS, STARTS, first, second),
    }
    for name, values in results.items():
        expected = [METRICS[name](bags[a], bags[b]) for a, b in zip(first, second, strict=True)]
        assert values == pytest.approx(expected, abs=1e-9), name


def test_every_word_is_paired_with_every_other_the_smaller_first() -> None:
    pairs, starts = word_pairs(
        WORDS, STARTS, np.array([0, 1, 2], np.int32), np.array([2, 0, 4], np.int32)
    )
    words = [(int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in pairs]
    assert starts.tolist() == [0, 6, 6, 9]
    assert words[:6] == [(0, 3), (0, 2), (0, 5), (3, 3), (2, 3), (3, 5)]
    assert words[6:] == [(1, 3), (1, 2), (1, 5)]
