"""Candidates that share rare trigrams with a query."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.pairs import levenshtein

from medsim.builds.negatives import layout
from medsim.core.terms import pack
from medsim.kernels.best import empty_slots
from medsim.kernels.edit_search import Search
from medsim.kernels.trigrams import Tally, index_trigrams, search_by_trigrams

pytestmark = pytest.mark.kernels


def trigrams(term: str) -> list[str]:
    return [term[at : at + 3] for at in range(len(term) - 2)]


def alike(terms: list[str], wanted: int) -> list[list[tuple[str, int]]]:
    """Return the candidates that each term's trigrams alone give; terms are in order of text."""
    pool = layout.laid_out(layout.Candidates.of(terms))
    queries = np.arange(len(terms), dtype=np.int32)
    best = empty_slots(np.full(len(terms), wanted, np.int32), np.int32)
    tally = Tally(counts=np.zeros(len(terms), np.uint8), counted=np.empty(len(terms), np.int32))
    work = layout.workspace(pool)

    search_by_trigrams(
        Search(pool, np.uint64(0), queries, best),
        index_trigrams(pool.codes, pool.starts),
        0,
        len(terms),
        work,
        tally,
    )

    assert not tally.counts.any()
    assert not work.masks.any()
    found = []
    for query in range(len(terms)):
        slots = range(best.starts[query], best.starts[query] + best.counts[query])
        found.append([(terms[best.ids[slot]], int(best.distances[slot])) for slot in slots])
    return found


@given(st.lists(st.text("ab\u00e9\u4e00", max_size=9), unique=True, min_size=1, max_size=30))
def test_the_index_holds_every_trigram_of_every_term(terms: list[str]) -> None:
    packed = pack(sorted(terms))

    grams = index_trigrams(packed.codes, packed.starts)

    counts = Counter(at for at, term in enumerate(sorted(terms)) for _ in trigrams(term))
    assert Counter(grams.places.tolist()) == counts
    for bucket in range(len(grams.starts) - 1):
        places = grams.places[grams.starts[bucket] : grams.starts[bucket + 1]]
        assert (np.diff(places) >= 0).all()


@given(st.lists(st.text("abc", max_size=12), unique=True, min_size=1, max_size=30))
def test_few_terms_are_found_exactly_if_they_share_a_trigram(terms: list[str]) -> None:
    terms = sorted(terms)

    for term, found in zip(terms, alike(terms, len(terms)), strict=True):
        sharing = {other for other in terms if set(trigrams(other)) & set(trigrams(term))}
        near = {other for other, _ in found}
        assert sharing - {term} <= near  # and others whose trigrams fall into the same bucket
        for other, distance in found:
            assert distance == levenshtein(term, other)


def test_the_term_that_shares_most_is_found_among_many() -> None:
    middle = "chronic granulomatous disease of the left kidney"
    others = [f"{number:04d} chronic infection of the lung {number:04d}" for number in range(60)]
    terms = sorted([*others, f"x{middle}", f"y{middle}z"])

    found = dict(zip(terms, alike(terms, 1), strict=True))

    assert found[f"x{middle}"] == [(f"y{middle}z", 2)]
