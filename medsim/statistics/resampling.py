"""The randomness of bootstraps: seed, number of resamples, and the threads that compute them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

RESAMPLES = 10_000
"""Resamples drawn by default: p-values go down to 0.0002."""

RESAMPLES_A_COMPARISON = 200
"""Resamples drawn for each comparison of a family, where that is more than ``RESAMPLES``.

A bootstrap of R resamples tells no p below 2 / (R + 1). With these the least p is 0.01 after
Bonferroni's correction, however many are compared.
"""

FEWEST_RESAMPLES = 100
MOST_RESAMPLES = 10_000_000

_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """The randomness of an evaluation.

    Attributes:
        threads: how many compute; they never change a result.
        grows: whether more than ``resamples`` are drawn where the number of comparisons needs it.
    """

    seed: int
    resamples: int
    threads: int
    grows: bool = False

    def for_comparisons(self, n_comparisons: int) -> Resampling:
        """Return the randomness of a family of so many comparisons."""
        if not self.grows:
            return self
        enough = min(RESAMPLES_A_COMPARISON * n_comparisons, MOST_RESAMPLES)
        return replace(self, resamples=max(self.resamples, enough))

    def least_p(self, n_comparisons: int) -> float:
        """Return the least p that Bonferroni's correction for so many comparisons leaves."""
        drawn = self.for_comparisons(n_comparisons).resamples
        return min(1.0, 2 * n_comparisons / (drawn + 1))


def fewest_for(n_comparisons: int, alpha: float) -> int:
    """Return how many resamples let any of some comparisons pass Bonferroni's correction."""
    return math.floor(2 * n_comparisons / alpha + _ROUNDING)
