"""Queries of a search in groups, which share the tables of each block of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.kernels.best import Best
    from medsim.kernels.edit_search import Search
    from medsim.kernels.types import Ids, Starts

_LEAST = 2048  # queries that a group has, where enough are of near lengths
_GROUPS_A_THREAD = 8  # at least, so that all threads end at about the same time


def groups(task: Search, threads: int) -> list[Ids]:
    """Return the queries that want anything, in groups of near lengths, costliest first.

    Returns:
        Each int32[n], numbers of queries in order of length, then of text.
    """
    lengths = np.diff(task.pool.starts)[task.pool.places[task.queries]]
    bounds = _bounds(task.best)
    wants = np.flatnonzero(np.diff(task.best.starts))
    order = wants[np.lexsort((task.queries[wants], bounds[wants], lengths[wants]))]
    most = max(_LEAST, len(order) // (_GROUPS_A_THREAD * threads))
    parts = [
        near[begin : begin + most]
        for near in _near_lengths(order.astype(np.int32), lengths)
        for begin in range(0, len(near), most)
    ]
    parts.sort(key=lambda part: _cost(bounds[part]), reverse=True)
    return [part[np.lexsort((task.queries[part], lengths[part]))] for part in parts]


def _bounds(best: Best) -> Starts:
    """Return for each query the largest distance that may enter."""
    sizes = np.diff(best.starts)
    bounds = np.full(len(sizes), np.iinfo(np.int32).max, np.int64)
    full = np.flatnonzero((best.counts == sizes) & (sizes > 0))
    bounds[full] = best.distances[best.starts[full + 1] - 1]
    return bounds


def _near_lengths(order: Ids, lengths: Starts) -> Iterator[Ids]:
    """Yield queries, in order of length, cut where they are enough or lengths differ too much."""
    cuts = np.flatnonzero(np.diff(lengths[order])) + 1
    first = 0
    for cut in [*cuts.tolist(), len(order)]:
        stop = cut == len(order) or not _belong(lengths[order[first]], lengths[order[cut]])
        if cut > first and (stop or cut - first >= _LEAST):
            yield order[first:cut]
            first = cut


def _belong(shortest: int, length: int) -> bool:
    """Return whether queries of two lengths are searched together; empty ones are by themselves."""
    return shortest > 0 and length <= shortest + shortest // 4 + 4


def _cost(bounds: Starts) -> float:
    """Return the approximate cost of queries: terms of lengths within the bound, times the band."""
    return float(np.square(np.minimum(bounds, 1 << 12)).sum())
