"""Indexes that propose the points of highest cosine, by FAISS or on a GPU by PyTorch."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import faiss
import numpy as np

from medsim.core.config import thread_pool
from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

    from medsim.kernels.types import Counts, Ids, Places, Rows, Singles, Vectors

INDEXES = ("flat", "ivf", "hnsw")
"""Indexes: flat compares with every point, ivf with those of the nearest cells, hnsw with those
that it comes to on a way from neighbour to neighbour."""

FEWEST_POINTS = 80
"""Of which any index is flat where there are fewer: one cell would be all."""

BLOCK = 4096
"""Points that are handed over at once."""

_COLUMNS = 1 << 14  # values a query that are kept on a GPU at once

_SINGLE, _HALF = 2.0**-24, 2.0**-11  # rounding errors, relative

_CELLS = 4  # times the square root of the points
_POINTS_A_CELL = 40  # that cells are learnt from
_CELLS_A_PROBE = 64  # one in so many cells is searched
_LINKS = 16  # of a point in each layer of a graph, twice as many in the lowest
_TRIED_TO_LINK, _TRIED = 40, 100  # the nearest points that are kept while linking, and searching


class Index(Protocol):
    """An index as FAISS has it."""

    def add(self, units: Vectors) -> None:
        """Add points, which are numbered in the order in which they come."""

    def search(self, units: Vectors, n_asked: int) -> tuple[Vectors, Places]:
        """Return cosines of the nearest points, descending, and these; -1 where there are none."""


class Limits(NamedTuple):
    """Queries and the cosines between which it is not sure that a point counts.

    Attributes:
        units: float32[n_queries, n_dimensions], of length 1.
        low: float32[n_queries].
        high: float32[n_queries].
        components: int32[n_queries].
    """

    units: Vectors
    low: Singles
    high: Singles
    components: Ids


class Members(NamedTuple):
    """The terms whose vectors are the points of a block.

    Attributes:
        points: int64[n_members], the point of each, numbered within the block.
        components: int32[n_members].
    """

    points: Rows
    components: Ids


class FlatIndex:
    """Compares with every point, in the calling thread."""

    def __init__(self, n_dimensions: int) -> None:
        self._index = faiss.IndexFlatIP(n_dimensions)

    def add(self, units: Vectors) -> None:
        """Add points."""
        self._index.add(units)

    def search(self, units: Vectors, n_asked: int) -> tuple[Vectors, Places]:
        """Return the nearest points; see ``Index``."""
        found: tuple[Vectors, Places] = self._index.search(units, n_asked)
        return found

    def cosines(self, units: Vectors, begin: int, end: int) -> Vectors:
        """Return cosines with a slice of the points: float32[n_units, n_points]."""
        shape = (self._index.ntotal, self._index.d)
        stored = faiss.rev_swig_ptr(self._index.get_xb(), shape[0] * shape[1]).reshape(shape)
        products: Vectors = units @ stored[begin:end].T
        return products


class TorchIndex:
    """Compares with every point on a device of PyTorch, while ``precise`` lasts."""

    def __init__(self, torch: Any, device: str) -> None:
        self._torch, self._device = torch, device
        self._blocks: list[Any] = []

    def add(self, units: Vectors) -> None:
        """Add points."""
        with self._telling():
            self._blocks.append(self._there(units))

    def search(self, units: Vectors, n_asked: int) -> tuple[Vectors, Places]:
        """Return the nearest points; see ``Index``."""
        with self._telling():
            own, first = self._there(units), 0
            values: Any = []
            ids: Any = []
            for block in self._blocks:
                best = self._torch.topk(own @ block.T, min(n_asked, len(block)), dim=1)
                values.append(best.values)
                ids.append(best.indices + first)
                first += len(block)
                if len(values) * n_asked > _COLUMNS:
                    values, ids = self._best(values, ids, n_asked)
            (values,), (ids,) = self._best(values, ids, n_asked)
            return values.cpu().numpy(), ids.cpu().numpy()

    def placed(self, limits: Limits) -> Any:
        """Return limits on the device, as ``compare`` takes them."""
        with self._telling():
            return Limits(*map(self._there, limits))

    def compare(self, limits: Any, begin: int, members: Members) -> tuple[Counts, Rows, Rows]:
        """Compare queries with the points that were added at once, from ``begin`` on.

        Returns:
            How many members of other components are more similar than the upper limit of each
            query, int64[n_queries]; and what is between its limits, as rows of queries and numbers
            of points, int64[n_between] each.
        """
        with self._telling():
            cosines = limits.units @ self._blocks[begin // BLOCK].T
            above = cosines > limits.high[:, None]
            counts = np.zeros(len(cosines), np.int64)
            for at in range(0, len(members.points), _COLUMNS):
                points, components = (self._there(one[at : at + _COLUMNS]) for one in members)
                others = components != limits.components[:, None]
                counts += (above[:, points] & others).sum(1).cpu().numpy()
            rows, columns = self._torch.where((cosines >= limits.low[:, None]) & ~above)
            return counts, rows.cpu().numpy(), begin + columns.cpu().numpy()

    @contextmanager
    def precise(self) -> Iterator[None]:
        """Let products be summed in single precision, whatever PyTorch was told to prefer.

        So their error is bounded as that of FAISS's. Afterwards PyTorch prefers what it did.
        """
        settings = self._torch.backends.cuda.matmul
        newer = getattr(settings, "fp32_precision", None)  # since 2.9
        older = None
        with suppress(RuntimeError):  # it cannot be read where the newer one was set
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
        """Return the nearest of what several blocks have, as one."""
        every = self._torch.cat(values, dim=1)
        best = self._torch.topk(every, min(n_asked, every.shape[1]), dim=1)
        return [best.values], [self._torch.cat(ids, dim=1).gather(1, best.indices)]

    def _there(self, array: np.ndarray[Any, Any]) -> Any:
        return self._torch.from_numpy(array).to(self._device)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Raise OptionError where the device fails, such as for lack of memory."""
        try:
            yield
        except RuntimeError as error:
            if not re.search("CUDA|CUBLAS|memory", str(error)):
                raise
            reason = str(error).splitlines()[0]
            raise OptionError(
                f"the GPU cannot compare terms ({reason}); `device` cpu leaves it to the processor"
            ) from None


