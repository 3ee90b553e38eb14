"""Exact search for the nearest terms by Levenshtein distance, and for all within a distance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.best import Best, bound_of, enter
from medsim.kernels.compiler import inner_kernel, kernel, whole
from medsim.kernels.edit_distance import (
    Workspace,
    bounded_distance,
    clear_masks,
    set_masks,
)
from medsim.kernels.instructions import popcount, prefetch
from medsim.kernels.packing import key_of, tie_of
from medsim.kernels.types import Codes, Hashes, Ids, Starts, Wide

SIGNATURE_WORDS = 4
"""The number of occurrences of a character that a signature can distinguish."""

_LINE_BYTES = 64  # of a processor's cache
_NEIGHBOURS = 3  # on either side, and one more for two terms that a query wants
_TERMS = 1 << 19  # for which one more pays
_CLASSES = 64
_SUFFIX = 16
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class SearchPool(NamedTuple):
    """Terms prepared for the search, ordered by length, then text.

    Attributes:
        codes: uint16[n_code_points], characters as numbers from 0; or uint32, if there are many.
        starts: int64[n_terms + 1].
        signatures: uint64[n_terms * SIGNATURE_WORDS], see ``signatures``.
        length_starts: int64[max_length + 2]; entry L is the place of the first term of length L.
        block_starts: int64[n_blocks + 1]; the terms between two entries have similar lengths and
            are compared together.
        components: int32[n_terms].
        hashes: uint64[n_terms], hashes of the terms' content.
        ids: int32[n_terms], the row of each term in order of text.
        places: int32[n_terms], the inverse of ``ids``: the place of the term with a row.
        by_end: int32[n_terms], rows of terms in order of their ends, read backwards.
        ranks: int32[n_terms], the inverse of ``by_end``.
        n_characters: number of distinct characters, and one more for all that no term has.
        alphabet: uint32[n_characters - 1], the code points of characters by number.
    """

    codes: Codes
    starts: Starts
    signatures: Hashes
    length_starts: Starts
    block_starts: Starts
    components: Ids
    hashes: Hashes
    ids: Ids
    places: Ids
    by_end: Ids
    ranks: Ids
    n_characters: int
    alphabet: Codes


class Queries(NamedTuple):
    """The queries of a search: terms of the pool, which share its arrays, or other terms.

    Attributes:
        codes: uint16[n_code_points], characters by the pool's numbers; or uint32.
        starts: int64[n_terms + 1].
        signatures: uint64[n_terms * SIGNATURE_WORDS].
        components: int32[n_terms].
        hashes: uint64[n_terms].
        places: int32[n_queries], the place of each query among these terms.
        rows: int32[n_queries], the number of terms of the pool before it in order of text.
        ranks: int32[n_queries], the number of terms of the pool before it in order of ends.
    """

    codes: Codes
    starts: Starts
    signatures: Hashes
    components: Ids
    hashes: Hashes
    places: Ids
    rows: Ids
    ranks: Ids


class Search(NamedTuple):
    """A search: the terms, the queries and the best candidates so far.

    Attributes:
        pool: the terms.
        seed: random seed that orders ties.
        queries: the queries.
        best: the best candidates so far.
    """

    pool: SearchPool
    seed: np.uint64
    queries: Queries
    best: Best


@kernel
def signatures(codes: Codes, starts: Starts) -> Hashes:
    """Return a signature of the characters of each term.

    Bit ``c`` of word ``w`` is set if the term has more than ``w`` characters of class ``c``, the
    character's number modulo 64. An edit lowers at most one of these counts by 1 and raises at most
    one, so the distance of two terms is at least the number of bits that are set in only the first
    term, and at least the number set in only the second. Folding characters into classes can only
    lower these numbers. Returns uint64[n_terms * SIGNATURE_WORDS].
    """
    n_terms = len(starts) - 1
    words = np.zeros(n_terms * SIGNATURE_WORDS, np.uint64)
    for term in range(n_terms):
        first = term * SIGNATURE_WORDS
        for at in range(starts[term], starts[term + 1]):
            bit = _ONE << np.uint64(codes[at] % _CLASSES)
            for word in range(first, first + SIGNATURE_WORDS):
                if words[word] & bit == _ZERO:
                    words[word] |= bit
                    break
    return words


@kernel
def suffixes(codes: Codes, starts: Starts) -> Wide:
    """Return the last 16 characters of each term as two numbers; the second holds the last eight.

    Returns uint64[2, n_terms]: eight characters with a byte each; numbers beyond 254 are folded.
    """
    n_terms = len(starts) - 1
    ends = np.zeros((2, n_terms), np.uint64)
    for term in range(n_terms):
        for back in range(min(_SUFFIX, starts[term + 1] - starts[term])):
            code = np.uint64(codes[starts[term + 1] - 1 - back] % 255 + 1)
            shift = np.uint64(56 - 8 * (back % 8))
            ends[1 - back // 8, term] |= code << shift
    return ends


@inner_kernel
def distance_bound(lefts: Hashes, left: int, rights: Hashes, right: int) -> int:
    """Return a lower bound of the distance of two terms, from their signatures.

    Those of all terms are uint64[n_terms * SIGNATURE_WORDS].
    """
    lost, won = 0, 0
    for word in range(SIGNATURE_WORDS):
        a = lefts[left * SIGNATURE_WORDS + word]
        b = rights[right * SIGNATURE_WORDS + word]
        lost += popcount(a & ~b)
        won += popcount(b & ~a)
    return max(lost, won)


@inner_kernel
def consider(task: Search, query: int, candidate: int, slot: int, work: Workspace) -> None:
    """Insert a candidate into a query's best if it is near enough and not linked to the query.

    ``work`` holds the query's masks; query and candidate are places in their arrays.
    """
    pool, queries = task.pool, task.queries
    if queries.components[query] == pool.components[candidate]:
        return
    starts = pool.starts
    bound = bound_of(task.best, slot)
    length = queries.starts[query + 1] - queries.starts[query]
    distance = bounded_distance(
        work, length, pool.codes, starts[candidate], starts[candidate + 1], bound
    )
    if distance <= bound:
        tie = tie_of(task.seed, queries.hashes[query], pool.hashes[candidate])
        enter(task.best, slot, pool.ids[candidate], distance, tie)


@inner_kernel
def search_places(task: Search, slot: int, first: int, stop: int, work: Workspace) -> None:
    """Consider every term between two places of the pool, except those ruled out by signatures."""
    queries, rights = task.queries, task.pool.signatures
    query, bound = whole(queries.places[slot]), bound_of(task.best, slot)
    begin, end = queries.starts[query], queries.starts[query + 1]
    set_masks(queries.codes, begin, end, work.masks)
    for candidate in range(first, stop):
        if distance_bound(queries.signatures, query, rights, candidate) <= bound:
            consider(task, query, candidate, slot, work)
            bound = bound_of(task.best, slot)
    clear_masks(queries.codes, begin, end, work.masks)


@inner_kernel
def _fetch(pool: SearchPool, place: int) -> None:
    """Prefetch the memory of a term that is compared soon, so that many loads overlap."""
    components, hashes, codes = pool.components, pool.hashes, pool.codes
    prefetch(np.uint64(components.ctypes.data) + np.uint64(components.itemsize * place))
    prefetch(np.uint64(hashes.ctypes.data) + np.uint64(hashes.itemsize * place))
    first = np.uint64(codes.ctypes.data) + np.uint64(codes.itemsize * pool.starts[place])
    prefetch(first)
    prefetch(first + np.uint64(_LINE_BYTES))


@kernel
def search_neighbours(task: Search, first: int, stop: int, work: Workspace) -> None:
    """Consider the neighbours of queries from ``first`` to ``stop`` in order of text and of ends.

    Terms that begin or end alike are often similar, so this gives a first bound on the distance of
    the nearest term. The arguments are those of ``search``.
    """
    pool, queries = task.pool, task.queries
    n_terms = len(pool.ids)
    for slot in range(first, stop):
        query = whole(queries.places[slot])
        row, rank = whole(queries.rows[slot]), whole(queries.ranks[slot])
        begin, end = queries.starts[query], queries.starts[query + 1]
        n_wanted = task.best.starts[slot + 1] - task.best.starts[slot] - task.best.spare
        reach = _NEIGHBOURS + n_terms // _TERMS + n_wanted // 2
        for near in range(max(0, row - reach), min(n_terms, row + reach + 1)):
            _fetch(pool, whole(pool.places[near]))
        for near in range(max(0, rank - reach), min(n_terms, rank + reach + 1)):
            _fetch(pool, whole(pool.places[pool.by_end[near]]))
        set_masks(queries.codes, begin, end, work.masks)
        for near in range(max(0, row - reach), min(n_terms, row + reach + 1)):
            consider(task, query, whole(pool.places[near]), slot, work)
        for near in range(max(0, rank - reach), min(n_terms, rank + reach + 1)):
            consider(task, query, whole(pool.places[pool.by_end[near]]), slot, work)
        clear_masks(queries.codes, begin, end, work.masks)


@kernel
def search(task: Search, first: int, stop: int, work: Workspace) -> None:
    """Complete the best candidates of the queries from ``first`` to ``stop``.

    Terms are visited by length, from the query's length outwards, until the difference of lengths
    alone exceeds the bound: the distance of two terms is at least the difference of their lengths,
    so no nearer term is missed. The result depends neither on the order of candidates nor on
    threads, since (distance, tie, text) orders candidates strictly. A run writes only the slots of
    its queries. ``work`` belongs to this thread; its masks are all zero before and after.
    """
    pool, queries = task.pool, task.queries
    max_length = len(pool.length_starts) - 2
    for slot in range(first, stop):
        query = whole(queries.places[slot])
        length = queries.starts[query + 1] - queries.starts[query]
        for difference in range(max(length, max_length - length) + 1):
            if difference > bound_of(task.best, slot):
                break
            for side in range(2 if difference else 1):
                other = length - difference if side == 0 else length + difference
                if 0 <= other <= max_length:
                    first_place, stop_place = pool.length_starts[other : other + 2]
                    search_places(task, slot, first_place, stop_place, work)


@kernel
def search_within(task: Search, slot: int, bound: int, work: Workspace, found: Starts) -> int:
    """Write a key of each candidate within a distance of a query, and return their number.

    The keys, in no order, have the distance and the row (``packing.key_of``). ``found`` has room
    for the whole pool, int64[n_terms], and ``work`` is that of ``search``.
    """
    pool, queries = task.pool, task.queries
    query, n_found = whole(queries.places[slot]), 0
    begin, end = queries.starts[query], queries.starts[query + 1]
    length, n_lengths = end - begin, len(pool.length_starts) - 1
    first = pool.length_starts[min(max(0, length - bound), n_lengths)]
    stop = pool.length_starts[min(length + bound + 1, n_lengths)]
    set_masks(queries.codes, begin, end, work.masks)
    for place in range(first, stop):
        if (
            queries.components[query] != pool.components[place]
            and distance_bound(queries.signatures, query, pool.signatures, place) <= bound
        ):
            left, right = pool.starts[place], pool.starts[place + 1]
            distance = bounded_distance(work, length, pool.codes, left, right, np.int64(bound))
            if distance <= bound:
                found[n_found] = key_of(distance, pool.ids[place])
                n_found += 1
    clear_masks(queries.codes, begin, end, work.masks)
    return n_found


class TermsByLength(NamedTuple):
    """Terms laid out by length, the shortest first.

    Attributes:
        codes: uint16[n_code_points], characters as numbers from 0; or uint32, if there are many.
        starts: int64[n_terms + 1].
        signatures: uint64[n_terms * SIGNATURE_WORDS], from ``signatures``.
        n_characters: number of distinct characters.
    """

    codes: Codes
    starts: Starts
    signatures: Hashes
    n_characters: int
