"""Compares each of some bags of words with each of many, given how their words compare.

Bags are flat: the words of bag ``i`` are ``words[starts[i]:starts[i + 1]]``. How words compare is a
table: its rows are words of the left side, its columns those of the right. What the words of a left
bag have for a word of the right side is laid out side by side, once, and looked up for every bag. A
value is what the kernels that compare single pairs of bags give, rounded to single precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from medsim.kernels.types import Ids, Starts, Table, Values, Vectors


@kernel
def bag_means(
    similarities: Table, rows: Ids, columns: Ids, left_starts: Starts, right_starts: Starts
) -> Vectors:
    """Return the mean similarity of each word of a bag with each of another, for all bags.

    ``similarities`` are of words. The tokens of the left side have ``rows`` of them and those of
    the right side ``columns``; starts are where the tokens of each bag begin.
    float32[n_left, n_right], 0 where a bag is empty.
    """
    found = np.zeros((len(left_starts) - 1, len(right_starts) - 1), np.float32)
    of_words = np.empty((similarities.shape[1], _largest(left_starts)))
    for bag in range(found.shape[0]):
        n_own = left_starts[bag + 1] - left_starts[bag]
        for own in range(n_own):
            of_words[:, own] = similarities[rows[left_starts[bag] + own]]
        for other in range(found.shape[1]):
            begin, end = right_starts[other], right_starts[other + 1]
            total = 0.0
            for own in range(n_own):
                for token in range(begin, end):
                    total += of_words[columns[token], own]
            if n_own > 0 and end > begin:
                found[bag, other] = total / (n_own * (end - begin))
    return found


@kernel
def _largest(starts: Starts) -> int:
    """Return the size of the largest bag, 0 if there is none."""
    found = 0
    for bag in range(len(starts) - 1):
        found = max(found, starts[bag + 1] - starts[bag])
    return found


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
def dynamax_table(
    memberships: Values,
    products: Table,
    rows: Ids,
    columns: Ids,
    left_starts: Starts,
    right_starts: Starts,
) -> Vectors:
    """Return DynaMax-Jaccard of every bag with every other (Zhelezniak et al., ICLR 2019).

    ``memberships`` are of ``own_memberships``, ``products`` inner products of words; the rest as of
    ``bag_means``. float32[n_left, n_right] from 0 to 1; 0 where nothing is positive.
    """
    found = np.zeros((len(left_starts) - 1, len(right_starts) - 1), np.float32)
    most_own = _largest(left_starts)
    of_words = np.zeros((products.shape[1], most_own))
    largest, belongs = np.empty(products.shape[1]), np.empty(most_own)
    for bag in range(found.shape[0]):
        first = left_starts[bag]
        n_own = left_starts[bag + 1] - first
        largest[:] = 0
        for own in range(n_own):
            of_word = products[rows[first + own]]
            of_words[:, own] = of_word
            largest[:] = np.maximum(largest, of_word)
        for other in range(found.shape[1]):
            belongs[:] = 0
            for token in range(right_starts[other], right_starts[other + 1]):
                for own in range(n_own):
                    belongs[own] = max(belongs[own], of_words[columns[token], own])
            least, most = 0.0, 0.0
            for own in range(n_own):
                least += min(memberships[first + own], belongs[own])
                most += max(memberships[first + own], belongs[own])
            for token in range(right_starts[other], right_starts[other + 1]):
                least += min(largest[columns[token]], memberships[token])
                most += max(largest[columns[token]], memberships[token])
            if most > 0:
                found[bag, other] = least / most
    return found
