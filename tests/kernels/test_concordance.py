"""Concordance of two rankings, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.kernels.resampling import concordance_below

pytestmark = pytest.mark.kernels


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30))
def test_concordance_counts_rows_with_smaller_left_ranks(rows: list[tuple[int, int]]) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    places = [sorted({row[side] for row in rows}) for side in (0, 1)]
    left, right = (
        np.array([places[side].index(row[side]) for row in rows], np.int32) for side in (0, 1)
    )

    net = concordance_below(left, right)

    assert net.tolist() == [
        sum((b > d) - (b < d) for c, d in rows if c < a)  # d below b agrees with c below a
        for a, b in rows
    ]
