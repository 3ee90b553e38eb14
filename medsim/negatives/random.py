"""Random negatives: the second term is a uniformly drawn term of another pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.hashing import term_hashes
from medsim.kernels.serving import draw_random, used_pairs
from medsim.negatives import STRATEGIES, Negatives, PositiveSet, TermSpace, UsedPairs
from medsim.terms import pack

if TYPE_CHECKING:
    from medsim.kernels.types import Hashes
    from medsim.progress import Stage

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing


def random_negatives(
    space: TermSpace,
    positives: PositiveSet,
    used: UsedPairs,
    *,
    seed: int,
    threads: int,
    stage: Stage,
) -> Negatives:
    """Return a negative for each positive that any term is allowed for.

    Schulz and Juric 2020, section 3.2, strategy "random". See ``medsim.negatives.Strategy``.
    """
    del threads
    stage.total(len(positives.term1_ids))
    seconds = draw_random(
        positives.term1_ids,
        _pair_seeds(space, positives, seed),
        np.concatenate([positives.term1_ids, positives.term2_ids]),
        space.components,
        used_pairs(used.term1_ids, used.term2_ids, len(positives.term1_ids)),
    )
    rows = np.flatnonzero(seconds >= 0).astype(np.int32)
    stage.advance(len(positives.term1_ids))
    return Negatives(positive_rows=rows, term2_ids=seconds[rows])


def _pair_seeds(space: TermSpace, positives: PositiveSet, seed: int) -> Hashes:
    """Return a hash of (seed, set, first term, second term) for each positive."""
    name = pack([f"{seed} {positives.name}"])
    salt = term_hashes(name.codes, name.starts)[0]
    first, second = space.hashes[positives.term1_ids], space.hashes[positives.term2_ids]
    return np.asarray(salt ^ (first * _SPREAD) ^ second, np.uint64)


STRATEGIES.register("random", random_negatives)
