"""Machine instructions in LLVM's intermediate language, and the passes of the edit-distance table.

Each bit of a vector stands for a term. Numba does not reliably vectorize loops over words, so the
innermost steps are written in LLVM's intermediate language, on vectors of 64-bit words, which LLVM
maps to the processor's instructions. A vector fills a register of AVX-512 if Numba compiles for it,
otherwise a register of AVX2; both have enough registers for four rows of a table. Wider vectors
would have to be split, which is slower.

Neighbouring cells of the table differ by -1, 0 or 1, so two bits per cell suffice: whether the
difference is 1, and whether it is -1 (Myers 1999; Hyyrö 2003). ``vp`` and ``vn`` are the
differences from the cell above, which pass from column to column. ``hz`` and ``hn`` are the
differences from the cell to the left, which pass from row to row; ``hz`` is set if the difference
is not 1, so zeros mean 1.

Addresses are integers; a column of state is two vectors, ``hz`` and ``hn``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import config, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

if TYPE_CHECKING:
    import numpy as np

_FEATURES = cpu_target.target_context.codegen().magic_tuple()[-1].split(",")

LANES = 512 if "+avx512f" in _FEATURES else 256
"""Number of terms compared at once."""

N_WORDS = LANES // 64
"""Number of 64-bit words in a vector."""

VECTOR_BYTES = LANES // 8

WORD = ir.IntType(64)
VECTOR = ir.VectorType(WORD, N_WORDS)
ONES = ir.Constant(VECTOR, [-1] * N_WORDS)
ZEROS = ir.Constant(VECTOR, [0] * N_WORDS)


if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def popcount(word: int) -> int:
        """Return how many bits of a 64-bit word are set."""
        return int(word).bit_count()

    def prefetch(_address: np.uint64) -> None:
        """Prefetch the bytes at an address into the processor's cache."""

else:

    @intrinsic
    def popcount(_typing: Any, word: Any) -> Any:
        """Return how many bits of a 64-bit word are set, as int64."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return (types.int64(types.uint64), generate) if word == types.uint64 else None

    @intrinsic
    def prefetch(_typing: Any, address: Any) -> Any:
        """Prefetch the bytes at an address, a uint64, into the processor's cache."""

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            b, byte, number = builder, ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            ask = b.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            how = [ir.Constant(number, value) for value in (0, 3, 1)]  # to read, soon, data
            b.call(ask, [b.inttoptr(arguments[0], byte), *how])
            return context.get_dummy_value()

        return (types.void(types.uint64), generate) if address == types.uint64 else None


def load(builder: Any, address: Any) -> Any:
    """Return the vector at an address."""
    return builder.load(builder.inttoptr(address, VECTOR.as_pointer()), align=8)


def store(builder: Any, value: Any, address: Any) -> None:
    """Write a vector to an address."""
    builder.store(value, builder.inttoptr(address, VECTOR.as_pointer()), align=8)


def plus(builder: Any, number: Any, offset: int) -> Any:
    """Return the sum of a number and an offset."""
    return builder.add(number, ir.Constant(WORD, offset))


def full_sum(builder: Any, first: Any, second: Any, third: Any) -> tuple[Any, Any]:
    """Return the lower and the higher digit of the sum of three bits."""
    b = builder
    differ = b.xor(first, second)
    higher = b.or_(b.and_(differ, third), b.and_(b.not_(differ), first))
    return b.xor(differ, third), higher


