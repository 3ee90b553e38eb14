"""The edit-distance table of a query and a block of terms: begun, and planned as far as needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels import lanes
from medsim.kernels.compiler import array_kernel, inner_kernel
from medsim.kernels.instructions import LANES, VECTOR_BYTES, WORDS

if TYPE_CHECKING:
    from medsim.kernels.edit_search import Pool
    from medsim.kernels.edit_table import Screen
    from medsim.kernels.types import Hashes, Ids, Plan

NO_TERM_LEFT = ~np.uint64(0)
"""The result of a pass after which every term's counter has overflowed."""

KEPT_PASSES = 24
"""Passes whose state is kept for the next query; later ones take turns in two places."""

MAX_PLANES = 16
"""Bit planes of the counters: enough for distances up to 2**15."""

_LEAST_PLANES = 3  # four rows add up to 4
_HEIGHT = 4
_WORD = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Block(NamedTuple):
    """Up to ``LANES`` terms of near lengths that lie side by side in the pool, hence by length.

    They end in the same column: a term that is shorter than the longest by some characters begins
    as many columns later, after columns without a character.

    Attributes:
        first: the place of the first.
        n_terms: how many there are.
        shortest: the length of the first.
        longest: the length of the last.
        n_present: how many different characters they have.
    """

    first: int
    n_terms: int
    shortest: int
    longest: int
    n_present: int


class Slate(NamedTuple):
    """The arrays that one thread writes to.

    Attributes:
        equals: uint64[n_characters * n_columns * WORDS], which terms of a block have a character
            in a column.
        states: uint64, the state of the columns before the first and after each kept pass.
        counts: uint64, the counters' planes, likewise.
        screen: of this thread.
        plan: int64[n_passes + 1, N_FIELDS], the passes of the current table that are planned, and
            after the last where the next begins; columns as named in ``lanes``.
    """

    equals: Hashes
    states: Hashes
    counts: Hashes
    screen: Screen
    plan: Plan


