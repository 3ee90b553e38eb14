"""Hashes that make draws independent of row order, and sort keys."""

from __future__ import annotations

import numpy as np

from medsim.kernels.compiler import inner_kernel, kernel
from medsim.kernels.types import Codes, Hashes, Starts


@kernel
def mixed(word: np.uint64) -> np.uint64:
    """Return the word with its bits mixed: the finaliser of SplitMix64 (Steele et al. 2014)."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def term_hashes(codes: Codes, starts: Starts) -> Hashes:
    """Return a hash of each term's code points: uint64[n_terms]. Time O(n_code_points)."""
    n_terms = len(starts) - 1
    hashes = np.empty(n_terms, np.uint64)
    for term in range(n_terms):
        word = np.uint64(starts[term + 1] - starts[term])
        for at in range(starts[term], starts[term + 1]):
            word = mixed(word ^ np.uint64(codes[at]))
        hashes[term] = word
    return hashes


@inner_kernel
def tie_of(seed: np.uint64, query: np.uint64, candidate: np.uint64) -> np.uint64:
    """Return the hash that orders a candidate among candidates of equal distance to a query."""
    return mixed(mixed(seed ^ query) ^ candidate)


@kernel
def tie_hashes(seed: np.uint64, queries: np.uint64 | Hashes, candidates: Hashes) -> Hashes:
    """Return ``tie_of`` for the hash of each candidate: uint64[n_candidates].

    ``queries`` is the hash of the query of all candidates, or of each: uint64[n_candidates].
    """
    ties, of_each = np.empty_like(candidates), np.broadcast_to(queries, candidates.shape)
    for at in range(len(candidates)):
        ties[at] = tie_of(seed, of_each[at], candidates[at])
    return ties


_BITS = np.int64(32)

MOST = (1 << 31) - 1
"""The largest number in a key."""


@inner_kernel
def key_of(first: int | np.int64, second: int | np.int64) -> np.int64:
    """Return a sort key for a pair of numbers, each from 0 to ``MOST``."""
    return (np.int64(first) << _BITS) | np.int64(second)


@inner_kernel
def first_of(key: np.int64) -> np.int64:
    """Return the first number of a key."""
    return key >> _BITS


@inner_kernel
def second_of(key: np.int64) -> np.int64:
    """Return the second number of a key."""
    return key & np.int64(MOST)


# NumPy's sort takes two seconds to compile, again for each type and use.
@inner_kernel
def sort(keys: Starts) -> None:
    """Sort int64[n] in place with Shell's sort and Knuth's gaps."""
    gap = 1
    while 3 * gap < len(keys):
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, len(keys)):
            key, to = keys[at], at
            while to >= gap and keys[to - gap] > key:
                keys[to] = keys[to - gap]
                to -= gap
            keys[to] = key
        gap //= 3
