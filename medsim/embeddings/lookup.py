"""The nearest neighbours of terms by cosine: proposed by an index, decided exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.config import in_threads, thread_pool
from medsim.core.errors import OptionError, unknown_name
from medsim.embeddings.proposals import (
    BLOCK,
    FEWEST_POINTS,
    INDEXES,
    Limits,
    Members,
    TorchIndex,
    greatest_error,
    made_index,
    precisely,
    searching,
)
from medsim.kernels.best import Best, empty_slots, filled_slots
from medsim.kernels.cosine_search import (
    Candidates,
    Points,
    count_as_similar,
    count_between,
    keep_nearest,
    keep_nearest_of_all,
    lengths,
    most_similar_linked,
    similarities,
    vector_hashes,
)
from medsim.kernels.packing import starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medsim.kernels.types import Counts, Flags, Hashes, Ids, Rows, Singles, Starts, Vectors

_SPARE = 8  # candidates beyond those wanted, so that the last one's rank is certain
_FEWEST, _MOST = 16, 4096  # candidates that an index is asked for; beyond, all terms are compared
_BATCH = 1024  # queries that an index is asked at once
_BATCH_CANDIDATES = 1 << 20
_NO_IDS = np.empty((0, 0), np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The nearest points of each query, nearest first, and their cosines.

    Those of query ``i`` are ``ids[starts[i]:starts[i + 1]]``.
    """

    starts: Starts
    ids: Ids
    similarities: Singles


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctRows:
    """The rows of a table that differ, numbered as they first come.

    Attributes:
        row_of: int64[n_rows], the number of each.
        members: int32[n_rows], the rows of each number, ascending.
        starts: int64[n_distinct + 1], where those of each begin.
    """

    row_of: Rows
    members: Ids
    starts: Starts


def distinct_rows(vectors: Vectors) -> DistinctRows:
    """Return which rows are equal bit by bit, by hashes; of rows that share one by chance, none."""
    _, first, same = np.unique(vector_hashes(vectors), return_index=True, return_inverse=True)
    likeness = first[same]
    for begin in range(0, len(vectors), BLOCK):
        own = slice(begin, begin + BLOCK)
        bits, others = (one.view(np.uint32) for one in (vectors[own], vectors[likeness[own]]))
        likeness[own] = np.where(
            (bits == others).all(axis=1), likeness[own], begin + np.arange(len(bits))
        )
    firsts, row_of = np.unique(likeness, return_inverse=True)
    members = np.argsort(row_of, kind="stable").astype(np.int32)
    starts = starts_of(np.bincount(row_of, minlength=len(firsts)))
    return DistinctRows(row_of=row_of, members=members, starts=starts)


