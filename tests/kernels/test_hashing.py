"""Hashes of terms and ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.hashing import MASK, mixed, term_hash, tie_hash

from medsim.core.terms import pack
from medsim.kernels.hashing import term_hashes, tie_hashes

pytestmark = pytest.mark.kernels

Seeds = st.integers(0, (1 << 63) - 1)


def hashes_of(terms: list[str]) -> list[int]:
    packed = pack(terms)
    return [int(word) for word in term_hashes(packed.codes, packed.starts)]


def ties_of(seed: int, first: str, candidates: list[str]) -> list[int]:
    hashes = np.array([term_hash(candidate) for candidate in candidates], np.uint64)
    found = tie_hashes(np.uint64(seed), np.uint64(term_hash(first)), hashes)
    return [int(word) for word in found]


def test_the_oracle_gives_the_published_outputs_of_splitmix64() -> None:
    # The generator seeded with 0: its state grows by the golden ratio from draw to draw.
    gamma = 0x9E3779B97F4A7C15
    assert [mixed(draw * gamma & MASK) for draw in range(3)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]


def test_hashes_of_terms_are_these_whatever_the_machine() -> None:
    # Every tie and every draw of a build rests on them: a change changes its rows. Length 1 and
    # code point 1 cancel out, so the second is the first output of SplitMix64 seeded with 0.
    assert hashes_of(["", "\x01", "a", "asthma", "Asthma", "\U0001d4b3", "é"]) == [
        0,
        0xE220A8397B1DCDAF,
        0x6232969000262121,
        0xD4C3F2DC69709477,
        0xFDD9721B0BB703DD,
        0x08EC468B75716861,
        0x6BB5BA8E4C5A049F,
    ]


def test_hashes_of_ties_are_these_whatever_the_machine() -> None:
    assert ties_of(0, "asthma", ["", "croup", "cough"]) == [
        0x687514F0ECCB9C2F,
        0x98978BACBA6E624E,
        0x0A0A0B51A32D84B5,
    ]


@given(st.lists(st.text(max_size=12), max_size=8))
def test_hashes_of_terms_are_those_of_plain_python(terms: list[str]) -> None:
    assert hashes_of(terms) == [term_hash(term) for term in terms]


@given(Seeds, st.text(max_size=6), st.lists(st.text(max_size=6), max_size=6))
def test_hashes_of_ties_are_those_of_plain_python(
    seed: int, first: str, candidates: list[str]
) -> None:
    expected = [tie_hash(seed, first, candidate) for candidate in candidates]
    assert ties_of(seed, first, candidates) == expected
