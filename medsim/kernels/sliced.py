"""The search of ``nearest`` for many queries of one length, comparing 256 terms at once.

It gives what ``nearest.search`` gives. The table of edit distances of a query (rows) and a term
(columns) is computed on single bits, one a term, for a block of up to 256 terms of one length
(``lanes``). Four things keep it small:

- A path of cost at most the bound cannot leave a band around the main diagonals (Ukkonen 1985), so
  only the band is computed; what lies outside it can only be overestimated.
- A block none of whose terms has enough of a query's characters in the right places is passed over
  at once (``screen``).
- Values never fall along a diagonal. Counters follow the one that ends in the last cell; once all
  of a block's terms have exceeded the bound there, the block is done, after about a dozen rows.
- Queries are kept in order of what their bounds have come to, then of text, and so is the state
  after every pass of rows: a query begins after the last pass that lies within the prefix it
  shares with the one before, and is done at once if that one was given up within it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from medsim.kernels.best import bound_of, enter, tie_of
from medsim.kernels.distance import Workspace, clear_masks, set_masks
from medsim.kernels.intrinsics import trailing_zeros
from medsim.kernels.lanes import PASS_BYTES, ROW, run_pass
from medsim.kernels.nearest import Pool, Search, search_length
from medsim.kernels.screen import (
    MOST_MISSED,
    STEP,
    begin_screen,
    can_screen,
    clear_windows,
    fill_windows,
    offsets_of,
    rules_out,
)
from medsim.kernels.table import (
    KEPT_PASSES,
    NO_TERM_LEFT,
    Slate,
    Table,
    begin,
    kept_at,
    planned,
)
from medsim.kernels.vectors import LANES, VECTOR_BYTES, WORDS

if TYPE_CHECKING:
    from medsim.kernels.types import Hashes, Ids, Offsets, Starts

_WORD = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_ONE_IN = 32  # queries are put in order again once the bound of one in so many has fallen
_LEAST_RUN = 32  # queries of one bound that are worth a screen
_TRIED = 16  # queries, before a screen may be given up that rules out less than half of them
_REST = 16  # blocks that are then not screened
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


class Block(NamedTuple):
    """Up to ``LANES`` terms of one length that lie side by side in the pool.

    Attributes:
        first: the place of the first.
        n_terms: how many there are.
        length: of each.
        n_present: how many different characters they have.
    """

    first: int
    n_terms: int
    length: int
    n_present: int


@njit(cache=True, nogil=True)
def _filled(pool: Pool, first: int, length: int, equals: Hashes, present: Ids) -> Block:
    """Return a block, having noted which of its terms have which character in which column.

    Args:
        pool: the terms.
        first: the place of the block's first.
        length: of its terms.
        equals: of the slate; all zero before.
        present: the different characters are written to it.
    """
    codes, n_terms = pool.codes, min(LANES, int(pool.length_starts[length + 1] - first))
    seen = np.zeros(pool.n_characters, np.bool_)
    for lane in range(n_terms):
        word, bit = lane // _WORD, _ONE << np.uint64(lane % _WORD)
        begin = pool.starts[first + lane]
        for column in range(length):
            character = np.int64(codes[begin + column])
            seen[character] = True
            equals[(character * length + column) * WORDS + word] |= bit
    n_present = 0
    for number in range(pool.n_characters):
        if seen[number]:
            present[n_present] = number
            n_present += 1
    return Block(first, n_terms, length, n_present)


@njit(cache=True, nogil=True)
def _clear(block: Block, equals: Hashes, present: Ids) -> None:
    """Undo ``_filled``."""
    n_words = block.length * WORDS
    for at in range(block.n_present):
        first = np.int64(present[at]) * n_words
        equals[first : first + n_words] = _ZERO


@njit(cache=True, nogil=True)
def _enter_survivors(task: Search, slot: int, block: Block, table: Table, slate: Slate) -> bool:
    """Let the terms of a block that are within the bound enter the best of a query.

    A term's distance is the difference of the lengths and what its counter has counted.

    Returns:
        Whether the query's bound has fallen.
    """
    pool = task.pool
    query = pool.places[task.queries[slot]]
    before = bound_of(task.best, slot)
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
    return bool(bound_of(task.best, slot) < before)


@njit(cache=True, nogil=True)
def _is_screened(order: Order, first: int, stop: int) -> bool:
    """Return whether a run of queries with the same bound is worth a screen of its own."""
    bound = order.bounds[first]
    if order.n_steps == 0 or stop - first < _LEAST_RUN or bound > MOST_MISSED:
        return False
    order.rests[bound] -= 1
    return bool(order.rests[bound] < 0)


@njit(cache=True, nogil=True)
def _search_run(
    task: Search, order: Order, first: int, stop: int, length: int, block: Block, slate: Slate
) -> int:
    """Compare queries of one length and bound, from ``first`` to ``stop`` in order, with a block.

    Returns:
        How many bounds have fallen.
    """
    plan, screen, bound = slate.plan, slate.screen, order.bounds[first]
    plan_at, equals = np.uint64(plan.ctypes.data), np.uint64(slate.equals.ctypes.data)
    states, counts = np.uint64(slate.states.ctypes.data), np.uint64(slate.counts.ctypes.data)
    windows, preset = np.uint64(screen.windows.ctypes.data), np.uint64(screen.preset.ctypes.data)
    row_bytes, n_steps = np.uint64(block.length * VECTOR_BYTES), np.uint64(order.n_steps)
    table = planned(length, block.length, min(bound, max(length, block.length)), plan)
    n_planes = np.uint64(table.n_planes)
    begin(table, slate)
    screened = _is_screened(order, first, stop)
    if screened:
        fill_windows(slate.equals, screen, block.n_present, length, block.length, bound)
    n_ruled_out, n_fallen = 0, 0
    n_valid, given_up, shared = 0, False, np.int64(length)
    for at in range(first, stop):
        shared = min(shared, order.shared[at])
        done = 0
        while done < n_valid and plan[done + 1, ROW] <= shared:
            done += 1
        if given_up and done == n_valid:
            continue  # it shares all that the one before it was given up for
        if screened:
            if rules_out(windows, order.looks[at], n_steps, preset) == NO_TERM_LEFT:
                n_ruled_out += 1
                continue
            if at - first >= _TRIED and 2 * n_ruled_out < at - first:
                screened, order.rests[bound] = False, _REST
        shared, given_up = np.int64(length), False
        while done < table.n_passes and not given_up:
            pass_at = plan_at + np.uint64(done * PASS_BYTES)
            left = run_pass(pass_at, order.codes[at], equals, row_bytes, states, counts, n_planes)
            given_up = left == NO_TERM_LEFT
            done += 1
        n_valid = min(done, KEPT_PASSES)
        if not given_up:
            n_fallen += _enter_survivors(task, int(order.slots[at]), block, table, slate)
        given_up = given_up and done <= KEPT_PASSES
    return n_fallen


@njit(cache=True, nogil=True)
def _search_block(
    task: Search, order: Order, first: int, length: int, block: Block, slate: Slate
) -> int:
    """Compare queries of one length, from the ``first`` in order on, with a block.

    Returns:
        How many bounds have fallen.
    """
    n_fallen = 0
    while first < len(order.slots):
        stop = int(np.searchsorted(order.bounds, order.bounds[first], side="right"))
        n_fallen += _search_run(task, order, first, stop, length, block, slate)
        first = stop
    if order.n_steps:
        clear_windows(slate.screen, block.n_present, length)
    return n_fallen


@njit(cache=True, nogil=True)
def _put_in_order(task: Search, group: Ids, looks: Offsets, order: Order) -> None:
    """Sort the queries of a group by what their bounds have come to, then by text."""
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


@njit(cache=True, nogil=True)
def _search_plainly(task: Search, order: Order, first: int, other: int, work: Workspace) -> int:
    """Compare queries, from the ``first`` in order on, with all terms of one length, one by one.

    Returns:
        How many bounds may have fallen.
    """
    pool = task.pool
    for at in range(first, len(order.slots)):
        slot = int(order.slots[at])
        query = pool.places[task.queries[slot]]
        begin, end = pool.starts[query], pool.starts[query + 1]
        set_masks(pool.codes, begin, end, work.masks)
        search_length(task, query, other, slot, work)
        clear_masks(pool.codes, begin, end, work.masks)
    return len(order.slots) - first


@njit(cache=True, nogil=True)
def search_group(task: Search, group: Ids, slate: Slate, work: Workspace) -> None:
    """Complete the best candidates of a group's queries; only their own slots are written.

    Lengths are visited from the queries' own outwards, until their difference alone exceeds every
    bound. Terms without characters, and those whose table of characters would not fit the slate,
    are compared one by one.

    Args:
        task: the search.
        group: int32[n], which of the search's queries; they have one length and are in order of
            text.
        slate: of this thread.
        work: of this thread, for comparing one by one.
    """
    pool, n_queries = task.pool, len(group)
    max_length = len(pool.length_starts) - 2
    query = pool.places[task.queries[group[0]]]
    length = pool.starts[query + 1] - pool.starts[query]
    looks = np.empty((n_queries, 0), np.uint32)
    if can_screen(pool, slate.screen, length):
        begin_screen(pool, slate.screen, length)
        looks = offsets_of(pool, pool.places[task.queries[group]], length)
    order = Order(
        np.empty(n_queries, np.int32),
        np.empty(n_queries, np.int64),
        np.empty(n_queries, np.uint64),
        np.empty(n_queries, np.int64),
        np.empty(n_queries, np.uint64),
        looks.shape[1] // STEP,
        np.zeros(MOST_MISSED + 1, np.int64),
    )
    n_fallen = n_queries
    for difference in range(max(length, max_length - length) + 1):
        for side in range(2 if difference else 1):
            other = length - difference if side == 0 else length + difference
            if not 0 <= other <= max_length:
                continue
            plainly = length == 0 or other == 0
            plainly |= other * pool.n_characters * WORDS > len(slate.equals)
            for block_first in range(
                pool.length_starts[other], pool.length_starts[other + 1], LANES
            ):
                if _ONE_IN * n_fallen >= n_queries:
                    _put_in_order(task, group, looks, order)
                    n_fallen = 0
                first = int(np.searchsorted(order.bounds, difference))
                if first == n_queries:
                    return
                if plainly:
                    n_fallen += _search_plainly(task, order, first, other, work)
                    break
                block = _filled(pool, block_first, other, slate.equals, slate.screen.present)
                n_fallen += _search_block(task, order, first, length, block, slate)
                _clear(block, slate.equals, slate.screen.present)
