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
    from medsim.kernels.types import Counts, Hashes, Rows, Table, Values, Vectors, Wide

_COLUMNS = 128  # laid out at once, so that they stay near the processor
_AT_ONCE = 4  # dimensions
_ROWS = 8  # whose bits are made at once, for the same reason
_LAGS = 64  # a bit each


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
    values, laid_out = np.zeros(padded), np.zeros((padded, _COLUMNS))
    for begin in range(0, len(right), _COLUMNS):
        n_columns = min(_COLUMNS, len(right) - begin)
        for column in range(n_columns):
            laid_out[:width, column] = right[begin + column] - right_centres[begin + column]
        for row in range(len(left)):
            values[:width] = left[row] - left_centres[row]
            _add_products(values, laid_out, found[row, begin : begin + n_columns])
    return found


@kernel
def _add_products(values: Values, laid_out: Table, sums: Values) -> None:
    """Add a row's products with each column, in order of dimension, four additions a visit."""
    for at in range(0, len(values), _AT_ONCE):
        a, b, c, d = values[at], values[at + 1], values[at + 2], values[at + 3]
        for column in range(len(sums)):
            total = sums[column] + a * laid_out[at, column]
            total += b * laid_out[at + 1, column]
            total += c * laid_out[at + 2, column]
            sums[column] = total + d * laid_out[at + 3, column]


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
    O(n_left * n_right * n_dimensions**2 / 64), memory O(n_left * n_dimensions**2 / 8) bytes.
    """
    width = left.shape[1]
    every = width * (width - 1) // 2
    found = np.zeros((len(left), len(right)))
    own_higher, own_differs = _orders(left)
    discordant, untied = np.empty(_ROWS, np.int64), np.empty(_ROWS, np.int64)
    for begin in range(0, len(right), _ROWS):
        end = min(begin + _ROWS, len(right))
        higher, differs = _orders(right[begin:end])
        others = right_untied[begin:end]
        for row in range(len(left)):
            own = left_untied[row]
            if own == every and (others == every).all():
                _count_untied(own_higher[row], higher, discordant)
                untied[:] = every
            else:
                _count_tied(own_higher[row], own_differs[row], higher, differs, discordant, untied)
            for at in range(end - begin):
                if own > 0 and others[at] > 0:
                    balance = untied[at] - 2 * discordant[at]
                    length = sqrt(float(own)) * sqrt(float(others[at]))
                    found[row, begin + at] = balance / length
    return found


@kernel
def _orders(ranks: Vectors) -> tuple[Wide, Wide]:
    """Return of each pair of dimensions whether the later is higher, and whether they differ.

    Dimensions stand in a circle. Those that lie one lag apart are one bit of as many words as there
    are dimensions; where the circle is even, the largest lag meets each pair once in half of it.
    Both are uint64[n_rows, n_words]; bits that stand for no pair are 0 in both.
    """
    width = ranks.shape[1]
    n_words = (width // 2 + _LAGS - 1) // _LAGS * width
    higher = np.zeros((len(ranks), n_words), np.uint64)
    differs = np.zeros((len(ranks), n_words), np.uint64)
    circle = np.empty(2 * width, ranks.dtype)
    for row in range(len(ranks)):
        circle[:width] = ranks[row]
        circle[width:] = ranks[row]
        for lag in range(1, width // 2 + 1):
            bit = np.uint64((lag - 1) % _LAGS)
            begin = (lag - 1) // _LAGS * width
            n_pairs = width // 2 if 2 * lag == width else width
            own, ahead = circle[:n_pairs], circle[lag : lag + n_pairs]
            is_higher = higher[row, begin : begin + n_pairs]
            is_other = differs[row, begin : begin + n_pairs]
            for at in range(n_pairs):
                is_higher[at] |= np.uint64(own[at] < ahead[at]) << bit
                is_other[at] |= np.uint64(own[at] != ahead[at]) << bit
    return higher, differs


@kernel
def _count_untied(own: Hashes, higher: Wide, discordant: Counts) -> None:
    """Write how many pairs of dimensions a row orders unlike each of others, none of which ties."""
    for other in range(len(higher)):
        n_unlike = 0
        for at in range(len(own)):
            n_unlike += popcount(own[at] ^ higher[other, at])
        discordant[other] = n_unlike


@kernel
def _count_tied(
    own: Hashes,
    own_differs: Hashes,
    higher: Wide,
    differs: Wide,
    discordant: Counts,
    untied: Counts,
) -> None:
    """Write how many pairs a row orders unlike each of others, and how many both do not tie."""
    for other in range(len(higher)):
        n_unlike, n_untied = 0, 0
        for at in range(len(own)):
            both = own_differs[at] & differs[other, at]
            n_untied += popcount(both)
            n_unlike += popcount((own[at] ^ higher[other, at]) & both)
        discordant[other], untied[other] = n_unlike, n_untied
