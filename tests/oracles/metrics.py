"""Obvious and slow similarity metrics, for tests to compare with medsim.

A term is an array of its word vectors, a row each: A is (n1 x d), B is (n2 x d), with n1, n2 and d
at least 1. It imports nothing but numpy and scipy. A vector that is zero or constant has no
direction or no order; where a similarity is undefined for that reason it is 0.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.stats import kendalltau, rankdata

Array = np.ndarray
Similarity = Callable[[Array, Array], float]


def cos(a: Array, b: Array) -> float:
    """Return the cosine of the angle between two vectors, 0 where one of them is zero."""
    if not a.any() or not b.any():
        return 0.0
    # Scaled first, so that no square overflows or vanishes.
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def pearson(a: Array, b: Array) -> float:
    """Return Pearson's correlation, 0 where one vector is constant."""
    if is_constant(a) or is_constant(b):
        return 0.0
    return cos(a - a.mean(), b - b.mean())


def spearman(a: Array, b: Array) -> float:
    """Return Spearman's correlation with average ranks, 0 where one vector is constant."""
    if is_constant(a) or is_constant(b):
        return 0.0
    return pearson(_ranks(a.tobytes(), a.dtype.str), _ranks(b.tobytes(), b.dtype.str))


@cache
def _ranks(vector: bytes, dtype: str) -> Array:
    return rankdata(np.frombuffer(vector, dtype), method="average")


def kendall(a: Array, b: Array) -> float:
    """Return Kendall's tau-b, 0 where one vector is constant."""
    if is_constant(a) or is_constant(b):
        return 0.0
    return _tau_b(a.tobytes(), b.tobytes(), a.dtype.str)


@cache  # SciPy is slow, and words are few
def _tau_b(a: bytes, b: bytes, dtype: str) -> float:
    return float(kendalltau(np.frombuffer(a, dtype), np.frombuffer(b, dtype)).statistic)


def is_constant(vector: Array) -> bool:
    """Return whether all values are equal, also for a single value."""
    return bool((vector == vector[0]).all())


SIMILARITIES: dict[str, Similarity] = {
    "cos": cos,
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
"""The similarities of two vectors, by the name that follows ``avg_`` and ``pair_``."""


def avg(similarity: Similarity, a: Array, b: Array) -> float:
    """Return the similarity of the means of both terms' word vectors."""
    a, b = doubles(a), doubles(b)
    return similarity(a.mean(axis=0), b.mean(axis=0))


def pair(similarity: Similarity, a: Array, b: Array) -> float:
    """Return the mean similarity of every word of one term with every word of the other."""
    a, b = doubles(a), doubles(b)
    return float(np.mean([similarity(first, second) for first in a for second in b]))


def fuzzy_jaccard(a: Array, b: Array) -> float:
    """Return DynaMax-Jaccard (Zhelezniak et al., ICLR 2019, algorithm 1).

    The universe is all word vectors of both terms. How far a term belongs to one of them is the
    greatest dot product that a word of the term has with it, and 0 where that is negative.
    """
    a, b = doubles(a), doubles(b)
    universe = [*a, *b]
    of_a = [max(0.0, *(float(word @ u) for word in a)) for u in universe]
    of_b = [max(0.0, *(float(word @ u) for word in b)) for u in universe]
    return jaccard(of_a, of_b)


def max_jaccard(a: Array, b: Array) -> float:
    """Return the fuzzy Jaccard index of max-pooled terms (Zhelezniak et al., ICLR 2019).

    In each dimension a term has the greatest value of its words, and 0 where that is negative.
    """
    a, b = doubles(a), doubles(b)
    dimensions = range(a.shape[1])
    of_a = [max(0.0, *(float(word[at]) for word in a)) for at in dimensions]
    of_b = [max(0.0, *(float(word[at]) for word in b)) for at in dimensions]
    return jaccard(of_a, of_b)


def jaccard(left: list[float], right: list[float]) -> float:
    """Return the sum of minima over the sum of maxima, 0 where nothing is positive."""
    union = sum(max(x, y) for x, y in zip(left, right, strict=True))
    if union == 0:
        return 0.0
    return sum(min(x, y) for x, y in zip(left, right, strict=True)) / union


def doubles(vectors: Array) -> Array:
    """Return word vectors in double precision."""
    return np.asarray(vectors, np.float64)


METRICS: dict[str, Similarity] = {
    **{f"avg_{name}": lambda a, b, f=f: avg(f, a, b) for name, f in SIMILARITIES.items()},
    **{f"pair_{name}": lambda a, b, f=f: pair(f, a, b) for name, f in SIMILARITIES.items()},
    "fuzzy_jaccard": fuzzy_jaccard,
    "max_jaccard": max_jaccard,
}
"""Every metric by its name: two terms' word vectors in, their similarity out."""
