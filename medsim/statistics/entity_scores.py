"""Precision, recall and F1 of predicted entities, with confidence intervals."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from medsim.kernels.types import FloatTable, Values
from medsim.statistics.bca import bca_estimate
from medsim.statistics.estimates import Estimate, quotients
from medsim.statistics.options import RESAMPLES

EntityCounts: TypeAlias = NDArray[np.int64]
"""Counts of correctly predicted, predicted, and true entities: int64[…, 3]."""

_CELLS_A_STEP = 1 << 21


def precision(counts: EntityCounts | FloatTable) -> Values:
    """Return the share of predicted entities that are right, 0 if none were predicted.

    ``counts`` is ``EntityCounts``, int64[*, 3], or means of these.
    """
    return np.nan_to_num(quotients(counts[..., 0], counts[..., 1]))


def recall(counts: EntityCounts | FloatTable) -> Values:
    """Return the share of true entities that were predicted, from int64[*, 3]; NaN if none."""
    return quotients(counts[..., 0], counts[..., 2])


def f1(counts: EntityCounts | FloatTable) -> Values:
    """Return the harmonic mean of precision and recall, from int64[*, 3]; NaN without any."""
    return quotients(2.0 * counts[..., 0], counts[..., 1] + counts[..., 2])


ENTITY_STATISTICS = {"f1": f1, "precision": precision, "recall": recall}
"""The statistics by name."""


def estimates_of(
    counts: EntityCounts, *, seed: int, resamples: int = RESAMPLES
) -> list[dict[str, Estimate]]:
    """Return means over trials of all statistics of several systems, with their intervals.

    All systems have the same units, such as documents, and the same resamples of them. Confidence
    intervals are bias-corrected and accelerated; they do not cover variation between trials.

    Args:
        counts: int64[n_units, n_systems, n_trials, 3].
        seed: random seed.
        resamples: number of resamples; each has as many units as the data.
    """
    whole = counts.sum(axis=0)
    resampled = _resampled(counts, seed, resamples)
    left_out = (whole - counts).astype(np.float64)
    return [
        {
            name: bca_estimate(
                float(statistic(whole[system]).mean()),
                statistic(resampled[:, system]).mean(axis=-1),
                statistic(left_out[:, system]).mean(axis=-1),
            )
            for name, statistic in ENTITY_STATISTICS.items()
        }
        for system in range(counts.shape[1])
    ]


def _resampled(counts: EntityCounts, seed: int, resamples: int) -> FloatTable:
    """Return the sums of all resamples: float64[resamples, n_systems, n_trials, 3]."""
    n_units, shape = len(counts), counts.shape[1:]
    rng = np.random.default_rng(seed)
    flat = counts.reshape(n_units, -1).astype(np.float64)
    sums = np.empty((resamples, flat.shape[1]))
    a_step = max(1, _CELLS_A_STEP // n_units)
    for first in range(0, resamples, a_step):
        n_drawn = min(a_step, resamples - first)
        units = rng.integers(n_units, size=(n_drawn, n_units))
        units += np.arange(n_drawn)[:, None] * n_units
        times = np.bincount(units.ravel(), minlength=n_drawn * n_units)
        sums[first : first + n_drawn] = times.reshape(n_drawn, n_units) @ flat
    return sums.reshape(resamples, *shape)
