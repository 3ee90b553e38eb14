"""The search of ``edit_search`` for many queries of similar lengths, with many terms at once.

The results equal those of ``edit_search.search``. The table of edit distances of a query (rows) and
a term (columns) is computed on single bits, one per term, for a block of 256 or 512 terms of
similar lengths (``instructions.run_pass``). Four rules save work:

- A path of cost at most the bound cannot leave a band around the main diagonals (Ukkonen 1985), so
  only the band is computed; distances of paths outside it can only be overestimated.
- Terms that lack too many of a query's characters in the right places are ruled out, and a block is
  skipped if all its terms are (``edit_table.rules_out``).
- Values never decrease along a diagonal. Counters follow the diagonal that ends in the last cell; a
  block is done once all remaining terms have exceeded the bound there, after about a dozen rows.
- Queries are sorted by length, by their current bounds, then by text, and the state after every
  pass of rows is kept. A query starts after the last pass within the prefix that it shares with the
  query before it, and is done at once if that query was given up within the prefix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.best import bound_of, enter
from medsim.kernels.compiler import array_kernel, inlined_kernel, inner_kernel, kernel, whole
from medsim.kernels.edit_search import Search, SearchPool, search_places
from medsim.kernels.edit_table import (
    KEPT_PASSES,
    MAX_MISSED,
    NO_TERM_LEFT,
    STEP,
    Block,
    EditTable,
    Slate,
    begin,
    begin_screen,
    clear,
    clear_windows,
    fill_windows,
    filled,
    kept_at,
    length_at,
    offsets_of,
    outlined,
    plan_pass,
    rules_out,
)
from medsim.kernels.instructions import (
    N_WORDS,
    PASS_BYTES,
    ROW,
    VECTOR_BYTES,
    popcount,
    run_pass,
)
from medsim.kernels.packing import MOST, first_of, key_of, second_of, sort, tie_of
from medsim.kernels.types import Hashes, Ids, Offsets, Plan, Starts

if TYPE_CHECKING:
    from medsim.kernels.edit_distance import Workspace

_LARGE = 128  # smaller bounds are sorted by counting

N_RUNS, N_FALLEN = range(2)
"""Fields of an order's state: its number of runs; how many bounds have fallen since the sort."""


class QueryOrder(NamedTuple):
    """Queries sorted by length, by their current bounds, then by text.

    Attributes:
        slots: int32[n], the numbers of the queries in the search.
        lengths: int64[n], the number of characters of each query.
        bounds: int64[n], the largest distance that could enter at the time of the sort.
        codes: uint64[n], the addresses of the queries' characters.
        shared: int64[n], the length of the prefix that each query shares with the one before it.
        runs: int64[n + 1], where each run of the same length and bound begins, and the last ends.
        looks: uint64[n], the addresses of the offsets that a screen reads.
        n_steps: number of steps of offsets of each query; 0 where queries are not screened.
        rests: int64[MAX_MISSED + 1], for how many blocks a bound is not screened.
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
        np.zeros(MAX_MISSED + 1, np.int64),
        np.zeros(2, np.int64),
    )


@array_kernel
def _sorted_by_bound(task: Search, group: Ids, first: int, stop: int) -> Starts:
    """Return sorted keys of some members of a group, made of their bounds and numbers."""
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
    # The large bounds follow the small ones, still unsorted.
    sort(keys[starts[_LARGE - 2] :])
    return keys


@array_kernel
def put_in_order(task: Search, group: Ids, looks: Offsets, order: QueryOrder) -> None:
    """Sort the queries of a group by length, by their current bounds, then by text.

    The group, int32[n_queries], is in order of length, then of text; ``looks``, uint32[n_queries,
    n_offsets], are the rows of ``offsets_of``.
    """
    queries, n_queries = task.queries, len(group)
    codes, before, n_runs, first = np.uint64(queries.codes.ctypes.data), np.int64(0), 0, whole(0)
    while first < n_queries:
        length, stop = length_of(task, int(group[first])), first + 1
        while stop < n_queries and length_of(task, int(group[stop])) == length:
            stop += 1
        keys = _sorted_by_bound(task, group, first, stop)
        for at in range(first, stop):
            bound, member = first_of(keys[at - first]), second_of(keys[at - first])
            slot = int(group[member])
            begin = queries.starts[queries.places[slot]]
            shared = 0
            if at == first or bound != order.bounds[at - 1]:
                order.runs[n_runs] = at
                n_runs += 1
            else:
                other = before
                while shared < length and queries.codes[begin + shared] == queries.codes[other]:
                    shared, other = shared + 1, other + 1
            order.slots[at], order.lengths[at], order.bounds[at] = slot, length, bound
            order.codes[at] = codes + np.uint64(queries.codes.itemsize * begin)
            order.looks[at] = np.uint64(looks.ctypes.data) + np.uint64(member * looks.strides[0])
            order.shared[at], before = shared, begin
        first = stop
    order.runs[n_runs] = n_queries
    order.state[N_RUNS], order.state[N_FALLEN] = n_runs, 0


@inner_kernel
def length_of(task: Search, slot: int) -> int:
    """Return the length of a query."""
    place = task.queries.places[slot]
    return int(task.queries.starts[place + 1] - task.queries.starts[place])


@inner_kernel
def admits(order: QueryOrder, at: int, shortest: int, longest: int) -> bool:
    """Return whether a term of the given lengths may be within a query's bound."""
    length = order.lengths[at]
    return bool(max(shortest - length, length - longest, 0) <= order.bounds[at])


