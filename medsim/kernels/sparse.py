"""Compares sparse vectors: sets by the Jaccard index, and weights of terms by dot products."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.types import FloatTable, Ids, Singles, Starts, Values


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


class InvertedLists(NamedTuple):
    """The rows in which each term occurs.

    Attributes:
        starts: beginning of each term's list, and the end of the last: int64[n_terms + 1].
        rows: rows of all lists, ascending within a list: int32[n_weights].
        weights: weights of the terms in these rows: float64[n_weights].
        n_rows: number of rows.
    """

    starts: Starts
    rows: Ids
    weights: Values
    n_rows: int


@kernel
def largest_dot_products(
    terms: Ids, values: Values, ends: Starts, lists: InvertedLists, most: int
) -> tuple[Ids, Singles, Starts]:
    """Return the rows of the largest positive dot products with each query.

    Args:
        terms: terms of all queries, as numbers of lists: int32[n_values].
        values: values of these terms: float64[n_values].
        ends: end of each query in ``terms``, after a 0: int64[n_queries + 1].
        lists: rows to compare with.
        most: maximum number of results per query.

    Returns:
        Rows, by descending dot product and then ascending; their dot products in single precision,
        in which ties are decided; and the beginning of each query's results, and the end.
    """
    n_queries = len(ends) - 1
    ids = np.empty(n_queries * most, np.int32)
    products = np.empty(n_queries * most, np.float32)
    begins = np.zeros(n_queries + 1, np.int64)
    totals, met = np.zeros(lists.n_rows), np.empty(lists.n_rows, np.int32)
    for query in range(n_queries):
        n_met = 0
        for at in range(ends[query], ends[query + 1]):
            for place in range(lists.starts[terms[at]], lists.starts[terms[at] + 1]):
                row = lists.rows[place]
                if totals[row] == 0:
                    met[n_met] = row
                    n_met += 1
                totals[row] += values[at] * lists.weights[place]
        found = met[:n_met]
        single = totals[found].astype(np.float32)
        if n_met > most:
            least = np.partition(single, n_met - most)[n_met - most]
            kept = np.flatnonzero(single >= least)
            found, single = found[kept], single[kept]
        ascending = np.argsort(found)
        found, single = found[ascending], single[ascending]
        order = np.argsort(-single, kind="mergesort")[:most]
        end = begins[query] + len(order)
        ids[begins[query] : end], products[begins[query] : end] = found[order], single[order]
        begins[query + 1] = end
        totals[met[:n_met]] = 0
    return ids[: begins[-1]], products[: begins[-1]], begins
