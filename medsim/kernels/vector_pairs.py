"""Compares pairs of vectors: centred cosines, Kendall's tau-b, overlaps of fuzzy sets.

Sums are in double precision and in one order, so that results are the same on any machine.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.instructions import popcount

if TYPE_CHECKING:
    from medsim.kernels.types import Hashes, Ids, Rows, Values, Vectors


@kernel
def centred_cosines(vectors: Vectors, centres: Values, first: Ids, second: Ids) -> Values:
    """Return the cosine of each pair of rows after their centres are taken off.

    With centres of zero it is the cosine, with means Pearson's correlation, and for rows of ranks
    with means Spearman's. A centre is taken off every value of its row. float64[n_pairs] from -1 to
    1; 0 where a row is all centre. Time O(n_pairs * n_dimensions).
    """
    found = np.empty(len(first))
    for pair in range(len(first)):
        a, b = vectors[first[pair]], vectors[second[pair]]
        centre_a, centre_b = centres[first[pair]], centres[second[pair]]
        product, square_a, square_b = 0.0, 0.0, 0.0
        for at in range(len(a)):
            left, right = a[at] - centre_a, b[at] - centre_b
            product += left * right
            square_a += left * left
            square_b += right * right
        if square_a > 0 and square_b > 0:
            found[pair] = min(1.0, max(-1.0, product / (sqrt(square_a) * sqrt(square_b))))
        else:
            found[pair] = 0.0
    return found


@kernel
def means(vectors: Vectors) -> Values:
    """Return the mean of each row, float64[n_rows]; of a constant row it is exactly that value."""
    found = np.empty(len(vectors))
    for row in range(len(vectors)):
        shift = np.float64(vectors[row, 0])
        total = 0.0
        for at in range(vectors.shape[1]):
            total += vectors[row, at] - shift
        found[row] = shift + total / vectors.shape[1]
    return found


@kernel
def mean_ranks(vectors: Vectors) -> Vectors:
    """Return the ranks of the values of each row, from 1; equal values share their mean rank.

    float32[n_rows, n_dimensions]; halves are exact below 2**23.
    """
    found = np.empty_like(vectors)
    width = vectors.shape[1]
    for row in range(len(vectors)):
        order = np.argsort(vectors[row])
        begin = 0
        while begin < width:
            end = begin + 1
            while end < width and vectors[row, order[end]] == vectors[row, order[begin]]:
                end += 1
            for at in range(begin, end):
                found[row, order[at]] = (begin + 1 + end) / 2
            begin = end
    return found


@kernel
def untied_pairs(ranks: Vectors) -> Rows:
    """Return how many pairs of values of each row differ, from their mean ranks: int64[n_rows].

    The whole part of a mean rank names its group of equal values: groups do not overlap.
    """
    width = ranks.shape[1]
    counts = np.empty(width + 1, np.int64)
    found = np.empty(len(ranks), np.int64)
    for row in range(len(ranks)):
        counts[:] = 0
        for at in range(width):
            counts[int(ranks[row, at])] += 1
        found[row] = width * (width - 1) // 2
        for count in counts:
            found[row] -= count * (count - 1) // 2
    return found


@kernel
def kendalls(ranks: Vectors, untied: Rows, first: Ids, second: Ids) -> Values:
    """Return Kendall's tau-b of each pair of rows, from their mean ranks.

    tau-b = (concordant - discordant) / sqrt(untied in a * untied in b) (Kendall 1945).
    Dimensions are visited in order of the first row, tied ones together; of those visited before,
    what has a lower rank in the second row is concordant with the one at hand, what has a higher
    one discordant.

    Ranks are of ``mean_ranks``, and ``untied`` of ``untied_pairs``. float64[n_pairs] from -1 to 1;
    0 where a row is constant. Time O(n_dimensions**2 / 64) a pair without ties, O(n_dimensions**2)
    with them.
    """
    width = ranks.shape[1]
    every = width * (width - 1) // 2
    found = np.zeros(len(first))
    order, counts = np.empty(width, np.int64), np.empty(width + 1, np.int64)
    bits, below = np.empty(width // 64 + 1, np.uint64), np.empty(width // 64 + 1, np.int64)
    for pair in range(len(first)):
        a, b = ranks[first[pair]], ranks[second[pair]]
        untied_a, untied_b = untied[first[pair]], untied[second[pair]]
        if untied_a == 0 or untied_b == 0:
            continue
        if untied_a == every and untied_b == every:
            balance = 2 * _concordant(a, b, order, bits, below) - every
        else:
            _put_in_order(a, order, counts)
            balance = _balance(a, b, order, counts)
        found[pair] = balance / (sqrt(float(untied_a)) * sqrt(float(untied_b)))
    return found


@kernel
def _concordant(a: Values, b: Values, order: Rows, bits: Hashes, below: Rows) -> int:
    """Return how many pairs of dimensions two rows without ties put in the same order.

    The ranks of ``b`` that were seen are bits; ``below`` counts those of all words before each.
    """
    for at in range(len(a)):
        order[int(a[at]) - 1] = at
    bits[:] = 0
    below[:] = 0
    found = 0
    for dimension in order:
        rank = int(b[dimension])
        word, bit = rank >> 6, np.uint64(1) << np.uint64(rank & 63)
        found += below[word] + popcount(bits[word] & (bit - np.uint64(1)))
        bits[word] |= bit
        for after in range(word + 1, len(below)):
            below[after] += 1
    return found


@kernel
def _put_in_order(ranks: Values, order: Rows, counts: Rows) -> None:
    """Write the dimensions to ``order`` by their ranks, by counting."""
    counts[:] = 0
    for at in range(len(ranks)):
        counts[int(ranks[at])] += 1
    for group in range(len(ranks)):
        counts[group + 1] += counts[group]
    for at in range(len(ranks)):
        group = int(ranks[at])
        counts[group] -= 1
        order[counts[group]] = at


@kernel
def _balance(a: Values, b: Values, order: Rows, seen: Rows) -> int:
    """Return how many pairs of dimensions are concordant, less those that are discordant.

    ``seen`` counts the dimensions visited before by their group of equal ranks in ``b``.
    """
    width = len(a)
    seen[:] = 0
    balance, begin = 0, 0
    while begin < width:
        end = begin + 1
        while end < width and a[order[end]] == a[order[begin]]:
            end += 1
        for at in range(begin, end):
            group = int(b[order[at]])
            if 2 * group < width:
                below = 0
                for other in range(group):
                    below += seen[other]
                balance += 2 * below - (begin - seen[group])
            else:
                above = 0
                for other in range(group + 1, width + 1):
                    above += seen[other]
                balance += begin - seen[group] - 2 * above
        for at in range(begin, end):
            seen[int(b[order[at]])] += 1
        begin = end
    return balance
