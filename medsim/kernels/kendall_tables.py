"""Compares the order of values in some rows with that in many, as bits: tables of Kendall's tau-b.

A value is what the kernel that compares single pairs gives, bit by bit.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.intrinsics import popcount

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Hashes, Rows, Table, Vectors, Wide

_ROWS = 8  # whose bits are made at once, so that they stay near the processor
_LAGS = 64  # a bit each


@kernel
def kendall_table(left: Vectors, left_untied: Rows, right: Vectors, right_untied: Rows) -> Table:
    """Return Kendall's tau-b of every row with every other, from their mean ranks.

    tau-b = (concordant - discordant) / sqrt(untied in a * untied in b) (Kendall 1945). Each pair of
    dimensions is a bit that says which of them a row has higher, and another that says whether
    they differ: what differs in both rows is discordant where the first bits do, else concordant.

    Args:
        left: float32[n_left, n_dimensions], of ``mean_ranks``.
        left_untied: int64[n_left], of ``untied_pairs``.
        right: float32[n_right, n_dimensions].
        right_untied: int64[n_right].

    Returns:
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

    Args:
        ranks: float32[n_rows, n_dimensions].

    Returns:
        Two of uint64[n_rows, n_words]; bits that stand for no pair are 0 in both.
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
