"""Distinct terms drawn at random, against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.hashing import mixed, term_hash, tie_hash

from medsim.kernels.drawing import draw_distinct, pair_seeds

pytestmark = pytest.mark.kernels


@given(st.lists(st.integers(0, 3), min_size=4, max_size=12), st.data())
def test_the_first_allowed_draws_are_taken_each_once(components: list[int], data) -> None:
    first = data.draw(st.integers(0, len(components) - 1))
    unlinked = [at for at, own in enumerate(components) if own != components[first]]
    n_wanted = data.draw(st.integers(0, len(unlinked)))
    seed = data.draw(st.integers(0, (1 << 64) - 1))

    found = draw_distinct(
        np.array([first], np.int32),
        np.array([seed], np.uint64),
        np.array(components, np.int32),
        n_wanted,
    )

    expected: list[int] = []
    while len(expected) < n_wanted:
        seed = mixed(seed)
        term = seed % len(components)
        if term in unlinked and term not in expected:
            expected.append(term)
    assert found.tolist() == [expected]


def test_draws_are_uniform_and_differ_by_pair() -> None:
    n_pairs = 3_000
    firsts = np.zeros(n_pairs, np.int32)
    seeds = np.array([mixed(pair) for pair in range(n_pairs)], np.uint64)

    found = draw_distinct(firsts, seeds, np.arange(5, dtype=np.int32), 2)

    counts = Counter(map(tuple, found.tolist()))
    expected = n_pairs / 12  # ordered pairs of the four others
    assert len(counts) == 12
    # Chi-squared of 11 degrees of freedom exceeds 31.3 once in a thousand; the draw is fixed.
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 31.3


def test_seeds_are_hashes_of_both_texts() -> None:
    terms = ["asthma", "croup", "cough"]
    hashes = np.array([term_hash(term) for term in terms], np.uint64)
    firsts, seconds = np.array([0, 2], np.int32), np.array([1, 0], np.int32)

    found = pair_seeds(np.uint64(7), hashes, firsts, seconds)

    assert found.tolist() == [tie_hash(7, "asthma", "croup"), tie_hash(7, "cough", "asthma")]
