"""Copies packed terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from medsim.kernels.types import Codes, Rows, Starts


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
