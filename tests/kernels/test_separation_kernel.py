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
@pytest.mark.parametrize("first", [-9, 0, 2])
def test_a_row_is_counted_as_by_a_loop_over_pairs(
    sizes: tuple[int, ...], steps: int, first: int
) -> None:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = DRAW.integers(-steps, steps + 1, (5, starts[-1])).astype(np.float32) / 7  # many ties
    parts = [range(begin, end) for begin, end in pairwise(starts.tolist())]
    for inner_number, inner in enumerate(parts):
        others = [category for category in range(len(parts)) if category != inner_number]
        counts = n_not_below(rows.view(np.uint32), starts, np.array([inner_number, *others]), first)
        for row, category in np.ndindex(counts.shape):
            pairs = [
                (rows[row, b], rows[row, c])
                for b in inner
                for c in parts[category]
                if first + row not in {b, c}
            ]
            expected = 0 if category == inner_number else sum(b <= c for b, c in pairs)
            assert counts[row, category] == expected


def test_a_category_that_is_not_compared_has_no_pairs() -> None:
    rows = np.array([[1, 2, 3, 4]], np.float32).view(np.uint32)
    counts = n_not_below(rows, np.array([0, 1, 2, 4]), np.array([1, 2]), -9)
    assert counts.tolist() == [[0, 0, 2]]


@pytest.mark.parametrize("value", [0.0, 1e-40, 1e-7, 0.5, 3e38])
def test_values_of_any_size_and_sign_are_in_order(value: float) -> None:
    values = np.array([-value, value, np.nextafter(np.float32(value), np.float32(9))], np.float32)
    rows = np.append(values, values)[None, :]
    counts = n_not_below(rows.view(np.uint32), np.array([0, 3, 6]), np.array([0, 1]), -9)
    assert counts[0, 1] == sum(b <= c for b in values for c in values)


def test_sums_include_later_terms_only() -> None:
    rows = np.array([[9, 9, 1, 2, 4], [9, 9, 9, 8, 16]], np.float32)
    sums = sums_of_later(rows, np.array([0, 1, 4, 5]), 1)
    assert sums.tolist() == [[0, 1 + 2, 4], [0, 8, 16]]
