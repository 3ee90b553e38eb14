"""Compares each of some bags of words with each of many, given how their words compare.

Bags are flat: the words of bag ``i`` are ``words[starts[i]:starts[i + 1]]``. How words compare is a
table: its rows are words of the right side, its columns those of the left. The few rows of one bag
of the right side are copied near the processor, where all bags of the left are compared with it,
side by side. A value is what the kernels that compare single pairs of bags give, rounded to single
precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Ids, Starts, Table, Values, Vectors


class Bags(NamedTuple):
    """Bags of either side that are compared.

    Those of the left side ascend in size. Of bags of one size come the columns of all first tokens,
    then of all second ones, and so on.

    Attributes:
        sizes: int64[n_left].
        columns: int32[n_left_tokens].
        rows: int32[n_right_tokens], bag by bag.
        starts: int64[n_right + 1], where the rows of each bag begin.
    """

    sizes: Counts
    columns: Ids
    rows: Ids
    starts: Starts


@kernel
def _n_alike(sizes: Counts, first: int) -> int:
    """Return how many bags from one on have its size."""
    last = first
    while last < len(sizes) and sizes[last] == sizes[first]:
        last += 1
    return int(last - first)


@kernel
def bag_means(similarities: Table, bags: Bags) -> Vectors:
    """Return the mean similarity of each word of a bag with each of another, for all bags.

    ``similarities`` are of words. float32[n_right, n_left], 0 where a bag is empty.
    """
    found = np.zeros((len(bags.starts) - 1, len(bags.sizes)), np.float32)
    sums, held = np.empty(len(bags.sizes)), _room(similarities, bags)
    for other in range(len(found)):
        rows = _copied(similarities, bags, other, held)
        first, begin = 0, 0
        while first < len(bags.sizes) and len(rows) > 0:
            n_bags, size = _n_alike(bags.sizes, first), bags.sizes[first]
            sums[:n_bags] = 0
            for _ in range(size):
                _add_similarities(rows, bags.columns[begin : begin + n_bags], sums[:n_bags])
                begin += n_bags
            if size > 0:
                found[other, first : first + n_bags] = sums[:n_bags] / (size * len(rows))
            first += n_bags
    return found


@kernel
def _room(table: Table, bags: Bags) -> Table:
    """Return room for the rows of the largest bag of the right side."""
    largest = 0
    for bag in range(len(bags.starts) - 1):
        largest = max(largest, bags.starts[bag + 1] - bags.starts[bag])
    return np.empty((largest, table.shape[1]))


@kernel
def _copied(table: Table, bags: Bags, other: int, held: Table) -> Table:
    """Return the rows of a bag of the right side, copied to ``held``."""
    begin, end = bags.starts[other], bags.starts[other + 1]
    for at in range(end - begin):
        held[at] = table[bags.rows[begin + at]]
    return held[: end - begin]


@kernel
def _add_similarities(rows: Table, columns: Ids, sums: Values) -> None:
    """Add to each sum the similarities of its column, row by row, four at once."""
    at = 0
    while at + 4 <= len(rows):
        a, b, c, d = rows[at], rows[at + 1], rows[at + 2], rows[at + 3]
        for bag in range(len(sums)):
            column = columns[bag]
            sums[bag] = sums[bag] + a[column] + b[column] + c[column] + d[column]
        at += 4
    for row in range(at, len(rows)):
        for bag in range(len(sums)):
            sums[bag] += rows[row, columns[bag]]


@kernel
def own_memberships(vectors: Vectors, words: Ids, starts: Starts) -> Values:
    """Return how far each bag belongs to each of its own words: float64[n_tokens].

    It is the largest inner product of one of its words with that word, at least 0.
    """
    found = np.zeros(len(words))
    for bag in range(len(starts) - 1):
        for member in range(starts[bag], starts[bag + 1]):
            for token in range(starts[bag], member + 1):
                product = 0.0
                for at in range(vectors.shape[1]):
                    product += np.float64(vectors[words[member], at]) * vectors[words[token], at]
                found[member] = max(found[member], product)
                found[token] = max(found[token], product)
    return found


@kernel
def dynamax_table(left: Values, right: Values, products: Table, bags: Bags) -> Vectors:
    """Return DynaMax-Jaccard of every bag with every other (Zhelezniak et al., ICLR 2019).

    ``left`` and ``right`` are of ``own_memberships``, in the order of the columns and of the rows;
    ``products`` are inner products of words. float32[n_right, n_left] from 0 to 1; 0 where nothing
    is positive.
    """
    n_left = len(bags.sizes)
    found = np.zeros((len(bags.starts) - 1, n_left), np.float32)
    least, most, belongs = np.empty(n_left), np.empty(n_left), np.empty(n_left)
    held = _room(products, bags)
    largest = np.empty((len(held), n_left))
    for other in range(len(found)):
        rows = _copied(products, bags, other, held)
        least[:], most[:], largest[: len(rows)] = 0, 0, 0
        first, begin = 0, 0
        while first < n_left:
            n_bags, size = _n_alike(bags.sizes, first), bags.sizes[first]
            alike = slice(first, first + n_bags)
            for _ in range(size):
                tokens = slice(begin, begin + n_bags)
                belongs[alike] = 0
                for at in range(len(rows)):
                    _keep_largest(
                        rows[at], bags.columns[tokens], belongs[alike], largest[at, alike]
                    )
                _add_overlaps(left[tokens], belongs[alike], least[alike], most[alike])
                begin += n_bags
            first += n_bags
        for at in range(len(rows)):
            belongs[:] = right[bags.starts[other] + at]
            _add_overlaps(belongs, largest[at], least, most)
        for bag in range(n_left):
            if most[bag] > 0:
                found[other, bag] = least[bag] / most[bag]
    return found


@kernel
def _keep_largest(products: Values, columns: Ids, belongs: Values, largest: Values) -> None:
    """Raise two values of each bag to the product of its column where that is larger."""
    for bag in range(len(columns)):
        product = products[columns[bag]]
        belongs[bag] = max(belongs[bag], product)
        largest[bag] = max(largest[bag], product)


@kernel
def _add_overlaps(some: Values, others: Values, least: Values, most: Values) -> None:
    """Add the smaller and the larger of two memberships to the sums of each bag."""
    for bag in range(len(some)):
        least[bag] += min(some[bag], others[bag])
        most[bag] += max(some[bag], others[bag])
