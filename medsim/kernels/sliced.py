"""The search of ``nearest`` for many queries of one length, comparing 512 terms at once.

It gives what ``nearest.search`` gives. The table of edit distances of a query (rows) and a term
(columns) is computed on single bits, one a term, for a block of up to 512 terms of one length
(``lanes``). Three things keep it small:

- A path of cost at most the bound cannot leave a band around the main diagonals (Ukkonen 1985), so
  only the band is computed; what lies outside it can only be overestimated.
- Values never fall along a diagonal. Counters follow the one that ends in the last cell; once all
  of a block's terms have exceeded the bound there, the block is done, after about a dozen rows.
- Queries are sorted by bound, then by text, and the state after every pass of rows is kept: a query
  begins after the last pass that lies within the prefix it shares with the one before, and is done
  at once if that one was given up within it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from medsim.kernels.best import bound_of, enter, tie_of
from medsim.kernels.distance import Workspace, clear_masks, set_masks
from medsim.kernels.intrinsics import trailing_zeros
from medsim.kernels.lanes import LANES, VECTOR_BYTES, WORDS
from medsim.kernels.nearest import Pool, Search, search_length
from medsim.kernels.table import (
    KEPT_PASSES,
    NO_TERM_LEFT,
    ROW,
    Places,
    Slate,
    Table,
    begin,
    kept_at,
    planned,
    run_pass,
)

if TYPE_CHECKING:
    from medsim.kernels.types import Hashes, Ids, Starts

_WORD = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Group(NamedTuple):
    """Queries of one length, sorted by bound, then by text.

    Attributes:
        slots: int32[n], which of the search's queries they are.
        bounds: int64[n], the largest distance that may enter, when the group is formed.
        shared: int64[n], how many first characters each shares with the one before it.
    """

    slots: Ids
    bounds: Starts
    shared: Starts


class Block(NamedTuple):
    """Up to ``LANES`` terms of one length that lie side by side in the pool.

    Attributes:
        first: the place of the first.
        n_terms: how many there are.
        length: of each.
    """

    first: int
    n_terms: int
    length: int


@njit(cache=True, nogil=True)
def _fill_equals(pool: Pool, block: Block, equals: Hashes) -> None:
    """Note which terms of a block have which character in which column."""
    equals[: pool.n_characters * block.length * WORDS] = _ZERO
    for lane in range(block.n_terms):
        word, bit = lane // _WORD, _ONE << np.uint64(lane % _WORD)
        first = pool.starts[block.first + lane]
        for column in range(block.length):
            row = np.int64(pool.codes[first + column]) * block.length + column
            equals[row * WORDS + word] |= bit


@njit(cache=True, nogil=True)
def _enter_survivors(task: Search, slot: int, block: Block, table: Table, slate: Slate) -> None:
    """Let the terms of a block that are within the bound enter the best of a query.

    A term's distance is the difference of the lengths and what its counter has counted.
    """
    pool = task.pool
    query = pool.places[task.queries[slot]]
    least = abs(pool.starts[query + 1] - pool.starts[query] - block.length) - table.preset
    counts = kept_at(table.n_passes) * table.count_bytes // 8
    for word in range((block.n_terms + _WORD - 1) // _WORD):
        left = ~slate.counts[counts + table.n_planes * WORDS + word]
        left &= NO_TERM_LEFT >> np.uint64(max(0, _WORD * (word + 1) - block.n_terms))
        while left:
            lane = trailing_zeros(left)
            left &= left - _ONE
            distance = np.int64(least)
            for plane in range(table.n_planes):
                bits = slate.counts[counts + plane * WORDS + word]
                distance += np.int64((bits >> np.uint64(lane)) & _ONE) << plane
            candidate = block.first + word * _WORD + lane
            if pool.components[query] == pool.components[candidate]:
                continue
            if 1 <= distance <= bound_of(task.best, slot):
                tie = tie_of(task.seed, pool.hashes[query], pool.hashes[candidate])
                enter(task.best, slot, pool.ids[candidate], distance, tie)


@njit(cache=True, nogil=True)
def _search_block(task: Search, group: Group, length: int, block: Block, slate: Slate) -> None:
    """Compare the queries of a group, of one length, with a block."""
    codes, plan = task.pool.codes, slate.plan
    table = Table(0, 0, 0, 0)
    places = Places(slate.equals_at, slate.states_at, slate.counts_at, _ZERO)
    row_bytes = np.uint64(block.length * VECTOR_BYTES)
    bounded, n_valid, given_up, shared = np.int64(-1), 0, False, np.int64(0)
    for at in range(len(group.slots)):
        slot, bound = int(group.slots[at]), min(group.bounds[at], max(length, block.length))
        shared = min(shared, group.shared[at])
        if abs(length - block.length) > bound_of(task.best, slot):
            continue
        if bound != bounded:
            table = planned(length, block.length, bound, plan)
            begin(table, slate)
            n_planes = np.uint64(table.n_planes)
            places = Places(slate.equals_at, slate.states_at, slate.counts_at, n_planes)
            bounded, n_valid, given_up = bound, 0, False
        done = 0
        while done < n_valid and plan[done + 1, ROW] <= shared:
            done += 1
        if given_up and done == n_valid:
            continue  # it shares all that the one before it was given up for
        shared, given_up = np.int64(length), False
        first = task.pool.starts[task.pool.places[task.queries[slot]]]
        while done < table.n_passes and not given_up:
            given_up = run_pass(codes, plan, done, first, places, row_bytes) == NO_TERM_LEFT
            done += 1
        n_valid = min(done, KEPT_PASSES)
        if not given_up:
            _enter_survivors(task, slot, block, table, slate)
        given_up = given_up and done <= KEPT_PASSES


@njit(cache=True, nogil=True)
def _largest_bound(task: Search, group: Group) -> np.int64:
    """Return the largest distance that may still enter for any query of a group."""
    largest = np.int64(-1)
    for slot in group.slots:
        largest = max(largest, bound_of(task.best, int(slot)))
    return largest


@njit(cache=True, nogil=True)
def _search_plainly(task: Search, group: Group, length: int, other: int, work: Workspace) -> None:
    """Compare the queries of a group with all terms of one length, one by one."""
    for wide in group.slots:
        slot = int(wide)
        if abs(length - other) <= bound_of(task.best, slot):
            pool = task.pool
            query = pool.places[task.queries[slot]]
            begin, end = pool.starts[query], pool.starts[query + 1]
            set_masks(pool.codes, begin, end, work.masks)
            search_length(task, query, other, slot, work)
            clear_masks(pool.codes, begin, end, work.masks)


@njit(cache=True, nogil=True)
def search_group(task: Search, group: Group, slate: Slate, work: Workspace) -> None:
    """Complete the best candidates of a group's queries; only their own slots are written.

    Lengths are visited from the queries' own outwards, until their difference alone exceeds every
    bound. Terms without characters, and those whose table of characters would not fit the slate,
    are compared one by one.

    Args:
        task: the search.
        group: the queries.
        slate: of this thread.
        work: of this thread, for comparing one by one.
    """
    pool = task.pool
    max_length = len(pool.length_starts) - 2
    query = pool.places[task.queries[group.slots[0]]]
    length = pool.starts[query + 1] - pool.starts[query]
    for difference in range(max(length, max_length - length) + 1):
        if difference > _largest_bound(task, group):
            break
        for side in range(2 if difference else 1):
            other = length - difference if side == 0 else length + difference
            if not 0 <= other <= max_length:
                continue
            fits = other * pool.n_characters * WORDS <= len(slate.equals)
            if length == 0 or other == 0 or not fits:
                _search_plainly(task, group, length, other, work)
                continue
            end = pool.length_starts[other + 1]
            for first in range(pool.length_starts[other], end, LANES):
                block = Block(first, min(LANES, end - first), other)
                _fill_equals(pool, block, slate.equals)
                _search_block(task, group, length, block, slate)


@njit(cache=True, nogil=True)
def shared_prefixes(pool: Pool, places: Ids) -> Starts:
    """Return how many first characters each term shares with the one before it.

    Args:
        pool: the terms.
        places: int32[n], where the terms lie.

    Returns:
        int64[n]; 0 for the first.
    """
    shared = np.zeros(len(places), np.int64)
    for at in range(1, len(places)):
        left, right = pool.starts[places[at - 1]], pool.starts[places[at]]
        end = pool.starts[places[at] + 1]
        while right < end and pool.codes[left] == pool.codes[right]:
            shared[at] += 1
            left, right = left + 1, right + 1
    return shared
