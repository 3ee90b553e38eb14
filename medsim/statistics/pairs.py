"""Checks of the input: arrays that hold one value per pair, and the randomness of bootstraps."""

from __future__ import annotations

from dataclasses import dataclass
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


RESAMPLES = 10_000
"""Resamples drawn by default: p-values go down to 0.0002."""

FEWEST_RESAMPLES = 100
MOST_RESAMPLES = 10_000_000

_SEEDS = 1 << 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """The randomness of an evaluation.

    Attributes:
        threads: how many compute; they never change a result.
    """

    seed: int
    resamples: int
    threads: int


def check_resampling(seed: int, resamples: int) -> None:
    """Raise OptionError for a seed, or a number of resamples, that is out of range."""
    if not 0 <= seed < _SEEDS:
        raise OptionError(f"seed {seed} is out of range; 0 to {_SEEDS - 1} are accepted")
    if not FEWEST_RESAMPLES <= resamples <= MOST_RESAMPLES:
        raise OptionError(
            f"{resamples:,} resamples are out of range; {FEWEST_RESAMPLES} to "
            f"{MOST_RESAMPLES:,} are accepted"
        )
