"""The oracles of the metrics give values worked out by hand."""

import numpy as np
import pytest
from oracles.metrics import METRICS


def term(*words: list[float]) -> np.ndarray:
    return np.array(words, dtype=float)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # the means are (1, 1) and (2, 0)
        ("avg_cos", np.sqrt(0.5)),
        # (2, 0) and (0, 2) beside (2, 0): 1 and 0
        ("pair_cos", 0.5),
        # universe (2, 0), (0, 2), (2, 0): A belongs by (4, 4, 4), B by (4, 0, 4)
        ("fuzzy_jaccard", 8 / 12),
        # the maxima are (2, 2) and (2, 0)
        ("max_jaccard", 2 / 4),
    ],
)
def test_two_words_beside_one_are_compared_as_by_hand(metric, expected):
    assert METRICS[metric](term([2, 0], [0, 2]), term([2, 0])) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # the mean (2, 2, 5) beside (1, 2, 3): deviations (-1, -1, 2) and (-1, 0, 1)
        ("avg_pearson", 3 / np.sqrt(6 * 2)),
        # (1, 2, 3) gives 1; (3, 2, 7), deviations (-1, -2, 3), gives 4 / sqrt(14 * 2)
        ("pair_pearson", (1 + 4 / np.sqrt(28)) / 2),
        # the ranks of the mean are (1.5, 1.5, 3)
        ("avg_spearman", 1.5 / np.sqrt(1.5 * 2)),
        # 1, and ranks (2, 1, 3): 1 - 6 * 2 / (3 * 8)
        ("pair_spearman", 0.75),
        # one pair of three is tied, the others agree
        ("avg_kendall", 2 / np.sqrt(2 * 3)),
        # 1, and two pairs agree while one does not
        ("pair_kendall", (1 + 1 / 3) / 2),
    ],
)
def test_a_mean_of_words_and_pairs_of_words_differ_as_by_hand(metric, expected):
    words = term([1, 2, 3], [3, 2, 7])

    assert METRICS[metric](words, term([1, 2, 3])) == pytest.approx(expected)


def test_negative_parts_belong_to_no_fuzzy_set():
    # universe (1, -1), (-1, 2): A belongs by (2, -3 so 0), B by (-3 so 0, 5)
    assert METRICS["fuzzy_jaccard"](term([1, -1]), term([-1, 2])) == 0
    # universe (1, 0), (1, 1): A belongs by (1, 1), B by (1, 2)
    assert METRICS["fuzzy_jaccard"](term([1, 0]), term([1, 1])) == pytest.approx(2 / 3)
    # (3, 0) and (1, 2): minima (1, 0), maxima (3, 2)
    assert METRICS["max_jaccard"](term([3, -1], [-2, -4]), term([1, 2])) == pytest.approx(1 / 5)
