"""Nearest neighbours by cosine against plain NumPy, for every index and any number of threads."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.hashing import mixed

from medsim.core.errors import OptionError
from medsim.embeddings import lookup
from medsim.embeddings.lookup import (
    INDEXES,
    POINTS_AT_ONCE,
    CosineSearch,
    TorchIndex,
    distinct_rows,
)


def rounded_cosines(vectors: np.ndarray) -> np.ndarray:
    """Cosines of all rows with all, in single precision; 0 where one is zero."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1))
    products = np.array([(row * wide).cumsum(axis=1)[:, -1] for row in wide])
    scale = np.outer(lengths, lengths)
    cosines = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
    return np.clip(cosines, -1, 1).astype(np.float32)


def brute_force(cosines, groups, hashes, seed, query, size):
    """The nearest points of other groups: by similarity, then hash, then row."""
    first = mixed(seed ^ int(hashes[query]))
    others = sorted(
        (-cosines[query, other], mixed(first ^ int(hashes[other])), other)
        for other in np.flatnonzero(groups != groups[query]).tolist()
    )
    return [other for _, _, other in others[:size]]


def points(seed: int, n_points: int, n_dimensions: int):
    """Vectors of small whole numbers: many tie, and some are equal, scaled or zero."""
    draw = np.random.default_rng(seed)
    vectors = draw.integers(-1, 2, (n_points, n_dimensions)).astype(np.float32)
    vectors *= draw.choice([1, 1, 0.1, 7], n_points)[:, None].astype(np.float32)
    groups = draw.integers(0, max(1, n_points // 2), n_points).astype(np.int32)
    hashes = draw.integers(0, 1 << 63, n_points).astype(np.uint64)
    return vectors, groups, hashes


@settings(max_examples=50)
@given(
    seed=st.integers(0, 1000),
    n_points=st.integers(1, 40),
    n_dimensions=st.integers(1, 5),
    size=st.integers(0, 45),
)
def test_a_flat_index_gives_what_comparing_all_points_gives(
    seed: int, n_points: int, n_dimensions: int, size: int
) -> None:
    vectors, groups, hashes = points(seed, n_points, n_dimensions)
    queries = np.arange(n_points, dtype=np.int32)[::-1].copy()
    sizes = np.minimum(size, np.arange(n_points)).astype(np.int32)

    result = CosineSearch(vectors, groups, hashes, seed=5).nearest(queries, sizes)

    cosines = rounded_cosines(vectors)
    for row, query in enumerate(queries):
        slots = slice(result.starts[row], result.starts[row + 1])
        ids, alike = result.ids[slots], result.similarities[slots]
        assert ids.tolist() == brute_force(cosines, groups, hashes, 5, query, sizes[row])
        assert np.array_equal(alike, cosines[query, ids])


@pytest.mark.parametrize("n_candidates", [0, 1, 30, 119, 120])
def test_points_of_inverted_groups_are_only_queries(n_candidates: int) -> None:
    vectors, groups, hashes = points(8, 120, 3)
    marked = np.where(np.arange(120) < n_candidates, groups, ~groups).astype(np.int32)
    queries, sizes = np.arange(120, dtype=np.int32), np.full(120, 7, np.int32)

    result = CosineSearch(vectors, marked, hashes, seed=5).nearest(queries, sizes)

    cosines = rounded_cosines(vectors)
    for query in queries:
        every = brute_force(cosines, groups, hashes, 5, query, 120)
        expected = [point for point in every if point < n_candidates][:7]
        assert result.ids[result.starts[query] : result.starts[query + 1]].tolist() == expected


def test_more_ties_than_requested_from_faiss_are_all_compared(monkeypatch) -> None:
    monkeypatch.setattr("medsim.embeddings.lookup._MOST", 64)
    vectors = np.ones((300, 3), np.float32)
    vectors[250:] = [1, 1, 0]
    groups = np.arange(300, dtype=np.int32)
    hashes = np.random.default_rng(1).integers(0, 1 << 63, 300).astype(np.uint64)
    queries, sizes = np.array([0, 299], np.int32), np.array([3, 60], np.int32)

    result = CosineSearch(vectors, groups, hashes, seed=2, threads=2).nearest(queries, sizes)

    cosines = rounded_cosines(vectors)
    assert result.ids[:3].tolist() == brute_force(cosines, groups, hashes, 2, 0, 3)
    assert result.ids[3:].tolist() == brute_force(cosines, groups, hashes, 2, 299, 60)


@pytest.mark.parametrize(
    "index",
    [pytest.param(i, marks=pytest.mark.slow) if i == "hnsw" else i for i in INDEXES],
)
def test_threads_change_nothing(index: str) -> None:
    draw = np.random.default_rng(3)
    vectors = draw.standard_normal((2000, 24), dtype=np.float32)
    groups = draw.integers(0, 1600, 2000).astype(np.int32)
    hashes = draw.integers(0, 1 << 63, 2000).astype(np.uint64)
    queries, sizes = np.arange(2000, dtype=np.int32), draw.integers(0, 9, 2000).astype(np.int32)

    single, many = (
        CosineSearch(vectors, groups, hashes, index=index, threads=threads).nearest(queries, sizes)
        for threads in (1, 5)
    )

    assert np.array_equal(single.starts, many.starts)
    assert np.array_equal(single.ids, many.ids)
    assert np.array_equal(single.similarities, many.similarities)


@pytest.mark.parametrize("index", ["ivf", "hnsw"])
def test_an_approximate_index_finds_most_of_what_a_flat_one_finds(index: str) -> None:
    draw = np.random.default_rng(4)
    centres = draw.standard_normal((200, 16))
    vectors = np.repeat(centres, 25, axis=0) + 0.2 * draw.standard_normal((5000, 16))
    groups = np.arange(5000, dtype=np.int32)
    hashes = groups.astype(np.uint64)
    queries, sizes = groups[::50], np.full(100, 10, np.int32)

    exact, approximate = (
        CosineSearch(vectors, groups, hashes, index=name).nearest(queries, sizes)
        for name in ("flat", index)
    )

    every, some = (
        {*zip(np.repeat(np.arange(100), np.diff(name.starts)), name.ids, strict=True)}
        for name in (exact, approximate)
    )
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearest = np.argsort(-(units[queries] @ units.T), axis=1)[:, 1:11]  # the first is the query
    assert every == {(row, point) for row, near in enumerate(nearest) for point in near}
    assert 0.9 < len(every & some) / 1000 <= 1


def copies(n_distinct: int, n_points: int) -> np.ndarray:
    """Points, some with equal vectors."""
    draw = np.random.default_rng(n_points)
    distinct = draw.standard_normal((n_distinct, 6), np.float32)
    return distinct[draw.integers(0, n_distinct, n_points)]


def test_rows_with_equal_bits_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.array([[2, 1], [0.0, 1], [2, 1], [-0.0, 1], [3, 1], [0.0, 1]], np.float32)
    assert distinct_rows(vectors).tolist() == [0, 1, 0, 2, 3, 1]
    monkeypatch.setattr(
        "medsim.embeddings.lookup.term_hashes",
        lambda _bits, starts: np.zeros(len(starts) - 1, np.uint64),
    )
    by_chance = np.array([[1, 1], [2, 2], [1, 1], [3, 3]], np.float32)  # all share one hash
    assert distinct_rows(by_chance).tolist() == [0, 1, 0, 2]


def test_points_with_equal_vectors_are_stored_and_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = copies(30, 200)
    groups = np.arange(200, dtype=np.int32)
    hashes = np.random.default_rng(1).integers(0, 1 << 63, 200).astype(np.uint64)
    queries, sizes = np.arange(200, dtype=np.int32), np.full(200, 9, np.int32)
    search = CosineSearch(vectors, groups, hashes, seed=4)
    asked: list[int] = []
    ask = search._index.search

    def counted(units: np.ndarray, n_asked: int) -> tuple[np.ndarray, np.ndarray]:
        asked.append(len(units))
        return ask(units, n_asked)

    monkeypatch.setattr(search._index, "search", counted)
    result = search.nearest(queries, sizes)

    assert asked == [len(np.unique(vectors, axis=0))]
    cosines = rounded_cosines(vectors)
    for query in queries:
        ids = result.ids[result.starts[query] : result.starts[query + 1]]
        assert ids.tolist() == brute_force(cosines, groups, hashes, 4, query, 9)


@pytest.mark.parametrize("index", ["ivf", "hnsw"])
def test_an_approximate_index_gives_all_points_of_each_vector(index: str) -> None:
    vectors = copies(120, 300)
    rows = np.arange(300, dtype=np.int32)
    result = CosineSearch(vectors, rows, rows.astype(np.uint64), index=index).nearest(
        rows, np.full(300, 299, np.int32)
    )
    equal = (vectors[:, None] == vectors).all(axis=2)
    for query in rows:
        ids = result.ids[result.starts[query] : result.starts[query + 1]]
        same = np.flatnonzero(equal[:, ids].any(axis=1))
        assert set(same) - {query} == set(ids.tolist())


@pytest.mark.parametrize("index", INDEXES)
def test_estimates_are_within_the_maximum_error(index: str) -> None:
    draw = np.random.default_rng(7)
    units = draw.standard_normal((500, 40)) * draw.uniform(1e-6, 1, (500, 40))
    units = (units / np.linalg.norm(units, axis=1, keepdims=True)).astype(np.float32)
    made = lookup.made_index(index, lambda rows: units[rows], 500, seed=0, device="cpu")

    estimates, ids = made.search(units[:50], 20)

    wide = units.astype(np.float64)
    exact = (wide[:50, None] * wide[ids]).sum(axis=2)
    error = np.abs(estimates - exact)[ids >= 0].max()
    assert error <= lookup.greatest_error(index, 40)
    if index == "hnsw":
        assert error > lookup.greatest_error("flat", 40)  # its points are in half precision


class FakeTensor(np.ndarray):
    """An array with the methods of PyTorch's tensors that medsim uses."""

    def to(self, device: str) -> FakeTensor:
        """The tensor, on a device."""
        assert device == "cuda"
        return self

    def cpu(self) -> FakeTensor:
        """The tensor, on the processor."""
        return self

    def numpy(self) -> np.ndarray:
        """The values."""
        return np.asarray(self)

    def gather(self, dim: int, index: np.ndarray) -> FakeTensor:
        """Values by their places."""
        return np.take_along_axis(self, np.asarray(index), axis=dim).view(FakeTensor)


def fake_torch() -> SimpleNamespace:
    """The parts of PyTorch that medsim uses, on a machine with a GPU."""

    def topk(values: np.ndarray, k: int, dim: int) -> SimpleNamespace:
        indices = np.argsort(-values, axis=dim, kind="stable")[:, :k]
        best = np.take_along_axis(values, indices, axis=dim)
        return SimpleNamespace(values=best.view(FakeTensor), indices=indices.view(FakeTensor))

    return SimpleNamespace(
        autocast=lambda device, enabled: nullcontext(),  # noqa: ARG005 — as PyTorch names it
        backends=SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=True))),
        cuda=SimpleNamespace(is_available=lambda: True),
        cat=lambda parts, dim: np.concatenate(parts, axis=dim).view(FakeTensor),
        from_numpy=lambda array: array.view(FakeTensor),
        get_float32_matmul_precision=lambda: "highest",
        topk=topk,
        where=lambda mask: tuple(axis.view(FakeTensor) for axis in np.where(mask)),
    )


