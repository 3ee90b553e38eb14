"""The nearest neighbours of terms by cosine: an index finds candidates, exact cosines decide."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

import faiss
import numpy as np

from medsim.core.config import in_threads, thread_pool
from medsim.core.errors import OptionError
from medsim.embeddings.metrics import slices_of
from medsim.kernels.best import Best, Nearest, empty_slots, nearest_of
from medsim.kernels.cosine_search import (
    Candidates,
    Points,
    count_as_similar,
    count_between,
    keep_nearest,
    most_similar_linked,
)
from medsim.kernels.packing import term_hashes
from medsim.kernels.types import (
    Counts,
    Flags,
    Hashes,
    Ids,
    Places,
    Rows,
    Singles,
    Vectors,
    starts_of,
)
from medsim.kernels.vectors import lengths

INDEXES = ("flat", "ivf", "hnsw")
"""Indexes: flat compares with every point, ivf with the points of the nearest cells, hnsw with the
points that it visits in a graph of neighbours."""

FEWEST_POINTS = 80
"""With fewer points any index is flat, since there would be a single cell."""

POINTS_AT_ONCE = 4096
"""Points that are added at once."""

_COLUMNS = 1 << 14  # values per query on a GPU at once

_SINGLE, _HALF = 2.0**-24, 2.0**-11  # rounding errors, relative

_CELLS = 4  # times the square root of the points
_POINTS_A_CELL = 40  # to learn the cells from
_CELLS_A_PROBE = 64  # one in this many cells is searched
_LINKS = 16  # links of a point in each layer of a graph, twice as many in the lowest
_TRIED_TO_LINK, _TRIED = 40, 100  # candidates kept while linking, and while searching

_SPARE = 8  # additional candidates, so that the rank of the last one is certain
_FEWEST, _MOST = 16, 4096  # candidates from an index; with more, all terms are compared
_BATCH = 1024  # queries per call of an index
_BATCH_CANDIDATES = 1 << 20
_NO_IDS = np.empty((0, 0), np.int64)


class TorchIndex:
    """Compares with every point on a device of PyTorch, within ``precise``."""

    def __init__(self, torch: Any, device: str) -> None:
        self._torch, self._device = torch, device
        self._blocks: list[Any] = []

    def add(self, units: Vectors) -> None:
        """Add points: float32[n, n_dimensions]."""
        with self._telling():
            self._blocks.append(self._there(units))

    def search(self, units: Vectors, n_asked: int) -> tuple[Vectors, Places]:
        """Return the cosines of the nearest points, descending, and these points.

        Both are [n_queries, n_found] for queries float32[n_queries, n_dimensions].
        """
        with self._telling():
            queries, first = self._there(units), 0
            values: Any = []
            ids: Any = []
            for block in self._blocks:
                best = self._torch.topk(queries @ block.T, min(n_asked, len(block)), dim=1)
                values.append(best.values)
                ids.append(best.indices + first)
                first += len(block)
                if len(values) * n_asked > _COLUMNS:
                    values, ids = self._best(values, ids, n_asked)
            (values,), (ids,) = self._best(values, ids, n_asked)
            return values.cpu().numpy(), ids.cpu().numpy()

    def on_device(self, *arrays: np.ndarray[Any, Any]) -> Any:
        """Return arrays on the device, for ``compare``."""
        with self._telling():
            return [self._there(array) for array in arrays]

    def compare(
        self, queries: Any, begin: int, points: Rows, components: Ids
    ) -> tuple[Counts, Rows, Rows]:
        """Compare queries with the block of points that starts at ``begin``.

        Args:
            queries: arrays on the device, see ``on_device``: their vectors of length 1,
                float32[n_queries, n_dimensions]; lower and upper cosines, float32[n_queries],
                between which single precision cannot decide whether a point counts; and their
                components, int32[n_queries].
            begin: the first point of the block.
            points: the point of each term of the block, numbered within the block.
            components: the component of each term of the block.

        Returns:
            For each query, the number of terms of other components that are more similar than its
            upper limit, int64[n_queries]; and the undecided points between its limits, as rows of
            queries and numbers of points, int64[n_between] each.
        """
        units, low, high, query_components = queries
        with self._telling():
            cosines = units @ self._blocks[begin // POINTS_AT_ONCE].T
            above = cosines > high[:, None]
            counts = np.zeros(len(cosines), np.int64)
            for at in range(0, len(points), _COLUMNS):
                block_components = self._there(components[at : at + _COLUMNS])
                others = block_components != query_components[:, None]
                columns = self._there(points[at : at + _COLUMNS])
                counts += (above[:, columns] & others).sum(1).cpu().numpy()
            rows, columns = self._torch.where((cosines >= low[:, None]) & ~above)
            return counts, rows.cpu().numpy(), begin + columns.cpu().numpy()

    @contextmanager
    def precise(self) -> Iterator[None]:
        """Let PyTorch sum products in single precision, whatever its settings.

        So the error has the same bound as in FAISS. The settings are restored afterwards.
        """
        settings = self._torch.backends.cuda.matmul
        newer = getattr(settings, "fp32_precision", None)  # since 2.9
        older = None
        with suppress(RuntimeError):  # it cannot be read if the newer one was set
            older = self._torch.get_float32_matmul_precision()
        settings.allow_tf32 = False
        try:
            with self._torch.autocast(self._device, enabled=False):
                yield
        finally:
            if older in ("high", "medium"):
                self._torch.set_float32_matmul_precision(older)
            if newer is not None:
                settings.fp32_precision = newer

    def _best(self, values: Any, ids: Any, n_asked: int) -> tuple[list[Any], list[Any]]:
        """Return the nearest points of several blocks."""
        every = self._torch.cat(values, dim=1)
        best = self._torch.topk(every, min(n_asked, every.shape[1]), dim=1)
        return [best.values], [self._torch.cat(ids, dim=1).gather(1, best.indices)]

    def _there(self, array: np.ndarray[Any, Any]) -> Any:
        return self._torch.from_numpy(array).to(self._device)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Raise OptionError if the device fails, for example for lack of memory."""
        try:
            yield
        except RuntimeError as error:
            if not re.search("CUDA|CUBLAS|memory", str(error)):
                raise
            reason = str(error).splitlines()[0]
            raise OptionError(f"the GPU failed ({reason}); try `device` cpu") from None


