"""Levenshtein negatives: the second term is the nearest allowed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.builds.negatives import STRATEGIES
from medsim.builds.negatives.candidates import (
    TERMINOLOGY,
    PartOfPool,
    candidate_source,
    search_plan,
    served_negatives,
)

if TYPE_CHECKING:
    from medsim.builds.negatives import NegativeSampler, Sampling, TermIndex
    from medsim.builds.negatives.candidates import CandidateSource
    from medsim.kernels.types import Ids


def levenshtein_negatives(index: TermIndex, sampling: Sampling) -> NegativeSampler:
    """Return a sampler of the nearest terms by Levenshtein distance, ignoring case.

    It is the strategy "minimal Levenshtein distance" of Schulz and Juric 2020, section 3.2, with a
    serving order and ties that do not depend on the order of rows. See
    ``medsim.builds.negatives.Strategy``.
    """
    sets, results = sampling.sets, sampling.results
    requests, wider = search_plan(index, sets)
    pools: dict[str, CandidateSource] = {}
    shared = TERMINOLOGY if index.pool is not None else None
    pool_names = [shared or wider.get(positives.name, positives.name) for positives in sets]
    following = {done.name: pool for done, pool in zip(sets, pool_names[1:], strict=False)}

    def source_of(name: str, pool_ids: Ids) -> CandidateSource | PartOfPool:
        is_known = any(result.pool == name for result in results)
        whole = name if is_known else wider.get(name, name)
        release(keep=whole)
        if whole not in pools:
            whole_ids = pool_ids if whole == name else requests[whole].pool_ids
            pools[whole] = candidate_source(
                index,
                whole,
                whole_ids,
                seed=sampling.seed,
                threads=sampling.threads,
                ahead=requests.get(whole),
            )
            for result in results:
                if result.pool == whole:
                    pools[whole].add(result)
        return pools[whole] if whole == name else PartOfPool(name, pool_ids, pools[whole])

    def release(keep: str) -> None:
        """Free the memory of all prepared pools except one."""
        for name, source in pools.items():
            if name != keep:
                source.prepared_search = None

    return served_negatives(index, source_of, lambda done: release(keep=following.get(done, "")))


STRATEGIES.register("levenshtein", levenshtein_negatives)
