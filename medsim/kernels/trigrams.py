"""Candidates that share rare trigrams with a query; their distances bound that of the nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.best import bound_of
from medsim.kernels.compiler import array_kernel, inner_kernel, kernel, whole
from medsim.kernels.edit_distance import Workspace, clear_masks, set_masks
from medsim.kernels.edit_search import Search, consider
from medsim.kernels.sorting import MOST, first_at_least, key_of, second_of, sort

if TYPE_CHECKING:
    from medsim.kernels.types import Bytes, Codes, Ids, Starts

_SIZE = 3
_MOST_BITS = 18
_FAR = 16  # bounds below it are as good as they need be
_POSTINGS = 100  # terms of trigrams that are read for each edit of the bound
_EDITS = 64  # of the bound that count for that, at most
_COMPARED = 8  # candidates that are compared, and two more for each that the query wants
_LEVELS = 256


class TrigramIndex(NamedTuple):
    """The terms that have a trigram; trigrams are folded into buckets.

    Attributes:
        starts: int64[n_buckets + 1], where the terms of each bucket lie.
        places: int32[n_trigrams], places of terms in the pool, in each bucket in order, hence by
            length.
        shift: a trigram's hash, shifted right by it, is the number of its bucket.
    """

    starts: Starts
    places: Ids
    shift: np.uint64


class Tally(NamedTuple):
    """The arrays in which one thread counts shared trigrams.

    Attributes:
        counts: uint8[n_terms], all zero between queries.
        counted: int32[n_terms], the terms whose count is not zero.
    """

    counts: Bytes
    counted: Ids


@inner_kernel
def _bucket(codes: Codes, at: int, shift: np.uint64) -> np.int64:
    """Return the bucket of the trigram that begins at a character."""
    word = np.uint64(codes[at]) | (np.uint64(codes[at + 1]) << np.uint64(21))
    word |= np.uint64(codes[at + 2]) << np.uint64(42)
    return np.int64((word * np.uint64(0x9E3779B97F4A7C15)) >> shift)


@kernel
def index_trigrams(codes: Codes, starts: Starts) -> TrigramIndex:
    """Return the trigrams of all terms of a pool."""
    bits = 1
    while bits < _MOST_BITS and (1 << bits) < len(codes):
        bits += 1
    shift = np.uint64(64 - bits)
    at = np.zeros((1 << bits) + 2, np.int64)
    n_terms = len(starts) - 1
    for term in range(n_terms):
        for first in range(starts[term], starts[term + 1] - _SIZE + 1):
            at[_bucket(codes, first, shift) + 2] += 1
    at = np.cumsum(at)
    places = np.empty(at[-1], np.int32)
    for term in range(n_terms):
        for first in range(starts[term], starts[term + 1] - _SIZE + 1):
            bucket = _bucket(codes, first, shift) + 1
            places[at[bucket]] = term
            at[bucket] += 1
    return TrigramIndex(at[:-1], places, shift)


@array_kernel
def _count_shared(
    task: Search, grams: TrigramIndex, query: int, bound: np.int64, tally: Tally
) -> int:
    """Count the trigrams that terms share with a query, the rarest first, until enough are read.

    Only terms whose length alone does not put them beyond the bound are read; the number of terms
    that have been counted comes back.
    """
    pool = task.pool
    begin, end = pool.starts[query], pool.starts[query + 1]
    length, max_length = end - begin, len(pool.length_starts) - 2
    low = pool.length_starts[max(0, length - bound)]
    high = pool.length_starts[min(max_length, length + bound) + 1]
    keys = np.empty(max(0, length - _SIZE + 1), np.int64)
    for gram in range(len(keys)):
        bucket = _bucket(pool.codes, begin + gram, np.uint64(grams.shift))
        keys[gram] = key_of(min(grams.starts[bucket + 1] - grams.starts[bucket], MOST), bucket)
    sort(keys)
    n_counted, left = 0, _POSTINGS * min(bound, np.int64(_EDITS))
    for key in keys:
        first, stop = grams.starts[second_of(key)], grams.starts[second_of(key) + 1]
        first = first_at_least(grams.places, first, stop, low)
        for at in range(first, min(stop, first + left)):
            place = grams.places[at]
            if place >= high:
                break
            left -= 1
            if tally.counts[place] == 0:
                tally.counted[n_counted] = place
                n_counted += 1
            if tally.counts[place] < _LEVELS - 1:
                tally.counts[place] += np.uint8(1)
        if left == 0:
            break
    return n_counted


@kernel
def search_by_trigrams(
    task: Search, grams: TrigramIndex, first: int, stop: int, work: Workspace, tally: Tally
) -> None:
    """Consider for ``queries[first:stop]`` the terms that share the most of their rare trigrams.

    Only queries that are still far from all they have been compared with are served: for the
    others the search that follows is as quick with any bound. The counts of ``tally``, which is
    this thread's, are all zero before and after; the rest as of ``edit_search.search``.
    """
    pool = task.pool
    for slot in range(first, stop):
        bound = bound_of(task.best, slot)
        if bound < _FAR:
            continue
        query = whole(pool.places[task.queries[slot]])
        n_counted = _count_shared(task, grams, query, bound, tally)
        levels = np.zeros(_LEVELS, np.int64)
        for at in range(n_counted):
            levels[tally.counts[tally.counted[at]]] += 1
        left = _COMPARED + 2 * (task.best.starts[slot + 1] - task.best.starts[slot])
        level = _LEVELS - 1
        while level > 1 and levels[level] < left:
            left -= levels[level]
            level -= 1
        begin, end = pool.starts[query], pool.starts[query + 1]
        set_masks(pool.codes, begin, end, work.masks)
        for at in range(n_counted):
            place = tally.counted[at]
            if tally.counts[place] > level or (tally.counts[place] == level and left > 0):
                left -= tally.counts[place] == level
                consider(task, query, whole(place), slot, work)
            tally.counts[place] = 0
        clear_masks(pool.codes, begin, end, work.masks)
