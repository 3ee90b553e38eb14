"""Compares vectors in pairs and in tables: centred cosines, Kendall's tau-b, fuzzy overlaps.

Sums are in double precision and in a fixed order, so results are the same on any machine, and a
table's value equals the pair's value bit by bit. For tables, the rows of the right side are
transposed in blocks of a few columns, so that the innermost loops run over columns, not over sums.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.instructions import popcount
from medsim.kernels.resampling import concordance_below
from medsim.kernels.types import (
    Bytes,
    CountTable,
    FloatTable,
    Hashes,
    Ids,
    Rows,
    Values,
    Vectors,
    Wide,
)


@kernel
def centred_cosines(vectors: Vectors, centres: Values, first: Ids, second: Ids) -> Values:
    """Return the cosine of each pair of rows after subtracting their centres.

    With zeros as centres this is the cosine, with means Pearson's correlation, and with means of
    rows of ranks Spearman's correlation. A centre is subtracted from every value of its row.
    Returns float64[n_pairs] from -1 to 1; 0 where all values of a row equal its centre. Time
    O(n_pairs * n_dimensions).
    """
    cosines = np.empty(len(first))
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
            cosines[pair] = min(1.0, max(-1.0, product / (sqrt(square_a) * sqrt(square_b))))
        else:
            cosines[pair] = 0.0
    return cosines


@kernel
def means(vectors: Vectors) -> Values:
    """Return the mean of each row: float64[n_rows], exactly the value of a constant row."""
    results = np.empty(len(vectors))
    for row in range(len(vectors)):
        shift = np.float64(vectors[row, 0])
        total = 0.0
        for at in range(vectors.shape[1]):
            total += vectors[row, at] - shift
        results[row] = shift + total / vectors.shape[1]
    return results


@kernel
def mean_ranks(vectors: Vectors) -> Vectors:
    """Return the ranks of the values of each row, from 1; equal values share their mean rank.

    Returns float32[n_rows, n_dimensions]; halves are exact below 2**23.
    """
    ranks = np.empty_like(vectors)
    width = vectors.shape[1]
    for row in range(len(vectors)):
        order = np.argsort(vectors[row])
        begin = 0
        while begin < width:
            end = begin + 1
            while end < width and vectors[row, order[end]] == vectors[row, order[begin]]:
                end += 1
            for at in range(begin, end):
                ranks[row, order[at]] = (begin + 1 + end) / 2
            begin = end
    return ranks


@kernel
def untied_pairs(ranks: Vectors) -> Rows:
    """Return how many pairs of values differ in each row, given mean ranks: int64[n_rows].

    The whole part of a mean rank identifies its group of equal values, since groups do not overlap.
    """
    width = ranks.shape[1]
    counts = np.empty(width + 1, np.int64)
    n_untied = np.empty(len(ranks), np.int64)
    for row in range(len(ranks)):
        counts[:] = 0
        for at in range(width):
            counts[int(ranks[row, at])] += 1
        n_untied[row] = width * (width - 1) // 2
        for count in counts:
            n_untied[row] -= count * (count - 1) // 2
    return n_untied


@kernel
def kendalls(ranks: Vectors, untied: Rows, first: Ids, second: Ids) -> Values:
    """Return Kendall's tau-b of each pair of rows, given mean ranks.

    tau-b = (concordant - discordant) / sqrt(untied in a * untied in b) (Kendall 1945).
    Dimensions are visited in order of the first row. An earlier dimension is concordant with the
    current one if it has a lower rank in the second row, and discordant if it has a higher rank.

    ``ranks``, float32[n_rows, n_dimensions], come from ``mean_ranks``, and ``untied``,
    int64[n_rows], from ``untied_pairs``; ``first`` and ``second`` are int32[n_pairs]. Returns
    float64[n_pairs] from -1 to 1; 0 where a row is constant. Time per pair O(n_dimensions**2 / 64)
    without ties, O(n_dimensions * log n_dimensions) with ties, which take memory
    O(n_dimensions) for each pair.
    """
    width = ranks.shape[1]
    every = width * (width - 1) // 2
    taus = np.zeros(len(first))
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
            # The whole part of a mean rank orders the groups of equal values, and is at most width.
            left, right = a[order].astype(np.int32), b[order].astype(np.int32) - np.int32(1)
            balance = concordance_below(left, right).sum()
        taus[pair] = balance / (sqrt(float(untied_a)) * sqrt(float(untied_b)))
    return taus


@kernel
def _concordant(a: Values, b: Values, order: Rows, bits: Hashes, below: Rows) -> int:
    """Return the number of concordant pairs of dimensions of two rows without ties.

    ``bits`` holds the visited ranks of ``b``; ``below`` counts the bits in all words before each.
    """
    for at in range(len(a)):
        order[int(a[at]) - 1] = at
    bits[:] = 0
    below[:] = 0
    n_concordant = 0
    for dimension in order:
        rank = int(b[dimension])
        word, bit = rank >> 6, np.uint64(1) << np.uint64(rank & 63)
        n_concordant += below[word] + popcount(bits[word] & (bit - np.uint64(1)))
        bits[word] |= bit
        for after in range(word + 1, len(below)):
            below[after] += 1
    return n_concordant


@kernel
def _put_in_order(ranks: Values, order: Rows, counts: Rows) -> None:
    """Write the dimensions to ``order``, sorted by rank with a counting sort."""
    counts[:] = 0
    for at in range(len(ranks)):
        counts[int(ranks[at])] += 1
    for group in range(len(ranks)):
        counts[group + 1] += counts[group]
    for at in range(len(ranks)):
        group = int(ranks[at])
        counts[group] -= 1
        order[counts[group]] = at


_COLUMNS = 128  # transposed at a time, so that they stay in the processor's cache
_AT_ONCE = 4  # dimensions or rows at a time
_OTHERS = 8  # rows compared with two others at a time, also to stay in the cache
_BLOCK = 64  # rows whose bits are computed at a time


@kernel
def centred_products(
    left: Vectors, left_centres: Values, right: Vectors, right_centres: Values
) -> FloatTable:
    """Return the inner product of every left row with every right row after subtracting centres.

    Returns float64[n_left, n_right]. Time O(n_left * n_right * n_dimensions).
    """
    width = left.shape[1]
    products = np.zeros((len(left), len(right)))
    padded = -(-width // _AT_ONCE) * _AT_ONCE  # zeros behind the last dimension change no sum
    values, laid_out = np.zeros((_AT_ONCE, padded)), np.zeros((padded, _COLUMNS))
    sums = np.empty((_AT_ONCE, _COLUMNS))
    for begin in range(0, len(right), _COLUMNS):
        n_columns = min(_COLUMNS, len(right) - begin)
        for column in range(n_columns):
            laid_out[:width, column] = right[begin + column] - right_centres[begin + column]
        for first in range(0, len(left), _AT_ONCE):
            n_rows = min(_AT_ONCE, len(left) - first)
            for row in range(n_rows):
                values[row, :width] = left[first + row] - left_centres[first + row]
            sums[:] = 0
            _add_products(values, laid_out, sums)
            for row in range(n_rows):
                products[first + row, begin : begin + n_columns] = sums[row, :n_columns]
    return products


@kernel
def _add_products(values: FloatTable, laid_out: FloatTable, sums: FloatTable) -> None:
    """Add four rows' products with each column, in order of dimension, four dimensions a step."""
    first, second, third, fourth = sums[0], sums[1], sums[2], sums[3]
    for at in range(0, values.shape[1], _AT_ONCE):
        a, b, c, d = values[:, at], values[:, at + 1], values[:, at + 2], values[:, at + 3]
        a0, b0, c0, d0 = a[0], b[0], c[0], d[0]
        a1, b1, c1, d1 = a[1], b[1], c[1], d[1]
        a2, b2, c2, d2 = a[2], b[2], c[2], d[2]
        a3, b3, c3, d3 = a[3], b[3], c[3], d[3]
        xs, ys, zs, ws = laid_out[at], laid_out[at + 1], laid_out[at + 2], laid_out[at + 3]
        for column in range(_COLUMNS):
            x, y, z, w = xs[column], ys[column], zs[column], ws[column]
            first[column] = first[column] + a0 * x + b0 * y + c0 * z + d0 * w
            second[column] = second[column] + a1 * x + b1 * y + c1 * z + d1 * w
            third[column] = third[column] + a2 * x + b2 * y + c2 * z + d2 * w
            fourth[column] = fourth[column] + a3 * x + b3 * y + c3 * z + d3 * w


