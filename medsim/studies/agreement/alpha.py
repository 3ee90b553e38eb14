"""Agreement of annotators beyond chance: Krippendorff's alpha of nominal values."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from medsim.core.config import checked_threads
from medsim.kernels.resampling import drawn_rows
from medsim.statistics.bca import bca_estimate, in_tasks
from medsim.statistics.estimates import Estimate
from medsim.statistics.resampling import RESAMPLES, check_resampling

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, CountTable, Table, Values

Judgements: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int8]]
"""A value of each annotator for each unit, -1 where there is none: int8[n_units, n_annotators]."""

_PAIRABLE = 2
_RESAMPLES_A_TASK = 64


def nominal_alpha(
    table: Judgements,
    n_values: int,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    threads: int | None = None,
) -> Estimate:
    """Return Krippendorff's alpha of nominal values, with its bootstrap interval over units.

    It is 1 less the disagreement that is seen over that which is expected by chance (Krippendorff,
    Computing Krippendorff's Alpha-Reliability 2011). A unit with m values of which n_v are v has
    (m^2 - sum of n_v^2) / (m - 1) of disagreement, so that counts are all that is needed, and time
    is linear in the number of values. Units with fewer than two values pair nothing and are left
    out, of resamples too.

    The interval is bias-corrected and accelerated (Efron 1987). The sums of a resample, and those
    without a unit, are sums over the kinds of units that there are. Resamples in which only one
    value occurs are left out.

    Args:
        table: values from 0 to ``n_values`` - 1, or -1 for none.
        n_values: how many values there could be; (n_annotators + 1) ** n_values is below 2 ** 63.
        seed: of the draws, which depend neither on the order of units nor on that of annotators.
        resamples: how many, at least 100; 0 for no interval. Each takes time O(n_units).
        threads: how many to use; results do not depend on it. Each takes 4 bytes a unit.

    Returns:
        1 where all agree, about 0 where they agree by chance. NaN where no unit has two values. NaN
        as well where only one value occurs: without variation there is no evidence of reliability
        (Krippendorff 2011).

    Raises:
        OptionError: a number is out of range.
    """
    if resamples:
        check_resampling(seed, resamples)
    kinds, n_units = _kinds(table, n_values)
    features = _features(kinds)
    sums = n_units @ features
    estimate = float(_alpha(sums[None, :])[0])
    if not resamples or np.isnan(estimate):
        return Estimate(value=estimate)
    left_out = np.repeat(_alpha(sums - features), n_units)
    drawn = _resampled(features, n_units, np.uint64(seed), resamples, checked_threads(threads))
    return bca_estimate(estimate, drawn, left_out)


def _kinds(table: Judgements, n_values: int) -> tuple[CountTable, Counts]:
    """Return the kinds of units that have two values; those of a kind are the same to alpha.

    Returns:
        int64[n_kinds, n_values], how often units of a kind have each value, in order of the last
        value, then of those before it; int64[n_kinds], the number of units of each kind.
    """
    counts = np.column_stack([(table == value).sum(axis=1) for value in range(n_values)])
    pairable = counts[counts.sum(axis=1) >= _PAIRABLE]
    numbers = pairable @ (table.shape[1] + 1) ** np.arange(n_values)
    _, first, n_units = np.unique(numbers, return_index=True, return_counts=True)
    return pairable[first], n_units


def _features(counts: CountTable) -> Table:
    """Return the contribution of each kind of unit to the sums: counts, then disagreement."""
    n = counts.sum(axis=1)
    disagreement = (n * n - (counts * counts).sum(axis=1)) / (n - 1)
    return np.column_stack([counts, disagreement])


def _alpha(sums: Table) -> Values:
    """Return the alpha of each row of sums; NaN where one value, or none, occurs."""
    counts, disagreement = sums[:, :-1], sums[:, -1]
    n = counts.sum(axis=1)
    expected = n * n - (counts * counts).sum(axis=1)
    alphas = np.full(len(sums), np.nan)
    defined = expected > 0
    alphas[defined] = 1 - (n - 1)[defined] * disagreement[defined] / expected[defined]
    return alphas


def _resampled(
    features: Table, n_units: Counts, seed: np.uint64, resamples: int, threads: int
) -> Values:
    """Return the alpha of each resample, as many units drawn with replacement as there are."""
    n_drawn = int(n_units.sum())
    starts = np.cumsum(n_units) - n_units

    def alphas(first: int, stop: int) -> Values:
        drawn = [
            np.add.reduceat(drawn_rows(n_drawn, seed, np.uint64(resample)), starts)
            for resample in range(first, stop)
        ]
        return _alpha(np.array(drawn) @ features)

    return in_tasks(alphas, resamples, _RESAMPLES_A_TASK, threads)