class CosineSearch:
    """Finds the points of highest cosine.

    An index proposes candidates by cosines in single precision, which differ with threads and
    machines in their last digits. Each is computed anew in double precision and in one order; and
    where one that was left out could still belong to the nearest, within the greatest error of
    its sums, the index is asked for more. So a flat index gives what comparing all points gives,
    ties by hashes of content, on any machine with any number of threads. What the index ivf (Sivic
    and Zisserman, ICCV 2003) or hnsw (Malkov and Yashunin, TPAMI 2020) finds is a part of that, and
    does not depend on threads either. Points of equal vectors are one in the index, and asked once.

    Args:
        vectors: float32[n_points, n_dimensions].
        groups: int32[n_points]; points of one group are never each other's neighbours.
        hashes: uint64[n_points], of the terms' content.
        index: one of ``INDEXES``.
        seed: of ties, and of the cells of an ivf index.
        threads: how many search.
        device: "cpu", or "auto" where a flat index may be on a GPU.
    """

    def __init__(
        self,
        vectors: Vectors,
        groups: Ids,
        hashes: Hashes,
        *,
        index: str = INDEXES[0],
        seed: int = 0,
        threads: int = 1,
        device: str = "cpu",
    ) -> None:
        if index not in INDEXES:
            raise OptionError(unknown_name("index", index, list(INDEXES)))
        vectors = np.asarray(vectors, np.float32, order="C")
        self._distinct = distinct_rows(vectors)
        members, starts = self._distinct.members, self._distinct.starts
        self._points = Points(vectors, lengths(vectors), groups, hashes, members, starts)
        self._group_sizes = np.bincount(groups)[groups] if len(groups) else groups
        self._seed = np.uint64(seed)
        self._threads = threads
        n_distinct = len(starts) - 1
        self._exact = index == "flat" or n_distinct < FEWEST_POINTS
        self._error = greatest_error(index, vectors.shape[1])
        self._index = made_index(index, self._units, n_distinct, seed=seed, device=device)

    def nearest(
        self, queries: Ids, sizes: Ids, advance: Callable[[int], None] = lambda _n_queries: None
    ) -> Neighbours:
        """Return the nearest points of some points.

        ``sizes`` says how many each wants; it gets fewer where there are no others, and from an
        approximate index where that finds no others. ``advance`` is told of queries as they are
        done.
        """
        nearest = empty_slots(sizes, np.float32)
        n_distinct = len(self._points.starts) - 1
        asked = np.maximum(sizes + self._group_sizes[queries] + _SPARE, _FEWEST)
        left = np.flatnonzero(sizes > 0)
        advance(len(queries) - len(left))
        while self._exact and len(left) and asked[left].min() <= _MOST:
            soon = left[asked[left] <= _MOST]
            unsure = self._ask(queries, soon, np.minimum(asked, n_distinct), nearest, advance)
            asked[unsure] *= 8
            left = np.union1d(left[asked[left] > _MOST], unsure)
        if self._exact:
            self._compare_all(queries, left, nearest, advance)
        else:
            self._ask(queries, left, np.minimum(asked, n_distinct), nearest, advance)
        starts, filled = filled_slots(nearest)
        cosines = -nearest.distances[filled].astype(np.float32, copy=False)
        return Neighbours(starts=starts, ids=nearest.ids[filled], similarities=cosines)

    def count_as_similar(
        self,
        queries: Ids,
        thresholds: Singles,
        components: Ids,
        advance: Callable[[int], None] = lambda _n_queries: None,
    ) -> Counts:
        """Return how many points of other components are at least as similar as a threshold.

        Each query has its own. A flat index has all points, the others cannot tell.
        """
        counts = np.zeros(len(queries), np.int64)
        order = np.argsort(self._distinct.row_of[queries], kind="stable")  # equal ones in one batch
        for begin in range(0, len(queries), _BATCH):
            rows = order[begin : begin + _BATCH]
            counts[rows] = self._count(queries[rows], thresholds[rows], components)
            advance(len(rows))
        return counts

    def most_similar_linked(self, queries: Ids, components: Ids) -> tuple[Ids, Singles]:
        """Return the most similar other point of each query's component, and how similar it is.

        The component of every query must have another point.
        """
        members = np.argsort(components, kind="stable").astype(np.int32)
        starts = starts_of(np.bincount(components))

        def find(rows: slice) -> Ids:
            own = queries[rows]
            return most_similar_linked(self._points, own, components, members, starts)

        slices = [slice(at, at + _BATCH) for at in range(0, len(queries), _BATCH)]
        found = in_threads(self._threads, find, slices)
        linked = np.concatenate([np.empty(0, np.int32), *found])
        return linked, similarities(self._points, queries, linked)

    def _units(self, distinct: Rows | slice) -> Vectors:
        """Return distinct vectors scaled to length 1; zeros stay zeros."""
        points = self._points.members[self._points.starts[:-1][distinct]]
        scale = self._points.lengths[points]
        units = self._points.vectors[points] / np.where(scale > 0, scale, 1)[:, None]
        return np.asarray(units, np.float32, order="C")

    def _ask(
        self, queries: Ids, rows: Rows, asked: Ids, nearest: Best, advance: Callable[[int], None]
    ) -> Rows:
        """Ask the index for candidates of some queries, and return those that need more."""
        rows = rows[np.argsort(self._distinct.row_of[queries[rows]], kind="stable")]

        def answer(batch: Rows) -> Flags:
            n_asked = int(asked[batch[0]])
            distinct, of_batch = np.unique(
                self._distinct.row_of[queries[batch]], return_inverse=True
            )
            estimates, ids = self._index.search(self._units(distinct), n_asked)
            candidates = Candidates(ids, estimates, of_batch, self._error)
            slots = batch.astype(np.int32)
            keep_nearest(self._points, queries[batch], candidates, self._seed, slots, nearest)
            unsure = self._unsure(batch, estimates[of_batch, -1], nearest)
            return unsure if n_asked < len(self._points.starts) - 1 else np.zeros_like(unsure)

        unsure: list[Rows] = [np.empty(0, np.int64)]
        batches = list(_batches(rows, asked))
        with precisely(self._index), searching(self._threads) as pool:
            for batch, flags in zip(batches, pool.map(answer, batches), strict=True):
                unsure.append(batch[flags])
                advance(len(batch) - int(np.count_nonzero(flags) if self._exact else 0))
        return np.concatenate(unsure)

    def _unsure(self, batch: Rows, last: Singles, nearest: Best) -> Flags:
        """Return of which queries a point that FAISS left out could be among the nearest."""
        ends = nearest.starts[batch] + nearest.counts[batch]
        full = ends == nearest.starts[batch + 1]
        lowest = -nearest.distances[np.maximum(ends - 1, 0)]
        return np.asarray(~full | (lowest <= last + self._error), np.bool_)

    def _compare_all(
        self, queries: Ids, rows: Rows, nearest: Best, advance: Callable[[int], None]
    ) -> None:
        def compare(row: int) -> None:
            slots = np.array([row], np.int32)
            keep_nearest_of_all(self._points, queries[slots], self._seed, slots, nearest)

        with thread_pool(self._threads) as pool:
            for _ in pool.map(compare, rows.tolist()):
                advance(1)

    def _count(self, queries: Ids, thresholds: Singles, components: Ids) -> Counts:
        if isinstance(self._index, TorchIndex):
            return self._count_there(self._index, queries, thresholds, components)
        distinct, of_queries = np.unique(self._distinct.row_of[queries], return_inverse=True)
        units = self._units(distinct)
        counts = np.zeros(len(queries), np.int64)
        for begin, end in self._blocks():
            cosines = self._index.cosines(units, begin, end)
            estimates = Candidates(_NO_IDS, cosines, of_queries, self._error)
            counts += count_as_similar(
                self._points, queries, thresholds, components, begin, estimates
            )
        return counts

    def _count_there(
        self, index: TorchIndex, queries: Ids, thresholds: Singles, components: Ids
    ) -> Counts:
        """Count on the index's device, and here what is as near to a threshold as its error."""
        starts, members = self._points.starts, self._points.members
        limits = Limits(
            units=self._units(self._distinct.row_of[queries]),
            low=thresholds - self._error,
            high=thresholds + self._error,
            components=components[queries],
        )
        counts = np.zeros(len(queries), np.int64)
        with index.precise():
            there = index.placed(limits)
            for begin, end in self._blocks():
                of_block = Members(
                    points=np.repeat(np.arange(end - begin), np.diff(starts[begin : end + 1])),
                    components=components[members[starts[begin] : starts[end]]],
                )
                above, rows, between = index.compare(there, begin, of_block)
                counts += above
                counts += count_between(
                    self._points, queries, thresholds, components, rows, between
                )
        return counts

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Yield where the points begin and end that were added to the index at once."""
        n_distinct = len(self._points.starts) - 1
        for begin in range(0, n_distinct, BLOCK):
            yield begin, min(begin + BLOCK, n_distinct)


def _batches(rows: Rows, asked: Ids) -> Iterator[Rows]:
    """Yield queries that ask for equally many candidates, so many at a time as fit in memory."""
    for n_asked in np.unique(asked[rows]):
        alike = rows[asked[rows] == n_asked]
        n_rows = max(1, min(_BATCH, _BATCH_CANDIDATES // int(n_asked)))
        for begin in range(0, len(alike), n_rows):
            yield alike[begin : begin + n_rows]
