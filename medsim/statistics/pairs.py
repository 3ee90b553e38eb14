"""Checks of the arrays that hold one value per pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from medsim.kernels.types import Flags, Values


def checked_values(what: str, values: ArrayLike, n_pairs: int | None = None) -> Values:
    """Return numbers of pairs as float64[n_pairs]; they may be infinite, but not NaN."""
    found = np.asarray(values)
    if found.ndim != 1 or (found.dtype.kind not in "iuf" and len(found)):
        raise OptionError(
            f"{what} must be numbers in one dimension; they are {found.dtype}{list(found.shape)}"
        )
    _check_length(what, len(found), n_pairs)
    numbers = found.astype(np.float64, copy=False)
    missing = np.flatnonzero(np.isnan(numbers))
    if len(missing):
        raise OptionError(
            f"{what}: pair {missing[0]:,} has NaN; leave out pairs that have no value"
        )
    return numbers


def checked_flags(what: str, flags: ArrayLike, n_pairs: int) -> Flags:
    """Return truths of pairs as bool[n_pairs]."""
    found = np.asarray(flags)
    if found.ndim != 1 or (found.dtype != np.bool_ and len(found)):
        raise OptionError(
            f"{what} must be bool in one dimension; they are {found.dtype}{list(found.shape)}"
        )
    _check_length(what, len(found), n_pairs)
    return found.astype(np.bool_, copy=False)


def _check_length(what: str, length: int, n_pairs: int | None) -> None:
    if n_pairs is not None and length != n_pairs:
        raise OptionError(f"there are {length:,} {what} for {n_pairs:,} pairs; each must have one")
