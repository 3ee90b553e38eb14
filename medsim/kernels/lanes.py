"""One step of the edit-distance table for 256 terms at once, as vector instructions.

Numba does not reliably turn loops over words into vector code, so the step is written down in
LLVM's terms, on vectors of four 64-bit words; LLVM maps them to what the processor has. A bit is a
term.

Neighbouring cells of the table differ by -1, 0 or 1, so two bits a cell tell all: whether the
difference is 1, and whether it is -1 (Myers 1999; Hyyrö 2003). ``vp`` and ``vn`` are the
differences from the cell above, which pass from column to column; ``hz`` and ``hn`` those from the
cell to the left, which pass from row to row, ``hz`` saying that it is not 1, so that zeros mean 1.

Addresses are integers; a column of state is two vectors, ``hz`` and ``hn``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 256
"""How many terms are compared at once."""

WORDS = LANES // 64
"""The 64-bit words of a vector."""

VECTOR_BYTES = 8 * WORDS
COLUMN_BYTES = 2 * VECTOR_BYTES

MARGIN = 4
"""Columns of zeros that every pass leaves behind its last one, for the next pass to begin on."""

KIND, ROW, SOURCE, TARGET, COUNTS, NEW_COUNTS, EQUALS, BEFORE, AFTER = range(9)
"""Of a pass: its kind and its first row; offsets in bytes of the state and of the counters before
and after it, and of its first column's vectors; its columns before and after the diagonal."""

N_FIELDS = 9
PASS_BYTES = 8 * N_FIELDS

FOUR_COUNTED, FOUR_PLAIN, ONE_COUNTED, ONE_PLAIN = range(4)
"""The kinds of passes: how many rows they compute, and whether these are counted."""

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WORDS)
_ONES = ir.Constant(_VECTOR, [-1] * WORDS)
_ZEROS = ir.Constant(_VECTOR, [0] * WORDS)
_CODE_BYTES = 4


def _run_pass(
    _typing: Any,
    planned: Any,
    query: Any,
    equals: Any,
    row_bytes: Any,
    states: Any,
    counts: Any,
    n_planes: Any,
) -> Any:
    """Compute some rows of the table over some columns; return all ones if no term is left.

    A counted pass adds, for each of its rows, 1 to the counter of every term whose distance grows
    along the diagonal that ends in the table's last cell, one column a row. The plane after the
    last holds the terms whose counter has overflowed; its words, and-ed, are returned.

    Args:
        planned: uint64, where the pass's ``N_FIELDS`` fields lie, each an int64.
        query: uint64, where the query's characters lie, each a uint32.
        equals: uint64, where the vectors lie of the terms that have a character in a column.
        row_bytes: uint64, the bytes of one character's vectors.
        states: uint64, where the columns' states lie.
        counts: uint64, where the bit planes of the counters lie.
        n_planes: uint64, how many there are.

    Returns:
        uint64.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        b = builder
        planned, query, equals, row_bytes, states, counts, n_planes = arguments
        fields = [_word(b, _plus(b, planned, 8 * field)) for field in range(N_FIELDS)]
        query = b.add(query, b.mul(fields[ROW], ir.Constant(_WORD, _CODE_BYTES)))
        first = b.add(equals, fields[EQUALS])
        done = b.function.append_basic_block("passed")
        kinds = [b.function.append_basic_block(f"kind{kind}") for kind in range(4)]
        switch = b.switch(fields[KIND], kinds[ONE_PLAIN])
        left = []
        for kind, block in enumerate(kinds):
            switch.add_case(ir.Constant(_WORD, kind), block)
            b.position_at_end(block)
            height = 4 if kind in {FOUR_COUNTED, FOUR_PLAIN} else 1
            counted = kind in {FOUR_COUNTED, ONE_COUNTED}
            rows = [
                b.add(first, b.mul(_code(b, _plus(b, query, _CODE_BYTES * row)), row_bytes))
                for row in range(height)
            ]
            source, target = b.add(states, fields[SOURCE]), b.add(states, fields[TARGET])
            front = _Front(b, source, target, rows)
            front.move(fields[BEFORE])
            grown = [front.step(row) for row in range(height)] if counted else []
            if counted:
                front.move(fields[AFTER])
            front.leave_margin()
            old, new = b.add(counts, fields[COUNTS]), b.add(counts, fields[NEW_COUNTS])
            left.append((_count(b, grown, old, new, n_planes), b.block))
            b.branch(done)
        b.position_at_end(done)
        result = b.phi(_WORD)
        for value, block in left:
            result.add_incoming(value, block)
        return result

    return types.uint64(*[types.uint64] * 7), generate


class _Front:
    """The place between two columns that a pass has come to, with the differences that cross it."""

    def __init__(self, builder: Any, source: Any, target: Any, equals: list[Any]) -> None:
        self._builder = builder
        self._at = [source, target, *equals]
        self._vp = [_ONES] * len(equals)
        self._vn = [_ZEROS] * len(equals)

    def step(self, watched: int) -> Any:
        """Compute one column; return in which terms the watched row's diagonal step costs 1."""
        b = self._builder
        source, target, *equals = self._at
        hz, hn = _load(b, source), _load(b, _plus(b, source, VECTOR_BYTES))
        grown = None
        for row, at in enumerate(equals):
            vp, vn = self._vp[row], self._vn[row]
            free = b.or_(b.or_(_load(b, at), hn), vn)
            self._vp[row] = b.or_(hn, b.and_(b.not_(free), hz))
            self._vn[row] = b.and_(free, b.not_(hz))
            hz, hn = b.and_(b.not_(vn), b.or_(free, vp)), b.and_(free, vp)
            if row == watched:
                grown = b.not_(free)
        _store(b, hz, target)
        _store(b, hn, _plus(b, target, VECTOR_BYTES))
        strides = [COLUMN_BYTES, COLUMN_BYTES, *[VECTOR_BYTES] * len(equals)]
        self._at = [_plus(b, at, by) for at, by in zip(self._at, strides, strict=True)]
        return grown

    def move(self, n_columns: Any) -> None:
        """Compute some columns in a loop."""
        b = self._builder
        entry = b.block
        head, body, done = (b.function.append_basic_block(name) for name in ("at", "in", "out"))
        b.branch(head)
        b.position_at_end(head)
        counter = b.phi(_WORD)
        outer = [*self._at, *self._vp, *self._vn]
        phis = [b.phi(value.type) for value in outer]
        counter.add_incoming(ir.Constant(_WORD, 0), entry)
        for phi, value in zip(phis, outer, strict=True):
            phi.add_incoming(value, entry)
        self._take(phis)
        b.cbranch(b.icmp_unsigned("<", counter, n_columns), body, done)
        b.position_at_end(body)
        self.step(-1)
        counter.add_incoming(_plus(b, counter, 1), b.block)
        for phi, value in zip(phis, [*self._at, *self._vp, *self._vn], strict=True):
            phi.add_incoming(value, b.block)
        b.branch(head)
        b.position_at_end(done)
        self._take(phis)

    def leave_margin(self) -> None:
        """Write the zeros behind the last column."""
        for vector in range(2 * MARGIN):
            _store(self._builder, _ZEROS, _plus(self._builder, self._at[1], vector * VECTOR_BYTES))

    def _take(self, values: list[Any]) -> None:
        height = len(self._vp)
        self._at = values[: height + 2]
        self._vp, self._vn = values[height + 2 : 2 * height + 2], values[2 * height + 2 :]


