"""Ranks candidates by cosine: similarities in single precision, ties by hashes of content.

A similarity is the cosine in double precision, summed in one order, then rounded to single
precision. So it is the same on any machine, and terms whose vectors are mathematically equally
similar tie, though their last digits differ. Points of equal vectors are looked at once.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.best import enter
from medsim.kernels.compiler import kernel
from medsim.kernels.packing import mixed, tie_of

if TYPE_CHECKING:
    from medsim.kernels.best import Best
    from medsim.kernels.types import (
        Counts,
        Hashes,
        Ids,
        Places,
        Rows,
        Singles,
        Starts,
        Values,
        Vectors,
    )


class Points(NamedTuple):
    """Terms as vectors.

    Attributes:
        vectors: float32[n_points, n_dimensions].
        lengths: float64[n_points], of ``lengths``.
        groups: int32[n_points]; points of one group are never each other's candidates.
        hashes: uint64[n_points], of the terms' content.
        members: int32[n_points], the points of each distinct vector, ascending.
        starts: int64[n_distinct + 1], where those of each begin.
    """

    vectors: Vectors
    lengths: Values
    groups: Ids
    hashes: Hashes
    members: Ids
    starts: Starts


class Candidates(NamedTuple):
    """Distinct vectors that may be the nearest of queries; equal queries share them.

    Attributes:
        ids: int64[n_distinct_queries, n_candidates], distinct in a row; -1 is none.
        estimates: float32[n_distinct_queries, n_candidates], their cosines, descending.
        rows: int64[n_queries], the row of each query.
        error: the most by which an estimate may be wrong.
    """

    ids: Places
    estimates: Vectors
    rows: Rows
    error: np.float32


@kernel
def vector_hashes(vectors: Vectors) -> Hashes:
    """Return a hash of the bits of each row: uint64[n_rows]."""
    found = np.empty(len(vectors), np.uint64)
    for row in range(len(vectors)):
        bits = vectors[row].view(np.uint32)
        word = np.uint64(0)
        for at in range(len(bits)):
            word = mixed(word ^ np.uint64(bits[at]))
        found[row] = word
    return found


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
    points: Points, query: int, distinct: int, seed: np.uint64, best: Best, slot: int
) -> None:
    """Insert the points of a distinct vector that are in other groups into a query's best."""
    of_vector = points.members[points.starts[distinct] : points.starts[distinct + 1]]
    alike = similarity(points, query, of_vector[0])
    for found in of_vector:
        if points.groups[found] != points.groups[query]:
            tie = tie_of(seed, points.hashes[query], points.hashes[found])
            enter(best, slot, found, -alike, tie)


@kernel
def keep_nearest(
    points: Points, queries: Ids, candidates: Candidates, seed: np.uint64, slots: Ids, best: Best
) -> None:
    """Fill the slots of some queries with the nearest of their candidates.

    ``slots`` are a query's rows of ``best``, which no two threads share; they are emptied, then
    filled. A query is done when no remaining candidate can enter.
    """
    for row in range(len(queries)):
        slot = slots[row]
        best.counts[slot] = 0
        of_row = candidates.rows[row]
        last = best.starts[slot + 1] - 1
        for at in range(candidates.ids.shape[1]):
            highest = candidates.estimates[of_row, at] + candidates.error
            is_full = best.starts[slot] + best.counts[slot] > last
            if is_full and -best.distances[last] > highest:
                break
            if candidates.ids[of_row, at] >= 0:
                _consider(points, queries[row], candidates.ids[of_row, at], seed, best, slot)


@kernel
def keep_nearest_of_all(
    points: Points, queries: Ids, seed: np.uint64, slots: Ids, best: Best
) -> None:
    """Fill the slots of some queries with the nearest of all points; see ``keep_nearest``.

    Time O(n_queries * n_distinct * n_dimensions).
    """
    for row in range(len(queries)):
        best.counts[slots[row]] = 0
        for distinct in range(len(points.starts) - 1):
            _consider(points, queries[row], distinct, seed, best, slots[row])


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
    estimates: Candidates,
) -> Counts:
    """Return for each query how many points of a block are at least as similar as its threshold.

    Points of the query's component do not count. Estimates are of a block of distinct vectors, of
    which ``begin`` is the first and no ids are given; one that is nearer than the error to the
    threshold is computed again. int64[n_queries].
    """
    counts = np.zeros(len(queries), np.int64)
    for row in range(len(queries)):
        query, threshold = queries[row], thresholds[row]
        low, high = threshold - estimates.error, threshold + estimates.error
        of_row = estimates.estimates[estimates.rows[row]]
        for at in range(len(of_row)):
            if of_row[at] < low:
                continue
            first = points.members[points.starts[begin + at]]
            if of_row[at] > high or similarity(points, query, first) >= threshold:
                counts[row] += _n_of_others(points, query, begin + at, components)
    return counts


@kernel
def count_between(
    points: Points, queries: Ids, thresholds: Singles, components: Ids, rows: Rows, distinct: Rows
) -> Counts:
    """Return for each query how many of the given points are at least as similar as its threshold.

    They are given as rows of queries and numbers of distinct vectors. Points of the query's
    component do not count. int64[n_queries].
    """
    counts = np.zeros(len(queries), np.int64)
    for at in range(len(rows)):
        row = rows[at]
        first = points.members[points.starts[distinct[at]]]
        if similarity(points, queries[row], first) >= thresholds[row]:
            counts[row] += _n_of_others(points, queries[row], distinct[at], components)
    return counts


@kernel
def _n_of_others(points: Points, query: int, distinct: int, components: Ids) -> int:
    """Return how many points of a distinct vector are not of the query's component."""
    n_found = 0
    for point in points.members[points.starts[distinct] : points.starts[distinct + 1]]:
        n_found += components[point] != components[query]
    return n_found
