"""All pairs of terms within a small edit distance, found by common segments.

The method is Pass-Join (Li, Deng, Wang and Feng, VLDB 2011). A term is divided into segments, one
more than the allowed edits. So a term within the distance contains one of the segments unchanged,
and near its place. The segments of all terms of a length are put into tables, where terms of this
length and longer ones look up their substrings. Only pairs with a common segment are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.compiler import array_kernel, inner_kernel, kernel
from medsim.kernels.edit_distance import (
    Workspace,
    bounded_distance,
    clear_masks,
    set_masks,
    words_of,
)
from medsim.kernels.edit_search import least_distance
from medsim.kernels.packing import mixed

if TYPE_CHECKING:
    from medsim.kernels.edit_search import TermsByLength
    from medsim.kernels.types import Bytes, Codes, Counts, Ids, Ranks, Wide

_BASE = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)

QUERY, MATCH = 1, 2
"""The bits of a term's sides."""


class Join(NamedTuple):
    """The terms to compare.

    Attributes:
        laid: the terms, by length.
        sides: uint8[n_terms], ``QUERY``, ``MATCH`` or their sum; a pair has a query and a match.
        lengths: int32[longest + 2], the place of the first term of each length.
        limit: the largest distance, at least 1.
    """

    laid: TermsByLength
    sides: Bytes
    lengths: Ids
    limit: int


class Segments(NamedTuple):
    """The segments of the terms of one length, in a table for each segment.

    Attributes:
        length: the length.
        first: the place of the first term.
        keys: uint64[n_segments, n_terms], hashes in order of buckets.
        ids: int32[n_segments, n_terms], their terms, counted from the first.
        starts: int32[n_segments, n_buckets + 1], where each bucket begins; the number of buckets is
            a power of 2.
        seen: int32[n_terms], the last term that each term was compared with.
    """

    length: int
    first: int
    keys: Wide
    ids: Ranks
    starts: Ranks
    seen: Ids


class Pairs(NamedTuple):
    """The pairs found.

    Attributes:
        slots: int32[3, n_slots], both places, the shorter term first, and the distance.
        counts: int64[1], the number of pairs, also of those that have no slot.
    """

    slots: Ranks
    counts: Counts


@kernel
def find_near_pairs(task: Join, length: int, begin: int, end: int, pairs: Pairs) -> None:
    """Find the near pairs of the terms of a length with some terms of this length or longer.

    The other terms are those between the places ``begin`` and ``end``, as far as lengths allow.
    """
    laid, limit = task.laid, task.limit
    first, stop = task.lengths[length], task.lengths[length + 1]
    table = _segments_of(task, length)
    longest = min(length + limit, len(task.lengths) - 2)
    n_words = words_of(longest)
    work = Workspace(
        np.zeros(laid.n_characters * n_words, np.uint64),
        np.zeros(n_words, np.uint64),
        np.zeros(n_words, np.uint64),
    )
    for other in range(begin, min(end, task.lengths[longest + 1])):
        left, right = laid.starts[other], laid.starts[other + 1]
        set_masks(laid.codes, left, right, work.masks)
        if length > limit:
            for segment in range(limit + 1):
                _look_up(task, table, segment, other, work, pairs)
        else:  # too short to be divided
            for term in range(first, min(stop, other)):
                _compare(task, term, other, work, pairs)
        clear_masks(laid.codes, left, right, work.masks)


@inner_kernel
def _bounds(length: int, n_segments: int, segment: int) -> tuple[int, int]:
    """Return where a segment of a term begins and ends; the lengths differ by at most one."""
    return length * segment // n_segments, length * (segment + 1) // n_segments


@inner_kernel
def _hash_of(codes: Codes, begin: int, end: int) -> np.uint64:
    """Return the polynomial hash of ``codes[begin:end]``."""
    word = _ZERO
    for at in range(begin, end):
        word = word * _BASE + np.uint64(codes[at]) + _ONE
    return word


