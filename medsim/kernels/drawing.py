"""Draws terms and pairs of mentions by hashes of their content."""

from __future__ import annotations

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.packing import mixed, tie_of
from medsim.kernels.types import Counts, Flags, Hashes, Ids, Places, Ranks, Rows


@kernel
def draw_distinct(firsts: Ids, seeds: Hashes, components: Ids, n_wanted: int) -> Ranks:
    """Return distinct terms for each pair, drawn uniformly from other components.

    Terms are drawn from the whole pool until one is allowed, so at least ``n_wanted`` terms must be
    outside the component of the first term. If most terms are allowed, a pair takes O(n_wanted)
    expected draws, each compared with the terms drawn before.

    Args:
        firsts: int32[n_pairs], first terms.
        seeds: uint64[n_pairs], hashes of each pair's content.
        components: int32[n_terms], equal for linked terms.
        n_wanted: number of terms to draw for each pair.

    Returns:
        int32[n_pairs, n_wanted], in order of drawing.
    """
    seconds = np.empty((len(firsts), n_wanted), np.int32)
    n_terms = np.uint64(len(components))
    for pair in range(len(firsts)):
        component, draw, filled = components[firsts[pair]], seeds[pair], 0
        while filled < n_wanted:
            draw = mixed(draw)
            second = np.int32(draw % n_terms)
            if components[second] != component and second not in seconds[pair, :filled]:
                seconds[pair, filled] = second
                filled += 1
    return seconds


@kernel
def pairs_between(
    blocks: Places, hashes: Hashes, seed: np.uint64, span: Hashes, pairs: Places, draws: Hashes
) -> int:
    """Count the pairs of mentions with draws in a span, and write as many of them as fit.

    A block is all pairs between two runs of mentions, or all pairs within one run if both are the
    same: int64[n_blocks, 4], begin and end of the first run and of the second. ``hashes`` are
    hashes of the mentions' content; ``span`` is the lowest and the highest draw. The block and both
    mentions, the smaller row first, are written to ``pairs``, int64[n_room, 3], and the draws to
    ``draws``. Returns the number of all such pairs, even if there is room for fewer. Time O(pairs
    of all blocks).
    """
    n_pairs = 0
    for block in range(len(blocks)):
        begin, end, begin2, end2 = blocks[block]
        for mention in range(begin, end):
            for other in range(mention + 1 if begin == begin2 else begin2, end2):
                first, second = hashes[mention], hashes[other]
                draw = tie_of(seed, min(first, second), max(first, second))
                if span[0] <= draw <= span[1]:
                    if n_pairs < len(draws):
                        pairs[n_pairs] = block, min(mention, other), max(mention, other)
                        draws[n_pairs] = draw
                    n_pairs += 1
    return n_pairs


@kernel
def take_in_order(
    pairs: Places, forms: Ids, uses: Counts, max_uses: int, used: Flags, n_wanted: int
) -> Rows:
    """Choose up to ``n_wanted`` allowed pairs in order, and return their rows.

    A pair of mentions or words, int64[n_pairs, 2], is allowed if both were chosen fewer than
    ``max_uses`` times and its pair of terms is not used yet. ``forms`` are the pairs of terms, -1
    for those that may be used again. Updates ``uses``, the counts of mentions or words, and
    ``used``, the flags of term pairs.
    """
    chosen = np.empty(min(n_wanted, len(pairs)), np.int64)
    n_chosen = 0
    for row in range(len(pairs)):
        if n_chosen == n_wanted:
            break
        mention, other = pairs[row]
        if uses[mention] >= max_uses or uses[other] >= max_uses:
            continue
        if forms[row] >= 0:
            if used[forms[row]]:
                continue
            used[forms[row]] = True
        uses[mention] += 1
        uses[other] += 1
        chosen[n_chosen] = row
        n_chosen += 1
    return chosen[:n_chosen]
