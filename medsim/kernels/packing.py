"""Packed terms: where each begins, and copies of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from medsim.kernels.types import Codes, Rows, Starts


def starts_of(sizes: Sequence[int] | NDArray[Any]) -> Starts:
    """Return where each of some groups begins, and where the last ends: int64[n_groups + 1]."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


@kernel
def taken(codes: Codes, starts: Starts, rows: Rows) -> tuple[Codes, Starts]:
    """Return the terms of some rows, in their order, packed: code points and where terms begin."""
    new_starts = np.zeros(len(rows) + 1, np.int64)
    for at in range(len(rows)):
        new_starts[at + 1] = new_starts[at] + starts[rows[at] + 1] - starts[rows[at]]
    new_codes = np.empty(new_starts[-1], np.uint32)
    for at in range(len(rows)):
        first, to = starts[rows[at]], new_starts[at]
        for offset in range(new_starts[at + 1] - to):
            new_codes[to + offset] = codes[first + offset]
    return new_codes, new_starts
