"""Compares terms as bags of word vectors, in pairs or tables: pools, word pairs and fuzzy sets.

Bags are flat: the words of term ``i`` are ``words[starts[i]:starts[i + 1]]``, rows of the vectors.

A table compares every bag of the left side with every bag of the right side. The caller compares
the words first, in a table whose rows are words of the right side and whose columns are words of
the left side. The few rows of one right bag are copied, so that they stay in the processor's cache,
and all left bags are compared with them side by side. Each value equals the value of the kernels
for single pairs, rounded to single precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.types import Counts, FloatTable, Ids, Rows, Starts, Values, Vectors


@kernel
def averaged(vectors: Vectors, words: Ids, starts: Starts, terms: Ids) -> Vectors:
    """Return the mean of each term's word vectors: float32[n_terms, n_dimensions].

    ``terms`` selects the bags; a bag without words gives zeros.
    """
    means = np.zeros((len(terms), vectors.shape[1]), np.float32)
    total = np.empty(vectors.shape[1])
    for row in range(len(terms)):
        begin, end = starts[terms[row]], starts[terms[row] + 1]
        total[:] = 0
        for token in range(begin, end):
            total += vectors[words[token]]
        if end > begin:
            means[row] = total / (end - begin)
    return means


@kernel
def positive_maxima(vectors: Vectors, words: Ids, starts: Starts, terms: Ids) -> Vectors:
    """Return the largest value of each term's word vectors in each dimension, at least 0.

    The arguments are those of ``averaged``; the result is float32[n_terms, n_dimensions].
    """
    maxima = np.zeros((len(terms), vectors.shape[1]), np.float32)
    for row in range(len(terms)):
        for token in range(starts[terms[row]], starts[terms[row] + 1]):
            for at in range(vectors.shape[1]):
                maxima[row, at] = max(maxima[row, at], vectors[words[token], at])
    return maxima


@kernel
def overlaps(vectors: Vectors, first: Ids, second: Ids) -> Values:
    """Return the Jaccard index of each pair of fuzzy sets: sum of minima over sum of maxima.

    The vectors are memberships, at least 0. Returns float64[n_pairs] from 0 to 1; 0 where both sets
    are empty.
    """
    indices = np.zeros(len(first))
    for pair in range(len(first)):
        a, b = vectors[first[pair]], vectors[second[pair]]
        least, most = 0.0, 0.0
        for at in range(len(a)):
            least += np.float64(min(a[at], b[at]))
            most += np.float64(max(a[at], b[at]))
        if most > 0:
            indices[pair] = least / most
    return indices


@kernel
def dynamax_overlaps(
    vectors: Vectors, words: Ids, starts: Starts, first: Ids, second: Ids
) -> Values:
    """Return DynaMax-Jaccard of each pair of terms (Zhelezniak et al., ICLR 2019, algorithm 1).

    The universe of a pair is the word vectors of both terms. A term's membership in a vector of the
    universe is the largest inner product of that vector with the term's words, at least 0. Returns
    float64[n_pairs] from 0 to 1; 0 where no membership is positive. Time O(n_words**2 *
    n_dimensions) per pair.
    """
    indices = np.zeros(len(first))
    for pair in range(len(first)):
        a = words[starts[first[pair]] : starts[first[pair] + 1]]
        b = words[starts[second[pair]] : starts[second[pair] + 1]]
        belongs = _memberships(vectors, np.concatenate((a, b)), len(a))
        least, most = 0.0, 0.0
        for member in range(belongs.shape[1]):
            least += min(belongs[0, member], belongs[1, member])
            most += max(belongs[0, member], belongs[1, member])
        if most > 0:
            indices[pair] = least / most
    return indices


@kernel
def _memberships(vectors: Vectors, universe: Rows, n_first: int) -> FloatTable:
    """Return the memberships of two terms in their universe: float64[2, n_members].

    The first ``n_first`` members are the words of the first term, the others are the words of the
    second. The product of two words is computed once and counts for both of them as members.
    """
    belongs = np.zeros((2, len(universe)))
    for left in range(len(universe)):
        for right in range(left + 1):
            product = 0.0
            for at in range(vectors.shape[1]):
                product += np.float64(vectors[universe[left], at]) * vectors[universe[right], at]
            of_right = 0 if right < n_first else 1
            of_left = 0 if left < n_first else 1
            belongs[of_right, left] = max(belongs[of_right, left], product)
            belongs[of_left, right] = max(belongs[of_left, right], product)
    return belongs


@kernel
def word_pairs(words: Ids, starts: Starts, first: Ids, second: Ids) -> tuple[Rows, Starts]:
    """Pair every word of the first term with every word of the second, for each pair of terms.

    Returns int64[n_word_pairs], the smaller word times 2**32 plus the larger, since metrics are
    symmetric; and int64[n_pairs + 1], where the word pairs of each pair of terms begin.
    """
    ends = np.zeros(len(first) + 1, np.int64)
    for pair in range(len(first)):
        n_first = starts[first[pair] + 1] - starts[first[pair]]
        n_second = starts[second[pair] + 1] - starts[second[pair]]
        ends[pair + 1] = ends[pair] + n_first * n_second
    pairs = np.empty(ends[-1], np.int64)
    for pair in range(len(first)):
        at = ends[pair]
        for left in words[starts[first[pair]] : starts[first[pair] + 1]]:
            for right in words[starts[second[pair]] : starts[second[pair] + 1]]:
                pairs[at] = (np.int64(min(left, right)) << 32) | max(left, right)
                at += 1
    return pairs, ends


class Bags(NamedTuple):
    """The left and right bags of a table.

    Left bags are in ascending order of size. For all left bags of one size, the columns of their
    first tokens come first, then the columns of their second tokens, and so on.

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
    """Return how many consecutive bags have the same size."""
    last = first
    while last < len(sizes) and sizes[last] == sizes[first]:
        last += 1
    return int(last - first)


