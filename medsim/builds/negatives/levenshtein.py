"""Levenshtein negatives: the second term is the nearest one that is still allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.builds.negatives import STRATEGIES
from medsim.builds.negatives.candidates import candidate_source
from medsim.builds.negatives.served import ServedNegatives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.negatives import NegativeSampler, SearchResult, TermIndex
    from medsim.builds.negatives.candidates import CandidateSource
    from medsim.kernels.types import Ids


def levenshtein_negatives(
    index: TermIndex, *, seed: int, threads: int, known: Sequence[SearchResult] = ()
) -> NegativeSampler:
    """Return the sampler of the nearest terms by Levenshtein distance, ignoring case.

    Schulz and Juric 2020, section 3.2, strategy "minimal Levenshtein distance", with the order of
    serving and the ties made independent of the order of rows. See
    ``medsim.builds.negatives.Strategy``.
    """

    def source_of(name: str, pool_ids: Ids) -> CandidateSource:
        source = candidate_source(index, name, pool_ids, seed=seed, threads=threads)
        for found in known:
            if found.pool == name:
                source.add(found)
        return source

    return ServedNegatives(index, source_of)


STRATEGIES.register("levenshtein", levenshtein_negatives)
