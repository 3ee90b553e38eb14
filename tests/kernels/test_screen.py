"""Blocks ruled out because they lack characters of a query."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config, njit
from oracles.pairs import levenshtein

from medsim.core.terms import pack
from medsim.kernels.edit_table import (
    MAX_MISSED,
    N_PLANES,
    STEP,
    Screen,
    begin_screen,
    fill_windows,
    filled,
    offsets_of,
    outlined,
    rules_out,
)
from medsim.kernels.instructions import LANES, N_WORDS
from medsim.kernels.packing import term_hashes
from medsim.neighbours import search as layout

pytestmark = pytest.mark.skipif(
    bool(config.DISABLE_JIT), reason="vector instructions need the compiler"
)


@njit
def _ruled_out(pool, slate, screen, place, length, first, stop, bounds):  # noqa: ANN202, PLR0913, PLR0917 — inner kernels need the compiler
    """Return whether all terms of a block are ruled out."""
    begin_screen(pool, screen, length)
    looks = offsets_of(pool, np.array([place], np.int32), pool.n_characters, length)
    block = filled(pool, first, stop, slate.equals, screen.present)
    for bound in bounds:
        table = outlined(length, block, bound)
        fill_windows(pool, slate.equals, screen, block, table, length)
    return rules_out(
        np.uint64(screen.windows.ctypes.data),
        np.uint64(looks.ctypes.data),
        np.uint64(looks.shape[1] // STEP),
        np.uint64(screen.preset.ctypes.data),
        np.uint64(screen.ruled_out.ctypes.data),
    )


def are_ruled_out(query: str, terms: list[str], bound: int) -> bool:
    """Return whether terms are all ruled out for a query."""
    return all(screened(query, terms, [bound])[1])


def screened(query: str, terms: list[str], bounds: list[int]) -> tuple[list[int], list[bool]]:
    """Return the windows after filling them for several bounds, and the lanes ruled out.

    The terms are in order of length; all are shorter than the query, or none is.
    """
    texts = pl.Series([query, *terms])
    packed = pack(texts)
    pool = layout.lay_out(
        layout.Terms(
            terms=texts,
            components=np.arange(len(packed), dtype=np.int32),
            hashes=term_hashes(packed.codes, packed.starts),
        )
    )
    # Terms of one length lie in the order given, so the query is the first of its length.
    place = int(pool.places[0])
    first = 1 if place == 0 else 0
    slate = layout.slate(pool)
    screen = Screen(
        windows=np.zeros(len(slate.equals) + N_WORDS, np.uint64),
        preset=np.zeros(N_PLANES * N_WORDS, np.uint64),
        ruled_out=np.zeros(N_WORDS, np.uint64),
        present=np.zeros(pool.n_characters, np.int32),
        reach=np.zeros(3, np.int64),
    )
    stop = first + len(terms)
    out = _ruled_out(pool, slate, screen, place, len(query), first, stop, np.array(bounds))
    lanes = np.unpackbits(screen.ruled_out.view(np.uint8), bitorder="little").astype(bool)
    assert out == lanes.all()
    return screen.windows.tolist(), lanes.tolist()


def misses(query: str, terms: list[str], bound: int) -> list[int]:
    """Return the number of characters of a query that each term has nowhere near enough.

    Terms end in the same column. A window reaches as far as that of any length from the shortest
    term's to the longest's that is not beyond the bound itself.
    """
    longest = max(map(len, terms))
    before, after = [], []  # the extent of windows, in columns before and after the row
    for length in range(min(map(len, terms)), longest + 1):
        difference, begin = len(query) - length, longest - length
        spare = (bound - abs(difference)) // 2
        if abs(difference) <= bound:
            before.append(max(0, difference) + spare - begin)
            after.append(spare - min(0, difference) + begin)
    padded = [term.rjust(longest, "\0") for term in terms]
    first, stop = max(before), max(after) + 1
    return [
        sum(
            character not in term[max(0, row - first) : max(0, row + stop)]
            for row, character in enumerate(query)
        )
        for term in padded
    ]


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[str], int]:
    alphabet = draw(st.sampled_from(["ab", "abcdefgh", "aé\u4e00\U00010400 -"]))
    query = draw(st.text(alphabet, min_size=1, max_size=20))
    shortest = draw(st.integers(max(1, len(query) - 4), len(query) + 4))
    longest = shortest + draw(st.integers(0, 4))
    if shortest < len(query):
        longest = min(longest, len(query) - 1)
    lengths = st.integers(shortest, longest)
    term = lengths.flatmap(lambda length: st.text(alphabet, min_size=length, max_size=length))
    terms = sorted(draw(st.lists(term, min_size=1, max_size=6)), key=len)
    least = min(abs(len(query) - len(term)) for term in terms)
    return query, terms, least + draw(st.integers(0, 6))


@given(cases())
def test_terms_are_ruled_out_exactly_if_they_miss_too_much(
    case: tuple[str, list[str], int],
) -> None:
    query, terms, bound = case
    # At least one miss is needed, also where the length alone puts a term beyond the bound.
    most = [max(0, bound - max(0, len(term) - len(query))) for term in terms]
    expected = [
        missed > enough for missed, enough in zip(misses(query, terms, bound), most, strict=True)
    ]
    # Lanes without a term lack every character, and count as lanes of the longest terms.
    expected += [len(query) > most[-1]] * (LANES - len(terms))

    assert screened(query, terms, [bound])[1] == expected


@given(cases(), st.lists(st.integers(0, 8), min_size=1, max_size=3))
def test_windows_that_hold_other_bounds_become_those_of_a_bound(
    case: tuple[str, list[str], int], beyond: list[int]
) -> None:
    query, terms, bound = case
    least = min(abs(len(query) - len(term)) for term in terms)

    earlier = [least + more for more in beyond]
    assert screened(query, terms, [*earlier, bound]) == screened(query, terms, [bound])


@given(cases())
def test_no_term_within_the_bound_is_ruled_out(case: tuple[str, list[str], int]) -> None:
    query, terms, bound = case
    lanes = screened(query, terms, [bound])[1]

    assert not any(
        out for out, term in zip(lanes, terms, strict=False) if levenshtein(query, term) <= bound
    )


@pytest.mark.parametrize("bound", [0, 1, 15, 16, 17, MAX_MISSED - 1, MAX_MISSED])
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
