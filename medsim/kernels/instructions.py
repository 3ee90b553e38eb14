"""Machine instructions in LLVM's terms: on words of 64 bits, and on vectors of them.

A bit of a vector is a term. Numba does not reliably turn loops over words into vector code, so the
innermost steps are written down in LLVM's intermediate language, on vectors of 64-bit words; LLVM
maps them to what the processor has. A vector fills a register of AVX-512 where Numba compiles for
that, and else one of AVX2; either has registers enough for four rows of a table. Wider vectors are
slower where they have to be split.
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
"""The number of terms that are compared at once."""

WORDS = LANES // 64
"""The 64-bit words of a vector."""

VECTOR_BYTES = LANES // 8

WORD = ir.IntType(64)
VECTOR = ir.VectorType(WORD, WORDS)
ONES = ir.Constant(VECTOR, [-1] * WORDS)
ZEROS = ir.Constant(VECTOR, [0] * WORDS)


if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def popcount(word: int) -> int:
        """Return how many bits of a 64-bit word are set."""
        return int(word).bit_count()

    def trailing_zeros(word: int) -> int:
        """Return how many bits below the lowest set bit of a 64-bit word are not set."""
        return (int(word) & -int(word)).bit_length() - 1

    def prefetch(_address: np.uint64) -> None:
        """Ask for the bytes at an address, so that they are near once they are read."""

else:

    @intrinsic
    def popcount(_typing: Any, word: Any) -> Any:
        """Return how many bits of a 64-bit word are set, as int64."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return (types.int64(types.uint64), generate) if word == types.uint64 else None

    @intrinsic
    def trailing_zeros(_typing: Any, word: Any) -> Any:
        """Return how many bits below the lowest set bit of a word are not set, as int64."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

        return (types.int64(types.uint64), generate) if word == types.uint64 else None

    @intrinsic
    def prefetch(_typing: Any, address: Any) -> Any:
        """Ask for the bytes at an address, a uint64, so that they are near once they are read."""

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
    """Return a number and an offset added."""
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
    """Add four bits to the lowest two planes of a counter; return these, and what is carried."""
    ones, twos = planes
    ones, left = full_sum(builder, ones, bits[0], bits[1])
    ones, right = full_sum(builder, ones, bits[2], bits[3])
    twos, carry = full_sum(builder, twos, left, right)
    return [ones, twos], carry


def is_full(builder: Any, vector: Any) -> Any:
    """Return whether every bit of a vector is set, as one bit."""
    b = builder
    equal = b.bitcast(b.icmp_signed("==", vector, ONES), ir.IntType(WORDS))
    return b.icmp_signed("==", equal, ir.Constant(ir.IntType(WORDS), -1))


class Loop:
    """A loop of generated code, for at most ``n_rounds``, that carries values from round to round.

    Used as ``loop = Loop(builder, n_rounds, values)``, then the body is generated with
    ``loop.values`` and ``loop.at``, then ``after = loop.close(new_values)``.
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
        """End the body; return the carried values as they are after the loop.

        The next round begins with ``values``. There is none where ``stop``, a bit, is set; without
        it there is one until all are done.
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
