"""Comparing many terms at once gives what comparing them one by one gives."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numba import config

from medsim.builds.negatives.layout import Candidates
from medsim.builds.negatives.nearest import nearest
from medsim.core.terms import pack
from medsim.kernels.hashing import term_hashes
from medsim.kernels.instructions import LANES

if TYPE_CHECKING:
    from medsim.builds.negatives.nearest import Nearest

pytestmark = pytest.mark.skipif(
    bool(config.DISABLE_JIT), reason="vector instructions need the compiler"
)


def candidates_of(terms: list[str], n_components: int | None = None) -> Candidates:
    packed = pack(terms)
    components = np.arange(len(terms)) % (n_components or len(terms))
    return Candidates(
        terms=packed,
        components=components.astype(np.int32),
        hashes=term_hashes(packed.codes, packed.starts),
    )


def both(candidates: Candidates, queries: list[int], wanted: list[int]) -> tuple[Nearest, Nearest]:
    found = [
        nearest(
            candidates,
            np.array(queries, np.int32),
            np.array(wanted, np.int32),
            seed=3,
            threads=2,
            sliced=sliced,
        )
        for sliced in (True, False)
    ]
    return found[0], found[1]


def assert_same(found: tuple[Nearest, Nearest]) -> None:
    sliced, plain = found
    assert np.array_equal(sliced.starts, plain.starts)
    assert np.array_equal(sliced.distances, plain.distances)
    assert np.array_equal(sliced.ids, plain.ids)


def varied_terms(rng: random.Random, n_terms: int, lengths: list[int], alphabet: str) -> list[str]:
    """Return distinct terms in order of text; half are others with a few edits."""
    terms: set[str] = set()
    while len(terms) < n_terms:
        if terms and rng.random() < 0.5:
            letters = list(rng.choice(sorted(terms)))
            for _ in range(rng.randint(1, 4)):
                at = rng.randint(0, len(letters))
                letters[at : at + rng.randint(0, 1)] = rng.choices(alphabet, k=rng.randint(0, 1))
            terms.add("".join(letters))
        else:
            terms.add("".join(rng.choices(alphabet, k=rng.choice(lengths))))
    return sorted(terms)


@pytest.mark.parametrize("n_edits", [1, 3, 8])
def test_many_queries_of_one_bound_are_screened(n_edits: int) -> None:
    rng = random.Random(n_edits)  # noqa: S311 — a repeatable draw
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    terms: set[str] = set()
    while len(terms) < 3 * LANES:
        letters = rng.choices(alphabet, k=24)
        terms.add("".join(letters))
        for at in rng.sample(range(24), n_edits):
            letters[at] = rng.choice(alphabet)
        terms.add("".join(letters))

    assert_same(both(candidates_of(sorted(terms)), list(range(len(terms))), [1] * len(terms)))


def test_terms_that_share_long_prefixes() -> None:
    terms = sorted(
        f"structure of {'left ' * (i % 3)}finger number {i:04d} of {'hand' if i % 2 else 'foot'}"
        for i in range(1200)
    )

    assert_same(both(candidates_of(terms), list(range(0, 1200, 3)), [4] * 400))


def test_prefixes_longer_than_what_is_kept_of_a_table() -> None:
    rng = random.Random(5)  # noqa: S311 — a repeatable draw
    stem = "".join(rng.choices("abcd", k=150))
    terms = varied_terms(rng, 60, [4], "abcd")
    terms = sorted({stem + term for term in terms} | set(terms))

    assert_same(both(candidates_of(terms), list(range(len(terms))), [6] * len(terms)))
