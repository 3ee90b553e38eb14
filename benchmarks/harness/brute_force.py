"""The nearest terms by comparing all terms with RapidFuzz and NumPy, without code of medsim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int32]
    Hashes = NDArray[np.uint64]


def distances(terms: Sequence[str], queries: Sequence[int] | Numbers, threads: int) -> Numbers:
    """Return the Levenshtein distance of some terms to all: int32[n_queries, n_terms]."""
    first_terms = [terms[query] for query in queries]
    table: Numbers = cdist(
        first_terms, terms, scorer=Levenshtein.distance, workers=threads, dtype=np.int32
    )
    return table


class BruteForce:
    """Ranks candidates by (distance, hash of seed and both terms, text).

    Args:
        terms: distinct terms in order of text.
        groups: int32[n_terms]; terms of the same group are not each other's candidates.
        seed: random seed that orders ties.
    """

    def __init__(self, terms: Sequence[str], groups: Numbers, seed: int) -> None:
        self._groups = groups
        self._hashes = term_hashes(terms)
        self._seed = np.uint64(seed)

    def nearest(self, query: int, far: Numbers, wanted: int) -> Numbers:
        """Return the rows of the nearest candidates of a query, nearest first.

        Args:
            query: the row of the first term.
            far: int32[n_terms], its distance to every term.
            wanted: maximum number of candidates.
        """
        rows = np.flatnonzero((self._groups != self._groups[query]) & (far > 0))
        if 0 < wanted < len(rows):
            rows = rows[far[rows] <= np.partition(far[rows], wanted - 1)[wanted - 1]]
        ties = mixed(mixed(self._seed ^ self._hashes[query : query + 1]) ^ self._hashes[rows])
        order = np.lexsort((rows, ties, far[rows]))
        return rows[order[:wanted]].astype(np.int32)


def mixed(words: Hashes) -> Hashes:
    """Return the words mixed by SplitMix64's finaliser (Steele et al. 2014, figure 17)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def term_hashes(terms: Sequence[str]) -> Hashes:
    """Return a hash of each term: its length, then each code point mixed in.

    The n-th code points of all terms are mixed in together.
    """
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    order = np.argsort(-lengths, kind="stable")
    text = "".join([terms[row] for row in order.tolist()])
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    falling = lengths[order]
    starts = np.cumsum(falling) - falling
    words = falling.astype(np.uint64)
    n_longer = len(terms)
    for at in range(int(lengths.max(initial=0))):
        n_longer = int(np.searchsorted(-falling[:n_longer], -at, side="left"))
        words[:n_longer] = mixed(words[:n_longer] ^ codes[starts[:n_longer] + at])
    hashes = np.empty_like(words)
    hashes[order] = words
    return hashes
