"""Queries of near lengths, in the order in which the search of ``sliced`` compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.best import bound_of
from medsim.kernels.compiler import array_kernel, inner_kernel, whole
from medsim.kernels.edit_table import MOST_MISSED, STEP
from medsim.kernels.packing import MOST, first_of, key_of, second_of, sort

if TYPE_CHECKING:
    from medsim.kernels.edit_search import Search
    from medsim.kernels.types import Hashes, Ids, Offsets, Starts

_LARGE = 128  # smaller bounds are sorted by counting

N_RUNS, N_FALLEN = range(2)
"""Of an order's state: how many runs it has; how many bounds have fallen since it was made."""


class QueryOrder(NamedTuple):
    """Queries by length, by their present bounds, then by text.

    Attributes:
        slots: int32[n], which of the search's queries they are.
        lengths: int64[n], of their characters.
        bounds: int64[n], the largest distance that may enter, when they were put in order.
        codes: uint64[n], the addresses of their characters.
        shared: int64[n], how many first characters each shares with the one before it.
        runs: int64[n + 1], where each run of the same length and bound begins, and the last ends.
        looks: uint64[n], the addresses of the offsets that a screen looks at.
        n_steps: how many steps of looks each has; 0 where queries are not screened.
        rests: int64[MOST_MISSED + 1], for how many blocks a bound is not screened.
        state: int64[2], see ``N_RUNS``.
    """

    slots: Ids
    lengths: Starts
    bounds: Starts
    codes: Hashes
    shared: Starts
    runs: Starts
    looks: Hashes
    n_steps: int
    rests: Starts
    state: Starts


@array_kernel
def new_order(n_queries: int, looks: Offsets) -> QueryOrder:
    """Return an order that holds no queries yet; ``looks`` are uint32[n_queries, n_looks]."""
    return QueryOrder(
        np.empty(n_queries, np.int32),
        np.empty(n_queries, np.int64),
        np.empty(n_queries, np.int64),
        np.empty(n_queries, np.uint64),
        np.empty(n_queries, np.int64),
        np.empty(n_queries + 1, np.int64),
        np.empty(n_queries, np.uint64),
        looks.shape[1] // STEP,
        np.zeros(MOST_MISSED + 1, np.int64),
        np.zeros(2, np.int64),
    )


@array_kernel
def _sorted_by_bound(task: Search, group: Ids, first: int, stop: int) -> Starts:
    """Return a key of the bound of each of some members of a group, and of its number, in order."""
    keys = np.empty(stop - first, np.int64)
    starts = np.zeros(_LARGE + 1, np.int64)
    for member in range(first, stop):
        bound = int(bound_of(task.best, whole(group[member])))
        starts[min(bound + 1, _LARGE)] += 1
    for small in range(_LARGE):
        starts[small + 1] += starts[small]
    for member in range(first, stop):
        bound = int(bound_of(task.best, whole(group[member])))
        small = min(bound, _LARGE - 1)
        keys[starts[small]] = key_of(min(bound, MOST), member)
        starts[small] += 1
    # Where the small ones end, the large ones have been put in any order.
    sort(keys[starts[_LARGE - 2] :])
    return keys


@array_kernel
def put_in_order(task: Search, group: Ids, looks: Offsets, order: QueryOrder) -> None:
    """Sort the queries of a group by length, by their present bounds, then by text.

    The group is in order of length, then of text; ``looks`` are of ``offsets_of``, row by row.
    """
    pool, n_queries = task.pool, len(group)
    codes, before, n_runs, first = np.uint64(pool.codes.ctypes.data), np.int64(0), 0, whole(0)
    while first < n_queries:
        length, stop = length_of(task, int(group[first])), first + 1
        while stop < n_queries and length_of(task, int(group[stop])) == length:
            stop += 1
        keys = _sorted_by_bound(task, group, first, stop)
        for at in range(first, stop):
            bound, member = first_of(keys[at - first]), second_of(keys[at - first])
            slot = int(group[member])
            begin = pool.starts[pool.places[task.queries[slot]]]
            shared = 0
            if at == first or bound != order.bounds[at - 1]:
                order.runs[n_runs] = at
                n_runs += 1
            else:
                while shared < length and pool.codes[begin + shared] == pool.codes[before + shared]:
                    shared += 1
            order.slots[at], order.lengths[at], order.bounds[at] = slot, length, bound
            order.codes[at] = codes + np.uint64(pool.codes.itemsize * begin)
            order.looks[at] = np.uint64(looks.ctypes.data) + np.uint64(member * looks.strides[0])
            order.shared[at], before = shared, begin
        first = stop
    order.runs[n_runs] = n_queries
    order.state[N_RUNS], order.state[N_FALLEN] = n_runs, 0


@inner_kernel
def length_of(task: Search, slot: int) -> int:
    """Return the length of a query."""
    place = task.pool.places[task.queries[slot]]
    return int(task.pool.starts[place + 1] - task.pool.starts[place])


@inner_kernel
def admits(order: QueryOrder, at: int, shortest: int, longest: int) -> bool:
    """Return whether a term of some lengths may be within the bound of a query."""
    length = order.lengths[at]
    return bool(max(shortest - length, length - longest, 0) <= order.bounds[at])
