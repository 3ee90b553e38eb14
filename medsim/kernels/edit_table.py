"""The edit-distance table of a query and a block of terms, and a screen that can skip it.

The table is initialized, and its passes are planned as far as needed.

The screen rules out blocks of terms that all lack too many of a query's characters. A path of cost
at most the bound stays within a band of diagonals, so a character of the query that it keeps is, in
the term, within a window of columns around the character's row. Each character that a term lacks in
its window costs one edit, a deletion or a substitution, and a longer term costs at least one
insertion per extra character. So a term is farther away than the bound if it lacks more characters
than the bound allows after these insertions.

The rarest characters are looked up first, since most terms lack them; a lookup reads one vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from medsim.kernels import instructions
from medsim.kernels.compiler import array_kernel, inner_kernel, whole
from medsim.kernels.instructions import (
    LANES,
    N_WORDS,
    VECTOR_BYTES,
    ZEROS,
    Loop,
    full_sum,
    half_sum,
    is_full,
    load,
    number_at,
    plus,
    store,
    sum_of_four,
)
from medsim.kernels.packing import first_of, key_of, second_of, sort
from medsim.kernels.types import Hashes, Ids, Offsets, Plan, Starts

if TYPE_CHECKING:
    from medsim.kernels.edit_search import Queries, SearchPool

NO_TERM_LEFT = ~np.uint64(0)
"""Returned by a pass after which every term's counter has overflowed."""

KEPT_PASSES = 24
"""Number of passes whose state is kept for the next query; later passes alternate in two slots."""

MAX_PLANES = 16
"""Bit planes of the counters: enough for distances up to 2**15."""

_OFFSET_BYTES = 4
_MIN_PLANES = 3  # four rows add up to 4
_HEIGHT = 4
_WORD = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Block(NamedTuple):
    """Up to ``LANES`` consecutive terms of the pool, which is ordered by length.

    All terms end in the same column: a term that is n characters shorter than the longest begins n
    columns later, after n columns without a character.

    Attributes:
        first: the place of the first term.
        n_terms: number of terms.
        shortest: the length of the first term.
        longest: the length of the last term.
        n_present: number of distinct characters in the terms.
    """

    first: int
    n_terms: int
    shortest: int
    longest: int
    n_present: int


class Slate(NamedTuple):
    """One thread's buffers.

    Attributes:
        equals: uint64[n_characters * n_columns * N_WORDS], which terms of a block have a character
            in a column.
        states: uint64, the state of the columns before the first pass and after each kept pass.
        counts: uint64, the bit planes of the counters at the same points.
        screen: the screen of this thread.
        plan: int64[n_passes + 1, N_FIELDS], the planned passes of the current table, and where the
            next pass begins; ``instructions`` names the columns.
    """

    equals: Hashes
    states: Hashes
    counts: Hashes
    screen: Screen
    plan: Plan


class EditTable(NamedTuple):
    """The table of one query length, one bound and a block's lengths.

    Let D be the difference of lengths, h half of the bound less abs(D), and p the column where a
    term begins. Paths of cost at most the bound stay on the diagonals (row less column) from
    min(0, D) - h - p to max(0, D) + h - p.

    Attributes:
        length: length of the queries.
        other: length of the longest terms, which is the number of columns.
        bound: maximum distance.
        lowest: the first diagonal that matters to any term.
        highest: the last diagonal that matters to any term.
        n_planes: number of bit planes of the counters; a counter with all bits set means the bound,
            and it overflows beyond the bound.
        state_bytes: the size of a kept state.
        count_bytes: the size of kept counters.
    """

    length: int
    other: int
    bound: int
    lowest: int
    highest: int
    n_planes: int
    state_bytes: int
    count_bytes: int


@inner_kernel
def outlined(length: int, block: Block, bound: int) -> EditTable:
    """Return the table for a query length and a block, before any pass is planned."""
    lowest, highest = length, -block.longest
    for term_length in range(block.shortest, block.longest + 1):
        difference, begin = length - term_length, block.longest - term_length
        if abs(difference) <= bound:
            spare = (bound - abs(difference)) // 2
            lowest = min(lowest, min(0, difference) - spare - begin)
            highest = max(highest, max(0, difference) + spare - begin)
    n_planes = _MIN_PLANES
    while (1 << n_planes) - 1 < bound - _begun(length, block, block.shortest):
        n_planes += 1
    width = min(block.longest, max(0, highest) - lowest + _HEIGHT)
    return EditTable(
        length=length,
        other=block.longest,
        bound=bound,
        lowest=lowest,
        highest=highest,
        n_planes=n_planes,
        state_bytes=(width + 2 * instructions.MARGIN) * instructions.COLUMN_BYTES,
        count_bytes=(n_planes + 1) * VECTOR_BYTES,
    )


