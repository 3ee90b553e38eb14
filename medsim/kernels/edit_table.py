"""The edit-distance table of a query and a block of terms: begun, and planned as far as needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels import lanes
from medsim.kernels.compiler import array_kernel, inner_kernel
from medsim.kernels.instructions import LANES, VECTOR_BYTES, WORDS

if TYPE_CHECKING:
    from medsim.kernels.edit_search import Pool
    from medsim.kernels.screen import Screen
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
    """The table of one query length, term length and bound.

    With D the difference of the lengths and h half of what the bound leaves beyond it, only the
    diagonals (row less column) from min(0, D) - h to max(0, D) + h matter.

    Attributes:
        length: of the queries.
        other: of the terms.
        lowest: the first of the diagonals that matter.
        highest: the last.
        n_planes: bit planes of its counters.
        preset: the value that counters begin with: one more than ``2**n_planes - 1`` overflows.
        state_bytes: the size of a kept state.
        count_bytes: the size of kept counters.
    """

    length: int
    other: int
    lowest: int
    highest: int
    n_planes: int
    preset: int
    state_bytes: int
    count_bytes: int


@inner_kernel
def outlined(length: int, other: int, bound: int) -> EditTable:
    """Return the table of two lengths and a bound, of which no pass is planned yet."""
    difference = length - other
    spare = bound - abs(difference)
    lowest = min(0, difference) - spare // 2
    highest = max(0, difference) + spare // 2
    n_planes = _LEAST_PLANES
    while (1 << n_planes) - 1 < spare:
        n_planes += 1
    state_bytes = (min(other, highest - lowest + _HEIGHT) + 2 * lanes.MARGIN) * lanes.COLUMN_BYTES
    return EditTable(
        length=length,
        other=other,
        lowest=lowest,
        highest=highest,
        n_planes=n_planes,
        preset=(1 << n_planes) - 1 - spare,
        state_bytes=state_bytes,
        count_bytes=(n_planes + 1) * VECTOR_BYTES,
    )


@inner_kernel
def begin(table: EditTable, slate: Slate) -> None:
    """Set the state before the first row: differences of 1, and counters preset."""
    n_columns = min(table.other, _HEIGHT - table.lowest) + lanes.MARGIN
    slate.states[: n_columns * 2 * WORDS] = _ZERO
    for plane in range(table.n_planes):
        value = NO_TERM_LEFT if (table.preset >> plane) & 1 else _ZERO
        slate.counts[plane * WORDS : (plane + 1) * WORDS] = value
    slate.counts[table.n_planes * WORDS : (table.n_planes + 1) * WORDS] = _ZERO
    slate.plan[0, lanes.ROW] = 0


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
def filled(pool: Pool, first: int, length: int, equals: Hashes, present: Ids) -> Block:
    """Return the block of terms of a length that begins at a place of the pool.

    Which of its terms have which character in which column is noted in ``equals``, which is zero
    before; the different characters are written to ``present``.
    """
    codes, n_terms = pool.codes, min(LANES, int(pool.length_starts[length + 1] - first))
    seen = np.zeros(pool.n_characters, np.bool_)
    # Numba checks a signed index for being negative.
    words, row_words = np.uint64(WORDS), np.uint64(length * WORDS)
    for lane in range(n_terms):
        word, bit = lane // _WORD, _ONE << np.uint64(lane % _WORD)
        begin, at = np.uint64(pool.starts[first + lane]), np.uint64(word)
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
    return Block(first, n_terms, length, n_present)


@inner_kernel
def clear(block: Block, equals: Hashes, present: Ids) -> None:
    """Undo ``filled``."""
    n_words = block.length * WORDS
    for at in range(block.n_present):
        first = np.int64(present[at]) * n_words
        equals[first : first + n_words] = _ZERO
