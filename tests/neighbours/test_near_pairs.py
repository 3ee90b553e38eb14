"""All pairs within a distance, against comparing every pair with RapidFuzz."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from medsim.neighbours.search import pairs_within

ASTRAL = "\U0001d4b3\U0001f9ec"
TEXTS = st.text(f"abé日{ASTRAL}", max_size=14)


def column(terms: list[str]) -> pl.Series:
    return pl.Series(terms, dtype=pl.String)


def brute_force(terms: list[str], limit: int) -> list[tuple[int, int, int]]:
    return [
        (row, other, distance)
        for row, term in enumerate(terms)
        for other in range(row + 1, len(terms))
        if (distance := Levenshtein.distance(term, terms[other])) <= limit
    ]


@given(st.lists(TEXTS, max_size=40, unique=True), st.integers(1, 4))
def test_every_pair_within_the_limit_is_found_once(terms: list[str], limit: int) -> None:
    pairs = pairs_within(column(terms), limit, threads=2)

    assert [*map(tuple, pairs.T.tolist())] == brute_force(terms, limit)


@given(st.lists(TEXTS, max_size=20), st.lists(TEXTS, max_size=20), st.integers(1, 4))
def test_a_pair_has_a_query_and_a_match(queries: list[str], pool: list[str], limit: int) -> None:
    terms = sorted({*queries, *pool})
    sides = np.array([(term in queries) + 2 * (term in pool) for term in terms], np.uint8)

    pairs = pairs_within(column(terms), limit, sides=sides, threads=1)

    expected = [
        (row, other, distance)
        for row, other, distance in brute_force(terms, limit)
        if (terms[row] in queries and terms[other] in pool)
        or (terms[other] in queries and terms[row] in pool)
    ]
    assert [*map(tuple, pairs.T.tolist())] == expected


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_pairs_differ_at_any_place_of_a_long_term(limit: int) -> None:
    rng = np.random.default_rng(limit)
    term = "".join(rng.choice([*"abcdefghij "], 300))
    terms = {term}
    for _ in range(200):
        changed = [*term]
        for _ in range(limit):
            place, letter = rng.integers(len(changed)), str(rng.choice([*"xyz"]))
            match rng.integers(3):
                case 0:
                    changed.insert(place, letter)
                case 1:
                    del changed[place]
                case _:
                    changed[place] = letter
        terms.add("".join(changed))
    ordered = sorted(terms)

    pairs = pairs_within(column(ordered), limit, threads=1)

    assert pairs.shape[1] >= len(terms) - 1  # each with the original
    assert [*map(tuple, pairs.T.tolist())] == brute_force(ordered, limit)


def test_many_pairs_of_few_terms_are_found() -> None:
    terms = [f"{number:03d}" for number in range(1000)]

    pairs = pairs_within(column(terms), 2, threads=2)

    assert pairs.shape[1] == len(brute_force(terms, 2))


def test_the_result_does_not_depend_on_threads() -> None:
    terms = sorted({f"{number * 7919 % 9973} pain of {number % 97}" for number in range(3000)})

    one, many = (pairs_within(column(terms), 2, threads=threads) for threads in (1, 3))

    assert one.tolist() == many.tolist()
