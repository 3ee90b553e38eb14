"""The k best candidates of a query, nearest first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.compiler import inner_kernel
from medsim.kernels.types import Hashes, Ids, Singles, Starts, gathered, starts_of

FAR = 1 << 40
"""A number beyond any distance."""


class Best(NamedTuple):
    """The best candidates of each query so far, nearest first.

    Beyond those that are wanted, spare slots hold candidates at the distance of the last of them.
    For candidates ranked by cosine, the distance is the negated cosine.

    Attributes:
        starts: int64[n_queries + 1], the slots of each query.
        counts: int32[n_queries], how many of them are filled.
        ids: int32[n_slots], the candidates.
        distances: int32[n_slots], or float32.
        ties: uint64[n_slots], the hashes that order equal distances.
        limit: the largest edit distance of a candidate.
        spare: the number of spare slots of each query, the last of its slots.
    """

    starts: Starts
    counts: Ids
    ids: Ids
    distances: Ids | Singles
    ties: Hashes
    limit: int
    spare: int


def empty_slots(
    sizes: Ids, distance: type[np.int32 | np.float32], limit: int = FAR, spare: int = 0
) -> Best:
    """Return empty slots for the number of wanted candidates of each query, int32[n_queries]."""
    starts = starts_of(np.where(sizes > 0, sizes + spare, 0))
    return Best(
        starts=starts,
        counts=np.zeros(len(sizes), np.int32),
        ids=np.empty(starts[-1], np.int32),
        distances=np.empty(starts[-1], distance),
        ties=np.empty(starts[-1], np.uint64),
        limit=limit,
        spare=spare,
    )


class Nearest(NamedTuple):
    """The results of a search, nearest first.

    Attributes:
        starts: int64[n_queries + 1], start of each query's slots.
        ids: int32[n_slots], rows of terms.
        distances: int32[n_slots], or float32.
    """

    starts: Starts
    ids: Ids
    distances: Ids | Singles

    @property
    def similarities(self) -> Singles:
        """The cosines of candidates ranked by cosine: float32[n_slots]."""
        return np.asarray(-self.distances, np.float32)


def nearest_of(best: Best) -> Nearest:
    """Return the candidates of each query, without empty slots."""
    starts, filled = gathered(best.starts[:-1], best.counts)
    return Nearest(starts, best.ids[filled], best.distances[filled])


@inner_kernel
def enter(
    best: Best, slot: int, candidate: int, distance: np.int64 | np.float32, tie: np.uint64
) -> None:
    """Insert a candidate into a query's best if it is near enough and not there yet.

    Order is by distance, then tie, then id.
    """
    begin, end = best.starts[slot], best.starts[slot + 1]
    last = end - best.spare - 1  # of those that are wanted
    filled = begin + best.counts[slot]
    at = filled
    while at > begin:
        d, t, c = best.distances[at - 1], best.ties[at - 1], best.ids[at - 1]
        if d < distance or (d == distance and (t < tie or (t == tie and c < candidate))):
            break
        if c == candidate:
            return
        at -= 1
    if at == end:
        return
    for to in range(min(filled, end - 1), at, -1):
        best.distances[to] = best.distances[to - 1]
        best.ties[to] = best.ties[to - 1]
        best.ids[to] = best.ids[to - 1]
    best.distances[at], best.ties[at], best.ids[at] = distance, tie, candidate
    filled = min(filled + 1, end)
    while filled - 1 > last and best.distances[filled - 1] > best.distances[last]:
        filled -= 1
    best.counts[slot] = filled - begin


@inner_kernel
def bound_of(best: Best, slot: int) -> np.int64:
    """Return the largest distance that can still enter."""
    begin, end = best.starts[slot], best.starts[slot + 1] - best.spare
    if end <= begin:
        return np.int64(-1)
    if begin + best.counts[slot] < end:
        return np.int64(best.limit)
    return np.int64(best.distances[end - 1])