def made_index(
    index: str, units: Callable[[Rows | slice], Vectors], n_points: int, *, seed: int, device: str
) -> Any:
    """Return an index of some points, given a function that returns them scaled to length 1.

    ``units`` returns the points of some rows: float32[n_rows, n_dimensions].

    The index is made by a single thread, since cells and links depend on the order of points. The
    points of a graph are in half precision, as its searches are limited by memory access. A flat
    index is on a GPU if PyTorch finds one and the device is not "cpu"; others never are.
    """
    n_dimensions = units(slice(0, 0)).shape[1]
    made: Any
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        if index == "flat" or n_points < FEWEST_POINTS:
            torch = gpu_library() if device == "auto" else None
            made = TorchIndex(torch, "cuda") if torch else faiss.IndexFlatIP(n_dimensions)
        elif index == "ivf":
            n_cells = max(1, min(int(_CELLS * n_points**0.5), n_points // _POINTS_A_CELL))
            made = faiss.IndexIVFFlat(
                faiss.IndexFlatIP(n_dimensions), n_dimensions, n_cells, faiss.METRIC_INNER_PRODUCT
            )
            made.cp.spherical = True
            made.cp.min_points_per_centroid = 1
            made.cp.niter = 5
            made.cp.seed = seed % (1 << 31)
            made.nprobe = max(1, n_cells // _CELLS_A_PROBE)
            n_learnt = min(n_points, n_cells * _POINTS_A_CELL)
            made.train(units(np.linspace(0, n_points - 1, n_learnt).astype(np.int64)))
        else:
            made = faiss.IndexHNSWSQ(
                n_dimensions,
                faiss.ScalarQuantizer.QT_fp16,  # type: ignore[arg-type]  # as FAISS's own examples
                _LINKS,
                faiss.METRIC_INNER_PRODUCT,
            )
            made.hnsw.efConstruction, made.hnsw.efSearch = _TRIED_TO_LINK, _TRIED
        for block in slices_of(n_points, POINTS_AT_ONCE):
            made.add(units(block))
    finally:
        faiss.omp_set_num_threads(before)
    return made


def greatest_error(index: str, n_dimensions: int) -> np.float32:
    """Return the maximum error of an index's cosines, for vectors of length 1."""
    return np.float32((n_dimensions + 8) * _SINGLE + (2 * _HALF if index == "hnsw" else 0))


def gpu_library() -> Any:
    """Return PyTorch if it is installed and finds a GPU, else None."""
    try:
        import torch  # noqa: PLC0415 — an extra
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def distinct_rows(vectors: Vectors) -> Rows:
    """Return the number of each row among distinct rows: int64[n_rows].

    Distinct rows are numbered by first occurrence. Rows are equal if all their bits are; rows with
    the same hash are compared.
    """
    starts = np.arange(len(vectors) + 1) * vectors.shape[1]
    hashes = term_hashes(vectors.view(np.uint32).ravel(), starts)
    _, first, same = np.unique(hashes, return_index=True, return_inverse=True)
    likeness = first[same]
    for block in slices_of(len(vectors), POINTS_AT_ONCE):
        bits, others = (rows.view(np.uint32) for rows in (vectors[block], vectors[likeness[block]]))
        likeness[block] = np.where(
            (bits == others).all(axis=1), likeness[block], block.start + np.arange(len(bits))
        )
    row_of: Rows = np.unique(likeness, return_inverse=True)[1]
    return row_of


class CosineSearch:
    """Finds the points of highest cosine.

    An index finds candidates by cosines in single precision, whose last digits differ between
    machines and numbers of threads. Each cosine is computed again in double precision and in a
    fixed order. If a point outside the candidates could still be among the nearest, within the
    maximum error of the sums, the index is searched for more. So a flat index gives the result of
    comparing all points, with ties ordered by hashes of content, on any machine with any number of
    threads. The indexes ivf (Sivic and Zisserman, ICCV 2003) and hnsw (Malkov and Yashunin, TPAMI
    2020) find only some of these neighbours, but their result does not depend on threads either.
    Points with equal vectors are one point in the index, and searched once.

    Args:
        vectors: float32[n_points, n_dimensions].
        groups: int32[n_points]; points of one group are never neighbours of each other. The last
            points can be in ``~group`` instead, and are then only queries of ``nearest``.
        hashes: uint64[n_points], hashes of the terms' content.
        index: one of ``INDEXES``.
        seed: the random seed of ties, and of the cells of an ivf index.
        threads: the number of threads of the search.
        device: "cpu", or "auto" if a flat index may be on a GPU.
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
        vectors = np.asarray(vectors, np.float32, order="C")
        self._row_of = distinct_rows(vectors)
        self._first_of_row = np.unique(self._row_of, return_index=True)[1]
        n_candidates, groups = np.count_nonzero(groups >= 0), np.maximum(groups, ~groups)
        of_candidates = self._row_of[:n_candidates]  # the first distinct rows
        members = np.argsort(of_candidates, kind="stable").astype(np.int32)
        starts = starts_of(np.bincount(of_candidates))
        centres = np.zeros(len(vectors))
        self._points = Points(vectors, lengths(vectors, centres), groups, hashes, members, starts)
        n_groups = int(groups.max(initial=-1)) + 1
        self._group_sizes = np.bincount(groups[:n_candidates], minlength=n_groups)[groups]
        self._seed = np.uint64(seed)
        self._threads = threads
        n_distinct = len(starts) - 1
        self._exact = index == "flat" or n_distinct < FEWEST_POINTS
        self._error = greatest_error(index, vectors.shape[1])
        self._index = made_index(index, self._units, n_distinct, seed=seed, device=device)

    def nearest(
        self, queries: Ids, sizes: Ids, advance: Callable[[int], None] = lambda _n_queries: None
    ) -> Nearest:
        """Return the nearest points of some points, with their cosines as ``similarities``.

        Args:
            queries: int32[n_queries], the points.
            sizes: int32[n_queries], the number of neighbours of each; there are fewer if no others
                exist, or if an approximate index finds no others.
            advance: receives the number of finished queries.
        """
        nearest = empty_slots(sizes, np.float32)
        n_distinct = len(self._points.starts) - 1
        asked = np.maximum(sizes + self._group_sizes[queries] + _SPARE, _FEWEST)
        left = np.flatnonzero((sizes > 0) & (n_distinct > 0))
        advance(len(queries) - len(left))
        while self._exact and len(left) and asked[left].min() <= _MOST:
            soon = left[asked[left] <= _MOST]
            unsure = self._ask(queries, soon, np.minimum(asked, n_distinct), nearest, advance)
            asked[unsure] *= 8
            left = np.union1d(left[asked[left] > _MOST], unsure)
        if self._exact:
            # All points, in any order; as none is surely farther than others, none is left out.
            ids, rows = np.arange(n_distinct)[None], np.zeros(1, np.int64)
            every = Candidates(ids, np.full(ids.shape, np.inf, np.float32), rows, self._error)

            def compare(row: int) -> None:
                slots = np.array([row], np.int32)
                keep_nearest(self._points, queries[slots], every, self._seed, slots, nearest)

            with thread_pool(self._threads) as pool:
                for _ in pool.map(compare, left.tolist()):
                    advance(1)
        else:
            self._ask(queries, left, np.minimum(asked, n_distinct), nearest, advance)
        return nearest_of(nearest)

    def count_as_similar(
        self,
        queries: Ids,
        thresholds: Singles,
        components: Ids,
        advance: Callable[[int], None] = lambda _n_queries: None,
    ) -> Counts:
        """Return how many points of other components are at least as similar as a threshold.

        Each query has its own threshold. This needs a flat index, which has all points.

        Args:
            queries: int32[n_queries], the points.
            thresholds: float32[n_queries].
            components: int32[n_points], the component of each point.
            advance: receives the number of finished queries.

        Returns:
            int64[n_queries].
        """
        counts = np.zeros(len(queries), np.int64)
        order = np.argsort(self._row_of[queries], kind="stable")  # equal vectors in one batch
        for begin in range(0, len(queries), _BATCH):
            rows = order[begin : begin + _BATCH]
            counts[rows] = self._count(queries[rows], thresholds[rows], components)
            advance(len(rows))
        return counts

    def most_similar_linked(self, queries: Ids, components: Ids) -> tuple[Ids, Singles]:
        """Return the most similar other point of each query's component, and its similarity.

        Both are [n_queries]. Queries are points, int32[n_queries], and components int32[n_points];
        the component of every query must have another point.
        """
        members = np.argsort(components, kind="stable").astype(np.int32)
        starts = starts_of(np.bincount(components))

        linked, highest = np.full(len(queries), -1, np.int32), np.full(len(queries), -2, np.float32)

        def find(rows: slice) -> None:
            results = linked[rows], highest[rows]
            most_similar_linked(self._points, queries[rows], components, members, starts, *results)

        in_threads(self._threads, find, slices_of(len(queries), _BATCH))
        return linked, highest

    def _units(self, distinct: Rows | slice) -> Vectors:
        """Return distinct vectors scaled to length 1; zeros stay zeros."""
        points = self._first_of_row[distinct]
        units = self._points.vectors[points] / self._points.lengths[points][:, None]
        return np.asarray(units, np.float32, order="C")

    def _ask(
        self, queries: Ids, rows: Rows, asked: Ids, nearest: Best, advance: Callable[[int], None]
    ) -> Rows:
        """Search the index for candidates of some queries; return the queries that need more."""
        rows = rows[np.argsort(self._row_of[queries[rows]], kind="stable")]

        def answer(batch: Rows) -> Flags:
            n_asked = int(asked[batch[0]])
            distinct, of_batch = np.unique(self._row_of[queries[batch]], return_inverse=True)
            estimates, ids = self._index.search(self._units(distinct), n_asked)
            candidates = Candidates(ids, estimates, of_batch, self._error)
            slots = batch.astype(np.int32)
            keep_nearest(self._points, queries[batch], candidates, self._seed, slots, nearest)
            if n_asked == len(self._points.starts) - 1:
                return np.zeros(len(batch), np.bool_)
            # A point that FAISS left out could be near for queries that are not full.
            ends = nearest.starts[batch] + nearest.counts[batch]
            full = ends == nearest.starts[batch + 1]
            lowest = -nearest.distances[np.maximum(ends - 1, 0)]
            last = estimates[of_batch, -1] + self._error
            return np.asarray(~full | (lowest <= last), np.bool_)

        unsure: list[Rows] = [np.empty(0, np.int64)]
        batches = []  # queries with the same number of candidates, as many as fit in memory
        for n_asked in np.unique(asked[rows]):
            alike = rows[asked[rows] == n_asked]
            n_rows = max(1, min(_BATCH, _BATCH_CANDIDATES // int(n_asked)))
            batches += [alike[at : at + n_rows] for at in range(0, len(alike), n_rows)]
        alone = partial(faiss.omp_set_num_threads, 1)  # FAISS uses one thread in each thread
        is_torch = isinstance(self._index, TorchIndex)
        precise = self._index.precise() if is_torch else nullcontext()
        with precise, thread_pool(self._threads, alone) as pool:
            for batch, flags in zip(batches, pool.map(answer, batches), strict=True):
                unsure.append(batch[flags])
                advance(len(batch) - int(np.count_nonzero(flags) if self._exact else 0))
        return np.concatenate(unsure)

    def _count(self, queries: Ids, thresholds: Singles, components: Ids) -> Counts:
        if isinstance(self._index, TorchIndex):
            return self._count_there(self._index, queries, thresholds, components)
        distinct, of_queries = np.unique(self._row_of[queries], return_inverse=True)
        units = self._units(distinct)
        counts = np.zeros(len(queries), np.int64)
        shape = (self._index.ntotal, self._index.d)
        stored = faiss.rev_swig_ptr(self._index.get_xb(), shape[0] * shape[1]).reshape(shape)
        for block in slices_of(len(self._points.starts) - 1, POINTS_AT_ONCE):
            cosines = units @ stored[block].T
            estimates = Candidates(_NO_IDS, cosines, of_queries, self._error)
            counts += count_as_similar(
                self._points, queries, thresholds, components, block.start, estimates
            )
        return counts

    def _count_there(
        self, index: TorchIndex, queries: Ids, thresholds: Singles, components: Ids
    ) -> Counts:
        """Count on the index's device; points within its error of a threshold are decided here."""
        starts, members = self._points.starts, self._points.members
        low, high = thresholds - self._error, thresholds + self._error
        units = self._units(self._row_of[queries])
        counts = np.zeros(len(queries), np.int64)
        with index.precise():
            there = index.on_device(units, low, high, components[queries])
            for block in slices_of(len(starts) - 1, POINTS_AT_ONCE):
                begin, end = block.start, block.stop
                points = np.repeat(np.arange(end - begin), np.diff(starts[begin : end + 1]))
                block_components = components[members[starts[begin] : starts[end]]]
                above, rows, between = index.compare(there, begin, points, block_components)
                counts += above
                counts += count_between(
                    self._points, queries, thresholds, components, rows, between
                )
        return counts