class EditTable(NamedTuple):
    """The table of one query length, one bound and a block's lengths.

    With D the difference of the lengths and h half of what the bound leaves beyond it, a term that
    begins in column p has paths of cost at most the bound only on the diagonals (row less column)
    from min(0, D) - h - p to max(0, D) + h - p.

    Attributes:
        length: of the queries.
        other: of the longest terms, the number of columns.
        bound: on the distance.
        lowest: the first of the diagonals that matter to any term.
        highest: the last.
        n_planes: bit planes of its counters, which stand for the bound where all are set, and
            overflow beyond it.
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
    """Return the table of queries of a length and a block, of which no pass is planned yet."""
    lowest, highest = length, -block.longest
    for own in range(block.shortest, block.longest + 1):
        difference, begin = length - own, block.longest - own
        if abs(difference) <= bound:
            spare = (bound - abs(difference)) // 2
            lowest = min(lowest, min(0, difference) - spare - begin)
            highest = max(highest, max(0, difference) + spare - begin)
    n_planes = _LEAST_PLANES
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
        state_bytes=(width + 2 * lanes.MARGIN) * lanes.COLUMN_BYTES,
        count_bytes=(n_planes + 1) * VECTOR_BYTES,
    )


@inner_kernel
def _begun(length: int, block: Block, own: int) -> int:
    """Return the first value on the diagonal of the last cell, for terms of a block of a length.

    That diagonal begins in the first column if the queries are longer than the longest term, and
    else in the first row, where a term has no value before its first column.
    """
    return max(length - block.longest, own - length, 0)


@inner_kernel
def begin(table: EditTable, block: Block, pool: Pool, slate: Slate) -> None:
    """Set the state before the first row, and the counters.

    Differences are 1 from a term's first column on, and before it 0. Counters are preset so that
    they overflow where the diagonal of the last cell exceeds the bound.
    """
    n_columns = min(table.other, _HEIGHT - table.lowest) + lanes.MARGIN
    slate.states[: n_columns * 2 * WORDS] = _ZERO
    slate.counts[: (table.n_planes + 1) * WORDS] = _ZERO
    for own in range(block.shortest, block.longest + 1):
        first, stop = lanes_of(pool, block, own)
        for column in range(min(n_columns, block.longest - own)):
            set_lanes(slate.states, column * 2 * WORDS, first, stop)
        preset = (1 << table.n_planes) - 1 - table.bound + _begun(table.length, block, own)
        for plane in range(table.n_planes):
            if (preset >> plane) & 1:
                set_lanes(slate.counts, plane * WORDS, first, stop)
        if preset >> table.n_planes:
            set_lanes(slate.counts, table.n_planes * WORDS, first, stop)
    slate.plan[0, lanes.ROW] = 0


@inner_kernel
def lanes_of(pool: Pool, block: Block, own: int) -> tuple[int, int]:
    """Return the first lane of a block's terms of a length, and the one after the last.

    Lanes without a term are as those of the longest.
    """
    first = max(0, int(pool.length_starts[own] - block.first))
    stop = LANES if own == block.longest else int(pool.length_starts[own + 1] - block.first)
    return first, stop


@inner_kernel
def set_lanes(words: Hashes, at: int, first: int, stop: int) -> None:
    """Set the bits of some lanes in the vector that begins at a word."""
    for word in range(first // _WORD, (stop + _WORD - 1) // _WORD):
        bits = NO_TERM_LEFT << np.uint64(max(0, first - _WORD * word))
        words[at + word] |= bits & (NO_TERM_LEFT >> np.uint64(max(0, _WORD * (word + 1) - stop)))


@inner_kernel
def plan_pass(table: EditTable, at: int, plan: Plan) -> None:
    """Plan a pass, and where the next begins; those before it are planned."""
    length, other, difference = table.length, table.other, table.length - table.other
    row = plan[at, lanes.ROW]
    counted = row >= difference
    four = row + _HEIGHT <= (length if counted else min(length, difference))
    height = _HEIGHT if four else 1
    low, high = max(0, row - table.highest), min(other, row + height - table.lowest)
    before = max(0, plan[at - 1, lanes.ROW] - table.highest) if at else 0
    old, new = kept_at(at), kept_at(at + 1)
    plan[at, lanes.SOURCE] = old * table.state_bytes + (low - before) * lanes.COLUMN_BYTES
    plan[at, lanes.TARGET] = new * table.state_bytes
    plan[at, lanes.COUNTS] = old * table.count_bytes
    plan[at, lanes.NEW_COUNTS] = new * table.count_bytes
    plan[at, lanes.PLANES], plan[at, lanes.EQUALS] = table.n_planes, low * VECTOR_BYTES
    plan[at, lanes.ROW_BYTES] = other * VECTOR_BYTES
    left, right = 0, high - low  # of the diagonal, if there is one
    kind = lanes.FOUR_PLAIN if four else lanes.ONE_PLAIN
    if counted:
        left, right = row - difference - low, high - (row - difference) - height
        kind = lanes.FOUR_COUNTED if four else lanes.ONE_COUNTED
    slanted = four and left >= lanes.SLANT and low == row - table.highest
    plan[at, lanes.SLANTED_BEFORE] = slanted
    plan[at, lanes.BEFORE] = left - lanes.SLANT * slanted
    slanted = four and right >= lanes.SLANT and high == row + height - table.lowest
    plan[at, lanes.SLANTED_AFTER] = slanted
    plan[at, lanes.AFTER] = right - lanes.SLANT * slanted
    plan[at, lanes.KIND] = kind
    plan[at + 1, lanes.ROW] = row + height


@inner_kernel
def kept_at(passed: int) -> int:
    """Return where the state after some passes is kept."""
    return passed if passed <= KEPT_PASSES else KEPT_PASSES + 1 + passed % 2


@array_kernel
def filled(pool: Pool, first: int, stop: int, equals: Hashes, present: Ids) -> Block:
    """Return the block of terms between two places of the pool.

    Which of its terms have which character in which column is noted in ``equals``, which is zero
    before; the different characters are written to ``present``.
    """
    codes = pool.codes
    shortest, longest = length_at(pool, first), length_at(pool, stop - 1)
    seen = np.zeros(pool.n_characters, np.bool_)
    # Numba checks a signed index for being negative.
    words, row_words = np.uint64(WORDS), np.uint64(longest * WORDS)
    for lane in range(stop - first):
        word, bit = lane // _WORD, _ONE << np.uint64(lane % _WORD)
        begin, length = np.uint64(pool.starts[first + lane]), length_at(pool, first + lane)
        at = np.uint64((longest - length) * WORDS + word)
        for column in range(np.uint64(length)):
            character = np.uint64(codes[begin + column])
            seen[character] = True
            equals[character * row_words + at] |= bit
            at += words
    n_present = 0
    for number in range(pool.n_characters):
        if seen[number]:
            present[n_present] = number
            n_present += 1
    return Block(first, stop - first, shortest, longest, n_present)


@inner_kernel
def clear(block: Block, equals: Hashes, present: Ids) -> None:
    """Undo ``filled``."""
    n_words = block.longest * WORDS
    for at in range(block.n_present):
        first = np.int64(present[at]) * n_words
        equals[first : first + n_words] = _ZERO


@inner_kernel
def length_at(pool: Pool, place: int) -> int:
    """Return the length of a term of the pool."""
    return int(pool.starts[place + 1] - pool.starts[place])
