"""Rules out blocks of terms that all lack too many of a query's characters.

A path of cost at most the bound stays within a band of diagonals, so a character of the query that
it keeps stands in the term within a window of columns around its own row. Every character that a
term has nowhere in its window costs an edit of its own, a deletion or a substitution, and a longer
term costs at least as many insertions as it is longer. So a term that misses more characters than
the bound then leaves is farther away than the bound.

The rarest characters are looked at first, since they are missed most, and a look is one vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from medsim.kernels.compiler import array_kernel, inner_kernel, whole
from medsim.kernels.edit_table import lanes_of, set_lanes
from medsim.kernels.instructions import (
    VECTOR_BYTES,
    WORD,
    WORDS,
    ZEROS,
    Loop,
    full_sum,
    half_sum,
    is_full,
    load,
    plus,
    store,
    sum_of_four,
)
from medsim.kernels.packing import first_of, key_of, second_of, sort

if TYPE_CHECKING:
    from medsim.kernels.edit_search import Pool
    from medsim.kernels.edit_table import Block, EditTable
    from medsim.kernels.types import Hashes, Ids, Offsets, Starts

STEP = 8
"""Characters that are looked at together."""

_MOST_CHARACTERS = 128  # of a query, looked at
N_PLANES = 6
"""The bit planes of a counter of misses."""

MOST_MISSED = (1 << N_PLANES) - 1
"""The largest number of misses that may be left."""

LENGTH, LOWEST, BEYOND = range(3)
"""Of what windows are filled with: the queries' length, 0 where they are empty; the first diagonal
(row less column), and the one after the last."""

_OFFSET_BYTES = 4
_ALL = ~np.uint64(0)
_ZERO = np.uint64(0)


def _rules_out(
    _typing: Any, windows: Any, offsets: Any, n_steps: Any, preset: Any, ruled_out: Any
) -> Any:
    """Note which terms of a block miss too many of a query's characters; return whether all do.

    All are uint64: where the vectors lie of the terms that miss a character in a window; where the
    offsets in bytes lie of the vectors to look at, each a uint32, and how many there are, over
    ``STEP``; where the planes lie that counters begin with; where to note the terms.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        b, (windows, offsets, n_steps, preset, ruled_out) = builder, arguments

        def missing(offset: Any, at: int) -> Any:
            narrow = ir.IntType(8 * _OFFSET_BYTES)
            pointer = b.inttoptr(plus(b, offset, _OFFSET_BYTES * at), narrow.as_pointer())
            return load(b, b.add(windows, b.zext(b.load(pointer), WORD)))

        counters = [load(b, plus(b, preset, plane * VECTOR_BYTES)) for plane in range(N_PLANES)]
        loop = Loop(b, n_steps, [offsets, ZEROS, *counters])
        offset, overflown, *counters = loop.values
        looks = [missing(offset, at) for at in range(STEP)]
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
    """Clear in the target the bits that some vectors, side by side, have; all are uint64."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        b, (target, vectors, n_vectors) = builder, arguments
        loop = Loop(b, n_vectors, [vectors, load(b, target)])
        at, left = loop.values
        left = b.and_(left, b.not_(load(b, at)))
        _, left = loop.close([plus(b, at, VECTOR_BYTES), left])
        store(b, left, target)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), generate


take_out: Any = intrinsic(_take_out)


class Screen(NamedTuple):
    """The arrays with which one thread rules out blocks.

    Attributes:
        windows: uint64[(n_characters * stride + 1) * WORDS], for queries of up to ``stride``
            characters: which terms of a block miss a character in the window of a row; the last
            vector is zero.
        preset: uint64[N_PLANES * WORDS], the planes that counters begin with.
        ruled_out: uint64[WORDS], which terms of a block are known to be too far from a query.
        present: int32[n_characters], first those that the block has.
        reach: int64[3], how far the windows are filled, see ``LENGTH``.
    """

    windows: Hashes
    preset: Hashes
    ruled_out: Hashes
    present: Ids
    reach: Starts


@inner_kernel
def can_screen(pool: Pool, screen: Screen, stride: int) -> bool:
    """Return whether there is room for the windows of queries of up to some length."""
    return (pool.n_characters * stride + 1) * WORDS <= len(screen.windows)


@inner_kernel
def begin_screen(pool: Pool, screen: Screen, stride: int) -> None:
    """Let every term miss every character, for queries of up to some length."""
    n_words = pool.n_characters * stride * WORDS
    screen.windows[:n_words] = _ALL
    screen.windows[n_words : n_words + WORDS] = _ZERO


@array_kernel
def offsets_of(pool: Pool, places: Ids, stride: int) -> Offsets:
    """Return for each of some queries which vectors to look at, the rarest characters first.

    Characters are numbered by frequency; ``stride`` is the length of the longest query.
    uint32[n_queries, n_offsets], in bytes; n_offsets is a multiple of ``STEP``.
    """
    n_offsets = (min(stride, _MOST_CHARACTERS) + STEP - 1) // STEP * STEP
    none = np.uint32(pool.n_characters * stride * VECTOR_BYTES)
    offsets = np.full((len(places), n_offsets), none, np.uint32)
    for query in range(len(places)):
        first, end = pool.starts[places[query]], pool.starts[places[query] + 1]
        keys = np.empty(end - first, np.int64)
        for row in range(len(keys)):
            keys[row] = key_of(whole(pool.codes[first + row]), row)
        sort(keys)
        for at in range(min(len(keys), _MOST_CHARACTERS)):
            key = keys[len(keys) - 1 - at]
            window = first_of(key) * stride + second_of(key)
            offsets[query, at] = np.uint32(window * VECTOR_BYTES)
    return offsets


@inner_kernel
def fill_windows(
    pool: Pool, equals: Hashes, screen: Screen, block: Block, table: EditTable, stride: int
) -> None:
    """Note which terms of a block miss which character in the window of which row.

    ``equals`` is the block's, of ``filled``. The windows of characters that are present are filled,
    those of others are all ones. Windows that hold the same length of queries and no larger bound
    are only widened.
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
    for own in range(block.shortest, block.longest + 1):
        first, stop = lanes_of(pool, block, own)
        preset = MOST_MISSED - max(0, table.bound - max(0, own - length))
        for plane in range(N_PLANES):
            if (preset >> plane) & 1:
                set_lanes(screen.preset, plane * WORDS, first, stop)


@inner_kernel
def _take_out_diagonals(
    equals: Hashes,
    screen: Screen,
    block: Block,
    length: int,
    stride: int,
    first: int,
    stop: int,
) -> None:
    """Let terms no longer miss the characters that they have on some diagonals."""
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
    """Undo ``fill_windows``: every term misses every character."""
    n_words = screen.reach[LENGTH] * WORDS
    for at in range(block.n_present if n_words else 0):
        first = np.int64(screen.present[at]) * stride * WORDS
        screen.windows[first : first + n_words] = _ALL
    screen.reach[LENGTH] = 0
