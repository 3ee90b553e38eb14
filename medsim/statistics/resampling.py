"""The randomness of bootstraps: seed, number of resamples, and the threads that compute them."""

from __future__ import annotations

from dataclasses import dataclass

from medsim.core.errors import OptionError

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
