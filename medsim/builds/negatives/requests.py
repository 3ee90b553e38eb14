"""The first searches for nearest negatives, before any is served, and their shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.negatives import PositiveSet, TermIndex
    from medsim.kernels.types import Ids

TERMINOLOGY = "terminology"
"""The name of the pool that all sets share."""

SLACK = 1
"""Candidates beyond those wanted, for pairs that earlier first terms took."""

_BLOCK = 64  # first terms that stay together, since neighbours in text are searched together
_BLOCKS_A_SHARE = 16  # at least, so that shares are balanced


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """First terms whose nearest candidates in one pool are asked for.

    Attributes:
        pool: the name of the pool: that of its set, or ``TERMINOLOGY``.
        pool_ids: int32[n_pool], its terms in order of text.
        term1_ids: int32[n_firsts], first terms in order of text, all of them in the pool.
        sizes: int32[n_firsts], how many candidates each asks for.
    """

    pool: str
    pool_ids: Ids
    term1_ids: Ids
    sizes: Ids


def pool_of(index: TermIndex, positives: PositiveSet) -> tuple[str, Ids]:
    """Return the name and the terms, in order of text, of the pool that a set draws from."""
    if index.pool is not None:
        return TERMINOLOGY, index.pool
    own = np.union1d(positives.term1_ids, positives.term2_ids)
    return positives.name, own.astype(np.int32)


def first_terms(positives: PositiveSet) -> tuple[Ids, Ids]:
    """Return the first terms of a set in order of text, and how many positives each has."""
    firsts, counts = np.unique(positives.term1_ids, return_counts=True)
    return firsts.astype(np.int32), counts.astype(np.int32)


def search_requests(index: TermIndex, sets: Sequence[PositiveSet]) -> list[SearchRequest]:
    """Return the first searches of some sets, one for each pool.

    Where all sets share a pool, a first term that several have is searched for once, with the
    largest number that any of them asks for.
    """
    if index.pool is None:
        return [_request(index, [one]) for one in sets]
    return [_request(index, sets)] if sets else []


def share_of(request: SearchRequest, lengths: Ids, number: int, total: int) -> SearchRequest:
    """Return one share of a request; all shares together are all of it.

    First terms are taken in order of (length, text) and dealt out in blocks, so shares cost about
    the same and neighbours stay together. Lengths, int[n_terms], are of all terms; shares are
    numbered from 1.
    """
    order = np.lexsort((request.term1_ids, lengths[request.term1_ids]))
    block = min(_BLOCK, max(1, len(order) // (_BLOCKS_A_SHARE * total)))
    own = np.sort(order[(np.arange(len(order)) // block) % total == number - 1])
    return SearchRequest(
        pool=request.pool,
        pool_ids=request.pool_ids,
        term1_ids=request.term1_ids[own],
        sizes=request.sizes[own],
    )


def _request(index: TermIndex, sets: Sequence[PositiveSet]) -> SearchRequest:
    counted = [first_terms(one) for one in sets]
    pool, pool_ids = pool_of(index, sets[0])
    term1_ids = np.unique(np.concatenate([firsts for firsts, _ in counted]))
    sizes = np.zeros(len(term1_ids), np.int32)
    for firsts, counts in counted:
        at = np.searchsorted(term1_ids, firsts)
        sizes[at] = np.maximum(sizes[at], counts + np.int32(SLACK))
    return SearchRequest(pool=pool, pool_ids=pool_ids, term1_ids=term1_ids, sizes=sizes)
