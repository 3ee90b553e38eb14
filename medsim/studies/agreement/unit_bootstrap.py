"""Statistics of answers with their bootstrap intervals over units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.core.config import checked_threads
from medsim.kernels.resampling import drawn_rows
from medsim.statistics.bca import bca_estimate, in_tasks
from medsim.statistics.estimates import Estimate
from medsim.statistics.resampling import check_resampling

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.kernels.types import Counts, Table, Values
    from medsim.statistics.resampling import Resampling

_RESAMPLES_A_TASK = 64


def over_units(
    features: Table,
    n_units: Counts,
    statistic: Callable[[Table], Values],
    resampling: Resampling,
) -> Estimate:
    """Return a statistic of sums over units, with its BCa interval (Efron 1987) over units.

    Units that add the same to the sums are a kind, and a resample is a number for each kind.

    Args:
        features: float64[n_kinds, n_features], what a unit of each kind adds to the sums, in an
            order that depends on nothing else.
        n_units: int64[n_kinds], how many units of each kind there are.
        statistic: takes sums, float64[n, n_features], and returns float64[n], NaN where it is not
            defined; such resamples are left out.
        resampling: 0 resamples give no interval. Each takes time O(n_units), each thread 4 bytes a
            unit.

    Raises:
        OptionError: the seed or the number of resamples is out of range.
    """
    if resampling.resamples:
        check_resampling(resampling.seed, resampling.resamples)
    sums = n_units @ features
    estimate = float(statistic(sums[None, :])[0])
    if not resampling.resamples or np.isnan(estimate):
        return Estimate(value=estimate)
    left_out = np.repeat(statistic(sums - features), n_units)
    n_drawn, seed = int(n_units.sum()), np.uint64(resampling.seed)
    starts = np.cumsum(n_units) - n_units

    def resampled(first: int, stop: int) -> Values:
        drawn = [
            np.add.reduceat(drawn_rows(n_drawn, seed, np.uint64(resample)), starts)
            for resample in range(first, stop)
        ]
        return statistic(np.array(drawn) @ features)

    threads = checked_threads(resampling.threads)
    drawn = in_tasks(resampled, resampling.resamples, _RESAMPLES_A_TASK, threads)
    return bca_estimate(estimate, drawn, left_out)
