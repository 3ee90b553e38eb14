"""Ranks candidates by cosine: similarities in single precision, ties by hashes of content.

A similarity is the cosine in double precision, summed in one order, then rounded to single
precision. So it is the same on any machine, and terms whose vectors are mathematically equally
similar tie, though their last digits differ.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.best import enter
from medsim.kernels.compiler import kernel
from medsim.kernels.hashing import tie_of

if TYPE_CHECKING:
    from medsim.kernels.best import Best
    from medsim.kernels.types import Counts, Hashes, Ids, Places, Singles, Starts, Values, Vectors


class Points(NamedTuple):
    """Terms as vectors.

    Attributes:
        vectors: float32[n_points, n_dimensions].
        lengths: float64[n_points], of ``lengths``.
        groups: int32[n_points]; points of one group are never each other's candidates.
        hashes: uint64[n_points], of the terms' content.
    """

    vectors: Vectors
    lengths: Values
    groups: Ids
    hashes: Hashes


@kernel
def lengths(vectors: Vectors) -> Values:
    """Return the Euclidean length of each row: float64[n_rows]."""
    found = np.empty(len(vectors))
    for row in range(len(vectors)):
        square = 0.0
        for at in range(vectors.shape[1]):
            value = np.float64(vectors[row, at])
            square += value * value
        found[row] = sqrt(square)
    return found


@kernel
def similarity(points: Points, first: int, second: int) -> np.float32:
    """Return the cosine of two points as ``vector_pairs.centred_cosines`` has it, rounded."""
    if points.lengths[first] == 0 or points.lengths[second] == 0:
        return np.float32(0)
    a, b = points.vectors[first], points.vectors[second]
    product = 0.0
    for at in range(len(a)):
        product += np.float64(a[at]) * np.float64(b[at])
    cosine = product / (points.lengths[first] * points.lengths[second])
    return np.float32(min(1.0, max(-1.0, cosine)))


@kernel
def similarities(points: Points, first: Ids, second: Ids) -> Singles:
    """Return the similarity of each pair of points: float32[n_pairs]."""
    found = np.empty(len(first), np.float32)
    for pair in range(len(first)):
        found[pair] = similarity(points, first[pair], second[pair])
    return found


@kernel
def _consider(
    points: Points, query: int, found: int, seed: np.uint64, best: Best, slot: int
) -> None:
    """Let a point of another group enter the best of a query."""
    if points.groups[found] != points.groups[query]:
        tie = tie_of(seed, points.hashes[query], points.hashes[found])
        enter(best, slot, found, -similarity(points, query, found), tie)


@kernel
def keep_nearest(
    points: Points, queries: Ids, candidates: Places, seed: np.uint64, slots: Ids, best: Best
) -> None:
    """Fill the slots of some queries with the nearest of their candidates.

    Candidates are distinct points, int64[n_queries, n_candidates]; -1 is none. ``slots`` says which
    of ``best`` are a query's, of which no two threads share any: they are emptied, then filled.
    """
    for row in range(len(queries)):
        best.counts[slots[row]] = 0
        for found in candidates[row]:
            if found >= 0:
                _consider(points, queries[row], found, seed, best, slots[row])


@kernel
def keep_nearest_of_all(
    points: Points, queries: Ids, seed: np.uint64, slots: Ids, best: Best
) -> None:
    """Fill the slots of some queries with the nearest of all points; see ``keep_nearest``.

    Time O(n_queries * n_points * n_dimensions).
    """
    for row in range(len(queries)):
        best.counts[slots[row]] = 0
        for found in range(len(points.groups)):
            _consider(points, queries[row], found, seed, best, slots[row])


@kernel
def most_similar_linked(
    points: Points, queries: Ids, components: Ids, members: Ids, starts: Starts
) -> Ids:
    """Return the most similar other point of each query's component, the first in case of ties.

    ``members`` are the points of each component in ascending order, and ``starts`` where those of
    each begin. int32[n_queries], -1 where a component has no other point.
    """
    best = np.full(len(queries), -1, np.int32)
    for row in range(len(queries)):
        query = queries[row]
        component = components[query]
        highest = np.float32(-2)
        for other in members[starts[component] : starts[component + 1]]:
            if other != query:
                alike = similarity(points, query, other)
                if alike > highest:
                    best[row], highest = other, alike
    return best


@kernel
def count_as_similar(
    points: Points,
    queries: Ids,
    thresholds: Singles,
    components: Ids,
    begin: int,
    estimates: Vectors,
    error: np.float32,
) -> Counts:
    """Return for each query how many points of a block are at least as similar as its threshold.

    Points of the query's component do not count. ``estimates`` are cosines of the queries with the
    block's points, of which ``begin`` is the first; one that is nearer than ``error`` to the
    threshold, the most by which it may be wrong, is computed anew. int64[n_queries].
    """
    counts = np.zeros(len(queries), np.int64)
    for row in range(len(queries)):
        query, threshold = queries[row], thresholds[row]
        low, high = threshold - error, threshold + error
        for at in range(estimates.shape[1]):
            estimate = estimates[row, at]
            if estimate >= low and components[begin + at] != components[query]:
                alike = estimate > high or similarity(points, query, begin + at) >= threshold
                counts[row] += alike
    return counts
