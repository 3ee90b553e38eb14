"""Nearest neighbours by cosine against plain NumPy, for every index and any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.hashing import mixed

from medsim.core.errors import OptionError
from medsim.embeddings.lookup import INDEXES, CosineSearch


def rounded_cosines(vectors: np.ndarray) -> np.ndarray:
    """Cosines of all rows with all, in single precision; 0 where one is zero."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1))
    products = np.array([[(a * b).cumsum()[-1] for b in wide] for a in wide])
    scale = np.outer(lengths, lengths)
    cosines = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
    return np.clip(cosines, -1, 1).astype(np.float32)


def brute_force(vectors, groups, hashes, seed, query, size):
    """The nearest points of other groups: by similarity, then hash, then row."""
    cosines = rounded_cosines(vectors)
    first = mixed(seed ^ int(hashes[query]))
    others = sorted(
        (-cosines[query, other], mixed(first ^ int(hashes[other])), other)
        for other in np.flatnonzero(groups != groups[query]).tolist()
    )
    return [other for _, _, other in others[:size]]


def points(seed: int, n_points: int, n_dimensions: int):
    """Vectors of small whole numbers, so that many tie and some are equal, scaled or zero."""
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

    found = CosineSearch(vectors, groups, hashes, seed=5).nearest(queries, sizes)

    cosines = rounded_cosines(vectors)
    for row, query in enumerate(queries):
        ids = found.ids[found.starts[row] : found.starts[row + 1]]
        alike = found.similarities[found.starts[row] : found.starts[row + 1]]
        assert ids.tolist() == brute_force(vectors, groups, hashes, 5, query, sizes[row])
        assert np.array_equal(alike, cosines[query, ids])


def test_ties_that_fill_more_than_what_faiss_is_asked_for_are_all_weighed(monkeypatch) -> None:
    monkeypatch.setattr("medsim.embeddings.lookup._MOST", 64)
    vectors = np.ones((300, 3), np.float32)
    vectors[250:] = [1, 1, 0]
    groups = np.arange(300, dtype=np.int32)
    hashes = np.random.default_rng(1).integers(0, 1 << 63, 300).astype(np.uint64)
    queries, sizes = np.array([0, 299], np.int32), np.array([3, 60], np.int32)

    found = CosineSearch(vectors, groups, hashes, seed=2, threads=2).nearest(queries, sizes)

    assert found.ids[:3].tolist() == brute_force(vectors, groups, hashes, 2, 0, 3)
    assert found.ids[3:].tolist() == brute_force(vectors, groups, hashes, 2, 299, 60)


@pytest.mark.parametrize("index", INDEXES)
def test_threads_change_nothing(index: str) -> None:
    draw = np.random.default_rng(3)
    vectors = draw.standard_normal((5000, 24), dtype=np.float32)
    groups = draw.integers(0, 4000, 5000).astype(np.int32)
    hashes = draw.integers(0, 1 << 63, 5000).astype(np.uint64)
    queries, sizes = np.arange(5000, dtype=np.int32), draw.integers(0, 9, 5000).astype(np.int32)

    one, many = (
        CosineSearch(vectors, groups, hashes, index=index, threads=threads).nearest(queries, sizes)
        for threads in (1, 5)
    )

    assert np.array_equal(one.starts, many.starts)
    assert np.array_equal(one.ids, many.ids)
    assert np.array_equal(one.similarities, many.similarities)


def test_an_ivf_index_finds_most_of_what_a_flat_one_finds() -> None:
    draw = np.random.default_rng(4)
    centres = draw.standard_normal((200, 16))
    vectors = np.repeat(centres, 25, axis=0) + 0.2 * draw.standard_normal((5000, 16))
    groups = np.arange(5000, dtype=np.int32)
    hashes = groups.astype(np.uint64)
    queries, sizes = groups[::50], np.full(100, 10, np.int32)

    exact, approximate = (
        CosineSearch(vectors, groups, hashes, index=index).nearest(queries, sizes)
        for index in ("flat", "ivf")
    )

    every, some = (
        {
            (row, point)
            for row, ids in enumerate(np.split(one.ids, one.starts[1:-1]))
            for point in ids
        }
        for one in (exact, approximate)
    )
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearest = np.argsort(-(units[queries] @ units.T), axis=1)[:, 1:11]  # the first is the query
    assert every == {(row, point) for row, near in enumerate(nearest) for point in near}
    assert 0.9 < len(every & some) / 1000 <= 1


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


def test_an_unknown_index_is_named_with_those_that_there_are() -> None:
    none = np.empty(0, np.int32)
    with pytest.raises(OptionError, match=r"hnsw.*flat"):
        CosineSearch(np.empty((0, 2), np.float32), none, none.astype(np.uint64), index="hnsw")


@pytest.mark.parametrize("index", INDEXES)
def test_without_points_nothing_is_found(index: str) -> None:
    none = np.empty(0, np.int32)
    search = CosineSearch(np.empty((0, 2), np.float32), none, none.astype(np.uint64), index=index)

    assert len(search.nearest(none, none).ids) == 0
