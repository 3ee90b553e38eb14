"""Signatures of characters, which bound a distance from below."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from oracles.pairs import levenshtein

from medsim.core.terms import pack
from medsim.kernels.edit_search import _least_distance, signatures

pytestmark = pytest.mark.kernels


@njit
def _of_first_two(bits):  # noqa: ANN202 — inner kernels need the compiler
    return _least_distance(bits, 0, 1)


def least_distance(left: str, right: str) -> int:
    packed = pack([left, right])
    return int(_of_first_two(signatures(packed.codes, packed.starts)))


@given(st.text("abc\u00e9\u4e00", max_size=12), st.text("abc\u00e9\u4e00", max_size=12))
def test_the_bound_never_exceeds_the_distance(left: str, right: str) -> None:
    assert least_distance(left, right) <= levenshtein(left, right)


@pytest.mark.parametrize(
    ("left", "right", "bound"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("kitten", "sitting", 3),  # lost k and e, won s, i and g
        ("listen", "silent", 0),
        ("aab", "abb", 1),  # how often a character occurs counts
        ("aaaa", "bbbb", 4),
        ("aaaaaaaa", "", 4),  # up to four times
        ("a", "\u00a1", 0),  # 0x61 and 0xa1 are the same modulo 64
    ],
)
def test_the_bound_is_the_larger_number_of_characters_lost_or_won(
    left: str, right: str, bound: int
) -> None:
    assert least_distance(left, right) == bound
