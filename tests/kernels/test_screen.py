"""Blocks ruled out by the characters of a query that they miss."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config, njit
from oracles.pairs import levenshtein

from medsim.builds.negatives import layout
from medsim.core.terms import pack
from medsim.kernels.edit_table import filled
from medsim.kernels.instructions import LANES, WORDS
from medsim.kernels.packing import term_hashes
from medsim.kernels.screen import (
    MOST_MISSED,
    N_PLANES,
    STEP,
    Screen,
    begin_screen,
    can_screen,
    fill_windows,
    offsets_of,
    rules_out,
)

pytestmark = pytest.mark.skipif(
    bool(config.DISABLE_JIT), reason="vector instructions need the compiler"
)


@njit
def _ruled_out(pool, slate, screen, place, first, length, other, bounds):  # noqa: ANN202, PLR0913, PLR0917 — inner kernels need the compiler
    """Return how many terms of a block there are, and whether all are ruled out for a query."""
    has_room = can_screen(pool, screen, length)
    begin_screen(pool, screen, length)
    looks = offsets_of(pool, np.array([place], np.int32), length)
    block = filled(pool, first, other, slate.equals, screen.present)
    for bound in bounds:
        fill_windows(slate.equals, screen, block, length, length, bound)
    return block.n_terms * has_room, rules_out(
        np.uint64(screen.windows.ctypes.data),
        np.uint64(looks.ctypes.data),
        np.uint64(looks.shape[1] // STEP),
        np.uint64(screen.preset.ctypes.data),
        np.uint64(screen.ruled_out.ctypes.data),
    )


def are_ruled_out(query: str, terms: list[str], bound: int) -> bool:
    """Return whether terms of one length are all ruled out for a query."""
    return all(screened(query, terms, [bound])[1])


def screened(query: str, terms: list[str], bounds: list[int]) -> tuple[list[int], list[bool]]:
    """Return the windows filled for bounds, one after the other, and which lanes are out."""
    packed = pack([query, *terms])
    pool = layout.laid_out(
        layout.Candidates(
            terms=packed,
            components=np.arange(len(packed), dtype=np.int32),
            hashes=term_hashes(packed.codes, packed.starts),
        )
    )
    # Terms of one length lie in the order given, so the query is the first of its length.
    place, length, other = pool.places[0], len(query), len(terms[0])
    first = int(pool.length_starts[other]) + (other == length)
    slate = layout.slate(pool)
    screen = Screen(
        windows=np.zeros(len(slate.equals) + WORDS, np.uint64),
        preset=np.zeros(N_PLANES * WORDS, np.uint64),
        ruled_out=np.zeros(WORDS, np.uint64),
        present=np.zeros(pool.n_characters, np.int32),
        reach=np.zeros(3, np.int64),
    )
    n_terms, out = _ruled_out(pool, slate, screen, place, first, length, other, np.array(bounds))
    assert n_terms == len(terms)
    lanes = np.unpackbits(screen.ruled_out.view(np.uint8), bitorder="little").astype(bool)
    assert out == lanes.all()
    return screen.windows.tolist(), lanes.tolist()


def misses(query: str, term: str, bound: int) -> int:
    """Return the number of characters of a query that a term has nowhere near enough."""
    difference = len(query) - len(term)
    spare = (bound - abs(difference)) // 2
    count = 0
    for row, character in enumerate(query):
        first = max(0, row - max(0, difference) - spare)
        stop = row - min(0, difference) + spare + 1
        count += character not in term[first : max(0, stop)]
    return count


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[str], int]:
    alphabet = draw(st.sampled_from(["ab", "abcdefgh", "aé\u4e00\U00010400 -"]))
    query = draw(st.text(alphabet, min_size=1, max_size=20))
    other = draw(st.integers(max(1, len(query) - 4), len(query) + 4))
    term = st.text(alphabet, min_size=other, max_size=other)
    terms = draw(st.lists(term, min_size=1, max_size=6))
    return query, terms, abs(len(query) - other) + draw(st.integers(0, 6))


@given(cases())
def test_terms_are_ruled_out_exactly_if_they_miss_too_much(
    case: tuple[str, list[str], int],
) -> None:
    query, terms, bound = case
    most = bound - max(0, len(terms[0]) - len(query))
    expected = [misses(query, term, bound) > most for term in terms]
    # The lanes that have no term miss every character.
    expected += [len(query) > most] * (LANES - len(terms))

    assert screened(query, terms, [bound])[1] == expected


@given(cases(), st.lists(st.integers(0, 8), min_size=1, max_size=3))
def test_windows_that_hold_other_bounds_become_those_of_a_bound(
    case: tuple[str, list[str], int], beyond: list[int]
) -> None:
    query, terms, bound = case
    least = abs(len(query) - len(terms[0]))

    earlier = [least + more for more in beyond]
    assert screened(query, terms, [*earlier, bound]) == screened(query, terms, [bound])


@given(cases())
def test_no_term_within_the_bound_is_ruled_out(case: tuple[str, list[str], int]) -> None:
    query, terms, bound = case
    lanes = screened(query, terms, [bound])[1]

    assert not any(
        out for out, term in zip(lanes, terms, strict=False) if levenshtein(query, term) <= bound
    )


@pytest.mark.parametrize("bound", [0, 1, 15, 16, 17, MOST_MISSED - 1, MOST_MISSED])
def test_counts_are_exact_up_to_the_most_that_may_be_missed(bound: int) -> None:
    kept = "x" * 30
    query = kept + "a" * bound

    assert not are_ruled_out(query, [kept + "b" * bound], bound)
    assert are_ruled_out(query + "aa", [kept + "b" * (bound + 2)], bound)


def test_full_blocks() -> None:
    rng = random.Random(1)  # noqa: S311 — a repeatable draw
    query = "fracture of the left femur"
    terms = ["".join(rng.choices("klmnopqr", k=len(query))) for _ in range(LANES)]

    assert are_ruled_out(query, terms, 9)
    for lane in (0, 63, 64, LANES - 1):
        assert not are_ruled_out(query, [*terms[:lane], query, *terms[lane + 1 :]], 9)
