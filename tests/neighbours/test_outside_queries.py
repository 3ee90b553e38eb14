"""Searches for terms that need not be in the pool, against comparing with every term."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from medsim.neighbours.search import NearestSearch, Terms

TEXTS = st.text("abé日\U0001d4b3", max_size=12)
OTHERS = st.text("abéxyz日\U0001d4b3", max_size=20)


def search_of(terms: list[str], *, sliced: bool, threads: int = 1) -> NearestSearch:
    candidates = Terms(
        terms=pl.Series(terms, dtype=pl.String),
        components=np.arange(len(terms), dtype=np.int32),
        hashes=np.zeros(len(terms), np.uint64),  # equal distances are in order of text
    )
    return NearestSearch(candidates, seed=0, threads=threads, sliced=sliced)


def found(
    search: NearestSearch,
    terms: list[str],
    queries: list[str],
    wanted: int | None,
    limit: int,
    spare: int = 0,
) -> list[list[tuple[int, str]]]:
    """Return the nearest terms within a limit, or all without ``wanted``."""
    column, pool = pl.Series(queries, dtype=pl.String), pl.Series(terms, dtype=pl.String)
    rows = pool.search_sorted(column).to_numpy().astype(np.int32)
    asked = search.queries_of(column, rows)
    if wanted is None:
        result = search.within(asked, np.full(len(queries), limit, np.int32))
    else:
        result = search.find(asked, np.full(len(queries), wanted), limit, spare=spare)
    return [
        [
            (int(result.distances[slot]), terms[result.ids[slot]])
            for slot in range(result.starts[query], result.starts[query + 1])
        ]
        for query in range(len(queries))
    ]


def brute_force(
    terms: list[str], queries: list[str], wanted: int | None, limit: int
) -> list[list[tuple[int, str]]]:
    return [
        sorted(
            (distance, term)
            for term in terms
            if (distance := Levenshtein.distance(query, term)) <= limit
        )[:wanted]
        for query in queries
    ]


@pytest.mark.parametrize("sliced", [False, True])
@given(
    st.lists(TEXTS, max_size=40, unique=True).map(sorted),
    st.lists(OTHERS, max_size=20),
    st.integers(1, 60),
    st.integers(0, 25),
)
def test_the_nearest_are_those_of_brute_force(
    sliced: bool,  # noqa: FBT001 — a parameter
    terms: list[str],
    queries: list[str],
    wanted: int,
    limit: int,
) -> None:
    search = search_of(terms, sliced=sliced)

    for size in (wanted, None):
        expected = brute_force(terms, queries, size, limit)
        assert found(search, terms, queries, size, limit) == expected


@pytest.mark.parametrize("sliced", [False, True])
@given(
    st.lists(TEXTS, max_size=40, unique=True).map(sorted),
    st.lists(OTHERS, max_size=20),
    st.integers(0, 4),
    st.integers(0, 25),
    st.integers(0, 9),
)
def test_spare_terms_are_at_the_distance_of_the_last_one_wanted(
    sliced: bool,  # noqa: FBT001 — a parameter
    terms: list[str],
    queries: list[str],
    wanted: int,
    limit: int,
    spare: int,
) -> None:
    search = search_of(terms, sliced=sliced, threads=2)
    expected = [
        [near for near in every if every[:wanted] and near[0] <= every[:wanted][-1][0]]
        for every in brute_force(terms, queries, wanted + spare, limit)
    ]
    assert found(search, terms, queries, wanted, limit, spare) == expected


@pytest.mark.parametrize("n_characters", [65_535, 65_536])
def test_terms_may_have_more_characters_than_16_bits_hold(n_characters: int) -> None:
    points = [p for p in range(0x3000, 0x1_5000) if not 0xD800 <= p < 0xE000][:n_characters]
    alphabet = [chr(point) for point in points]
    terms = sorted("".join(alphabet[at : at + 80]) for at in range(0, n_characters, 80))
    queries = [terms[3][:70] + "new", terms[-1] + alphabet[0], alphabet[-1] * 80, terms[5]]
    search = search_of(terms, sliced=True)

    assert len(search.pool.alphabet) == n_characters
    assert found(search, terms, queries, 3, 90) == brute_force(terms, queries, 3, 90)
    assert found(search, terms, queries, None, 12) == brute_force(terms, queries, None, 12)


@pytest.mark.some(1)
@pytest.mark.parametrize("sliced", [False, True])
def test_queries_may_be_longer_than_every_term(*, sliced: bool) -> None:
    rng = np.random.default_rng(0)
    terms = sorted({"".join(rng.choice([*"abcd "], rng.integers(1, 90))) for _ in range(2000)})
    queries = [term[:40] + "zzz" + term[45:] for term in terms[::20]]
    queries += ["a" * 300, "q" * 1000, "", *terms[:30]]
    search = search_of(terms, sliced=sliced, threads=2)

    assert found(search, terms, queries, 3, 1 << 30) == brute_force(terms, queries, 3, 1 << 30)
    assert found(search, terms, queries, None, 45) == brute_force(terms, queries, None, 45)
