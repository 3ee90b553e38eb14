"""The largest dot products of sparse vectors, against NumPy on dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.kernels.sparse import SparseVectors
from medsim.kernels.types import starts_of
from medsim.neighbours import rankers
from medsim.neighbours.rankers import largest_dot_products

pytestmark = pytest.mark.kernels


def sparse(dense: np.ndarray) -> SparseVectors:
    rows, terms = np.nonzero(dense)
    starts = starts_of(np.bincount(rows, minlength=len(dense)))
    return SparseVectors(starts, terms.astype(np.int32), dense[rows, terms])


def expected(queries: np.ndarray, dense: np.ndarray, depth: int) -> list[object]:
    """Return the numbers and the products of the largest positive ones, for each query."""
    found: list[object] = []
    for products in (queries @ dense.T).astype(np.float32):
        order = sorted(np.flatnonzero(products).tolist(), key=lambda row: (-products[row], row))
        empty = depth - len(order[:depth])
        ids, largest = order[:depth] + [-1] * empty, products[order[:depth]].tolist()
        found.append((ids, largest + [0.0] * empty))
    return found


@given(
    seed=st.integers(0, 2**32 - 1),
    n_terms=st.integers(1, 40),
    n_vectors=st.integers(1, 200),
    depth=st.integers(1, 12),
    at_once=st.tuples(st.integers(1, 9), st.integers(20, 100)),
    threads=st.integers(1, 2),
)
def test_the_largest_products_are_those_of_dense_vectors(
    seed: int, n_terms: int, n_vectors: int, depth: int, at_once: tuple[int, int], threads: int
) -> None:
    rng = np.random.default_rng(seed)
    frequencies = np.linspace(0.05, 0.6, n_terms)  # rare terms first
    # With whole numbers, sums are exact, and many are equal.
    dense, queries = (
        (rng.random((n, n_terms)) < frequencies) * rng.integers(1, 4, (n, n_terms)).astype(float)
        for n in (n_vectors, 12)
    )
    queries[:6] = dense[rng.integers(0, n_vectors, 6)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rankers, "_QUERIES_AT_ONCE", at_once[0])
        patch.setattr(rankers, "_VECTORS_AT_ONCE", at_once[1])
        # Terms of queries are also terms of vectors.
        queries[:, dense.sum(axis=0) == 0] = 0
        ids, products = largest_dot_products(sparse(queries), sparse(dense), depth, threads)
    results = list(zip(ids.tolist(), products.tolist(), strict=True))
    assert results == expected(queries, dense, depth)