class OnTheProcessor(TorchIndex):
    """Compares by PyTorch where there is no GPU."""

    def __init__(self, torch: object, device: str) -> None:
        assert device == "cuda"
        super().__init__(torch, "cpu")


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """PyTorch itself, with the processor as its GPU."""
    result = pytest.importorskip("torch", reason="medsim[sentence-transformers] is not installed")
    monkeypatch.setattr(lookup, "gpu_library", lambda: result)
    monkeypatch.setattr(lookup, "TorchIndex", OnTheProcessor)
    return result


@pytest.mark.parametrize("block", [7, POINTS_AT_ONCE])
@pytest.mark.parametrize("columns", [11, 1 << 14])
@pytest.mark.parametrize("is_real", [False, True])
def test_a_gpu_gives_the_same_as_the_processor(
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    block: int,
    columns: int,
    *,
    is_real: bool,
) -> None:
    torch = request.getfixturevalue("torch") if is_real else fake_torch()
    monkeypatch.setattr(lookup, "gpu_library", lambda: torch)
    monkeypatch.setattr(lookup, "_COLUMNS", columns)
    monkeypatch.setattr(lookup, "POINTS_AT_ONCE", block)
    vectors, groups, hashes = points(5, 90, 4)
    queries, sizes = np.arange(90, dtype=np.int32), np.full(90, 8, np.int32)
    there, here = (
        CosineSearch(vectors, groups, hashes, seed=3, device=device) for device in ("auto", "cpu")
    )

    assert isinstance(there._index, TorchIndex)
    assert not isinstance(here._index, TorchIndex)
    assert there.nearest(queries, sizes).ids.tolist() == here.nearest(queries, sizes).ids.tolist()
    thresholds = rounded_cosines(vectors)[queries, queries[::-1]]
    thresholds[::2] = np.nextafter(thresholds[::2], np.float32(2))  # within its error
    counted, expected = (s.count_as_similar(queries, thresholds, groups) for s in (there, here))
    assert counted.tolist() == expected.tolist()
    assert is_real or not torch.backends.cuda.matmul.allow_tf32


