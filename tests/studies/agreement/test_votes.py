"""Majority votes."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from medsim.studies.agreement.votes import NO_TRUTH, majority
from medsim.studies.sheets import NOT_SAME, SAME


@given(
    arrays.arrays(
        np.int8, st.tuples(st.integers(1, 9), st.integers(1, 5)), elements=st.integers(-1, 2)
    )
)
@example(np.array([[SAME, SAME, NOT_SAME, NOT_SAME], [SAME, SAME, -1, -1]], np.int8))
def test_more_than_half_of_all_annotators_decide(table: np.ndarray) -> None:
    for votes, judgement in zip(table.tolist(), majority(table), strict=True):
        winners = [v for v, n in Counter(votes).items() if 2 * n > len(votes)]
        assert [judgement] == ([v for v in winners if v in {SAME, NOT_SAME}] or [NO_TRUTH])
