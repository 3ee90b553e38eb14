"""Ranks candidates by cosine: similarities in single precision, ties by hashes of content.

A similarity is the cosine, summed in double precision in a fixed order, then rounded to single
precision. So it is the same on any machine, and terms whose vectors are mathematically equally
similar tie even if their last digits differ. Points with equal vectors are compared once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.best import Best, enter
from medsim.kernels.compiler import kernel
from medsim.kernels.packing import tie_of
from medsim.kernels.types import Counts, Hashes, Ids, Places, Rows, Singles, Starts, Values, Vectors


class Points(NamedTuple):
    """Terms as vectors.

    Attributes:
        vectors: float32[n_points, n_dimensions].
        lengths: float64[n_points], infinite for vectors of zeros, so that their cosines are 0.
        groups: int32[n_points]; points of the same group are never each other's candidates.
        hashes: uint64[n_points], hashes of the terms' content.
        members: int32[n_points], the points of each distinct vector, ascending.
        starts: int64[n_distinct + 1], where the members of each distinct vector begin.
    """

    vectors: Vectors
    lengths: Values
    groups: Ids
    hashes: Hashes
    members: Ids
    starts: Starts


class Candidates(NamedTuple):
    """Distinct vectors that may be the nearest neighbours of queries; equal queries share them.

    Attributes:
        ids: int64[n_distinct_queries, n_candidates], distinct in a row; -1 means no candidate.
        estimates: float32[n_distinct_queries, n_candidates], their cosines, descending.
        rows: int64[n_queries], the row of each query.
        error: the maximum error of an estimate.
    """

    ids: Places
    estimates: Vectors
    rows: Rows
    error: np.float32


@kernel
def similarity(points: Points, first: int, second: int) -> np.float32:
    """Return the cosine of two points as in ``vectors.centred_cosines``, rounded."""
    a, b = points.vectors[first], points.vectors[second]
    product = 0.0
    for at in range(len(a)):
        product += np.float64(a[at]) * np.float64(b[at])
    cosine = product / (points.lengths[first] * points.lengths[second])
    return np.float32(min(1.0, max(-1.0, cosine)))


@kernel
def _consider(
    points: Points, query: int, distinct: int, seed: np.uint64, best: Best, slot: int
) -> None:
    """Insert those points of a distinct vector that are in other groups into a query's best."""
    of_vector = points.members[points.starts[distinct] : points.starts[distinct + 1]]
    alike = similarity(points, query, of_vector[0])
    for candidate in of_vector:
        if points.groups[candidate] != points.groups[query]:
            tie = tie_of(seed, points.hashes[query], points.hashes[candidate])
            enter(best, slot, candidate, -alike, tie)


@kernel
def keep_nearest(
    points: Points, queries: Ids, candidates: Candidates, seed: np.uint64, slots: Ids, best: Best
) -> None:
    """Fill the slots of some queries with the nearest of their candidates.

    ``queries``, int32[n_queries], are points, and ``slots``, int32[n_queries], their numbers in
    ``best``. No two threads share a slot; slots are emptied,
    then filled. A query is done when no remaining candidate can enter.
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
def most_similar_linked(
    points: Points,
    queries: Ids,
    components: Ids,
    members: Ids,
    starts: Starts,
    best: Ids,
    highest: Singles,
) -> None:
    """Find the most similar other point of each query's component, the first in case of ties.

    ``members`` are the points of each component in ascending order, and ``starts`` says where each
    component begins. The points are written to ``best``, int32[n_queries], and their similarities
    to ``highest``, float32[n_queries], which is below -1 before.
    """
    for row in range(len(queries)):
        query = queries[row]
        component = components[query]
        for other in members[starts[component] : starts[component + 1]]:
            if other != query:
                alike = similarity(points, query, other)
                if alike > highest[row]:
                    best[row], highest[row] = other, alike


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

    Points of the query's component do not count. ``estimates`` covers a block of distinct vectors
    from ``begin`` on, without ids. If an estimate is nearer to the threshold than the maximum
    error, the similarity is computed exactly. Returns int64[n_queries].
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

    ``rows`` are rows of queries, and ``distinct`` the distinct vectors to compare with them. Points
    of the query's component do not count. Returns int64[n_queries].
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
    """Return how many points of a distinct vector are outside the query's component."""
    n_others = 0
    for point in points.members[points.starts[distinct] : points.starts[distinct + 1]]:
        n_others += components[point] != components[query]
    return n_others
