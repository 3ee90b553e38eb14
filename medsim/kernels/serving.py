"""Assigns negatives to first terms in order, so that no pair is used twice."""

from __future__ import annotations

import numpy as np

from medsim.kernels.compiler import array_kernel, inner_kernel, kernel
from medsim.kernels.packing import mixed
from medsim.kernels.types import Hashes, Ids, Starts

_FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_DRAWS = 128  # uniform draws before the allowed terms are counted out


@inner_kernel
def _pair_key(left: int, right: int) -> np.uint64:
    """Return one number for a pair of terms in either direction."""
    low, high = (left, right) if left < right else (right, left)
    return (np.uint64(low) << np.uint64(32)) | np.uint64(high)


@kernel
def _place(used: Hashes, key: np.uint64) -> np.int64:
    """Return the position of a key in a hash set with linear probing, or its free position."""
    mask = np.uint64(len(used) - 1)
    at = mixed(key) & mask
    while used[np.int64(at)] not in (_FREE, key):
        at = (at + _ONE) & mask
    return np.int64(at)


@kernel
def used_pairs(left: Ids, right: Ids, n_more: int) -> Hashes:
    """Return a hash set of pairs of term ids, both int32[n_pairs]: uint64[size].

    It is at most half full when ``n_more`` have been added.
    """
    size = 16
    while size < 2 * (len(left) + n_more):
        size *= 2
    used = np.full(size, _FREE, np.uint64)
    for pair in range(len(left)):
        key = _pair_key(left[pair], right[pair])
        used[_place(used, key)] = key
    return used


@kernel
def serve_nearest(
    queries: Ids, found_starts: Starts, found_ids: Ids, used: Hashes, starts: Starts
) -> tuple[Ids, Ids]:
    """Give each query its first candidates whose pairs are not used yet.

    Queries are served in order of text, and their candidates are tried nearest first, so the result
    is that of the greedy rule for every query with enough candidates. Adds the pairs to ``used``.

    Args:
        queries: int32[n_queries], in order of text.
        found_starts: int64[n_queries + 1], the candidates of each.
        found_ids: int32[n_candidates], nearest first.
        used: hash set of ``used_pairs``.
        starts: int64[n_queries + 1], the slots of each query, one for each requested negative.

    Returns:
        int32[n_queries], how many slots of each query are filled, and int32[n_slots], the second
        terms.
    """
    counts, ids = np.zeros(len(queries), np.int32), np.empty(starts[-1], np.int32)
    for query in range(len(queries)):
        begin, end = starts[query], starts[query + 1]
        at = begin
        for slot in range(found_starts[query], found_starts[query + 1]):
            if at == end:
                break
            key = _pair_key(queries[query], found_ids[slot])
            place = _place(used, key)
            if used[place] == _FREE:
                used[place] = key
                ids[at] = found_ids[slot]
                at += 1
        counts[query] = at - begin
    return counts, ids


@inner_kernel
def _allowed(first: int, second: int, components: Ids, used: Hashes) -> bool:
    """Return whether a term may be the second of a negative."""
    if components[first] == components[second]:
        return False
    return used[_place(used, _pair_key(first, second))] == _FREE


@array_kernel
def _counted_out(
    first: int, draw: np.uint64, drawn_from: Ids, components: Ids, used: Hashes
) -> int:
    """Return a term drawn uniformly from the allowed occurrences, -1 if there are none."""
    allowed, n_allowed = np.empty_like(drawn_from), 0
    for at in range(len(drawn_from)):
        if _allowed(first, drawn_from[at], components, used):
            allowed[n_allowed] = drawn_from[at]
            n_allowed += 1
    return allowed[np.int64(draw % np.uint64(n_allowed))] if n_allowed else -1


@kernel
def draw_random(firsts: Ids, seeds: Hashes, drawn_from: Ids, components: Ids, used: Hashes) -> Ids:
    """Return a random second term for each pair.

    Terms are drawn from all occurrences until one is allowed. After many rejections the allowed
    occurrences are counted and one of them is drawn, so the draw is uniform and always ends.

    First terms are in order of text; ``seeds`` are hashes of the seed and of each pair's content,
    and ``drawn_from`` are the terms of all pairs of the set. The pairs are added to the used pairs.
    Returns int32[n_pairs], -1 where no term is allowed.
    """
    seconds = np.full(len(firsts), -1, np.int32)
    n_linked = np.zeros(len(components), np.int64)
    for at in range(len(drawn_from)):
        n_linked[components[drawn_from[at]]] += 1
    for pair in range(len(firsts)):
        first, draw = firsts[pair], seeds[pair]
        if n_linked[components[first]] == len(drawn_from):
            continue
        second = -1
        for _ in range(_DRAWS):
            draw = mixed(draw)
            candidate = drawn_from[np.int64(draw % np.uint64(len(drawn_from)))]
            if _allowed(first, candidate, components, used):
                second = candidate
                break
        if second < 0:
            second = _counted_out(first, mixed(draw), drawn_from, components, used)
        if second >= 0:
            key = _pair_key(first, second)
            used[_place(used, key)] = key
            seconds[pair] = second
    return seconds