@pytest.mark.parametrize("preferred", ["highest", "high", "medium", "tf32", "mixed"])
def test_pytorchs_settings_change_nothing_and_are_restored(
    torch: ModuleType, preferred: str
) -> None:
    settings = torch.backends.cuda.matmul

    def prefer(name: str) -> None:
        torch.set_float32_matmul_precision(name if name in ("high", "medium") else "highest")
        settings.fp32_precision = "tf32" if name in ("high", "medium", "mixed") else "none"
        if name == "tf32":
            settings.allow_tf32 = True

    def preferences() -> list[str]:
        try:
            return [settings.fp32_precision, torch.get_float32_matmul_precision()]
        except RuntimeError as error:  # if it was set in two ways
            return [settings.fp32_precision, str(error)]

    vectors = np.random.default_rng(2).normal(size=(200, 30)).astype(np.float32)
    groups, hashes = np.arange(200, dtype=np.int32), np.arange(200, dtype=np.uint64)
    thresholds = rounded_cosines(vectors)[groups, groups[::-1]]
    here = CosineSearch(vectors, groups, hashes, device="cpu")
    there = CosineSearch(vectors, groups, hashes, device="auto")
    try:
        prefer(preferred)
        before = preferences()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            counted = there.count_as_similar(groups, thresholds, groups)
            assert torch.is_autocast_enabled("cpu")
        assert preferences() == before
    finally:
        prefer("highest")
    assert counted.tolist() == here.count_as_similar(groups, thresholds, groups).tolist()


