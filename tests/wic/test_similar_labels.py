"""Tests of the search for similar labels, against RapidFuzz pair by pair."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from medsim.wic.splits import similar_label_pairs

LETTERS = st.text("ab é\U0001f600", max_size=14)
LONG = st.text("abc", min_size=60, max_size=140)


def by_brute_force(terms: list[str], percent: int = 75) -> list[list[int]]:
    return [
        [first, second]
        for first, second in combinations(range(len(terms)), 2)
        if 100 * Indel.distance(terms[first], terms[second])
        < (100 - percent) * (len(terms[first]) + len(terms[second]))
    ]


@given(st.lists(LETTERS | LONG, unique=True, max_size=40))
def test_every_pair_above_the_ratio_is_found_and_no_other(terms: list[str]) -> None:
    assert similar_label_pairs(terms).tolist() == by_brute_force(terms)


@given(st.lists(LETTERS | LONG, unique=True, max_size=20), st.sampled_from([50, 70, 90]))
def test_the_ratio_can_be_chosen(terms: list[str], percent: int) -> None:
    pairs = similar_label_pairs(terms, percent / 100)
    assert pairs.tolist() == by_brute_force(terms, percent)


def test_a_ratio_of_exactly_three_quarters_is_not_similar() -> None:
    assert similar_label_pairs(["abcd", "abce"]).tolist() == []
    assert similar_label_pairs(["abcde", "abcdf"]).tolist() == [[0, 1]]


def test_threads_do_not_change_the_pairs() -> None:
    rng = np.random.default_rng(5)
    terms = sorted({"".join(rng.choice(list("abcd"), 9)) for _ in range(700)})
    pairs = similar_label_pairs(terms)
    assert len(pairs)
    assert np.array_equal(similar_label_pairs(terms, threads=3), pairs)


def test_no_terms_have_no_pairs() -> None:
    assert similar_label_pairs([]).shape == (0, 2)
    assert similar_label_pairs(["", "a"]).shape == (0, 2)
