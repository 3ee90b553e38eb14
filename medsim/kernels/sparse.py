"""Compares sparse vectors: sets by the Jaccard index, and weights of terms by dot products.

The largest dot products are found with a list of vectors for each term. Let ``t`` be the first
term, in order of numbers, that a query and a vector share. By the inequality of Cauchy and Schwarz,
their dot product is at most the norm of the query's values from ``t`` on, times that of the
vector's. The list of ``t`` is in descending order of the latter, so it is read only as far as a
vector can still be a result (the bounds of L2AP, Anastasiu and Karypis, ICDE 2014). If rare terms
come first, little of the long lists of frequent terms is read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.compiler import inner_kernel, kernel
from medsim.kernels.types import FloatTable, Ids, Ranks, Singles, Starts, Values, Vectors

_ROUNDED = np.float32(0.999)  # sums of 10,000 values in single precision are nearer to exact ones
_SKIPPED = np.float32(0.6)  # share of the last result's product that first sums may lack
_FIRST, _NEXT = 5, 4  # vectors met before exact products, times the results and times those before


@kernel
def sort_sets(items: Ids, starts: Starts) -> None:
    """Sort the items of each set in place; set ``i`` is ``items[starts[i]:starts[i + 1]]``."""
    for row in range(len(starts) - 1):
        items[starts[row] : starts[row + 1]].sort()


@kernel
def set_overlaps(
    items: Ids, starts: Starts, first: Ids, second: Ids, weights: Values
) -> FloatTable:
    """Return the weights of items that both sets of a pair have, or only the first or the second.

    Args:
        items: int32[n_items], the items of set ``i`` are ``items[starts[i]:starts[i + 1]]``; an
            item that is repeated counts once. Each set is sorted.
        starts: int64[n_sets + 1].
        first: int32[n_pairs], the first set of each pair.
        second: int32[n_pairs].
        weights: float64[n_distinct], by item.

    Returns:
        float64[8, n_pairs]: the sums for both, the first and the second, the largest weights
        for the first and the second, 0 without items, and the counts of the same three.
    """
    sums = np.zeros((8, len(first)))
    for pair in range(len(first)):
        left, left_end = starts[first[pair]], starts[first[pair] + 1]
        right, right_end = starts[second[pair]], starts[second[pair] + 1]
        while left < left_end or right < right_end:
            if right == right_end or (left < left_end and items[left] <= items[right]):
                item = items[left]
            else:
                item = items[right]
            in_left, in_right = False, False
            while left < left_end and items[left] == item:
                in_left, left = True, left + 1
            while right < right_end and items[right] == item:
                in_right, right = True, right + 1
            side = 2 - in_left if in_left != in_right else 0
            sums[side, pair] += weights[item]
            sums[side + 5, pair] += 1
            if side > 0:
                sums[side + 2, pair] = max(sums[side + 2, pair], weights[item])
    return sums


class SparseVectors(NamedTuple):
    """Vectors with few values.

    Attributes:
        starts: the values of vector ``i`` are ``values[starts[i]:starts[i + 1]]``:
            int64[n_vectors + 1].
        terms: the dimension of each value, distinct in a vector: int32[n_values]. The search is
            faster if rare terms have low numbers. Products are summed in their order in a vector.
        values: float64[n_values], greater than 0.
    """

    starts: Starts
    terms: Ids
    values: Values


class InvertedLists(NamedTuple):
    """For each term, the vectors that have it, of a range of vectors.

    Attributes:
        first: number of the first vector.
        n_vectors: number of vectors.
        starts: beginning of each term's list, and the end of the last: int64[n_terms + 1].
        vectors: vectors of all lists, counted from the first: int32[n_values].
        values: their values: float32[n_values].
        rests: norms of their values of this and later terms, descending in each list:
            float32[n_values].
    """

    first: int
    n_vectors: int
    starts: Starts
    vectors: Ids
    values: Singles
    rests: Singles


@kernel
def inverted_lists(given: SparseVectors, first: int, end: int, n_terms: int) -> InvertedLists:
    """Return the lists of the vectors from ``first`` up to ``end``."""
    base = given.starts[first]
    n_values = given.starts[end] - base
    terms, values = given.terms[base : base + n_values], given.values[base : base + n_values]
    vectors, rests = np.empty(n_values, np.int32), np.empty(n_values, np.float32)
    sizes = np.zeros(n_terms + 1, np.int64)
    for vector in range(first, end):
        begin, stop = given.starts[vector] - base, given.starts[vector + 1] - base
        square = 0.0
        for place in np.argsort(terms[begin:stop])[::-1]:
            at = begin + place
            square += values[at] ** 2
            vectors[at], rests[at] = vector - first, np.sqrt(square)
            sizes[terms[at] + 1] += 1
    starts = np.cumsum(sizes)
    ends, order = starts[:-1].copy(), np.empty(n_values, np.int64)
    for at in np.argsort(-rests):
        order[ends[terms[at]]] = at
        ends[terms[at]] += 1
    single = values[order].astype(np.float32)
    return InvertedLists(first, end - first, starts, vectors[order], single, rests[order])


@kernel
def add_largest_products(
    queries: SparseVectors,
    given: SparseVectors,
    lists: InvertedLists,
    ids: Ranks,
    products: Vectors,
) -> None:
    """Add the vectors of lists to the results of queries if their dot products are large enough.

    Results are by descending product in single precision, then by vector. First sums may lack the
    products of frequent terms. Vectors that may be results according to them are compared exactly.

    Args:
        queries: vectors to compare with; each of their terms has a list.
        given: all vectors.
        lists: lists of a range of ``given``.
        ids: results, -1 for none: int32[n_queries, n_results]; written in place.
        products: their products, 0 for none: float32[n_queries, n_results]; written in place.
    """
    asked = np.zeros(len(lists.starts) - 1)
    sums, met = np.zeros(lists.n_vectors, np.float32), np.empty(lists.n_vectors + 1, np.int32)
    for query in range(len(ids)):
        own = slice(queries.starts[query], queries.starts[query + 1])
        terms, square = queries.terms[own], 0.0
        for at, value in enumerate(queries.values[own]):
            asked[terms[at]] = value
            square += value**2
        n_met, n_next = 0, _FIRST * ids.shape[1]
        found, skipped = (ids[query], products[query]), np.float32(0)
        for term in np.sort(terms):
            value, least = np.float32(asked[term]), products[query, -1]
            rest = np.float32(_ROUNDED * least / np.sqrt(square))
            at, end = lists.starts[term], lists.starts[term + 1]
            while at < end and lists.rests[at] >= rest:
                vector = lists.vectors[at]
                met[n_met] = vector
                n_met += sums[vector] == 0
                sums[vector] += value * lists.values[at]
                at += 1
            while at < end and lists.rests[at] >= rest * _SKIPPED:  # too late to be met
                total = sums[lists.vectors[at]]
                sums[lists.vectors[at]] = total + value * lists.values[at] * np.float32(total != 0)
                at += 1
            skipped = _SKIPPED * least if at < end else skipped
            square = max(square - asked[term] ** 2, 1e-30)
            if n_met >= n_next:
                _compare_exactly(given, lists.first, asked, met[:n_met], sums, np.float32(0), found)
                n_next = _NEXT * n_met
        _compare_exactly(given, lists.first, asked, met[:n_met], sums, skipped, found)
        for at in range(n_met):
            sums[met[at]] = 0
        for term in terms:
            asked[term] = 0


@inner_kernel
def _compare_exactly(
    given: SparseVectors,
    first: int,
    asked: Values,
    met: Ids,
    sums: Singles,
    skipped: np.float32,
    results: tuple[Ids, Singles],
) -> None:
    """Compare the vectors met whose sums, with what they may lack, reach the last result.

    Sums of compared vectors become minus infinity, so they are compared once.
    """
    ids, products = results
    last = len(ids) - 1
    for met_vector in met:
        if sums[met_vector] < (products[last] - skipped) * _ROUNDED:
            continue
        sums[met_vector] = -np.inf
        vector, total = first + met_vector, 0.0
        for at in range(given.starts[vector], given.starts[vector + 1]):
            total += asked[given.terms[at]] * given.values[at]
        product, place = np.float32(total), last
        if product < products[last] or (product == products[last] and vector > ids[last]):
            continue
        while place > 0 and (
            products[place - 1] < product
            or (products[place - 1] == product and ids[place - 1] > vector)
        ):
            ids[place], products[place] = ids[place - 1], products[place - 1]
            place -= 1
        ids[place], products[place] = vector, product
