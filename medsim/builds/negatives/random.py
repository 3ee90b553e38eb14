"""Random negatives: the second term is drawn uniformly at random."""

from __future__ import annotations

import numpy as np
import polars as pl

from medsim.builds.negatives import SAMPLERS, NegativeSampler, PositiveSet, Sampling, TermIndex
from medsim.builds.negatives.candidates import pool_of
from medsim.core.progress import Stage
from medsim.core.terms import content_hashes
from medsim.kernels.serving import draw_random, used_pairs
from medsim.kernels.types import Ids, Ranks, Rows

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so multiplication is a bijection


def random_negatives(index: TermIndex, sampling: Sampling) -> NegativeSampler:
    """Return a sampler that draws uniformly from the allowed terms of the pool.

    Schulz and Juric 2020, section 3.2, strategy "random"; see
    ``medsim.builds.negatives.SamplerFactory``. A set that draws from its own terms draws an
    occurrence, the term of a random pair, as in the paper; in the pool of the terminology, all
    terms are equally likely.
    """

    def sample(positives: PositiveSet, used: Ranks, stage: Stage) -> tuple[Rows, Ids]:
        n_pairs = len(positives.term1_ids)
        stage.total(n_pairs)
        set_terms = np.concatenate([positives.term1_ids, positives.term2_ids])
        salt = content_hashes(pl.Series([f"{sampling.seed} {positives.name}"]))[0]
        first, second = index.hashes[set_terms[:n_pairs]], index.hashes[set_terms[n_pairs:]]
        own = set_terms if positives.language is None else positives.term2_ids
        seconds = draw_random(
            set_terms[:n_pairs],
            salt ^ (first * _SPREAD) ^ second,
            own if index.pool is None else pool_of(index, positives)[1],
            index.groups,
            used_pairs(used[0], used[1], n_pairs),
        )
        rows = np.flatnonzero(seconds >= 0)
        stage.advance(n_pairs)
        return rows, seconds[rows]

    return sample


SAMPLERS.register("random", random_negatives)
