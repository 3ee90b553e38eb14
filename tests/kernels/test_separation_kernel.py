"""Counts and sums of rows of similarities, against loops over every pair."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from medsim.kernels.separation import n_not_below, sums_of_later

pytestmark = pytest.mark.kernels

DRAW = np.random.default_rng(3)


@pytest.mark.parametrize("steps", [1, 3, 1000])
@pytest.mark.parametrize("sizes", [(4, 3, 5), (1, 6), (0, 4, 2), (3, 0), (2, 2, 1, 4)])
def test_a_row_is_counted_as_by_a_loop_over_pairs(sizes: tuple[int, ...], steps: int) -> None:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = DRAW.integers(0, steps + 1, (5, starts[-1])).astype(np.float32)  # few steps: many ties
    parts = [slice(begin, end) for begin, end in pairwise(starts)]
    for part in parts:
        rows[:, part].sort(axis=1)
    for own, inner in enumerate(parts):
        found = n_not_below(rows, starts, own)
        for row, category in np.ndindex(found.shape):
            pairs = [(b, c) for b in rows[row, inner] for c in rows[row, parts[category]]]
            expected = 0 if category == own else sum(b <= c for b, c in pairs)
            assert found[row, category] == expected


def test_an_infinite_similarity_is_below_none() -> None:
    rows = np.array([[1.0, np.inf, 0.5, 1.0, 2.0]], np.float32)
    assert n_not_below(rows, np.array([0, 2, 5]), 0).tolist() == [[0, 2]]


def test_sums_are_of_later_terms_alone() -> None:
    rows = np.array([[9, 9, 1, 2, 4], [9, 9, 9, 8, 16]], np.float32)
    found = sums_of_later(rows, np.array([0, 1, 4, 5]), 1)
    assert found.tolist() == [[0, 1 + 2, 4], [0, 8, 16]]
