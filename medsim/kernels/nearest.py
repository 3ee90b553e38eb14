"""The k nearest terms by Levenshtein distance, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from medsim.kernels.intrinsics import popcount

if TYPE_CHECKING:
    from medsim.kernels.types import Codes, Hashes, Ids, Starts

SIGNATURE_WORDS = 4
"""How many occurrences of a character a signature can tell apart."""

_NEIGHBOURS = 8  # terms on either side in order of text, tried first to bound the distance
_WORD = 64
_FAR = np.int64(1) << np.int64(40)  # beyond any distance
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


class Best(NamedTuple):
    """The best candidates of each query so far, nearest first.

    Attributes:
        starts: int64[n_queries + 1], the slots of each query.
        counts: int32[n_queries], how many of them are filled.
        ids: int32[n_slots], rows of terms in order of text.
        distances: int32[n_slots].
        ties: uint64[n_slots], the hashes that order equal distances.
    """

    starts: Starts
    counts: Ids
    ids: Ids
    distances: Ids
    ties: Hashes


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
def _set_masks(pool: Pool, query: int, masks: Hashes, n_words: int) -> None:
    """Set the bits of the query's characters in ``masks``."""
    begin = pool.starts[query]
    for at in range(begin, pool.starts[query + 1]):
        row = at - begin
        word = np.int64(pool.codes[at]) * n_words + row // _WORD
        masks[word] |= _ONE << np.uint64(row % _WORD)


@njit(cache=True, nogil=True)
def _clear_masks(pool: Pool, query: int, masks: Hashes, n_words: int) -> None:
    """Undo ``_set_masks``."""
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
def _tie(seed: np.uint64, query: np.uint64, candidate: np.uint64) -> np.uint64:
    """Return the hash by which candidates of equal distance are ordered.

    SplitMix64's finaliser over the three, as in ``hashing``; it stands here again because a cached
    kernel does not notice changes in another file.
    """
    word = seed
    for part in (query, candidate):
        word = (word ^ part) + np.uint64(0x9E3779B97F4A7C15)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word = word ^ (word >> np.uint64(31))
    return word


@njit(cache=True, nogil=True)
def _enter(best: Best, slot: int, found: int, distance: np.int64, tie: np.uint64) -> None:
    """Put a candidate among the best of a query if it belongs there and is not there yet.

    Order is by distance, then tie, then text.
    """
    begin, end = best.starts[slot], best.starts[slot + 1]
    filled = begin + best.counts[slot]
    at = filled
    while at > begin:
        d, t, c = best.distances[at - 1], best.ties[at - 1], best.ids[at - 1]
        if d < distance or (d == distance and (t < tie or (t == tie and c < found))):
            break
        if c == found:
            return
        at -= 1
    if at == end:
        return
    for to in range(min(filled, end - 1), at, -1):
        best.distances[to] = best.distances[to - 1]
        best.ties[to] = best.ties[to - 1]
        best.ids[to] = best.ids[to - 1]
    best.distances[at], best.ties[at], best.ids[at] = distance, tie, found
    if filled < end:
        best.counts[slot] += 1


@njit(cache=True, nogil=True)
def _bound(best: Best, slot: int) -> np.int64:
    """Return the largest distance that may still enter."""
    size = best.starts[slot + 1] - best.starts[slot]
    if size == 0:
        return np.int64(-1)
    if best.counts[slot] < size:
        return _FAR
    return np.int64(best.distances[best.starts[slot + 1] - 1])


@njit(cache=True, nogil=True)
def _consider(
    pool: Pool, seed: np.uint64, query: int, candidate: int, slot: int, best: Best, work: Workspace
) -> None:
    """Let one candidate enter the best of a query if it is near enough and not linked to it."""
    bound = _bound(best, slot)
    length = pool.starts[query + 1] - pool.starts[query]
    distance = _bounded_distance(pool, length, candidate, bound, work)
    if distance > bound or distance < 1:
        return
    if pool.components[query] == pool.components[candidate]:
        return
    tie = _tie(seed, pool.hashes[query], pool.hashes[candidate])
    _enter(best, slot, pool.ids[candidate], distance, tie)


@njit(cache=True, nogil=True)
def _search_length(
    pool: Pool, seed: np.uint64, query: int, length: int, slot: int, best: Best, work: Workspace
) -> None:
    """Consider every term of one length that the signatures do not rule out."""
    bound = _bound(best, slot)
    for candidate in range(pool.length_starts[length], pool.length_starts[length + 1]):
        if _least_distance(pool.signatures, query, candidate) <= bound:
            _consider(pool, seed, query, candidate, slot, best, work)
            bound = _bound(best, slot)


@njit(cache=True, nogil=True)
def search(
    pool: Pool, seed: np.uint64, queries: Ids, first: int, stop: int, best: Best, work: Workspace
) -> None:
    """Find the best candidates of ``queries[first:stop]``; a run writes only their own slots.

    Terms near in order of text come first and bound the distance. Then lengths are visited from
    the query's own outwards, until their difference alone exceeds the bound: the distance of two
    terms is never less than the difference of their lengths, so nothing nearer is missed. The
    result depends neither on the order of candidates nor on threads, since (distance, tie, text)
    orders candidates strictly.

    Args:
        pool: the terms.
        seed: of the ties.
        queries: int32[n_queries], rows of terms in order of text.
        first: the first query to serve.
        stop: the one after the last.
        best: filled for these queries; their counts are 0 before.
        work: of this thread; masks are all zero before and after.
    """
    max_length = len(pool.length_starts) - 2
    for slot in range(first, stop):
        row = queries[slot]
        query = pool.places[row]
        length = pool.starts[query + 1] - pool.starts[query]
        n_words = max(1, (length + _WORD - 1) // _WORD)
        _set_masks(pool, query, work.masks, n_words)
        for near in range(max(0, row - _NEIGHBOURS), min(len(pool.ids), row + _NEIGHBOURS + 1)):
            _consider(pool, seed, query, pool.places[near], slot, best, work)
        for difference in range(max(length, max_length - length) + 1):
            if difference > _bound(best, slot):
                break
            for side in range(2 if difference else 1):
                other = length - difference if side == 0 else length + difference
                if 0 <= other <= max_length:
                    _search_length(pool, seed, query, other, slot, best, work)
        _clear_masks(pool, query, work.masks, n_words)