def precisely(index: Any) -> AbstractContextManager[None]:
    """Return a context in which an index errs by no more than ``greatest_error``."""
    return index.precise() if isinstance(index, TorchIndex) else nullcontext()


def made_index(
    index: str, units: Callable[[Rows | slice], Vectors], n_points: int, *, seed: int, device: str
) -> Any:
    """Return an index of some points, given what returns them scaled to length 1.

    One thread makes it, since cells and links depend on the order in which points come. The points
    of a graph are in half precision, as memory is what its searches wait for. A flat
    index is on a GPU where PyTorch finds one and the device is not "cpu"; the others never are.
    """
    n_dimensions = units(slice(0, 0)).shape[1]
    made: Any
    with one_faiss_thread():
        if index == "flat" or n_points < FEWEST_POINTS:
            torch = gpu_library() if device == "auto" else None
            made = TorchIndex(torch, "cuda") if torch else FlatIndex(n_dimensions)
        elif index == "ivf":
            made = _learnt_cells(units, n_points, seed)
        else:
            made = faiss.IndexHNSWSQ(
                n_dimensions,
                faiss.ScalarQuantizer.QT_fp16,  # type: ignore[arg-type]  # as FAISS's own examples
                _LINKS,
                faiss.METRIC_INNER_PRODUCT,
            )
            made.hnsw.efConstruction, made.hnsw.efSearch = _TRIED_TO_LINK, _TRIED
        for begin in range(0, n_points, BLOCK):
            made.add(units(slice(begin, begin + BLOCK)))
    return made


def greatest_error(index: str, n_dimensions: int) -> np.float32:
    """Return the most by which an estimate of an index may be wrong, of vectors of length 1."""
    return np.float32((n_dimensions + 8) * _SINGLE + (2 * _HALF if index == "hnsw" else 0))


def gpu_library() -> Any:
    """Return PyTorch where it is installed and finds a GPU, else None."""
    try:
        import torch  # noqa: PLC0415 — an extra
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def searching(threads: int) -> AbstractContextManager[Executor]:
    """Return threads in each of which FAISS computes alone."""
    return thread_pool(threads, partial(faiss.omp_set_num_threads, 1))


def _learnt_cells(units: Callable[[Rows], Vectors], n_points: int, seed: int) -> Any:
    """Return an index that keeps points in cells around centres, learnt from some of them."""
    n_dimensions = units(np.empty(0, np.int64)).shape[1]
    n_cells = max(1, min(int(_CELLS * n_points**0.5), n_points // _POINTS_A_CELL))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(n_dimensions), n_dimensions, n_cells, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.spherical = True
    index.cp.min_points_per_centroid = 1
    index.cp.niter = 5
    index.cp.seed = seed % (1 << 31)
    index.nprobe = max(1, n_cells // _CELLS_A_PROBE)
    n_learnt = min(n_points, n_cells * _POINTS_A_CELL)
    index.train(units(np.linspace(0, max(n_points - 1, 0), n_learnt).astype(np.int64)))
    return index


@contextmanager
def one_faiss_thread() -> Iterator[None]:
    """Let FAISS compute in the calling thread alone, since its sums depend on its threads."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
