"""All pairs of terms within a small edit distance, found by common segments.

The method is Pass-Join (Li, Deng, Wang and Feng, VLDB 2011). A term is divided into segments, one
more than the allowed edits. So a term within the distance contains one of the segments unchanged,
and near its place. The segments of all terms of a length are put into tables, where terms of this
length and longer ones look up their substrings. Only pairs with a common segment are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.compiler import array_kernel, inner_kernel, kernel
from medsim.kernels.edit_distance import (
    Workspace,
    bounded_distance,
    clear_masks,
    new_workspace,
    set_masks,
)
from medsim.kernels.edit_search import TermsByLength, distance_bound
from medsim.kernels.packing import mixed
from medsim.kernels.types import Bytes, Codes, Ids, Ranks, Starts, Wide

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
        lengths: int64[longest + 2], the place of the first term of each length.
        limit: the largest distance, at least 1.
    """

    laid: TermsByLength
    sides: Bytes
    lengths: Starts
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


@kernel
def near_pairs_of(task: Join, length: int, begin: int, end: int) -> Ranks:
    """Return the near pairs of the terms of a length with some terms of this length or longer.

    The other terms are those between the places ``begin`` and ``end``, as far as lengths allow.
    Returns int32[3, n_pairs]: both places, the shorter term first, and the distance.
    """
    laid, limit = task.laid, task.limit
    first, stop = task.lengths[length], task.lengths[length + 1]
    table = _segments_of(task, length)
    longest = min(length + limit, len(task.lengths) - 2)
    work = new_workspace(laid.n_characters, longest)
    pairs, n_pairs = np.empty((3, 0), np.int32), 0
    for other in range(begin, min(end, task.lengths[longest + 1])):
        if n_pairs + stop - first > pairs.shape[1]:
            more = np.empty((3, 2 * n_pairs + stop - first), np.int32)
            more[:, :n_pairs] = pairs[:, :n_pairs]
            pairs = more
        left, right = laid.starts[other], laid.starts[other + 1]
        set_masks(laid.codes, left, right, work.masks)
        if length > limit:
            n_pairs = _look_up(task, table, other, work, pairs, n_pairs)
        else:  # too short to be divided
            for term in range(first, min(stop, other)):
                n_pairs = _compare(task, term, other, work, pairs, n_pairs)
        clear_masks(laid.codes, left, right, work.masks)
    return pairs[:, :n_pairs].copy()


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
    task: Join, table: Segments, other: int, work: Workspace, pairs: Ranks, n_pairs: int
) -> int:
    """Compare a term with the terms that have a segment in common with it; see ``_compare``.

    If a pair has a segment in common, and none before it, then at most ``segment`` edits are before
    it and the remaining ones after it. This bounds the place of the segment in the longer term
    (multi-match-aware selection).
    """
    laid, limit, length = task.laid, task.limit, table.length
    begin, size = laid.starts[other], laid.starts[other + 1] - laid.starts[other]
    buckets, shift = np.uint64(table.starts.shape[1] - 2), size - length
    for segment in range(limit + 1):
        left, right = _bounds(length, limit + 1, segment)
        n_codes, rest = right - left, limit - segment
        low = begin + max(0, left - segment, left + shift - rest)
        high = begin + min(size - n_codes, left + segment, left + shift + rest)
        power = _ONE
        for _ in range(n_codes):
            power *= _BASE
        word = _hash_of(laid.codes, low, low + n_codes)
        for at in range(low, high + 1):
            if at > low:
                word = word * _BASE + np.uint64(laid.codes[at + n_codes - 1]) + _ONE
                word -= power * (np.uint64(laid.codes[at - 1]) + _ONE)
            key = mixed(word)
            bucket = np.int64(key & buckets)
            for entry in range(table.starts[segment, bucket], table.starts[segment, bucket + 1]):
                term = table.ids[segment, entry]
                if table.keys[segment, entry] == key and table.seen[term] != other:
                    table.seen[term] = other
                    if table.first + term < other:
                        n_pairs = _compare(task, table.first + term, other, work, pairs, n_pairs)
    return n_pairs


@inner_kernel
def _compare(task: Join, term: int, other: int, work: Workspace, pairs: Ranks, n_pairs: int) -> int:
    """Write a pair that is within the limit, and return the number of pairs."""
    laid, limit = task.laid, task.limit
    if task.sides[term] | task.sides[other] != np.uint8(QUERY | MATCH):
        return n_pairs
    if distance_bound(laid.signatures, term, laid.signatures, other) > limit:
        return n_pairs
    begin, end = laid.starts[term], laid.starts[term + 1]
    size = laid.starts[other + 1] - laid.starts[other]
    distance = bounded_distance(work, size, laid.codes, begin, end, np.int64(limit))
    if distance <= limit:
        pairs[0, n_pairs], pairs[1, n_pairs], pairs[2, n_pairs] = term, other, distance
        n_pairs += 1
    return n_pairs