@kernel
def cosine_table(
    left: Vectors, left_centres: Values, right: Vectors, right_centres: Values
) -> FloatTable:
    """Return the cosine of every left row with every right row after subtracting centres.

    Returns float64[n_left, n_right] from -1 to 1; 0 where all values of a row equal its centre.
    """
    table = centred_products(left, left_centres, right, right_centres)
    left_lengths = lengths(left, left_centres)
    right_lengths = lengths(right, right_centres)
    for row in range(len(left)):
        cosines = table[row] / (left_lengths[row] * right_lengths)
        table[row] = np.minimum(1.0, np.maximum(-1.0, cosines))
    return table


@kernel
def lengths(vectors: Vectors, centres: Values) -> Values:
    """Return the length of each row after subtracting its centre: float64[n_rows].

    A row whose values all equal its centre gets an infinite length, so that its cosines are 0.
    """
    results = np.empty(len(vectors))
    for row in range(len(vectors)):
        square = 0.0
        for at in range(vectors.shape[1]):
            value = vectors[row, at] - centres[row]
            square += value * value
        results[row] = sqrt(square) if square > 0 else np.inf
    return results


@kernel
def overlap_table(left: Vectors, right: Vectors) -> FloatTable:
    """Return the Jaccard index of every left fuzzy set with every right one.

    Sets are memberships, at least 0. Returns float64[n_left, n_right] from 0 to 1; 0 where both
    sets are empty.
    """
    width = left.shape[1]
    indices = np.zeros((len(left), len(right)))
    padded = -(-width // _AT_ONCE) * _AT_ONCE  # zeros behind the last dimension change no sum
    values, laid_out = np.zeros(padded), np.zeros((padded, _COLUMNS))
    least, most = np.empty(_COLUMNS), np.empty(_COLUMNS)
    for begin in range(0, len(right), _COLUMNS):
        n_columns = min(_COLUMNS, len(right) - begin)
        for column in range(n_columns):
            laid_out[:width, column] = right[begin + column]
        for row in range(len(left)):
            values[:width] = left[row]
            _add_overlaps(values, laid_out, least, most)
            for column in range(n_columns):
                if most[column] > 0:
                    indices[row, begin + column] = least[column] / most[column]
    return indices


@kernel
def _add_overlaps(values: Values, laid_out: FloatTable, least: Values, most: Values) -> None:
    """Write a row's sums of minima and maxima with each column, in order of dimension."""
    least[:], most[:] = 0, 0
    for at in range(0, len(values), _AT_ONCE):
        a, b, c, d = values[at], values[at + 1], values[at + 2], values[at + 3]
        for column in range(len(least)):
            x, y = laid_out[at, column], laid_out[at + 1, column]
            z, w = laid_out[at + 2, column], laid_out[at + 3, column]
            low = least[column] + min(a, x)
            low += min(b, y)
            low += min(c, z)
            least[column] = low + min(d, w)
            high = most[column] + max(a, x)
            high += max(b, y)
            high += max(c, z)
            most[column] = high + max(d, w)


@kernel
def kendall_table(
    left: Vectors, left_untied: Rows, right: Vectors, right_untied: Rows
) -> FloatTable:
    """Return Kendall's tau-b of every left row with every right row, given mean ranks.

    tau-b = (concordant - discordant) / sqrt(untied in a * untied in b) (Kendall 1945). A pair of
    dimensions has two bits in each row: which dimension is higher, and whether they differ. A pair
    that differs in both rows is discordant if the first bits differ, otherwise concordant.

    Ranks come from ``mean_ranks``, and the numbers of untied pairs from ``untied_pairs``. Returns
    float64[n_left, n_right] from -1 to 1; 0 where a row is constant. Time
    O(n_left * n_right * n_dimensions**2 / 64), memory O(n_right * n_dimensions**2 / 8) bytes.
    """
    width = left.shape[1]
    every = width * (width - 1) // 2
    taus = np.zeros((len(left), len(right)))
    has_ties = int((left_untied < every).any() or (right_untied < every).any())
    higher, differs = _orders(right, has_ties)
    balances = np.zeros((_BLOCK, _OTHERS), np.int64)
    right_roots = np.array([_root(int(n_untied)) for n_untied in right_untied])
    for first in range(0, len(left), _BLOCK):
        part = slice(first, min(first + _BLOCK, len(left)))
        part_higher, part_differs = _orders(left[part], has_ties)
        for begin in range(0, len(right), _OTHERS):
            others = slice(begin, min(begin + _OTHERS, len(right)))
            if (left_untied[part] == every).all() and (right_untied[others] == every).all():
                _balance_untied(part_higher, higher[others], every, balances)
            else:
                _balance_tied(part_higher, part_differs, higher[others], differs[others], balances)
            for row in range(first, part.stop):
                root = _root(int(left_untied[row]))
                for other in range(begin, others.stop):
                    balance = balances[row - first, other - begin]
                    taus[row, other] = balance / (root * right_roots[other])
    return taus


@kernel
def _root(n_untied: int) -> float:
    """Return the square root of a number of pairs; infinity for 0 pairs, so that tau is 0."""
    return sqrt(float(n_untied)) if n_untied > 0 else np.inf


@kernel
def _orders(ranks: Vectors, has_ties: int) -> tuple[Wide, Wide]:
    """Return, for each pair of dimensions, whether the later is higher and whether they differ.

    The dimensions form a circle. Pairs come in order of lag, all pairs of a lag together. If the
    circle is even, half of it meets every pair of the largest lag. Pairs that are an eighth of all
    pairs apart share a byte. Returns two uint64[n_rows, n_words]; bits without a pair are 0 in
    both. The second has rows only if ``has_ties`` is 1, not 0.
    """
    width = ranks.shape[1]
    n_bytes = 8 * max(1, -(-width * (width - 1) // 128))  # of words of 64 bits
    higher = np.zeros((len(ranks), n_bytes), np.uint8)
    differs = np.zeros((len(ranks) * has_ties, n_bytes), np.uint8)
    circle, flags = np.empty(2 * width, ranks.dtype), np.zeros(8 * n_bytes, np.uint8)
    for row in range(len(ranks)):
        circle[:width] = ranks[row]
        circle[width:] = ranks[row]
        for is_other in range(1 + has_ties):
            begin = 0
            for lag in range(1, width // 2 + 1):
                n_pairs = width // 2 if 2 * lag == width else width
                behind, ahead = circle[:n_pairs], circle[lag : lag + n_pairs]
                of_pairs = flags[begin : begin + n_pairs]
                for at in range(n_pairs):
                    of_pairs[at] = behind[at] != ahead[at] if is_other else behind[at] < ahead[at]
                begin += n_pairs
            _pack(flags, differs[row] if is_other else higher[row])
    return higher.view(np.uint64), differs.view(np.uint64)


@kernel
def _pack(flags: Bytes, packed: Bytes) -> None:
    """Pack eight flags into each byte."""
    for bit in range(8):
        some = flags[bit * len(packed) : (bit + 1) * len(packed)]
        for at in range(len(packed)):
            packed[at] |= some[at] << bit


@kernel
def _balance_untied(rows: Wide, others: Wide, n_pairs: int, balances: CountTable) -> None:
    """Write concordant less discordant pairs of each row with up to eight others, without ties.

    Two rows and four others are compared at a time, so that words are read less often; if there are
    fewer, the last row is read again.
    """
    last, last_other = len(rows) - 1, len(others) - 1
    for row in range(0, last + 1, 2):
        p, q = rows[row], rows[min(row + 1, last)]
        for other in range(0, last_other + 1, 4):
            a, b = others[other], others[min(other + 1, last_other)]
            c, d = others[min(other + 2, last_other)], others[min(other + 3, last_other)]
            pa, pb, pc, pd, qa, qb, qc, qd = 0, 0, 0, 0, 0, 0, 0, 0
            for at in range(len(p)):
                pa += popcount(p[at] ^ a[at])
                pb += popcount(p[at] ^ b[at])
                pc += popcount(p[at] ^ c[at])
                pd += popcount(p[at] ^ d[at])
                qa += popcount(q[at] ^ a[at])
                qb += popcount(q[at] ^ b[at])
                qc += popcount(q[at] ^ c[at])
                qd += popcount(q[at] ^ d[at])
            for of_row, discordant in ((row, (pa, pb, pc, pd)), (row + 1, (qa, qb, qc, qd))):
                for at in range(4):
                    balances[of_row, other + at] = n_pairs - 2 * discordant[at]


@kernel
def _balance_tied(
    rows: Wide, rows_differ: Wide, others: Wide, others_differ: Wide, balances: CountTable
) -> None:
    """Like ``_balance_untied``, for rows with ties: counts only pairs that differ in both rows."""
    for row in range(len(rows)):
        for other in range(len(others)):
            higher, differs = rows[row], rows_differ[row]
            other_higher, other_differs = others[other], others_differ[other]
            n_unlike, n_untied = 0, 0
            for at in range(len(higher)):
                both = differs[at] & other_differs[at]
                n_untied += popcount(both)
                n_unlike += popcount((higher[at] ^ other_higher[at]) & both)
            balances[row, other] = n_untied - 2 * n_unlike
