"""Errors and mean similarities of categories, against loops over triples."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from medsim.embeddings.metrics import Workers
from medsim.evaluations import separation as module
from medsim.evaluations.separation import Separation, separation

Found = tuple[dict[tuple[int, int], tuple[int, int]], dict[tuple[int, int], float]]


def by_triples(similarities: np.ndarray, categories: list[list[int]]) -> Found:
    """Return triples and errors, and mean similarities, of every two categories."""
    counts, means = {}, {}
    for x, y in product(range(len(categories)), repeat=2):
        own, other = categories[x], categories[y]
        if x == y:
            pairs = list(combinations(own, 2))
        else:
            pairs = list(product(own, other))
            triples = [(a, b, c) for a in own for b in own if b != a for c in other]
            errors = sum(similarities[a, b] <= similarities[a, c] for a, b, c in triples)
            counts[x, y] = len(triples), int(errors)
        values = [float(similarities[pair]) for pair in pairs]
        means[x, y] = sum(values) / len(values) if values else np.nan
    return counts, means


def symmetric(n_terms: int, steps: int, seed: int) -> np.ndarray:
    """Similarities of few steps tie often."""
    drawn = np.random.default_rng(seed).integers(0, steps, (n_terms, n_terms))
    return ((drawn + drawn.T) / (2 * steps)).astype(np.float32)


def separated(
    similarities: np.ndarray, sizes: list[int], threads: int = 1, *, near: bool = False
) -> Separation:
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    workers = Workers(threads=threads)
    return separation(lambda part: similarities[part].copy(), starts, workers, near=near)


@pytest.mark.parametrize("steps", [1, 4, 10**6])
@pytest.mark.parametrize("sizes", [[5, 7, 6], [9, 1], [2, 3, 4, 5], [0, 4, 3], [1, 1]])
@pytest.mark.parametrize("n_values", [1, 40, 1 << 24])
def test_the_error_is_that_of_a_loop_over_triples(
    sizes: list[int], steps: int, n_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", n_values)
    similarities = symmetric(sum(sizes), steps, seed=len(sizes) + steps)
    ends = np.cumsum(sizes)
    categories = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]

    found = separated(similarities, sizes)

    counts, means = by_triples(similarities, categories)
    for (x, y), (n_triples, n_errors) in counts.items():
        assert (found.n_triples[x, y], found.n_errors[x, y]) == (n_triples, n_errors)
    for (x, y), mean in means.items():
        assert found.mean_similarity[x, y] == pytest.approx(mean, nan_ok=True)
    assert not found.n_triples.diagonal().any()
    assert not found.n_errors.diagonal().any()


@pytest.mark.parametrize("steps", [1, 4, 10**6])
@pytest.mark.parametrize("sizes", [[5, 7, 6], [3, 2, 4, 5], [1, 1, 1], [0, 4, 3], [4, 0, 3]])
@pytest.mark.parametrize("n_values", [1, 40, 1 << 24])
def test_the_error_of_near_categories_is_that_of_a_loop_over_triples(
    sizes: list[int], steps: int, n_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", n_values)
    sim = symmetric(sum(sizes), steps, seed=len(sizes) + steps)
    first, second, *far = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])

    found = separated(sim, sizes, near=True)

    for at, others in enumerate(far, start=2):
        errors = [sum(int(sim[i, j] <= sim[i, k]) for j in second for k in others) for i in first]
        assert found.errors[: len(first), at].tolist() == errors
        assert found.n_errors[0, at] == sum(errors)
        assert found.n_triples[0, at] == len(first) * len(second) * len(others)
    for counts in (found.n_errors, found.n_triples):
        assert not counts[1:].any()
        assert not counts[:, :2].any()
    means = separated(sim, sizes).mean_similarity
    assert found.mean_similarity.tobytes() == means.tobytes()


def test_the_overlap_error_is_that_of_the_papers_formula() -> None:
    # Diagnostic procedures d1, d2; therapeutic t1, t2; organisms o1, o2, o3. Of the 12 triples
    # errors are, for d1: (t1, o2), since 0.4 <= 0.4, and (t1, o3), since 0.4 <= 0.7; for d2:
    # (t1, o1), (t1, o2) and (t2, o1), (t2, o2), since 0.1 and 0.2 <= 0.3 and 0.5. O = 6 / 12.
    across = [[0.4, 0.8, 0.3, 0.4, 0.7], [0.1, 0.2, 0.3, 0.5, 0.0]]
    similarities = np.ones((7, 7), np.float32)
    similarities[:2, 2:] = across
    similarities[2:, :2] = np.transpose(across)

    found = separated(similarities, [2, 2, 3], near=True)

    assert found.errors[:2, 2].tolist() == [2, 4]
    assert found.n_errors[0, 2] / found.n_triples[0, 2] == 6 / 12


def test_a_term_is_not_compared_with_itself() -> None:
    # The similarity of a term with itself is least here: it would be an error with every c.
    similarities = np.array([[-1, 0.9, 0.5], [0.9, -1, 0.5], [0.5, 0.5, -1]], np.float32)
    found = separated(similarities, [2, 1])
    assert found.n_errors.tolist() == [[0, 0], [0, 0]]
    assert found.n_triples.tolist() == [[0, 2], [0, 0]]


def test_separation_depends_neither_on_threads_nor_on_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    similarities = symmetric(120, 50, seed=1)
    sizes = [50, 30, 40]
    one = separated(similarities, sizes)
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", 120 * 7)
    monkeypatch.setattr(module, "_ROWS_A_TASK", 2)
    many = separated(similarities, sizes, threads=5)
    assert one.n_errors.tolist() == many.n_errors.tolist()
    assert one.mean_similarity.tobytes() == many.mean_similarity.tobytes()
