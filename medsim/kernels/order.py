"""Queries of one length, in the order in which the search of ``sliced`` compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.best import bound_of
from medsim.kernels.compiler import kernel
from medsim.kernels.screen import MOST_MISSED, STEP

if TYPE_CHECKING:
    from medsim.kernels.nearest import Search
    from medsim.kernels.types import Hashes, Ids, Offsets, Starts

_LOW_HALF = (1 << 31) - 1


class Order(NamedTuple):
    """Queries of one length, by what their bounds have come to, then by text.

    Attributes:
        slots: int32[n], which of the search's queries they are.
        bounds: int64[n], the largest distance that may enter, when they were put in order.
        codes: uint64[n], the addresses of their characters.
        shared: int64[n], how many first characters each shares with the one before it.
        looks: uint64[n], the addresses of what a screen looks at.
        n_steps: how many steps of looks each has; 0 where queries are not screened.
        rests: int64[MOST_MISSED + 1], for how many blocks a bound is not screened.
    """

    slots: Ids
    bounds: Starts
    codes: Hashes
    shared: Starts
    looks: Hashes
    n_steps: int
    rests: Starts


@kernel
def new_order(n_queries: int, looks: Offsets) -> Order:
    """Return an order that holds no queries yet.

    Args:
        n_queries: how many there will be.
        looks: uint32[n_queries, n_looks], what a screen looks at.
    """
    return Order(
        np.empty(n_queries, np.int32),
        np.empty(n_queries, np.int64),
        np.empty(n_queries, np.uint64),
        np.empty(n_queries, np.int64),
        np.empty(n_queries, np.uint64),
        looks.shape[1] // STEP,
        np.zeros(MOST_MISSED + 1, np.int64),
    )


@kernel
def put_in_order(task: Search, group: Ids, looks: Offsets, order: Order) -> None:
    """Sort the queries of a group by what their bounds have come to, then by text.

    Args:
        task: the search.
        group: int32[n_queries], which of its queries, in order of text.
        looks: uint32[n_queries, n_looks], what a screen looks at, row by row of ``group``.
        order: filled.
    """
    pool, n_queries = task.pool, len(group)
    keys = np.empty(n_queries, np.int64)
    for at in range(n_queries):
        bound = min(bound_of(task.best, int(group[at])), np.int64(_LOW_HALF))
        keys[at] = (bound << np.int64(32)) | np.int64(at)
    keys = np.sort(keys)
    codes, before = np.uint64(pool.codes.ctypes.data), np.int64(0)
    for at in range(n_queries):
        member = keys[at] & np.int64(_LOW_HALF)
        slot = group[member]
        order.looks[at] = np.uint64(looks.ctypes.data) + np.uint64(member * looks.strides[0])
        order.slots[at], order.bounds[at] = slot, keys[at] >> np.int64(32)
        place = pool.places[task.queries[slot]]
        first, end, shared = pool.starts[place], pool.starts[place + 1], 0
        while at and first + shared < end:
            if pool.codes[first + shared] != pool.codes[before + shared]:
                break
            shared += 1
        order.shared[at], before = shared, first
        order.codes[at] = codes + np.uint64(pool.codes.itemsize * first)
