"""Levenshtein negatives: the second term is the nearest allowed one."""

from __future__ import annotations

from medsim.builds.negatives import SAMPLERS, NegativeSampler, PositiveSet, Sampling, TermIndex
from medsim.builds.negatives.candidates import (
    CandidateSource,
    PartOfPool,
    candidate_source,
    pool_of,
    search_plan,
    served_negatives,
)


def levenshtein_negatives(index: TermIndex, sampling: Sampling) -> NegativeSampler:
    """Return a sampler of the nearest terms by Levenshtein distance, ignoring case.

    It is the strategy "minimal Levenshtein distance" of Schulz and Juric 2020, section 3.2, with a
    serving order and ties that do not depend on the order of rows. See
    ``medsim.builds.negatives.SamplerFactory``.
    """
    sets, results = sampling.sets, sampling.results
    requests, wider = search_plan(index, sets)
    pools: dict[str, CandidateSource] = {}
    names = (pool_of(index, positives)[0] for positives in sets)
    pool_names = [wider.get(name, name) for name in names]
    following = {done.name: pool for done, pool in zip(sets, pool_names[1:], strict=False)}

    def source_of(positives: PositiveSet) -> CandidateSource | PartOfPool:
        name, pool_ids = pool_of(index, positives)
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
                from_outside=positives.language is not None,
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

    return served_negatives(source_of, lambda done: release(keep=following.get(done, "")))


SAMPLERS.register("levenshtein", levenshtein_negatives)