@inner_kernel
def _begun(length: int, block: Block, term_length: int) -> int:
    """Return the first value on the last cell's diagonal, for a block's terms of one length.

    The diagonal begins in the first column if the queries are longer than the longest term.
    Otherwise it begins in the first row, where a term has no value before its first column.
    """
    return max(length - block.longest, term_length - length, 0)


@inner_kernel
def begin(table: EditTable, block: Block, pool: SearchPool, slate: Slate) -> None:
    """Initialize the state before the first row, and the counters.

    Differences are 0 before a term's first column, and 1 from there on. Counters are preset so that
    they overflow where the last cell's diagonal exceeds the bound.
    """
    n_columns = min(table.other, _HEIGHT - table.lowest) + instructions.MARGIN
    slate.states[: n_columns * 2 * N_WORDS] = _ZERO
    slate.counts[: (table.n_planes + 1) * N_WORDS] = _ZERO
    for term_length in range(block.shortest, block.longest + 1):
        first, stop = lanes_of(pool, block, term_length)
        for column in range(min(n_columns, block.longest - term_length)):
            set_lanes(slate.states, column * 2 * N_WORDS, first, stop)
        preset = (1 << table.n_planes) - 1 - table.bound + _begun(table.length, block, term_length)
        for plane in range(table.n_planes):
            if (preset >> plane) & 1:
                set_lanes(slate.counts, plane * N_WORDS, first, stop)
        if preset >> table.n_planes:
            set_lanes(slate.counts, table.n_planes * N_WORDS, first, stop)
    slate.plan[0, instructions.ROW] = 0


@inner_kernel
def lanes_of(pool: SearchPool, block: Block, length: int) -> tuple[int, int]:
    """Return the first lane of a block's terms of a length, and the lane after the last.

    Lanes without a term count as lanes of the longest terms.
    """
    first = max(0, int(pool.length_starts[length] - block.first))
    stop = LANES if length == block.longest else int(pool.length_starts[length + 1] - block.first)
    return first, stop


