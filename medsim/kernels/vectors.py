"""Compares vectors in pairs and in tables: centred cosines, Kendall's tau-b, fuzzy overlaps.

Sums are in double precision and in one order, so that results are the same on any machine, and a
value of a table is that of the pair, bit by bit. For tables, rows of the right side are laid out a
few columns at a time, a dimension after the other, so that the innermost loops run over columns and
not over sums.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.instructions import popcount

if TYPE_CHECKING:
    from medsim.kernels.types import (
        Bytes,
        CountTable,
        Hashes,
        Ids,
        Rows,
        Table,
        Values,
        Vectors,
        Wide,
    )


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


_COLUMNS = 128  # laid out at once, so that they stay near the processor
_AT_ONCE = 4  # dimensions, and rows
_OTHERS = 8  # rows that are compared at once with two, for the same reason
_BLOCK = 64  # rows whose bits are made at once


@kernel
def centred_products(
    left: Vectors, left_centres: Values, right: Vectors, right_centres: Values
) -> Table:
    """Return the inner product of every row with every other after their centres are taken off.

    float64[n_left, n_right]. Time O(n_left * n_right * n_dimensions).
    """
    width = left.shape[1]
    found = np.zeros((len(left), len(right)))
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
                found[first + row, begin : begin + n_columns] = sums[row, :n_columns]
    return found


@kernel
def _add_products(values: Table, laid_out: Table, sums: Table) -> None:
    """Add four rows' products with each column, in order of dimension, four additions a visit."""
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
) -> Table:
    """Return the cosine of every row with every other after their centres are taken off.

    float64[n_left, n_right] from -1 to 1; 0 where a row is all centre.
    """
    found = centred_products(left, left_centres, right, right_centres)
    left_lengths = _lengths(left, left_centres)
    right_lengths = _lengths(right, right_centres)
    for row in range(len(left)):
        cosines = found[row] / (left_lengths[row] * right_lengths)
        found[row] = np.minimum(1.0, np.maximum(-1.0, cosines))
    return found


@kernel
def _lengths(vectors: Vectors, centres: Values) -> Values:
    """Return the length of each row after its centre is taken off: float64[n_rows].

    That of a row that is all centre is infinite, so that its cosines are 0.
    """
    found = np.empty(len(vectors))
    for row in range(len(vectors)):
        square = 0.0
        for at in range(vectors.shape[1]):
            value = vectors[row, at] - centres[row]
            square += value * value
        found[row] = sqrt(square) if square > 0 else np.inf
    return found


@kernel
def overlap_table(left: Vectors, right: Vectors) -> Table:
    """Return the Jaccard index of every fuzzy set with every other.

    Sets are memberships, at least 0. float64[n_left, n_right] from 0 to 1; 0 where both are empty.
    """
    width = left.shape[1]
    found = np.zeros((len(left), len(right)))
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
                    found[row, begin + column] = least[column] / most[column]
    return found