@array_kernel
def _segments_of(task: Join, length: int) -> Segments:
    """Return the segments of the terms of a length; none of terms that are too short."""
    laid, first, n_segments = task.laid, task.lengths[length], task.limit + 1
    n_terms = int(task.lengths[length + 1] - first)
    n_buckets = 1
    while n_buckets < n_terms:
        n_buckets *= 2
    last = np.uint64(n_buckets - 1)
    keys = np.empty((n_segments, n_terms), np.uint64)
    ids = np.empty((n_segments, n_terms), np.int32)
    starts = np.zeros((n_segments, n_buckets + 1), np.int32)
    hashes = np.empty(n_terms, np.uint64)
    for segment in range(n_segments if length >= n_segments else 0):
        left, right = _bounds(length, n_segments, segment)
        for term in range(n_terms):
            begin = laid.starts[first + term]
            hashes[term] = mixed(_hash_of(laid.codes, begin + left, begin + right))
            starts[segment, np.int64(hashes[term] & last) + 1] += 1
        for bucket in range(n_buckets):
            starts[segment, bucket + 1] += starts[segment, bucket]
        ends = starts[segment, :-1].copy()
        for term in range(n_terms):
            entry = ends[np.int64(hashes[term] & last)]
            keys[segment, entry], ids[segment, entry] = hashes[term], term
            ends[np.int64(hashes[term] & last)] += 1
    return Segments(length, first, keys, ids, starts, np.full(n_terms, -1, np.int32))


@inner_kernel
def _look_up(
    task: Join, table: Segments, segment: int, other: int, work: Workspace, pairs: Pairs
) -> None:
    """Compare a term with the terms that have a segment in common with it.

    If a pair has the segment in common, and none before it, then at most ``segment`` edits are
    before it and the remaining ones after it. This bounds the place of the segment in the longer
    term (multi-match-aware selection).
    """
    laid, limit, length = task.laid, task.limit, table.length
    begin, size = laid.starts[other], laid.starts[other + 1] - laid.starts[other]
    left, right = _bounds(length, limit + 1, segment)
    n_codes, shift = right - left, size - length
    low = max(0, left - segment, left + shift - (limit - segment))
    high = min(size - n_codes, left + segment, left + shift + (limit - segment))
    if low > high:
        return
    power, word = _ONE, _hash_of(laid.codes, begin + low, begin + low + n_codes)
    for _ in range(n_codes):
        power *= _BASE
    buckets = np.uint64(table.starts.shape[1] - 2)
    for at in range(begin + low, begin + high + 1):
        if at > begin + low:
            word = word * _BASE + np.uint64(laid.codes[at + n_codes - 1]) + _ONE
            word -= power * (np.uint64(laid.codes[at - 1]) + _ONE)
        key = mixed(word)
        bucket = np.int64(key & buckets)
        for entry in range(table.starts[segment, bucket], table.starts[segment, bucket + 1]):
            term = table.ids[segment, entry]
            if table.keys[segment, entry] == key and table.seen[term] != other:
                table.seen[term] = other
                if table.first + term < other:
                    _compare(task, table.first + term, other, work, pairs)


@inner_kernel
def _compare(task: Join, term: int, other: int, work: Workspace, pairs: Pairs) -> None:
    """Count a pair if it is within the limit, and write it if there is a slot."""
    laid, limit = task.laid, task.limit
    if task.sides[term] | task.sides[other] != np.uint8(QUERY | MATCH):
        return
    if least_distance(laid.signatures, term, laid.signatures, other) > limit:
        return
    begin, end = laid.starts[term], laid.starts[term + 1]
    size = laid.starts[other + 1] - laid.starts[other]
    distance = bounded_distance(work, size, laid.codes, begin, end, np.int64(limit))
    if distance <= limit:
        slot = int(pairs.counts[0])
        if slot < pairs.slots.shape[1]:
            pairs.slots[0, slot], pairs.slots[1, slot] = term, other
            pairs.slots[2, slot] = distance
        pairs.counts[0] += 1
