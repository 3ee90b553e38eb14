"""Machine instructions that Numba does not offer by name."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def popcount(word: int) -> int:
        """Return how many bits of a 64-bit word are set."""
        return int(word).bit_count()

    def trailing_zeros(word: int) -> int:
        """Return how many bits below the lowest set bit of a 64-bit word are not set."""
        return (int(word) & -int(word)).bit_length() - 1

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
