"""The nearest neighbours of terms by cosine: found by FAISS, decided exactly."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import faiss
import numpy as np

from medsim.core.errors import OptionError, unknown_name
from medsim.core.threads import in_threads, thread_pool
from medsim.kernels.best import Best, empty_slots, filled_slots
from medsim.kernels.cosine_search import (
    Points,
    count_as_similar,
    keep_nearest,
    keep_nearest_of_all,
    lengths,
    most_similar_linked,
    similarities,
)
from medsim.kernels.packing import starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medsim.kernels.types import Counts, Flags, Hashes, Ids, Rows, Singles, Starts, Vectors

INDEXES = ("flat", "ivf")
"""FAISS's indexes: flat compares with every term, ivf with those of the nearest cells."""

_SPARE = 8  # candidates beyond those wanted, so that the last one's rank is certain
_FEWEST, _MOST = 16, 4096  # candidates that FAISS is asked for; beyond, all terms are compared
_BATCH = 1024  # queries that FAISS is asked at once
_BATCH_CANDIDATES = 1 << 20
_BLOCK = 4096  # points whose cosines with a batch are held at once
_CELLS = 4  # times the square root of the points
_POINTS_A_CELL = 40  # that cells are learnt from
_CELLS_A_PROBE = 64  # one in so many cells is searched
_ROUNDING = 2.0**-24  # relative, of single precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The nearest points of each query, nearest first, and their cosines.

    Those of query ``i`` are ``ids[starts[i]:starts[i + 1]]``.
    """

    starts: Starts
    ids: Ids
    similarities: Singles


class CosineSearch:
    """Finds the points of highest cosine.

    FAISS proposes candidates by cosines in single precision, which differ with threads and
    machines in their last digits. Each is computed anew in double precision and in one order; and
    where one that FAISS left out could still belong to the nearest, within the greatest error of
    its sums, FAISS is asked for more. So a flat index gives what comparing all points gives, ties
    by hashes of content, on any machine with any number of threads. What an ivf index (Sivic and
    Zisserman, ICCV 2003) finds is a part of that, and does not depend on threads either.

    Args:
        vectors: float32[n_points, n_dimensions].
        groups: int32[n_points]; points of one group are never each other's neighbours.
        hashes: uint64[n_points], of the terms' content.
        index: one of ``INDEXES``.
        seed: of ties, and of the cells of an ivf index.
        threads: how many search.
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
    ) -> None:
        if index not in INDEXES:
            raise OptionError(unknown_name("index", index, list(INDEXES)))
        vectors = np.asarray(vectors, np.float32, order="C")
        self._points = Points(vectors, lengths(vectors), groups, hashes)
        self._group_sizes = np.bincount(groups)[groups] if len(groups) else groups
        self._seed = np.uint64(seed)
        self._threads = threads
        self._exact = index == "flat" or len(vectors) < 2 * _POINTS_A_CELL  # one cell is all
        self._error = np.float32((vectors.shape[1] + 8) * _ROUNDING)
        with _one_faiss_thread():
            self._index = (
                faiss.IndexFlatIP(vectors.shape[1]) if self._exact else self._learnt_cells()
            )
            for begin in range(0, len(vectors), _BLOCK):
                self._index.add(self._units(slice(begin, begin + _BLOCK)))

    def nearest(
        self, queries: Ids, sizes: Ids, advance: Callable[[int], None] = lambda _n_queries: None
    ) -> Neighbours:
        """Return the nearest points of some points.

        ``sizes`` says how many each wants; it gets fewer where there are no others, and from an ivf
        index where its cells have no others. ``advance`` is told of queries as they are done.
        """
        nearest = empty_slots(sizes, np.float32)
        n_points = len(self._points.groups)
        asked = np.maximum(sizes + self._group_sizes[queries] + _SPARE, _FEWEST)
        left = np.flatnonzero(sizes > 0)
        advance(len(queries) - len(left))
        while self._exact and len(left) and asked[left].min() <= _MOST:
            soon = left[asked[left] <= _MOST]
            unsure = self._ask(queries, soon, np.minimum(asked, n_points), nearest, advance)
            asked[unsure] *= 8
            left = np.union1d(left[asked[left] > _MOST], unsure)
        if self._exact:
            self._compare_all(queries, left, nearest, advance)
        else:
            self._ask(queries, left, np.minimum(asked, n_points), nearest, advance)
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

        Each query has its own. A flat index has all points, an ivf index cannot tell.
        """
        counts = np.zeros(len(queries), np.int64)
        for begin in range(0, len(queries), _BATCH):
            rows = slice(begin, begin + _BATCH)
            counts[rows] = self._count(queries[rows], thresholds[rows], components)
            advance(len(queries[rows]))
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

    def _learnt_cells(self) -> Any:
        """Return an index that keeps points in cells around centres, learnt from some of them."""
        n_points, n_dimensions = self._points.vectors.shape
        n_cells = max(1, min(int(_CELLS * n_points**0.5), n_points // _POINTS_A_CELL))
        index = faiss.IndexIVFFlat(
            faiss.IndexFlatIP(n_dimensions), n_dimensions, n_cells, faiss.METRIC_INNER_PRODUCT
        )
        index.cp.spherical = True
        index.cp.min_points_per_centroid = 1
        index.cp.niter = 5
        index.cp.seed = int(self._seed % np.uint64(1 << 31))
        index.nprobe = max(1, n_cells // _CELLS_A_PROBE)
        n_learnt = min(n_points, n_cells * _POINTS_A_CELL)
        learnt = np.linspace(0, max(n_points - 1, 0), n_learnt).astype(np.int64)
        index.train(self._units(learnt))
        return index

    def _units(self, points: Rows | slice) -> Vectors:
        """Return points scaled to length 1; zeros stay zeros."""
        scale = self._points.lengths[points]
        units = self._points.vectors[points] / np.where(scale > 0, scale, 1)[:, None]
        return np.asarray(units, np.float32, order="C")

    def _ask(
        self, queries: Ids, rows: Rows, asked: Ids, nearest: Best, advance: Callable[[int], None]
    ) -> Rows:
        """Ask FAISS for the candidates of some queries, and return those that need more."""

        def answer(batch: Rows) -> Flags:
            points = queries[batch]
            n_asked = int(asked[batch[0]])
            estimates, candidates = self._index.search(self._units(points), n_asked)
            slots = batch.astype(np.int32)
            keep_nearest(self._points, points, candidates, self._seed, slots, nearest)
            unsure = self._unsure(batch, estimates[:, -1], nearest)
            return unsure if n_asked < len(self._points.groups) else np.zeros_like(unsure)

        unsure: list[Rows] = [np.empty(0, np.int64)]
        batches = list(_batches(rows, asked))
        # In each of these threads FAISS computes alone.
        with thread_pool(self._threads, partial(faiss.omp_set_num_threads, 1)) as pool:
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
        shape = self._points.vectors.shape
        stored = faiss.rev_swig_ptr(self._index.get_xb(), shape[0] * shape[1]).reshape(shape)
        units = stored[queries]
        counts = np.zeros(len(queries), np.int64)
        held = np.empty((len(queries), _BLOCK), np.float32)
        for begin in range(0, len(stored), _BLOCK):
            block = stored[begin : begin + _BLOCK]
            estimates = np.matmul(units, block.T, out=held[:, : len(block)])
            counts += count_as_similar(
                self._points, queries, thresholds, components, begin, estimates, self._error
            )
        return counts


@contextmanager
def _one_faiss_thread() -> Iterator[None]:
    """Let FAISS compute in the calling thread alone, since its sums depend on its threads."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _batches(rows: Rows, asked: Ids) -> Iterator[Rows]:
    """Yield queries that ask for equally many candidates, so many at a time as fit in memory."""
    for n_asked in np.unique(asked[rows]):
        alike = rows[asked[rows] == n_asked]
        n_rows = max(1, min(_BATCH, _BATCH_CANDIDATES // int(n_asked)))
        for begin in range(0, len(alike), n_rows):
            yield alike[begin : begin + n_rows]