@kernel
def bag_means(similarities: FloatTable, bags: Bags) -> Vectors:
    """Return the mean similarity of the words of one bag with the words of another, for all bags.

    ``similarities`` compares words. Returns float32[n_right, n_left], 0 where a bag is empty.
    """
    means = np.zeros((len(bags.starts) - 1, len(bags.sizes)), np.float32)
    sums = np.empty(len(bags.sizes))
    for other in range(len(means)):
        rows = similarities[bags.rows[bags.starts[other] : bags.starts[other + 1]]]
        first, begin = 0, 0
        while first < len(bags.sizes) and len(rows) > 0:
            n_bags, size = _n_alike(bags.sizes, first), bags.sizes[first]
            sums[:n_bags] = 0
            for _ in range(size):
                _add_similarities(rows, bags.columns[begin : begin + n_bags], sums[:n_bags])
                begin += n_bags
            if size > 0:
                means[other, first : first + n_bags] = sums[:n_bags] / (size * len(rows))
            first += n_bags
    return means


@kernel
def _add_similarities(rows: FloatTable, columns: Ids, sums: Values) -> None:
    """Add the similarities of each column to its sum, in order of rows, four rows at a time."""
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
    """Return the membership of each bag in each of its own words: float64[n_tokens].

    The membership is the largest inner product of that word with the bag's words, at least 0.
    """
    memberships = np.zeros(len(words))
    for bag in range(len(starts) - 1):
        for member in range(starts[bag], starts[bag + 1]):
            for token in range(starts[bag], member + 1):
                product = 0.0
                for at in range(vectors.shape[1]):
                    product += np.float64(vectors[words[member], at]) * vectors[words[token], at]
                memberships[member] = max(memberships[member], product)
                memberships[token] = max(memberships[token], product)
    return memberships


@kernel
def dynamax_table(left: Values, right: Values, products: FloatTable, bags: Bags) -> Vectors:
    """Return DynaMax-Jaccard of every bag with every other (Zhelezniak et al., ICLR 2019).

    ``left`` and ``right`` come from ``own_memberships``, in the order of the columns and of the
    rows; ``products`` are inner products of words. Returns float32[n_right, n_left] from 0 to 1; 0
    where no membership is positive.
    """
    n_left = len(bags.sizes)
    indices = np.zeros((len(bags.starts) - 1, n_left), np.float32)
    least, most, belongs = np.empty(n_left), np.empty(n_left), np.empty(n_left)
    for other in range(len(indices)):
        rows = products[bags.rows[bags.starts[other] : bags.starts[other + 1]]]
        least[:], most[:], largest = 0, 0, np.zeros((len(rows), n_left))
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
                indices[other, bag] = least[bag] / most[bag]
    return indices


@kernel
def _keep_largest(products: Values, columns: Ids, belongs: Values, largest: Values) -> None:
    """Update both maxima of each bag with the product of its column."""
    for bag in range(len(columns)):
        product = products[columns[bag]]
        belongs[bag] = max(belongs[bag], product)
        largest[bag] = max(largest[bag], product)


@kernel
def _add_overlaps(some: Values, others: Values, least: Values, most: Values) -> None:
    """Add the minimum and the maximum of each pair of memberships to the sums of its bag."""
    for bag in range(len(some)):
        least[bag] += min(some[bag], others[bag])
        most[bag] += max(some[bag], others[bag])
