"""Sorting within kernels; NumPy's takes two seconds to compile, for each type and use anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import inner_kernel

if TYPE_CHECKING:
    from medsim.kernels.types import Starts

_BITS = np.int64(32)

MOST = (1 << 31) - 1
"""The largest number that a key holds."""


@inner_kernel
def key_of(first: int | np.int64, second: int | np.int64) -> np.int64:
    """Return a key that puts pairs of numbers in order, each from 0 to ``MOST``."""
    return (np.int64(first) << _BITS) | np.int64(second)


@inner_kernel
def first_of(key: np.int64) -> np.int64:
    """Return the first number of a key."""
    return key >> _BITS


@inner_kernel
def second_of(key: np.int64) -> np.int64:
    """Return the second number of a key."""
    return key & np.int64(MOST)


@inner_kernel
def sort(keys: Starts) -> None:
    """Put int64[n] in order, in place, by Shell's sort with Knuth's gaps."""
    gap = 1
    while 3 * gap < len(keys):
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, len(keys)):
            key, to = keys[at], at
            while to >= gap and keys[to - gap] > key:
                keys[to] = keys[to - gap]
                to -= gap
            keys[to] = key
        gap //= 3
