"""Which pools are searched for which sets: a pool that another contains is not searched itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from medsim.builds.negatives import SearchResult
from medsim.builds.negatives.candidates import (
    SLACK,
    SearchRequest,
    first_terms,
    pool_of,
)
from medsim.kernels.packing import starts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from medsim.builds.negatives import PositiveSet, TermIndex
    from medsim.builds.negatives.candidates import CandidateSource
    from medsim.core.progress import Stage
    from medsim.kernels.types import Flags, Ids

_MOST_TIMES = 2  # as large as a pool may another be that is searched in its place


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """The searches that give some sets their candidates.

    Attributes:
        requests: by the name of their pool.
        wider: for a set whose pool is not searched itself, the name of the pool that contains it.
    """

    requests: Mapping[str, SearchRequest]
    wider: Mapping[str, str] = field(default_factory=dict)


def search_plan(index: TermIndex, sets: Sequence[PositiveSet]) -> SearchPlan:
    """Return the first searches of some sets.

    Where all sets share a pool, a first term that several have is searched for once, with the
    largest number that any of them asks for. Where the pool of a set contains that of another and
    is not much larger, it is searched for the first terms of both.
    """
    if index.pool is not None:
        whole = [_request(index, sets[0], sets)] if sets else []
        return SearchPlan(requests={one.pool: one for one in whole})
    pools = {one.name: pool_of(index, one)[1] for one in sets}
    parts: dict[str, list[PositiveSet]] = {}
    wider: dict[str, str] = {}
    by_size = sorted(sets, key=lambda one: len(pools[one.name]))
    for one in by_size[::-1]:
        pool = pools[one.name]
        near = (name for name in reversed(parts) if len(pools[name]) <= _MOST_TIMES * len(pool))
        found = next((name for name in near if _contains(pools[name], pool)), None)
        if found is None:
            parts[one.name] = []
        else:
            parts[found].append(one)
            wider[one.name] = found
    requests = {
        one.name: _request(index, one, [one, *parts[one.name]]) for one in sets if one.name in parts
    }
    return SearchPlan(requests=requests, wider=wider)


def _contains(pool: Ids, part: Ids) -> bool:
    return bool(np.isin(part, pool, assume_unique=True).all())


def _request(index: TermIndex, of_pool: PositiveSet, sets: Iterable[PositiveSet]) -> SearchRequest:
    """Return the first search for some sets in the pool of one."""
    pool, pool_ids = pool_of(index, of_pool)
    counted = []
    for one in sets:
        firsts, counts = first_terms(one)
        own = pool_of(index, one)[1]
        is_part = len(own) < len(pool_ids)
        asked = asked_of(pool_ids, own, counts) if is_part else counts + np.int32(SLACK)
        counted.append((firsts, asked))
    term1_ids = np.unique(np.concatenate([firsts for firsts, _ in counted]))
    sizes = np.zeros(len(term1_ids), np.int32)
    for firsts, asked in counted:
        at = np.searchsorted(term1_ids, firsts)
        sizes[at] = np.maximum(sizes[at], asked)
    return SearchRequest(pool=pool, pool_ids=pool_ids, term1_ids=term1_ids, sizes=sizes)


def asked_of(pool: Ids, part: Ids, sizes: Ids) -> Ids:
    """Return how many candidates of a pool hold some of a part of it, on average."""
    asked: Ids = np.ceil(sizes * (len(pool) / max(1, len(part)))).astype(np.int32)
    return asked


class PartOfPool:
    """The candidates of a pool that another contains: those of the other that are in it.

    What is nearest in a pool is nearest in each of its parts that has it, so lists of the whole,
    without the terms that are not in the part, are lists of the part.
    """

    def __init__(
        self, name: str, pool_ids: Ids, wider: SearchRequest, source: CandidateSource
    ) -> None:
        self._name = name
        self._pool_ids = pool_ids
        self._wider_ids = wider.pool_ids
        self._source = source

    def knows(self, term_ids: Ids) -> Flags:
        """Return which terms are of the pool: bool[n_terms]."""
        return np.isin(term_ids, self._pool_ids)

    def lists(self, term1_ids: Ids, sizes: Ids, stage: Stage) -> SearchResult:
        """Return at least as many candidates as each asks for, if it has them.

        As of ``CandidateSource``; lists of the whole that hold too few are searched again, longer.
        """
        is_own = np.zeros(int(self._wider_ids.max(initial=-1)) + 1, np.bool_)
        is_own[self._pool_ids] = True
        asked = asked_of(self._wider_ids, self._pool_ids, sizes)
        while True:
            found = self._source.lists(term1_ids, asked, stage)
            own = is_own[found.term2_ids]
            before = starts_of(own)
            counts = np.diff(before[found.starts]).astype(np.int32)
            complete = np.diff(found.starts) < found.sizes
            short = (counts < sizes) & ~complete
            if not short.any():
                break
            asked[short] = 2 * found.sizes[short]
        return SearchResult(
            pool=self._name,
            term1_ids=term1_ids,
            sizes=np.where(complete, np.maximum(sizes, counts + 1), counts).astype(np.int32),
            starts=starts_of(counts),
            term2_ids=found.term2_ids[own],
        )
