"""Draws of terms and of pairs of mentions, by hashes of content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.packing import mixed, tie_of

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, Hashes, Ids, Places, Ranks, Rows


@kernel
def pair_seeds(seed: np.uint64, hashes: Hashes, firsts: Ids, seconds: Ids) -> Hashes:
    """Return a hash of the seed and of both terms of each pair: uint64[n_pairs]."""
    seeds = np.empty(len(firsts), np.uint64)
    for pair in range(len(firsts)):
        seeds[pair] = tie_of(seed, hashes[firsts[pair]], hashes[seconds[pair]])
    return seeds


@kernel
def draw_distinct(firsts: Ids, seeds: Hashes, components: Ids, n_wanted: int) -> Ranks:
    """Return distinct terms for each pair, drawn uniformly among those of other components.

    A term is drawn from all until one is allowed, so at least ``n_wanted`` terms must be of other
    components than the first. Expected time is O(n_wanted) draws a pair where most terms are
    allowed, each compared with those drawn before.

    Args:
        firsts: int32[n_pairs], first terms.
        seeds: uint64[n_pairs], hashes of each pair's content.
        components: int32[n_terms], equal for linked terms.
        n_wanted: how many terms each pair wants.

    Returns:
        int32[n_pairs, n_wanted], in the order in which they were drawn.
    """
    drawn = np.empty((len(firsts), n_wanted), np.int32)
    n_terms = np.uint64(len(components))
    for pair in range(len(firsts)):
        own, draw, filled = components[firsts[pair]], seeds[pair], 0
        while filled < n_wanted:
            draw = mixed(draw)
            second = np.int32(draw % n_terms)
            if components[second] == own:
                continue
            is_new = True
            for at in range(filled):
                if drawn[pair, at] == second:
                    is_new = False
                    break
            if is_new:
                drawn[pair, filled] = second
                filled += 1
    return drawn


@kernel
def pairs_between(
    blocks: Places, hashes: Hashes, seed: np.uint64, span: Hashes, pairs: Places, draws: Hashes
) -> int:
    """Return the number of pairs of mentions with draws in a span; write those there is room for.

    A block is all pairs of two runs of mentions, or, where the runs are one, all pairs in it:
    int64[n_blocks, 4], where the first run begins and ends, and the second. ``hashes`` are of the
    mentions' content, and ``span`` is the lowest draw and the highest. To ``pairs``,
    int64[n_room, 3], are written the block and the two mentions, a smaller row first, and to
    ``draws`` their draws. The number counts all, also where there is less room. Time O(pairs of
    all blocks).
    """
    n_found = 0
    for block in range(len(blocks)):
        begin, end, begin2, end2 = blocks[block]
        for one in range(begin, end):
            for other in range(one + 1 if begin == begin2 else begin2, end2):
                first, second = hashes[one], hashes[other]
                draw = tie_of(seed, min(first, second), max(first, second))
                if span[0] <= draw <= span[1]:
                    if n_found < len(draws):
                        pairs[n_found] = block, min(one, other), max(one, other)
                        draws[n_found] = draw
                    n_found += 1
    return n_found


@kernel
def take_in_order(
    pairs: Places, forms: Ids, uses: Counts, most_uses: int, used: Flags, wanted: int
) -> Rows:
    """Return the rows that are taken, one after the other, until there are as many as wanted.

    A pair of mentions, int64[n_pairs, 2], is taken if both were taken fewer than ``most_uses``
    times, and its pair of terms is not used. ``forms`` are the pairs of terms, -1 where one may be
    used again. ``uses`` of mentions and ``used`` pairs of terms are written.
    """
    taken = np.empty(min(wanted, len(pairs)), np.int64)
    n_taken = 0
    for row in range(len(pairs)):
        if n_taken == wanted:
            break
        one, other = pairs[row]
        if uses[one] >= most_uses or uses[other] >= most_uses:
            continue
        if forms[row] >= 0:
            if used[forms[row]]:
                continue
            used[forms[row]] = True
        uses[one] += 1
        uses[other] += 1
        taken[n_taken] = row
        n_taken += 1
    return taken[:n_taken]