_WORD = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_ONE_IN = 32  # queries are put in order again once the bound of one in so many has fallen
_MIN_RUN = 32  # queries of one bound that are worth a screen
_TRIED = 16  # queries, before a screen may be given up that is not worth its time
_WORTH = 8  # a screen pays if it rules out one of so many queries
_REST = 16  # blocks that are then not screened


@inner_kernel
def _enter_survivors(
    task: Search, slot: int, block: Block, table: EditTable, slate: Slate, done: int
) -> bool:
    """Insert the terms of a block that are within the bound into a query's best.

    All passes are done, so counters give distances. Returns whether the query's bound has fallen.
    """
    pool, queries = task.pool, task.queries
    query = queries.places[slot]
    before = bound_of(task.best, slot)
    counts = kept_at(done) * table.count_bytes // 8
    for word in range((block.n_terms + _WORD - 1) // _WORD):
        survivors = ~slate.counts[counts + table.n_planes * N_WORDS + word]
        survivors &= NO_TERM_LEFT >> np.uint64(max(0, _WORD * (word + 1) - block.n_terms))
        while survivors:
            lane = popcount(~survivors & (survivors - _ONE))  # the lowest
            survivors &= survivors - _ONE
            distance = np.int64(table.bound + 1 - (1 << table.n_planes))
            for plane in range(table.n_planes):
                bits = slate.counts[counts + plane * N_WORDS + word]
                distance += np.int64((bits >> np.uint64(lane)) & _ONE) << plane
            candidate = block.first + word * _WORD + lane
            if queries.components[query] == pool.components[candidate]:
                continue
            if distance <= bound_of(task.best, slot):
                tie = tie_of(task.seed, queries.hashes[query], pool.hashes[candidate])
                enter(task.best, slot, pool.ids[candidate], distance, tie)
    return bool(bound_of(task.best, slot) < before)


@inner_kernel
def _none_within(table: EditTable, slate: Slate, done: int) -> bool:
    """Return whether all counters have overflowed after some passes."""
    overflown = (kept_at(done) * table.count_bytes + table.n_planes * VECTOR_BYTES) // 8
    n_words = 0
    while n_words < N_WORDS and slate.counts[overflown + n_words] == NO_TERM_LEFT:
        n_words += 1
    return n_words == N_WORDS


@inner_kernel
def _is_screened(order: QueryOrder, first: int, stop: int) -> bool:
    """Return whether screening is worthwhile for a run of queries with the same bound."""
    bound = order.bounds[first]
    if order.n_steps == 0 or stop - first < _MIN_RUN or bound > MAX_MISSED:
        return False
    order.rests[bound] -= 1
    return bool(order.rests[bound] < 0)


@inner_kernel
def _n_within(plan: Plan, n_passes: int, n_rows: int) -> int:
    """Return how many of the first passes compute no row beyond the first ``n_rows``."""
    done = 0
    while done < n_passes and plan[done + 1, ROW] <= n_rows:
        done += 1
    return done


@inlined_kernel
def _search_run(
    task: Search, order: QueryOrder, run: int, stride: int, block: Block, slate: Slate
) -> None:
    """Compare a run of queries, of one length and bound, with a block."""
    first, stop = int(order.runs[run]), int(order.runs[run + 1])
    length, bound = order.lengths[first], order.bounds[first]
    plan, screen = slate.plan, slate.screen
    plan_at, equals = np.uint64(plan.ctypes.data), np.uint64(slate.equals.ctypes.data)
    states, counts = np.uint64(slate.states.ctypes.data), np.uint64(slate.counts.ctypes.data)
    windows, preset = np.uint64(screen.windows.ctypes.data), np.uint64(screen.preset.ctypes.data)
    ruled_out = np.uint64(screen.ruled_out.ctypes.data)
    n_steps = np.uint64(order.n_steps)
    table = outlined(length, block, min(bound, max(length, block.longest)))
    begin(table, block, task.pool, slate)
    screen.ruled_out[:] = _ZERO
    n_planned = 0
    screened = _is_screened(order, first, stop)
    if screened:
        fill_windows(task.pool, slate.equals, screen, block, table, stride)
    n_ruled_out = 0
    n_valid, given_up, shared = 0, False, np.int64(length)
    for at in range(first, stop):
        shared = min(shared, order.shared[at])
        done = _n_within(plan, n_valid, int(shared))
        if given_up and done == n_valid and _none_within(table, slate, done):
            continue  # it shares the prefix for which the query before it was given up
        if screened:
            if rules_out(windows, order.looks[at], n_steps, preset, ruled_out):
                n_ruled_out += 1
                continue
            if at - first >= _TRIED and _WORTH * n_ruled_out < at - first:
                screened, order.rests[bound] = False, _REST
                screen.ruled_out[:] = _ZERO
        shared, given_up = np.int64(length), False
        while plan[done, ROW] < length and not given_up:
            if done == n_planned:
                plan_pass(table, done, plan)
                n_planned += 1
            pass_at, codes = plan_at + np.uint64(done * PASS_BYTES), order.codes[at]
            given_up = run_pass(pass_at, codes, equals, states, counts, ruled_out)
            done += 1
        n_valid = min(done, KEPT_PASSES)
        if not given_up:
            fallen = _enter_survivors(task, whole(order.slots[at]), block, table, slate, done)
            order.state[N_FALLEN] += fallen
        given_up = given_up and done <= KEPT_PASSES


@inner_kernel
def _search_block(task: Search, order: QueryOrder, stride: int, block: Block, slate: Slate) -> None:
    """Compare the queries that admit a block's lengths with the block."""
    for run in range(order.state[N_RUNS]):
        if admits(order, int(order.runs[run]), block.shortest, block.longest):
            _search_run(task, order, run, stride, block, slate)
    if order.n_steps:
        clear_windows(slate.screen, block, stride)


@inner_kernel
def _search_plainly(
    task: Search, order: QueryOrder, first: int, stop: int, work: Workspace
) -> None:
    """Compare the queries that admit a block's lengths with its terms one by one."""
    shortest, longest = length_at(task.pool, first), length_at(task.pool, stop - 1)
    for at in range(len(order.slots)):
        if admits(order, at, shortest, longest):
            slot = whole(order.slots[at])
            before = bound_of(task.best, slot)
            search_places(task, slot, first, stop, work)
            order.state[N_FALLEN] += bound_of(task.best, slot) < before


@inlined_kernel
def _search_terms(
    task: Search,
    group: Ids,
    looks: Offsets,
    order: QueryOrder,
    number: int,
    slate: Slate,
    work: Workspace,
) -> bool:
    """Compare a group's queries with a block of terms; return whether any admits its lengths."""
    pool = task.pool
    first, stop = whole(pool.block_starts[number]), whole(pool.block_starts[number + 1])
    shortest, longest = length_at(pool, first), length_at(pool, stop - 1)
    n_admitting = 0
    for run in range(order.state[N_RUNS]):
        n_admitting += admits(order, int(order.runs[run]), shortest, longest)
    if n_admitting == 0:
        return False
    if _ONE_IN * order.state[N_FALLEN] >= len(group):
        put_in_order(task, group, looks, order)
    plainly = order.lengths[0] == 0 or shortest == 0
    if plainly or longest * pool.n_characters * N_WORDS > len(slate.equals):
        _search_plainly(task, order, first, stop, work)
        return True
    block = filled(pool, first, stop, slate.equals, slate.screen.present)
    _search_block(task, order, int(order.lengths[-1]), block, slate)
    clear(block, slate.equals, slate.screen.present)
    return True


@inner_kernel
def _is_below(pool: SearchPool, below: int, above: int, low: int, high: int) -> bool:
    """Return whether the lower of two blocks is nearer to some lengths; either may be missing."""
    if below < 0 or above + 1 >= len(pool.block_starts):
        return below >= 0
    longest = length_at(pool, int(pool.block_starts[below + 1] - 1))
    return low - longest < length_at(pool, int(pool.block_starts[above])) - high


@kernel
def search_group(task: Search, group: Ids, slate: Slate, work: Workspace) -> None:
    """Complete the best candidates of a group's queries; only their own slots are written.

    Blocks are visited from the queries' lengths outwards, until the difference of lengths alone
    exceeds every bound. Empty terms, and terms whose table of characters would not fit the slate,
    are compared one by one. The group, int32[n_queries], is in order of length, then of text; its
    lengths are similar, and either all or none of its queries are empty. Characters are uint16.
    ``slate`` and ``work`` belong to this thread.
    """
    pool = task.pool
    low, high = length_of(task, int(group[0])), length_of(task, int(group[-1]))
    looks = np.empty((len(group), 0), np.uint32)
    if (pool.n_characters * high + 1) * N_WORDS <= len(slate.screen.windows):
        begin_screen(pool, slate.screen, high)
        places = task.queries.places[group]
        looks = offsets_of(task.queries, places, pool.n_characters, high)
    order = new_order(len(group), looks)
    put_in_order(task, group, looks, order)
    longest = len(pool.length_starts) - 1
    place = pool.length_starts[min(low, longest)]
    above, n_blocks = whole(0), len(pool.block_starts) - 1
    while above + 1 < n_blocks and pool.block_starts[above + 1] <= place:
        above += 1
    below = above - 1
    while below >= 0 or above < n_blocks:
        is_below = _is_below(pool, below, above, low, high)
        number = whole(below if is_below else above)
        searched = _search_terms(task, group, looks, order, number, slate, work)
        # Beyond the queries' lengths, once no query admits a block, none admits a later one.
        if is_below:
            below = below - 1 if searched else -1
        elif searched or length_at(pool, int(pool.block_starts[above])) <= high:
            above += 1
        else:
            above = n_blocks
