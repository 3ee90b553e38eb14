"""Tables of the similarity of each of some vectors with each of many.

A value is what the kernels that compare single pairs give, bit by bit: sums are in double precision
and in the same order. Rows of the right side are laid out a few columns at a time, a dimension
after the other, so that the innermost loops run over columns and not over sums.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.instructions import popcount

if TYPE_CHECKING:
    from medsim.kernels.types import Bytes, CountTable, Rows, Table, Values, Vectors, Wide

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
