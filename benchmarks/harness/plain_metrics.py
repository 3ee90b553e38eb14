"""Similarities of two terms with plain NumPy and SciPy, a pair at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    Words: TypeAlias = NDArray[np.float32]
    Compare: TypeAlias = Callable[[NDArray[np.float32], NDArray[np.float32]], float]


def _cosine(a: Vector, b: Vector) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def _pearson(a: Vector, b: Vector) -> float:
    return float(stats.pearsonr(a, b).statistic)


def _spearman(a: Vector, b: Vector) -> float:
    return float(stats.spearmanr(a, b).statistic)


def _kendall(a: Vector, b: Vector) -> float:
    return float(stats.kendalltau(a, b).statistic)


OF_VECTORS: dict[str, Compare] = {
    "cos": _cosine,
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}
"""Metrics of two vectors, float32[n_dimensions] each, under medsim's names."""


def _averaged(compare: Compare) -> Compare:
    return lambda a, b: compare(a.mean(axis=0), b.mean(axis=0))


def _paired(compare: Compare) -> Compare:
    return lambda a, b: float(np.mean([compare(left, right) for left in a for right in b]))


def _dynamax(a: Words, b: Words) -> float:
    universe = np.vstack((a, b)).T
    left = (a @ universe).max(axis=0).clip(0)
    right = (b @ universe).max(axis=0).clip(0)
    return _jaccard(left, right)


def _max_jaccard(a: Words, b: Words) -> float:
    return _jaccard(a.max(axis=0).clip(0), b.max(axis=0).clip(0))


def _jaccard(left: Vector, right: Vector) -> float:
    return float(np.minimum(left, right).sum() / np.maximum(left, right).sum())


OF_WORDS: dict[str, Compare] = {
    **{f"avg_{name}": _averaged(compare) for name, compare in OF_VECTORS.items()},
    **{f"pair_{name}": _paired(compare) for name, compare in OF_VECTORS.items()},
    "fuzzy_jaccard": _dynamax,
    "max_jaccard": _max_jaccard,
}
"""Metrics of two bags of word vectors, float32[n_words, n_dimensions] each, likewise."""
