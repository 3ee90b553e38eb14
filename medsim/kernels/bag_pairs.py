"""Compares terms as bags of word vectors: pools a bag into one vector, pairs words, fuzzy sets.

Bags are flat: the words of term ``i`` are ``words[starts[i]:starts[i + 1]]``, rows of the vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from medsim.kernels.types import Ids, Rows, Starts, Table, Values, Vectors


@kernel
def averaged(vectors: Vectors, words: Ids, starts: Starts, terms: Ids) -> Vectors:
    """Return the mean of each term's word vectors: float32[n_terms, n_dimensions].

    ``terms`` are the bags that are wanted; one without words gives zeros.
    """
    found = np.zeros((len(terms), vectors.shape[1]), np.float32)
    total = np.empty(vectors.shape[1])
    for row in range(len(terms)):
        begin, end = starts[terms[row]], starts[terms[row] + 1]
        total[:] = 0
        for token in range(begin, end):
            total += vectors[words[token]]
        if end > begin:
            found[row] = total / (end - begin)
    return found


@kernel
def positive_maxima(vectors: Vectors, words: Ids, starts: Starts, terms: Ids) -> Vectors:
    """Return the largest value of each term's word vectors in each dimension, at least 0.

    Arguments and result as of ``averaged``.
    """
    found = np.zeros((len(terms), vectors.shape[1]), np.float32)
    for row in range(len(terms)):
        for token in range(starts[terms[row]], starts[terms[row] + 1]):
            for at in range(vectors.shape[1]):
                found[row, at] = max(found[row, at], vectors[words[token], at])
    return found


@kernel
def overlaps(vectors: Vectors, first: Ids, second: Ids) -> Values:
    """Return the Jaccard index of each pair of fuzzy sets: sum of minima over sum of maxima.

    The vectors are memberships, at least 0. float64[n_pairs] from 0 to 1; 0 where both are empty.
    """
    found = np.zeros(len(first))
    for pair in range(len(first)):
        a, b = vectors[first[pair]], vectors[second[pair]]
        least, most = 0.0, 0.0
        for at in range(len(a)):
            least += np.float64(min(a[at], b[at]))
            most += np.float64(max(a[at], b[at]))
        if most > 0:
            found[pair] = least / most
    return found


@kernel
def dynamax_overlaps(
    vectors: Vectors, words: Ids, starts: Starts, first: Ids, second: Ids
) -> Values:
    """Return DynaMax-Jaccard of each pair of terms (Zhelezniak et al., ICLR 2019, algorithm 1).

    The universe of a pair is the word vectors of both terms. A term belongs to a member of the
    universe by the largest inner product of one of its own words with it, at least 0.
    float64[n_pairs] from 0 to 1; 0 where nothing is positive. Time O(n_words**2 * n_dimensions) a
    pair.
    """
    found = np.zeros(len(first))
    for pair in range(len(first)):
        a = words[starts[first[pair]] : starts[first[pair] + 1]]
        b = words[starts[second[pair]] : starts[second[pair] + 1]]
        belongs = _memberships(vectors, np.concatenate((a, b)), len(a))
        least, most = 0.0, 0.0
        for member in range(belongs.shape[1]):
            least += min(belongs[0, member], belongs[1, member])
            most += max(belongs[0, member], belongs[1, member])
        if most > 0:
            found[pair] = least / most
    return found


@kernel
def _memberships(vectors: Vectors, universe: Rows, n_first: int) -> Table:
    """Return how far two terms belong to each member of their universe: float64[2, n_members].

    The first ``n_first`` members are the words of the first term, the others those of the second.
    The product of two words is computed once; it counts for each as a member.
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
    """Return every word of the first term with every word of the second, for each pair of terms.

    int64[n_word_pairs], the smaller word times 2**32 plus the larger, since metrics are symmetric;
    and int64[n_pairs + 1], where those of each pair begin.
    """
    ends = np.zeros(len(first) + 1, np.int64)
    for pair in range(len(first)):
        n_first = starts[first[pair] + 1] - starts[first[pair]]
        n_second = starts[second[pair] + 1] - starts[second[pair]]
        ends[pair + 1] = ends[pair] + n_first * n_second
    found = np.empty(ends[-1], np.int64)
    for pair in range(len(first)):
        at = ends[pair]
        for left in words[starts[first[pair]] : starts[first[pair] + 1]]:
            for right in words[starts[second[pair]] : starts[second[pair] + 1]]:
                found[at] = (np.int64(min(left, right)) << 32) | max(left, right)
                at += 1
    return found, ends


@kernel
def group_means(values: Values, groups: Rows, starts: Starts) -> Values:
    """Return the mean of the values of each group: float64[n_groups], 0 for an empty one.

    ``groups`` are rows of the values, and ``starts`` where those of each group begin.
    """
    found = np.zeros(len(starts) - 1)
    for group in range(len(found)):
        for at in range(starts[group], starts[group + 1]):
            found[group] += values[groups[at]]
        if starts[group + 1] > starts[group]:
            found[group] /= starts[group + 1] - starts[group]
    return found
