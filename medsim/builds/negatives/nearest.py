"""The exact k nearest terms of a pool: packed arrays in, ids and distances out."""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numba import config

from medsim.builds.negatives.layout import (
    Candidates,
    groups,
    laid_out,
    slate,
    workspace,
)
from medsim.core.config import checked_threads, in_threads
from medsim.core.errors import OptionError
from medsim.kernels.best import Best, empty_slots, filled_slots
from medsim.kernels.edit_search import Pool, Search, search, search_neighbours
from medsim.kernels.sliced import search_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from medsim.kernels.edit_distance import Workspace
    from medsim.kernels.edit_table import Slate
    from medsim.kernels.types import Ids, Starts

_QUERIES_A_TASK = 64
_SEEDS = 1 << 64

S = TypeVar("S")
P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The results of a search, nearest first.

    Attributes:
        starts: int64[n_queries + 1], the slots of each query.
        ids: int32[n_slots], rows of terms.
        distances: int32[n_slots], at least 1.
    """

    starts: Starts
    ids: Ids
    distances: Ids


class NearestSearch:
    """Candidates laid out once, to be searched any number of times.

    Args:
        candidates: the pool, or what ``laid_out`` makes of it, which can then be let go.
        seed: of the hash that orders equal distances.
        threads: how many to use; results do not depend on it.
        sliced: whether to compare many terms at once; by default where the machine can. The results
            are the same.

    Beside the pool, each thread takes about 4 kB for every character of the longest term,
    and for large alphabets up to 64 MiB.
    """

    def __init__(
        self, candidates: Candidates | Pool, *, seed: int, threads: int, sliced: bool | None = None
    ) -> None:
        if not 0 <= seed < _SEEDS:
            raise OptionError(f"seed {seed} is out of range; 0 to {_SEEDS - 1} are accepted")
        self._pool = candidates if isinstance(candidates, Pool) else laid_out(candidates, threads)
        self._seed = np.uint64(seed)
        self._threads = threads
        self._sliced = not config.DISABLE_JIT if sliced is None else sliced  # type: ignore[attr-defined]  # set when numba is imported

    def nearest(
        self, queries: Ids, wanted: Ids, advance: Callable[[int], None] = lambda _n: None
    ) -> Nearest:
        """Return the nearest terms of each query, exactly as brute force does.

        Candidates are ordered by (distance, hash of seed and both terms, text).

        Returns:
            As many as wanted, or fewer where the pool has no more.
        """
        queries, wanted = _checked(queries, wanted, len(self._pool.ids))
        best = empty_slots(wanted, np.int32)
        task = Search(self._pool, self._seed, queries, best)
        works = [workspace(self._pool) for _ in range(self._threads)]
        starts = range(0, len(queries), _QUERIES_A_TASK)
        _in_threads(works, starts, lambda first, work: _bound(task, first, work))
        if self._sliced:
            self._complete_in_groups(task, works, advance)
        else:
            _in_threads(works, starts, lambda first, work: _complete(task, first, work, advance))
        return _trimmed(best)

    def _complete_in_groups(
        self, task: Search, works: list[Workspace], advance: Callable[[int], None]
    ) -> None:
        def complete(group: Ids, space: tuple[Slate, Workspace]) -> None:
            search_group(task, group, *space)
            advance(len(group))

        spaces = [(slate(self._pool), work) for work in works]
        _in_threads(spaces, groups(task, self._threads), complete)


def nearest(
    candidates: Candidates,
    queries: Ids,
    wanted: Ids,
    *,
    seed: int = 0,
    threads: int | None = None,
    sliced: bool | None = None,
) -> Nearest:
    """Return the nearest terms of each query by Levenshtein distance, exactly.

    Args:
        candidates: the pool.
        queries: int32[n_queries], rows of the pool.
        wanted: int32[n_queries], how many terms each query asks for.
        seed: of the hash that orders equal distances, from 0 to 2**64 - 1.
        threads: how many to use, all available ones by default; results do not depend on it.
        sliced: see ``NearestSearch``.

    Returns:
        As many terms as wanted, or fewer where the pool has no more.

    Raises:
        OptionError: a query is no row of the pool, or a number is out of range.
    """
    search = NearestSearch(candidates, seed=seed, threads=checked_threads(threads), sliced=sliced)
    return search.nearest(queries, wanted)


def _checked(queries: Ids, wanted: Ids, n_terms: int) -> tuple[Ids, Ids]:
    """Return queries, and how many terms each wants, of those there are."""
    rows, sizes = np.asarray(queries), np.asarray(wanted)
    for numbers in (rows, sizes):
        if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and len(numbers)):
            raise OptionError("queries, and how many terms each wants, must be whole numbers")
    if len(rows) != len(sizes) or sizes.min(initial=0) < 0:
        raise OptionError("each query must say how many terms it wants")
    if len(rows) and not 0 <= rows.min() <= rows.max() < n_terms:
        raise OptionError(f"queries must be rows of the {n_terms:,} terms")
    return rows.astype(np.int32), np.minimum(sizes.astype(np.int64), n_terms).astype(np.int32)


def _bound(task: Search, first: int, work: Workspace) -> None:
    """Bound the distances by terms that begin or end alike."""
    search_neighbours(task, first, min(first + _QUERIES_A_TASK, len(task.queries)), work)


def _complete(task: Search, first: int, work: Workspace, advance: Callable[[int], None]) -> None:
    stop = min(first + _QUERIES_A_TASK, len(task.queries))
    search(task, first, stop, work)
    advance(stop - first)


def _in_threads(spaces: list[S], parts: Iterable[P], run: Callable[[P, S], None]) -> None:
    """Run every part in some thread, each with a space that no other thread uses meanwhile."""
    idle: SimpleQueue[S] = SimpleQueue()
    for space in spaces:
        idle.put(space)

    def serve(part: P) -> None:
        space = idle.get()
        try:
            run(part, space)
        finally:
            idle.put(space)

    in_threads(len(spaces), serve, parts)


def _trimmed(best: Best) -> Nearest:
    starts, filled = filled_slots(best)
    return Nearest(
        starts=starts, ids=best.ids[filled], distances=best.distances[filled].astype(np.int32)
    )