@pytest.mark.parametrize("method", ["from_numpy", "topk", "where"])
def test_an_error_of_a_gpu_names_the_option_device(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: out of memory\nmore")

    torch = fake_torch()
    monkeypatch.setattr(lookup, "gpu_library", lambda: torch)
    setattr(torch, method, fail)
    vectors, groups, hashes = points(5, 90, 4)
    queries, sizes = np.arange(90, dtype=np.int32), np.full(90, 8, np.int32)

    def search() -> None:
        made = CosineSearch(vectors, groups, hashes, device="auto")
        made.nearest(queries, sizes)
        made.count_as_similar(queries, np.zeros(90, np.float32), groups)

    with pytest.raises(OptionError, match=r"\(CUDA error: out of memory\); try `device` cpu"):
        search()


def test_without_pytorch_or_without_a_gpu_the_processor_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    assert lookup.gpu_library() is None
    torch = fake_torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert lookup.gpu_library() is torch
    torch.cuda.is_available = lambda: False
    assert lookup.gpu_library() is None


@given(seed=st.integers(0, 1000), n_points=st.integers(2, 40))
def test_as_similar_points_of_other_components_are_counted(seed: int, n_points: int) -> None:
    vectors, components, hashes = points(seed, n_points, 4)
    cosines = rounded_cosines(vectors)
    queries = np.arange(n_points, dtype=np.int32)
    thresholds = cosines[queries, (queries * 7 + 1) % n_points]

    search = CosineSearch(vectors, np.arange(n_points, dtype=np.int32), hashes)
    counts = search.count_as_similar(queries, thresholds, components)

    for query in queries:
        others = components != components[query]
        assert counts[query] == np.count_nonzero(cosines[query, others] >= thresholds[query])


def test_no_index_finds_anything_without_points() -> None:
    none = np.empty(0, np.int32)
    points = np.empty((0, 2), np.float32), none, none.astype(np.uint64)
    for index in INDEXES:
        assert len(CosineSearch(*points, index=index).nearest(none, none).ids) == 0
