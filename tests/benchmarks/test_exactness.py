"""First terms of every kind against all terms, on invented corpora, with the benchmarks' code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.hashing import term_hash, tie_hash
from rapidfuzz.distance import Levenshtein

from benchmarks.exact import compare
from benchmarks.harness.brute_force import BruteForce, distances
from benchmarks.harness.corpora import Concept, Corpus, corpus_of, invented
from benchmarks.harness.searching import Job, race
from benchmarks.same_rows import searched_in_all_ways

pytestmark = pytest.mark.slow

LENGTHS = ("usual", "short", "long", "longest")
STRATA = (*LENGTHS, "non-ASCII", "many ties", "100 wanted", "1,000 wanted")


def chemicals(n_concepts: int) -> Corpus:
    """Return invented names of substances: long, near each other, with locants and Greek."""
    rng = np.random.default_rng(4)
    stems = ["meth", "eth", "prop", "but", "benz", "phen", "chlor", "fluor", "hydrox", "amin"]
    marks = ["\u03b1-", "\u03b2-", "N,N-", "2,3-di", "(R)-", "4-", "\U0001d6fc", ""]
    ends = ["yl", "ane", "oate", "ol", "ide", "\u00e9ne", "ium"]

    def name(n_parts: int) -> str:
        parts = [
            str(rng.choice(marks)) + str(rng.choice(stems)) + str(rng.choice(ends))
            for _ in range(n_parts)
        ]
        return "".join(parts)

    return corpus_of(
        "chemicals",
        (
            Concept(
                concept_id=str(number),
                names=tuple(name(int(rng.geometric(0.3))) for _ in range(rng.integers(1, 4))),
            )
            for number in range(n_concepts)
        ),
    )


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["chemicals", "release"])
def test_every_stratum_finds_what_brute_force_finds(name: str) -> None:
    corpus = chemicals(2_000) if name == "chemicals" else invented(1_500)

    results = compare(corpus, n_each=25, threads=2)

    assert results.n_terms > 3_000
    assert results.n_queries == dict.fromkeys(STRATA, 25)
    assert (results.wrong_distances, results.wrong_terms) == (0, 0)


def test_a_search_with_wrong_results_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_seed(terms, groups, seed) -> BruteForce:
        return BruteForce(terms, groups, seed + 1)

    monkeypatch.setattr("benchmarks.exact.BruteForce", other_seed)

    results = compare(chemicals(300), n_each=10, threads=1)

    assert results.wrong_distances == 0
    assert results.wrong_terms > 10


@given(
    st.lists(st.text("ab\u00e9", max_size=4), min_size=1, max_size=20, unique=True),
    st.integers(0, 22),
    st.integers(0, (1 << 63) - 1),
)
def test_brute_force_ranks_as_plain_python_does(terms: list[str], wanted: int, seed: int) -> None:
    terms = sorted(terms)
    groups = np.array([term_hash(term) % 5 for term in terms], np.int32)
    brute_force = BruteForce(terms, groups, seed)
    for query, far in enumerate(distances(terms, range(len(terms)), 1)):
        keys = sorted(
            (Levenshtein.distance(terms[query], term), tie_hash(seed, terms[query], term), row)
            for row, term in enumerate(terms)
            if groups[row] != groups[query]
        )
        expected = [row for _, _, row in keys[:wanted]]
        assert brute_force.nearest(query, far, wanted).tolist() == expected


def test_a_race_compares_all_sides() -> None:
    corpus = chemicals(400)
    job = Job(n_queries=200, wanted=3, n_compared=50, n_plain=40, rounds=2, threads=2)

    seen = race(corpus, job)

    assert seen.n_terms == len(corpus.terms)
    assert min(seen.search_seconds, seen.cdist_seconds, seen.plain_seconds) > 0
    assert seen.mean_distance >= 1


def test_all_ways_of_searching_find_the_same() -> None:
    results = searched_in_all_ways(chemicals(600), 300)
    assert len(results) == 5
    assert len(set(results.values())) == 1
