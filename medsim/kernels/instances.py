"""Pairs of mentions in the order of their draws, and which of them are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.hashing import tie_of

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, Hashes, Ids, Places, Rows


@kernel
def draw_of(seed: np.uint64, one: np.uint64, other: np.uint64) -> np.uint64:
    """Return the draw of a pair of mentions, given by their hashes, whichever comes first."""
    return tie_of(seed, min(one, other), max(one, other))


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
                draw = draw_of(seed, hashes[one], hashes[other])
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