def _count(builder: Any, grown: list[Any], counts: Any, new_counts: Any, n_planes: Any) -> Any:
    """Add one-bit vectors to the counters; return the and of the words of the overflow plane."""
    b, carry = builder, _ZEROS
    addend = _sum_of_bits(b, grown)
    for plane, bits in enumerate(addend):
        old = _load(b, _plus(b, counts, plane * VECTOR_BYTES))
        half = b.xor(old, bits)
        _store(b, b.xor(half, carry), _plus(b, new_counts, plane * VECTOR_BYTES))
        carry = b.or_(b.and_(old, bits), b.and_(half, carry))
    entry = b.block
    head, body, done = (b.function.append_basic_block(name) for name in ("at", "in", "out"))
    b.branch(head)
    b.position_at_end(head)
    plane, carried = b.phi(_WORD), b.phi(_VECTOR)
    plane.add_incoming(ir.Constant(_WORD, len(addend)), entry)
    carried.add_incoming(carry, entry)
    offset = b.mul(plane, ir.Constant(_WORD, VECTOR_BYTES))
    old = _load(b, b.add(counts, offset))
    b.cbranch(b.icmp_unsigned("<", plane, n_planes), body, done)
    b.position_at_end(body)
    _store(b, b.xor(old, carried), b.add(new_counts, offset))
    plane.add_incoming(_plus(b, plane, 1), body)
    carried.add_incoming(b.and_(old, carried), body)
    b.branch(head)
    b.position_at_end(done)
    overflown = b.or_(old, carried)
    _store(b, overflown, b.add(new_counts, offset))
    words = [b.extract_element(overflown, ir.Constant(ir.IntType(32), w)) for w in range(WORDS)]
    result = words[0]
    for word in words[1:]:
        result = b.and_(result, word)
    return result


def _sum_of_bits(builder: Any, bits: list[Any]) -> list[Any]:
    """Return the binary digits of the sum of up to four one-bit vectors, lowest first."""
    if len(bits) <= 1:
        return bits
    b, (first, second, third, fourth) = builder, bits
    half = b.xor(first, second)
    three = b.xor(half, third)
    twos = b.or_(b.and_(first, second), b.and_(half, third))
    more = b.and_(three, fourth)
    return [b.xor(three, fourth), b.xor(twos, more), b.and_(twos, more)]


def _word(builder: Any, address: Any) -> Any:
    return builder.load(builder.inttoptr(address, _WORD.as_pointer()))


def _code(builder: Any, address: Any) -> Any:
    code = ir.IntType(8 * _CODE_BYTES)
    return builder.zext(builder.load(builder.inttoptr(address, code.as_pointer())), _WORD)


def _load(builder: Any, address: Any) -> Any:
    return builder.load(builder.inttoptr(address, _VECTOR.as_pointer()), align=8)


def _store(builder: Any, value: Any, address: Any) -> None:
    builder.store(value, builder.inttoptr(address, _VECTOR.as_pointer()), align=8)


def _plus(builder: Any, address: Any, offset: int) -> Any:
    return builder.add(address, ir.Constant(_WORD, offset))


run_pass: Any = intrinsic(_run_pass)