@inner_kernel
def set_lanes(words: Hashes, at: int, first: int, stop: int) -> None:
    """Set the bits of some lanes in the vector that begins at a word of uint64[n_words]."""
    for word in range(first // _WORD, (stop + _WORD - 1) // _WORD):
        bits = NO_TERM_LEFT << np.uint64(max(0, first - _WORD * word))
        words[at + word] |= bits & (NO_TERM_LEFT >> np.uint64(max(0, _WORD * (word + 1) - stop)))


@inner_kernel
def plan_pass(table: EditTable, at: int, plan: Plan) -> None:
    """Plan a pass and the start of the next; all earlier passes must be planned.

    ``plan`` is int64[n_passes + 1, n_fields].
    """
    length, other, difference = table.length, table.other, table.length - table.other
    row = plan[at, instructions.ROW]
    counted = row >= difference
    four = row + _HEIGHT <= (length if counted else min(length, difference))
    height = _HEIGHT if four else 1
    low, high = max(0, row - table.highest), min(other, row + height - table.lowest)
    before = max(0, plan[at - 1, instructions.ROW] - table.highest) if at else 0
    old, new = kept_at(at), kept_at(at + 1)
    plan[at, instructions.SOURCE] = (
        old * table.state_bytes + (low - before) * instructions.COLUMN_BYTES
    )
    plan[at, instructions.TARGET] = new * table.state_bytes
    plan[at, instructions.COUNTS] = old * table.count_bytes
    plan[at, instructions.NEW_COUNTS] = new * table.count_bytes
    plan[at, instructions.PLANES], plan[at, instructions.EQUALS] = (
        table.n_planes,
        low * VECTOR_BYTES,
    )
    plan[at, instructions.ROW_BYTES] = other * VECTOR_BYTES
    left, right = 0, high - low  # columns on either side of the diagonal, if there is one
    kind = instructions.FOUR_PLAIN if four else instructions.ONE_PLAIN
    if counted:
        left, right = row - difference - low, high - (row - difference) - height
        kind = instructions.FOUR_COUNTED if four else instructions.ONE_COUNTED
    slanted = four and left >= instructions.SLANT and low == row - table.highest
    plan[at, instructions.SLANTED_BEFORE] = slanted
    plan[at, instructions.BEFORE] = left - instructions.SLANT * slanted
    slanted = four and right >= instructions.SLANT and high == row + height - table.lowest
    plan[at, instructions.SLANTED_AFTER] = slanted
    plan[at, instructions.AFTER] = right - instructions.SLANT * slanted
    plan[at, instructions.KIND] = kind
    plan[at + 1, instructions.ROW] = row + height


@inner_kernel
def kept_at(passed: int) -> int:
    """Return the slot of the state after ``passed`` passes."""
    return passed if passed <= KEPT_PASSES else KEPT_PASSES + 1 + passed % 2


@array_kernel
def filled(pool: SearchPool, first: int, stop: int, equals: Hashes, present: Ids) -> Block:
    """Return the block of terms between two places of the pool.

    Sets the bits in ``equals``, uint64[n_words], all zero before, that say which terms have a
    character in a column, and writes the distinct characters to ``present``, int32[n_characters].
    """
    codes = pool.codes
    shortest, longest = length_at(pool, first), length_at(pool, stop - 1)
    is_present = np.zeros(pool.n_characters, np.bool_)
    # Numba checks a signed index for being negative.
    words, row_words = np.uint64(N_WORDS), np.uint64(longest * N_WORDS)
    for lane in range(stop - first):
        word, bit = lane // _WORD, _ONE << np.uint64(lane % _WORD)
        begin, length = np.uint64(pool.starts[first + lane]), length_at(pool, first + lane)
        at = np.uint64((longest - length) * N_WORDS + word)
        for column in range(np.uint64(length)):
            character = np.uint64(codes[begin + column])
            is_present[character] = True
            equals[character * row_words + at] |= bit
            at += words
    n_present = 0
    for number in range(pool.n_characters):
        if is_present[number]:
            present[n_present] = number
            n_present += 1
    return Block(first, stop - first, shortest, longest, n_present)


@inner_kernel
def clear(block: Block, equals: Hashes, present: Ids) -> None:
    """Undo ``filled``: ``equals`` is uint64[n_words] and ``present`` int32[n_characters]."""
    n_words = block.longest * N_WORDS
    for at in range(block.n_present):
        first = np.int64(present[at]) * n_words
        equals[first : first + n_words] = _ZERO


@inner_kernel
def length_at(pool: SearchPool, place: int) -> int:
    """Return the length of a term of the pool."""
    return int(pool.starts[place + 1] - pool.starts[place])


STEP = 8
"""Number of characters that are looked up together."""

_MAX_CHARACTERS = 128  # maximum number of a query's characters to look up
N_PLANES = 6
"""The bit planes of a counter of misses."""

MAX_MISSED = (1 << N_PLANES) - 1
"""The largest number of misses that a screen can allow."""

LENGTH, LOWEST, BEYOND = range(3)
"""How far windows are filled: the length of the queries, 0 if they are empty; the first diagonal
(row less column); the diagonal after the last."""

_ALL = ~np.uint64(0)


def _rules_out(
    _typing: Any, windows: Any, offsets: Any, n_steps: Any, preset: Any, ruled_out: Any
) -> Any:
    """Record which terms of a block lack too many of a query's characters; return whether all do.

    The arguments are uint64. ``windows``: address of the vectors of terms that lack a character in
    a window. ``offsets``: address of the offsets in bytes, each a uint32, of the vectors to read.
    ``n_steps``: their number over ``STEP``. ``preset``: address of the planes that counters begin
    with. ``ruled_out``: address of the result.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        b, (windows, offsets, n_steps, preset, ruled_out) = builder, arguments

        counters = [load(b, plus(b, preset, plane * VECTOR_BYTES)) for plane in range(N_PLANES)]
        loop = Loop(b, n_steps, [offsets, ZEROS, *counters])
        offset, overflown, *counters = loop.values
        looks = [
            load(b, b.add(windows, number_at(b, offset, at, _OFFSET_BYTES))) for at in range(STEP)
        ]
        counters[:2], left = sum_of_four(b, counters[:2], looks[:4])
        counters[:2], right = sum_of_four(b, counters[:2], looks[4:])
        counters[2], carry = full_sum(b, counters[2], left, right)
        for plane in range(3, N_PLANES):
            counters[plane], carry = half_sum(b, counters[plane], carry)
        overflown = b.or_(overflown, carry)
        following = plus(b, offset, _OFFSET_BYTES * STEP)
        _, overflown, *_ = loop.close([following, overflown, *counters], is_full(b, overflown))
        store(b, overflown, ruled_out)
        return is_full(b, overflown)

    return types.boolean(*[types.uint64] * 5), generate


rules_out: Any = intrinsic(_rules_out)


def _take_out(_typing: Any, target: Any, vectors: Any, n_vectors: Any) -> Any:
    """Clear the bits in ``target`` that are set in any of some consecutive vectors.

    ``target`` and ``vectors`` are addresses; all arguments are uint64.
    """

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        b, (target, vectors, n_vectors) = builder, arguments
        loop = Loop(b, n_vectors, [vectors, load(b, target)])
        at, remaining = loop.values
        remaining = b.and_(remaining, b.not_(load(b, at)))
        _, remaining = loop.close([plus(b, at, VECTOR_BYTES), remaining])
        store(b, remaining, target)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), generate


take_out: Any = intrinsic(_take_out)


class Screen(NamedTuple):
    """The arrays with which one thread rules out blocks.

    Attributes:
        windows: uint64[(n_characters * stride + 1) * N_WORDS], for queries of up to ``stride``
            characters: which terms of a block lack a character in the window of a row; the last
            vector is zero.
        preset: uint64[N_PLANES * N_WORDS], the planes that counters begin with.
        ruled_out: uint64[N_WORDS], which terms of a block are certainly too far from a query.
        present: int32[n_characters], beginning with the characters that the block has.
        reach: int64[3], how far the windows are filled, see ``LENGTH``.
    """

    windows: Hashes
    preset: Hashes
    ruled_out: Hashes
    present: Ids
    reach: Starts


@inner_kernel
def begin_screen(pool: SearchPool, screen: Screen, stride: int) -> None:
    """Reset the windows so that every term lacks every character; ``stride`` as in ``Screen``."""
    n_words = pool.n_characters * stride * N_WORDS
    screen.windows[:n_words] = _ALL
    screen.windows[n_words : n_words + N_WORDS] = _ZERO


@array_kernel
def offsets_of(queries: Queries, places: Ids, n_characters: int, stride: int) -> Offsets:
    """Return the offsets of the vectors to read for each query, the rarest characters first.

    Characters are numbered by frequency; ``stride`` is the length of the longest query. Returns
    uint32[n_queries, n_offsets], in bytes; n_offsets is a multiple of ``STEP``.
    """
    n_offsets = (min(stride, _MAX_CHARACTERS) + STEP - 1) // STEP * STEP
    none = np.uint32(n_characters * stride * VECTOR_BYTES)
    offsets = np.full((len(places), n_offsets), none, np.uint32)
    for query in range(len(places)):
        first, end = queries.starts[places[query]], queries.starts[places[query] + 1]
        keys = np.empty(end - first, np.int64)
        for row in range(len(keys)):
            keys[row] = key_of(whole(queries.codes[first + row]), row)
        sort(keys)
        for at in range(min(len(keys), _MAX_CHARACTERS)):
            key = keys[len(keys) - 1 - at]
            window = first_of(key) * stride + second_of(key)
            offsets[query, at] = np.uint32(window * VECTOR_BYTES)
    return offsets


@inner_kernel
def fill_windows(
    pool: SearchPool, equals: Hashes, screen: Screen, block: Block, table: EditTable, stride: int
) -> None:
    """Record which terms of a block lack a character in the window of a row.

    ``equals``, uint64[n_words], belongs to the block, from ``filled``. The windows of present
    characters are filled; the windows of absent characters are all ones. Windows for the same query
    length and no larger bound are only widened.
    """
    length, lowest, beyond = table.length, table.lowest, table.highest + 1
    reach = screen.reach
    if reach[LENGTH] != length or lowest > reach[LOWEST] or beyond < reach[BEYOND]:
        clear_windows(screen, block, stride)
        _take_out_diagonals(equals, screen, block, length, stride, lowest, beyond)
    else:
        _take_out_diagonals(equals, screen, block, length, stride, lowest, reach[LOWEST])
        _take_out_diagonals(equals, screen, block, length, stride, reach[BEYOND], beyond)
    reach[LENGTH], reach[LOWEST], reach[BEYOND] = length, lowest, beyond
    screen.preset[:] = _ZERO
    for term_length in range(block.shortest, block.longest + 1):
        first, stop = lanes_of(pool, block, term_length)
        preset = MAX_MISSED - max(0, table.bound - max(0, term_length - length))
        for plane in range(N_PLANES):
            if (preset >> plane) & 1:
                set_lanes(screen.preset, plane * N_WORDS, first, stop)


@inner_kernel
def _take_out_diagonals(
    equals: Hashes, screen: Screen, block: Block, length: int, stride: int, first: int, stop: int
) -> None:
    """Clear the bits of terms that have a character on some diagonals."""
    other = block.longest
    equals_at = np.uint64(equals.ctypes.data)
    windows_at = np.uint64(screen.windows.ctypes.data)
    for row in range(max(0, first), min(length, other + stop - 1)):
        low, high = max(0, row + 1 - stop), min(other, row + 1 - first)
        width = np.uint64(high - low)
        for at in range(block.n_present):
            character = np.int64(screen.present[at])
            source = equals_at + np.uint64((character * other + low) * VECTOR_BYTES)
            target = windows_at + np.uint64((character * stride + row) * VECTOR_BYTES)
            take_out(target, source, width)


@inner_kernel
def clear_windows(screen: Screen, block: Block, stride: int) -> None:
    """Undo ``fill_windows``, so that every term lacks every character."""
    n_words = screen.reach[LENGTH] * N_WORDS
    for at in range(block.n_present if n_words else 0):
        first = np.int64(screen.present[at]) * stride * N_WORDS
        screen.windows[first : first + n_words] = _ALL
    screen.reach[LENGTH] = 0
