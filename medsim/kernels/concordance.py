"""Counts the pairs of rows that two rankings put in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Ids


@kernel
def _n_below(tree: Counts, rank: int) -> int:
    """Return how many of the counted ranks are below ``rank``."""
    n_counted = 0
    while rank > 0:
        n_counted += tree[rank]
        rank &= rank - 1
    return n_counted


@kernel
def _count(tree: Counts, rank: int) -> None:
    """Count a rank: the slot of rank r is r + 1, as slot 0 of the tree stays empty."""
    slot = rank + 1
    while slot < len(tree):
        tree[slot] += 1
        slot += slot & -slot


@kernel
def concordance_below(left: Ids, right: Ids) -> Counts:
    """Return for each row how many rows with a smaller left rank agree with it, less disagree.

    A row agrees where its right rank is smaller too, and disagrees where it is larger. Rows are
    counted into a binary indexed tree over the right ranks (Fenwick 1994), all rows that tie on the
    left at once. Ranks are dense and count from 0; those of the left side never fall.
    int64[n_rows], time O(n_rows log n_rows), memory O(n_rows).
    """
    n_rows = len(left)
    net, tree = np.zeros(n_rows, np.int64), np.zeros(n_rows + 1, np.int64)
    first = 0
    while first < n_rows:
        stop = first
        while stop < n_rows and left[stop] == left[first]:
            agreeing = _n_below(tree, right[stop])
            disagreeing = first - _n_below(tree, right[stop] + 1)
            net[stop] = agreeing - disagreeing
            stop += 1
        for row in range(first, stop):
            _count(tree, right[row])
        first = stop
    return net
