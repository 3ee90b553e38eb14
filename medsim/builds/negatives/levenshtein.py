"""Levenshtein negatives: the second term is the nearest one that is still allowed."""

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
    from collections.abc import Mapping, Sequence

    from medsim.builds.negatives import NegativeSampler, PositiveSet, SearchResult, TermIndex
    from medsim.builds.negatives.candidates import CandidateSource
    from medsim.kernels.types import Ids


def levenshtein_negatives(
    index: TermIndex,
    *,
    seed: int,
    threads: int,
    known: Sequence[SearchResult] = (),
    sets: Sequence[PositiveSet] = (),
) -> NegativeSampler:
    """Return the sampler of the nearest terms by Levenshtein distance, ignoring case.

    Schulz and Juric 2020, section 3.2, strategy "minimal Levenshtein distance", with the order of
    serving and the ties made independent of the order of rows. See
    ``medsim.builds.negatives.Strategy``.
    """
    plan = search_plan(index, sets)
    pools: dict[str, CandidateSource] = {}

    def whole(name: str, pool_ids: Ids) -> CandidateSource:
        _release(pools, but=name)
        if name not in pools:
            ahead = plan.requests.get(name)
            pools[name] = candidate_source(
                index, name, pool_ids, seed=seed, threads=threads, ahead=ahead
            )
            for found in known:
                if found.pool == name:
                    pools[name].add(found)
        return pools[name]

    def source_of(name: str, pool_ids: Ids) -> CandidateSource | PartOfPool:
        wider = plan.wider.get(name)
        if wider is None or any(found.pool == name for found in known):
            return whole(name, pool_ids)
        return PartOfPool(name, pool_ids, whole(wider, plan.requests[wider].pool_ids))

    shared = TERMINOLOGY if index.pool is not None else None
    pool_names = [shared or plan.wider.get(one.name, one.name) for one in sets]
    places = {one.name: place for place, one in enumerate(sets)}

    def served(name: str) -> None:
        if name not in places:
            return
        later = pool_names[places[name] + 1 :]
        _release(pools, but=later[0] if later else "")  # rows need no pool
        for done in pools.keys() - set(later):
            del pools[done]

    return served_negatives(index, source_of, served)


def _release(pools: Mapping[str, CandidateSource], but: str) -> None:
    """Give back the memory of pools laid out, but of one."""
    for name, source in pools.items():
        if name != but:
            source.release()


STRATEGIES.register("levenshtein", levenshtein_negatives)