@kernel
def _add_overlaps(values: Values, laid_out: Table, least: Values, most: Values) -> None:
    """Write a row's sums of minima and of maxima with each column, in order of dimension."""
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
def kendall_table(left: Vectors, left_untied: Rows, right: Vectors, right_untied: Rows) -> Table:
    """Return Kendall's tau-b of every row with every other, from their mean ranks.

    tau-b = (concordant - discordant) / sqrt(untied in a * untied in b) (Kendall 1945). Each pair of
    dimensions is a bit that says which of them a row has higher, and another that says whether
    they differ: what differs in both rows is discordant where the first bits do, else concordant.

    Rows are of ``mean_ranks``, and how many of their pairs are untied of ``untied_pairs``.
    float64[n_left, n_right] from -1 to 1; 0 where a row is constant. Time
    O(n_left * n_right * n_dimensions**2 / 64), memory O(n_right * n_dimensions**2 / 8) bytes.
    """
    width = left.shape[1]
    every = width * (width - 1) // 2
    found = np.zeros((len(left), len(right)))
    has_ties = int((left_untied < every).any() or (right_untied < every).any())
    higher, differs = _orders(right, has_ties)
    balances = np.zeros((_BLOCK, _OTHERS), np.int64)
    right_roots = np.array([_root(int(n_untied)) for n_untied in right_untied])
    for first in range(0, len(left), _BLOCK):
        own = slice(first, min(first + _BLOCK, len(left)))
        own_higher, own_differs = _orders(left[own], has_ties)
        for begin in range(0, len(right), _OTHERS):
            others = slice(begin, min(begin + _OTHERS, len(right)))
            if (left_untied[own] == every).all() and (right_untied[others] == every).all():
                _balance_untied(own_higher, higher[others], every, balances)
            else:
                _balance_tied(own_higher, own_differs, higher[others], differs[others], balances)
            for row in range(first, own.stop):
                root = _root(int(left_untied[row]))
                for other in range(begin, others.stop):
                    balance = balances[row - first, other - begin]
                    found[row, other] = balance / (root * right_roots[other])
    return found


@kernel
def _root(n_untied: int) -> float:
    """Return the square root of a number of pairs, infinite of none, so that tau is 0."""
    return sqrt(float(n_untied)) if n_untied > 0 else np.inf


@kernel
def _orders(ranks: Vectors, has_ties: int) -> tuple[Wide, Wide]:
    """Return of each pair of dimensions whether the later is higher, and whether they differ.

    Dimensions stand in a circle; one pair after the other are those that lie one lag apart, from
    lag to lag. Where the circle is even, the largest lag meets each pair once in half of it. Pairs
    that lie an eighth of all apart are bits of one byte. Both are uint64[n_rows, n_words]; bits
    that stand for no pair are 0 in both. The second has rows only where ``has_ties`` is 1, not 0.
    """
    width = ranks.shape[1]
    n_bytes = _word_bytes(width * (width - 1) // 2)
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
                own, ahead = circle[:n_pairs], circle[lag : lag + n_pairs]
                of_pairs = flags[begin : begin + n_pairs]
                for at in range(n_pairs):
                    of_pairs[at] = own[at] != ahead[at] if is_other else own[at] < ahead[at]
                begin += n_pairs
            _pack(flags, differs[row] if is_other else higher[row])
    return higher.view(np.uint64), differs.view(np.uint64)


@kernel
def _word_bytes(n_bits: int) -> int:
    """Return the bytes of the words of 64 bits that so many bits need, at least one word."""
    return max(1, -(-n_bits // 64)) * 8


@kernel
def _pack(flags: Bytes, packed: Bytes) -> None:
    """Write flags, eight times as many, as bits."""
    for bit in range(8):
        some = flags[bit * len(packed) : (bit + 1) * len(packed)]
        for at in range(len(packed)):
            packed[at] |= some[at] << bit


@kernel
def _balance_untied(own: Wide, others: Wide, n_pairs: int, balances: CountTable) -> None:
    """Write concordant less discordant pairs of each row with up to eight others, without ties.

    Two rows and four others are compared at once, so that words are read less often; where there
    are fewer, the last one is read again.
    """
    last, last_other = len(own) - 1, len(others) - 1
    for row in range(0, last + 1, 2):
        p, q = own[row], own[min(row + 1, last)]
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
    own: Wide, own_differs: Wide, others: Wide, others_differ: Wide, balances: CountTable
) -> None:
    """Write concordant less discordant pairs, of those that differ in both, as without ties."""
    for row in range(len(own)):
        for other in range(len(others)):
            higher, differs = own[row], own_differs[row]
            other_higher, other_differs = others[other], others_differ[other]
            n_unlike, n_untied = 0, 0
            for at in range(len(higher)):
                both = differs[at] & other_differs[at]
                n_untied += popcount(both)
                n_unlike += popcount((higher[at] ^ other_higher[at]) & both)
            balances[row, other] = n_untied - 2 * n_unlike
