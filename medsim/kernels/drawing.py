"""Draws distinct terms at random, by hashes of content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.packing import mixed, tie_of

if TYPE_CHECKING:
    from medsim.kernels.types import Hashes, Ids, Ranks


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
