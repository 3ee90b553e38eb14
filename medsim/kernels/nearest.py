"""The k nearest terms by Levenshtein distance, exactly, a query at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from medsim.kernels.best import Best, bound_of, enter, tie_of
from medsim.kernels.intrinsics import popcount

if TYPE_CHECKING:
    from medsim.kernels.types import Codes, Hashes, Ids, Starts

SIGNATURE_WORDS = 4
"""How many occurrences of a character a signature can tell apart."""

_NEIGHBOURS = 8  # terms on either side in order of text, tried first to bound the distance
_WORD = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Pool(NamedTuple):
    """Terms laid out for the search: by length, then by text.

    Attributes:
        codes: uint32[n_code_points], characters as numbers from 0.
        starts: int64[n_terms + 1].
        signatures: uint64[n_terms * SIGNATURE_WORDS], see ``signatures``.
        length_starts: int64[max_length + 2]; the terms of length L lie from its L-th entry on.
        components: int32[n_terms].
        hashes: uint64[n_terms], of the terms' content.
        ids: int32[n_terms], the row of each term in order of text.
        places: int32[n_terms], the inverse: where the term with a row lies.
        n_characters: how many numbers the characters have.
    """

    codes: Codes
    starts: Starts
    signatures: Hashes
    length_starts: Starts
    components: Ids
    hashes: Hashes
    ids: Ids
    places: Ids
    n_characters: int


class Workspace(NamedTuple):
    """What one thread writes to while it serves a query.

    Attributes:
        masks: uint64[n_characters * n_words], which positions of the query hold a character.
        plus: uint64[n_words], vertical differences of +1 in the current column.
        minus: uint64[n_words], vertical differences of -1.
    """

    masks: Hashes
    plus: Hashes
    minus: Hashes


class Search(NamedTuple):
    """What is searched for.

    Attributes:
        pool: the terms.
        seed: of the ties.
        queries: int32[n_queries], rows of terms in order of text.
        best: what has been found so far.
    """

    pool: Pool
    seed: np.uint64
    queries: Ids
    best: Best


@njit(cache=True, nogil=True)
def signatures(codes: Codes, starts: Starts) -> Hashes:
    """Return a signature of the characters of each term.

    Bit ``c`` of word ``w`` says that the term has more than ``w`` characters of class ``c``, the
    classes being the characters' numbers modulo 64. An edit changes at most one such count down
    and one up, so the distance of two terms is at least the number of bits that one has and the
    other lacks, either way. Folding characters into classes can only lower that number.

    Returns:
        uint64[n_terms * SIGNATURE_WORDS].
    """
    n_terms = len(starts) - 1
    found = np.zeros(n_terms * SIGNATURE_WORDS, np.uint64)
    for term in range(n_terms):
        first = term * SIGNATURE_WORDS
        for at in range(starts[term], starts[term + 1]):
            bit = _ONE << np.uint64(codes[at] % _WORD)
            for word in range(first, first + SIGNATURE_WORDS):
                if found[word] & bit == _ZERO:
                    found[word] |= bit
                    break
    return found


@njit(cache=True, nogil=True)
def _least_distance(bits: Hashes, left: int, right: int) -> int:
    """Return a lower bound of the distance of two terms, from their signatures."""
    lost, won = 0, 0
    for word in range(SIGNATURE_WORDS):
        a = bits[left * SIGNATURE_WORDS + word]
        b = bits[right * SIGNATURE_WORDS + word]
        lost += popcount(a & ~b)
        won += popcount(b & ~a)
    return max(lost, won)


@njit(cache=True, nogil=True)
def set_masks(pool: Pool, query: int, masks: Hashes) -> int:
    """Set the bits of the query's characters in ``masks``; return how many words it has."""
    begin, end = pool.starts[query], pool.starts[query + 1]
    n_words = max(1, (end - begin + _WORD - 1) // _WORD)
    for at in range(begin, end):
        row = at - begin
        word = np.int64(pool.codes[at]) * n_words + row // _WORD
        masks[word] |= _ONE << np.uint64(row % _WORD)
    return n_words


@njit(cache=True, nogil=True)
def clear_masks(pool: Pool, query: int, masks: Hashes, n_words: int) -> None:
    """Undo ``set_masks``."""
    for at in range(pool.starts[query], pool.starts[query + 1]):
        first = np.int64(pool.codes[at]) * n_words
        masks[first : first + n_words] = _ZERO


@njit(cache=True, nogil=True)
def _bounded_distance(
    pool: Pool, length: int, candidate: int, bound: np.int64, work: Workspace
) -> np.int64:
    """Return the distance of the query to a candidate, or more than ``bound`` if it exceeds it.

    The bit-parallel algorithm of Myers (1999) in the form of Hyyrö (2003), a word of 64 rows after
    the other. The distance changes by at most one from column to column, so the search may stop
    once the columns that are left cannot bring it down to the bound.

    Time O(words of the query x length of the candidate).
    """
    n_words = max(1, (length + _WORD - 1) // _WORD)
    last = _ONE << np.uint64((length - 1) % _WORD if length else 0)
    work.plus[:n_words] = ~_ZERO
    work.minus[:n_words] = _ZERO
    begin, end = pool.starts[candidate], pool.starts[candidate + 1]
    if length == 0:
        return end - begin
    distance = np.int64(length)
    for at in range(begin, end):
        first = np.int64(pool.codes[at]) * n_words
        carry_plus, carry_minus = _ONE, _ZERO
        for word in range(n_words):
            equal, plus, minus = work.masks[first + word], work.plus[word], work.minus[word]
            vertical = equal | minus
            equal |= carry_minus
            horizontal = (((equal & plus) + plus) ^ plus) | equal
            up = minus | ~(horizontal | plus)
            down = plus & horizontal
            if word == n_words - 1:
                if up & last:
                    distance += 1
                elif down & last:
                    distance -= 1
            next_plus, next_minus = up >> np.uint64(63), down >> np.uint64(63)
            up = (up << _ONE) | carry_plus
            down = (down << _ONE) | carry_minus
            carry_plus, carry_minus = next_plus, next_minus
            work.plus[word] = down | ~(vertical | up)
            work.minus[word] = up & vertical
        if distance - (end - 1 - at) > bound:
            return bound + 1
    return distance


@njit(cache=True, nogil=True)
def _consider(task: Search, query: int, candidate: int, slot: int, work: Workspace) -> None:
    """Let one candidate enter the best of a query if it is near enough and not linked to it."""
    pool = task.pool
    if pool.components[query] == pool.components[candidate]:
        return
    bound = bound_of(task.best, slot)
    length = pool.starts[query + 1] - pool.starts[query]
    distance = _bounded_distance(pool, length, candidate, bound, work)
    if 1 <= distance <= bound:
        tie = tie_of(task.seed, pool.hashes[query], pool.hashes[candidate])
        enter(task.best, slot, pool.ids[candidate], distance, tie)


@njit(cache=True, nogil=True)
def search_length(task: Search, query: int, length: int, slot: int, work: Workspace) -> None:
    """Consider every term of one length that the signatures do not rule out.

    The query's masks are set in ``work``.
    """
    pool = task.pool
    bound = bound_of(task.best, slot)
    for candidate in range(pool.length_starts[length], pool.length_starts[length + 1]):
        if _least_distance(pool.signatures, query, candidate) <= bound:
            _consider(task, query, candidate, slot, work)
            bound = bound_of(task.best, slot)


@njit(cache=True, nogil=True)
def search_neighbours(
    task: Search, order: Ids, ranks: Ids, first: int, stop: int, work: Workspace
) -> None:
    """Consider for ``queries[first:stop]`` the terms near them in an order of all terms.

    Terms that begin, or end, alike are often near, which bounds the distance of the nearest.

    Args:
        task: the search; a run writes only the slots of these queries.
        order: int32[n_terms], rows of terms.
        ranks: int32[n_terms], the inverse: where a row stands in that order.
        first: the first query to serve.
        stop: the one after the last.
        work: of this thread; masks are all zero before and after.
    """
    pool = task.pool
    for slot in range(first, stop):
        rank = ranks[task.queries[slot]]
        query = pool.places[task.queries[slot]]
        n_words = set_masks(pool, query, work.masks)
        for near in range(max(0, rank - _NEIGHBOURS), min(len(order), rank + _NEIGHBOURS + 1)):
            _consider(task, query, pool.places[order[near]], slot, work)
        clear_masks(pool, query, work.masks, n_words)


@njit(cache=True, nogil=True)
def search(task: Search, first: int, stop: int, work: Workspace) -> None:
    """Complete the best candidates of ``queries[first:stop]``.

    Lengths are visited from the query's own outwards, until their difference alone exceeds the
    bound: the distance of two terms is never less than the difference of their lengths, so nothing
    nearer is missed. The result depends neither on the order of candidates nor on threads, since
    (distance, tie, text) orders candidates strictly.

    Args:
        task: the search; a run writes only the slots of these queries.
        first: the first query to serve.
        stop: the one after the last.
        work: of this thread; masks are all zero before and after.
    """
    pool = task.pool
    max_length = len(pool.length_starts) - 2
    for slot in range(first, stop):
        query = pool.places[task.queries[slot]]
        length = pool.starts[query + 1] - pool.starts[query]
        n_words = set_masks(pool, query, work.masks)
        for difference in range(max(length, max_length - length) + 1):
            if difference > bound_of(task.best, slot):
                break
            for side in range(2 if difference else 1):
                other = length - difference if side == 0 else length + difference
                if 0 <= other <= max_length:
                    search_length(task, query, other, slot, work)
        clear_masks(pool, query, work.masks, n_words)
