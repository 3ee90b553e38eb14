"""What users choose about bootstraps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

RESAMPLES = 10_000
"""The default number of resamples; the smallest p-value is 0.0002."""

RESAMPLES_A_COMPARISON = 200
"""Resamples per comparison of a family, if that gives more than ``RESAMPLES``.

A bootstrap of R resamples gives no p-value below 2 / (R + 1). With this number, the smallest
p-value after Bonferroni's correction is 0.01 for any number of comparisons.
"""

MIN_RESAMPLES = 100
MAX_RESAMPLES = 10_000_000

_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """The bootstrap settings of an evaluation.

    Attributes:
        threads: number of threads, which does not change results.
        grows: whether to draw more than ``resamples`` if the number of comparisons requires it.
    """

    seed: int
    resamples: int
    threads: int
    grows: bool = False

    def for_comparisons(self, n_comparisons: int) -> Resampling:
        """Return the settings for a family of ``n_comparisons``."""
        if not self.grows:
            return self
        n_resamples = min(RESAMPLES_A_COMPARISON * n_comparisons, MAX_RESAMPLES)
        return replace(self, resamples=max(self.resamples, n_resamples))

    def least_p(self, n_comparisons: int) -> float:
        """Return the smallest possible p-value after Bonferroni's correction."""
        resamples = self.for_comparisons(n_comparisons).resamples
        return min(1.0, 2 * n_comparisons / (resamples + 1))


def fewest_for(n_comparisons: int, alpha: float) -> int:
    """Return the number of resamples that any comparison needs to pass Bonferroni's correction."""
    return math.floor(2 * n_comparisons / alpha + _ROUNDING)
