"""Embedding formats, one module each, and the checks that their readers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.kernels.types import Vectors

READ_BYTES = 1 << 23
"""Bytes read at a time."""

MAX_DIMENSIONS = 65_536
"""The maximum number of dimensions, more than any embedding has."""


def check_dimensions(path: Path | str, n_dimensions: int) -> None:
    """Raise InputError for vectors with no or too many dimensions."""
    if not 0 < n_dimensions <= MAX_DIMENSIONS:
        raise InputError(
            f"{path} has vectors of {n_dimensions:,} numbers; expected 1 to {MAX_DIMENSIONS:,}"
        )


def first_not_finite(vectors: Vectors) -> int | None:
    """Return the first row with a value that is infinite or not a number, if there is one."""
    if not len(vectors):
        return None
    # The minimum and maximum of a row show non-finite values without a mask of all values.
    wrong = ~(np.isfinite(vectors.min(axis=1)) & np.isfinite(vectors.max(axis=1)))
    return int(wrong.argmax()) if wrong.any() else None
