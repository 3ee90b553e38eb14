"""Random negatives: the second term is drawn uniformly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.builds.negatives import STRATEGIES
from medsim.core.terms import pack
from medsim.kernels.packing import term_hashes
from medsim.kernels.serving import draw_random, used_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.negatives import NegativeSampler, PositiveSet, SearchResult, TermIndex
    from medsim.core.progress import Stage
    from medsim.kernels.types import Ids, Ranks, Rows

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing


def random_negatives(
    index: TermIndex,
    *,
    seed: int,
    threads: int,
    known: Sequence[SearchResult] = (),
    sets: Sequence[PositiveSet] = (),
) -> NegativeSampler:
    """Return the sampler of terms of the pool, drawn uniformly among those that are allowed.

    Schulz and Juric 2020, section 3.2, strategy "random". See ``medsim.builds.negatives.Strategy``.
    Where a set draws from its own terms it draws an occurrence, a term of another pair, as the
    paper does; of a terminology each term is as likely as any other.
    """
    del threads, known, sets

    def drawn(positives: PositiveSet, used: Ranks, stage: Stage) -> tuple[Rows, Ids]:
        n_pairs = len(positives.term1_ids)
        stage.total(n_pairs)
        own = np.concatenate([positives.term1_ids, positives.term2_ids])
        name = pack([f"{seed} {positives.name}"])
        salt = term_hashes(name.codes, name.starts)[0]
        first, second = index.hashes[own[:n_pairs]], index.hashes[own[n_pairs:]]
        seconds = draw_random(
            own[:n_pairs],
            salt ^ (first * _SPREAD) ^ second,
            own if index.pool is None else index.pool,
            index.components,
            used_pairs(used[0], used[1], n_pairs),
        )
        rows = np.flatnonzero(seconds >= 0)
        stage.advance(n_pairs)
        return rows, seconds[rows]

    return drawn


STRATEGIES.register("random", random_negatives)
