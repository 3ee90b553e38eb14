"""Assigning negatives without repeated pairs, against plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.hashing import mixed

from medsim.kernels.serving import draw_random, serve_nearest, used_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

Pairs = list[tuple[int, int]]
UsedSet = set[frozenset[int]]

FREE = (1 << 64) - 1
DRAWS = 128

term_ids = st.integers(0, 9)
pairs_of_terms = st.lists(st.tuples(term_ids, term_ids), max_size=25)


def ids(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int32)


def table_of(pairs: Pairs, n_more: int) -> np.ndarray:
    return used_pairs(ids([a for a, _ in pairs]), ids([b for _, b in pairs]), n_more)


def keys_in(table: np.ndarray) -> list[int]:
    return sorted(int(key) for key in table if int(key) != FREE)


def starts_of(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


# The set of used pairs


@pytest.mark.kernels
@given(
    st.lists(st.tuples(st.integers(0, (1 << 31) - 1), st.integers(0, (1 << 31) - 1)), max_size=40),
    st.integers(0, 50),
)
def test_the_used_pairs_are_those_given_in_either_direction(pairs: Pairs, n_more: int) -> None:
    expected = sorted({(min(pair) << 32) | max(pair) for pair in pairs})
    for either in (pairs, [(b, a) for a, b in pairs]):
        assert keys_in(table_of(either, n_more)) == expected


# The nearest available terms


def serve_plainly(
    queries: list[int], candidates: list[list[int]], wanted: list[int], used: UsedSet
) -> list[list[int]]:
    served = []
    for query, nearest, n_wanted in zip(queries, candidates, wanted, strict=True):
        taken: list[int] = []
        for candidate in nearest:
            if len(taken) < n_wanted and frozenset((query, candidate)) not in used:
                used.add(frozenset((query, candidate)))
                taken.append(candidate)
        served.append(taken)
    return served


def serve(
    queries: list[int], candidates: list[list[int]], wanted: list[int], used: Pairs
) -> tuple[list[list[int]], np.ndarray]:
    table, starts = table_of(used, sum(wanted)), starts_of(wanted)
    flat = [candidate for nearest in candidates for candidate in nearest]
    found_starts = starts_of([len(nearest) for nearest in candidates])
    counts, seconds = serve_nearest(ids(queries), found_starts, ids(flat), table, starts)
    slots = zip(starts[:-1], counts, strict=True)
    return [seconds[at : at + count].tolist() for at, count in slots], table


@st.composite
def demands(draw: st.DrawFn) -> tuple[list[int], list[list[int]], list[int]]:
    queries = draw(st.lists(term_ids, unique=True, max_size=8))
    candidates = [draw(st.lists(term_ids, unique=True, max_size=8)) for _ in queries]
    wanted = [draw(st.integers(0, 5)) for _ in queries]
    return queries, candidates, wanted


@pytest.mark.kernels
@given(demands(), pairs_of_terms)
def test_queries_are_served_as_by_plain_python(
    demand: tuple[list[int], list[list[int]], list[int]], used: Pairs
) -> None:
    queries, candidates, wanted = demand
    plain_used = {frozenset(pair) for pair in used}
    expected = serve_plainly(queries, candidates, wanted, plain_used)

    served, table = serve(queries, candidates, wanted, used)

    assert served == expected
    assert keys_in(table) == sorted((min(pair) << 32) | max(pair) for pair in plain_used)


# Random draws


def draw_plainly(
    firsts: list[int], seeds: list[int], drawn_from: list[int], groups: list[int], used: UsedSet
) -> list[int]:
    seconds = []
    for first, seed in zip(firsts, seeds, strict=True):
        allowed = [
            term
            for term in drawn_from
            if groups[term] != groups[first] and frozenset((first, term)) not in used
        ]
        second, word = -1, seed
        if allowed:
            for _ in range(DRAWS):
                word = mixed(word)
                drawn = drawn_from[word % len(drawn_from)]
                if drawn in allowed:
                    second = drawn
                    break
            else:
                second = allowed[mixed(word) % len(allowed)]
            used.add(frozenset((first, second)))
        seconds.append(second)
    return seconds


def draw(
    firsts: list[int], seeds: list[int], drawn_from: list[int], groups: list[int], used: Pairs
) -> list[int]:
    return draw_random(
        ids(firsts),
        np.array(seeds, np.uint64),
        ids(drawn_from),
        ids(groups),
        table_of(used, len(firsts)),
    ).tolist()


@pytest.mark.kernels
@given(
    st.lists(st.tuples(term_ids, st.integers(0, FREE)), max_size=20),
    st.lists(term_ids, min_size=1, max_size=20),
    st.lists(st.integers(0, 4), min_size=10, max_size=10),
    pairs_of_terms,
)
def test_draws_are_those_of_plain_python(
    firsts: list[tuple[int, int]], drawn_from: list[int], groups: list[int], used: Pairs
) -> None:
    terms = sorted(term for term, _ in firsts)
    seeds = [seed for _, seed in firsts]
    plain_used = {frozenset(pair) for pair in used}
    expected = draw_plainly(terms, seeds, drawn_from, groups, plain_used)
    assert draw(terms, seeds, drawn_from, groups, used) == expected


@pytest.mark.kernels
def test_draws_among_mostly_linked_terms_are_those_of_plain_python() -> None:
    # Three of 400 occurrences are allowed, so 128 draws often find none and the three are counted.
    drawn_from = [*[3] * 150, 0, *[3] * 100, 1, 2, *[3] * 147]
    firsts = list(range(4, 44))
    groups = [0, 1, 2, *[3] * 41]
    seeds = [mixed(first) for first in firsts]
    expected = draw_plainly(firsts, seeds, drawn_from, groups, set())
    assert draw(firsts, seeds, drawn_from, groups, []) == expected
    assert set(expected) == {0, 1, 2}


def chi_square(counts: Counter[int], weights: dict[int, int], n_draws: int) -> float:
    total = sum(weights.values())
    return sum(
        (counts[term] - n_draws * weight / total) ** 2 / (n_draws * weight / total)
        for term, weight in weights.items()
    )


def tolerance(n_outcomes: int) -> float:
    """Return five standard deviations above the mean of chi-square, reached once in 10,000."""
    freedom = n_outcomes - 1
    return freedom + 5 * (2 * freedom) ** 0.5


@pytest.mark.parametrize(
    ("weights", "n_linked", "n_firsts"),
    [
        ({term: 1 + term % 3 for term in range(60)}, 0, 30_000),
        # All but 4 of 20,000 occurrences are linked to the first terms, so 128 draws find one of
        # the others in one case of 40 only.
        ({0: 1, 1: 1, 2: 2}, 19_996, 4_000),
    ],
)
def test_draws_are_uniform_over_the_allowed_occurrences(
    weights: dict[int, int], n_linked: int, n_firsts: int
) -> None:
    n_terms = len(weights)
    drawn_from = [term for term, weight in weights.items() for _ in range(weight)]
    firsts = list(range(n_terms + 1, n_terms + 1 + n_firsts))
    groups = [*range(n_terms), *[n_terms] * (n_firsts + 1)]
    seeds = [mixed(first) for first in firsts]

    counts = Counter(draw(firsts, seeds, [*drawn_from, *[n_terms] * n_linked], groups, []))

    assert set(counts) == set(weights)
    assert chi_square(counts, weights, n_firsts) < tolerance(n_terms)


def test_draws_of_neighbouring_seeds_are_unrelated() -> None:
    # Draws of equal first terms with consecutive seeds are independent.
    n_firsts = 20_000
    firsts = list(range(8, 8 + n_firsts))
    drawn = draw(firsts, list(range(n_firsts)), list(range(8)), list(range(8 + n_firsts)), [])
    successions = Counter(a * 8 + b for a, b in pairwise(drawn))
    weights = dict.fromkeys(range(64), 1)
    assert chi_square(successions, weights, n_firsts - 1) < tolerance(64)