def half_sum(builder: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """Return the lower and the higher digit of the sum of two bits."""
    return builder.xor(first, second), builder.and_(first, second)


def sum_of_four(builder: Any, planes: list[Any], bits: list[Any]) -> tuple[list[Any], Any]:
    """Add four bits to the lowest two planes of a counter; return the planes and the carry."""
    ones, twos = planes
    ones, left = full_sum(builder, ones, bits[0], bits[1])
    ones, right = full_sum(builder, ones, bits[2], bits[3])
    twos, carry = full_sum(builder, twos, left, right)
    return [ones, twos], carry


def is_full(builder: Any, vector: Any) -> Any:
    """Return whether every bit of a vector is set, as one bit."""
    b = builder
    equal = b.bitcast(b.icmp_signed("==", vector, ONES), ir.IntType(N_WORDS))
    return b.icmp_signed("==", equal, ir.Constant(ir.IntType(N_WORDS), -1))


class Loop:
    """A loop of generated code of at most ``n_rounds`` that carries values from round to round.

    Create ``loop = Loop(builder, n_rounds, values)``, generate the body with ``loop.values`` and
    ``loop.at``, then call ``after = loop.close(new_values)``.
    """

    def __init__(self, builder: Any, n_rounds: Any, values: list[Any]) -> None:
        self._builder = builder
        self._n_rounds = n_rounds
        entry = builder.block
        append = builder.function.append_basic_block
        self._head, body, self._done = append("head"), append("body"), append("done")
        builder.branch(self._head)
        builder.position_at_end(self._head)
        self.at = builder.phi(WORD)
        self.values = [builder.phi(value.type) for value in values]
        self.at.add_incoming(ir.Constant(WORD, 0), entry)
        for phi, value in zip(self.values, values, strict=True):
            phi.add_incoming(value, entry)
        builder.cbranch(builder.icmp_unsigned("<", self.at, n_rounds), body, self._done)
        builder.position_at_end(body)

    def close(self, values: list[Any], stop: Any = None) -> list[Any]:
        """End the body; return the carried values after the loop.

        The next round begins with ``values``. If the bit ``stop`` is set, the loop ends; without
        it, the loop runs all rounds.
        """
        b = self._builder
        following = plus(b, self.at, 1)
        if stop is not None:
            following = b.select(stop, self._n_rounds, following)
        self.at.add_incoming(following, b.block)
        for phi, value in zip(self.values, values, strict=True):
            phi.add_incoming(value, b.block)
        b.branch(self._head)
        b.position_at_end(self._done)
        return self.values


COLUMN_BYTES = 2 * VECTOR_BYTES

MARGIN = 4
"""Number of zero columns that a pass writes after its last column, for the next pass to use."""

SLANT = 3
"""Columns at either side of a four-row pass where the band covers only some of the rows."""

KIND, ROW, SOURCE, TARGET, COUNTS, NEW_COUNTS, PLANES, ROW_BYTES, EQUALS = range(9)
"""Fields of a pass: its kind and its first row; offsets in bytes of the state and of the counters
before and after it; the number of bit planes of a counter; the bytes of one character's vectors;
the offset of the vectors of its first column."""

SLANTED_BEFORE, BEFORE, AFTER, SLANTED_AFTER = range(9, 13)
"""Further fields: whether the pass begins with ``SLANT`` columns of the band's side; its other
columns before the diagonal and after it; whether it ends with ``SLANT`` columns of the band's
side."""

N_FIELDS = 13
PASS_BYTES = 8 * N_FIELDS

FOUR_COUNTED, FOUR_PLAIN, ONE_COUNTED, ONE_PLAIN = range(4)
"""Kinds of passes: the number of rows they compute, and whether they count."""

CODE_BYTES = 2


def _run_pass(
    _typing: Any, planned: Any, query: Any, equals: Any, states: Any, counts: Any, ruled_out: Any
) -> Any:
    """Compute some rows of the table over some columns; return whether no term remains.

    For each of its rows, a counted pass adds 1 to the counter of every term whose distance grows
    along the diagonal that ends in the table's last cell, one column per row. The plane after the
    last holds the terms whose counter has overflowed. The remaining terms are those that have
    neither overflowed nor been ruled out.

    Args:
        planned: uint64, address of the pass's ``N_FIELDS`` fields, each an int64.
        query: uint64, address of the query's characters, each a uint16.
        equals: uint64, address of the vectors of terms that have a character in a column.
        states: uint64, address of the columns' states.
        counts: uint64, address of the bit planes of the counters.
        ruled_out: uint64, address of the vector of terms that are certainly too far.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        b = builder
        planned, query, equals, states, counts, ruled_out = arguments
        fields = [_word(b, plus(b, planned, 8 * field)) for field in range(N_FIELDS)]
        query = b.add(query, b.mul(fields[ROW], ir.Constant(WORD, CODE_BYTES)))
        first = b.add(equals, fields[EQUALS])
        done = b.function.append_basic_block("passed")
        kinds = [b.function.append_basic_block(f"kind{kind}") for kind in range(4)]
        switch = b.switch(fields[KIND], kinds[ONE_PLAIN])
        ends = []
        for kind, block in enumerate(kinds):
            switch.add_case(ir.Constant(WORD, kind), block)
            b.position_at_end(block)
            rows = [
                b.add(first, b.mul(number_at(b, query, row, CODE_BYTES), fields[ROW_BYTES]))
                for row in range(4 if kind in {FOUR_COUNTED, FOUR_PLAIN} else 1)
            ]
            overflown = _compute(b, kind, fields, rows, states, counts)
            ends.append((is_full(b, b.or_(overflown, load(b, ruled_out))), b.block))
            b.branch(done)
        b.position_at_end(done)
        result = b.phi(ir.IntType(1))
        for value, block in ends:
            result.add_incoming(value, block)
        return result

    return types.boolean(*[types.uint64] * 6), generate


def _compute(
    builder: Any, kind: int, fields: list[Any], rows: list[Any], states: Any, counts: Any
) -> Any:
    """Compute a pass of one kind, given the addresses of its rows' vectors in its first column."""
    b = builder
    front = _Front(b, b.add(states, fields[SOURCE]), b.add(states, fields[TARGET]), rows)
    whole, grown = range(len(rows)), []
    if kind == FOUR_COUNTED:
        front.move(fields[SLANTED_BEFORE], [whole[: past + 1] for past in range(SLANT)])
    if kind in {FOUR_COUNTED, ONE_COUNTED}:
        front.move(fields[BEFORE], [whole])
        grown = [front.step(whole, watched=row) for row in whole]
    front.move(fields[AFTER], [whole])
    if kind in {FOUR_COUNTED, FOUR_PLAIN}:
        front.move(fields[SLANTED_AFTER], [whole[past + 1 :] for past in range(SLANT)])
    front.leave_margin()
    old, new = b.add(counts, fields[COUNTS]), b.add(counts, fields[NEW_COUNTS])
    return _count(b, grown, old, new, fields[PLANES])


class _Front:
    """The border between two columns that a pass has reached, and the differences that cross it."""

    def __init__(self, builder: Any, source: Any, target: Any, equals: list[Any]) -> None:
        self._builder = builder
        self._at = [source, target, *equals]
        self._vp = [ONES] * len(equals)
        self._vn = [ZEROS] * len(equals)

    def step(self, rows: range, watched: int = -1) -> Any:
        """Compute some rows of one column; return where the watched row's diagonal step costs 1.

        Outside the band every cell is 1 more than the cell to the left or above, so the next pass
        needs nothing from below the last computed row.
        """
        b = self._builder
        source, target, *equals = self._at
        hz, hn = ZEROS, ZEROS
        if rows.start == 0:
            hz, hn = load(b, source), load(b, plus(b, source, VECTOR_BYTES))
        grown = None
        for row in rows:
            vp, vn = self._vp[row], self._vn[row]
            free = b.or_(b.or_(load(b, equals[row]), hn), vn)
            self._vp[row] = b.or_(hn, b.and_(b.not_(free), hz))
            self._vn[row] = b.and_(free, b.not_(hz))
            hz, hn = b.and_(b.not_(vn), b.or_(free, vp)), b.and_(free, vp)
            if row == watched:
                grown = b.not_(free)
        if rows.stop == len(equals):
            store(b, hz, target)
            store(b, hn, plus(b, target, VECTOR_BYTES))
        strides = [COLUMN_BYTES, COLUMN_BYTES, *[VECTOR_BYTES] * len(equals)]
        self._at = [plus(b, at, by) for at, by in zip(self._at, strides, strict=True)]
        return grown

    def move(self, n_times: Any, columns: list[range]) -> None:
        """Repeat the steps over some columns a number of times."""
        loop = Loop(self._builder, n_times, [*self._at, *self._vp, *self._vn])
        self._take(loop.values)
        for rows in columns:
            self.step(rows)
        self._take(loop.close([*self._at, *self._vp, *self._vn]))

    def leave_margin(self) -> None:
        """Write the zeros after the last column."""
        for vector in range(2 * MARGIN):
            store(self._builder, ZEROS, plus(self._builder, self._at[1], vector * VECTOR_BYTES))

    def _take(self, values: list[Any]) -> None:
        height = len(self._vp)
        self._at = values[: height + 2]
        self._vp, self._vn = values[height + 2 : 2 * height + 2], values[2 * height + 2 :]


def _count(builder: Any, grown: list[Any], counts: Any, new_counts: Any, n_planes: Any) -> Any:
    """Add one-bit vectors to the counters; return the plane of overflowed counters."""
    b, n_done, carry = builder, 0, grown[0] if grown else ZEROS
    if len(grown) == 4:  # noqa: PLR2004 — rows
        n_done = 2
        old = [load(b, plus(b, counts, plane * VECTOR_BYTES)) for plane in range(n_done)]
        new, carry = sum_of_four(b, old, grown)
        for plane, bits in enumerate(new):
            store(b, bits, plus(b, new_counts, plane * VECTOR_BYTES))
    loop = Loop(b, plus(b, n_planes, -n_done), [carry])
    offset = b.mul(plus(b, loop.at, n_done), ir.Constant(WORD, VECTOR_BYTES))
    bits, carry = half_sum(b, load(b, b.add(counts, offset)), loop.values[0])
    store(b, bits, b.add(new_counts, offset))
    (carry,) = loop.close([carry])
    offset = b.mul(n_planes, ir.Constant(WORD, VECTOR_BYTES))
    overflown = b.or_(load(b, b.add(counts, offset)), carry)
    store(b, overflown, b.add(new_counts, offset))
    return overflown


def _word(builder: Any, address: Any) -> Any:
    return builder.load(builder.inttoptr(address, WORD.as_pointer()))


def number_at(builder: Any, address: Any, at: int, n_bytes: int) -> Any:
    """Return one of the unsigned numbers, such as characters, from an address on, as a word."""
    narrow = ir.IntType(8 * n_bytes)
    pointer = builder.inttoptr(plus(builder, address, n_bytes * at), narrow.as_pointer())
    return builder.zext(builder.load(pointer), WORD)


run_pass: Any = intrinsic(_run_pass)
