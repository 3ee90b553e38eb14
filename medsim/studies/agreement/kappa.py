"""Agreement of two annotators beyond chance: Cohen's kappa; and the accuracy of several."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.estimates import Estimate
from medsim.studies.agreement.unit_bootstrap import over_units

if TYPE_CHECKING:
    from medsim.kernels.types import Table, Values
    from medsim.statistics.resampling import Resampling
    from medsim.studies.agreement.alpha import Judgements

_NONE = -1


def cohens_kappa(table: Judgements, n_values: int, resampling: Resampling) -> Estimate:
    """Return Cohen's kappa (Educational and Psychological Measurement 1960) of two annotators.

    It is (p - e) / (1 - e), where p is the share of units of which both say the same, and e the one
    that is expected if each gives their own answers to units at random.

    Args:
        table: of two annotators, values from 0 to ``n_values`` - 1, or -1 for none; units that one
            left open are left out.
        n_values: how many values there could be.
        resampling: of the BCa interval over units.

    Returns:
        NaN where both answered no unit, or gave all units one and the same answer.
    """
    both = table[(table != _NONE).all(axis=1)]
    if not len(both):
        return Estimate(value=math.nan)
    kinds, n_units = np.unique(both, axis=0, return_counts=True)
    of_each = np.eye(n_values)
    alike = (kinds[:, 0] == kinds[:, 1]).astype(np.float64)
    features = np.column_stack([alike, of_each[kinds[:, 0]], of_each[kinds[:, 1]]])
    return over_units(features, n_units, _kappa, resampling)


def mean_accuracy(correct: Judgements, resampling: Resampling) -> Estimate:
    """Return the mean of annotators' accuracies, with its BCa interval over units.

    Args:
        correct: 1 where an annotator's answer to a unit is right, 0 where it is wrong, -1 where
            there is none. Every annotator answers a unit at least.
        resampling: of units; resamples in which an annotator has no answer are left out.
    """
    kinds, n_units = np.unique(correct, axis=0, return_counts=True)
    features = np.column_stack([kinds == 1, kinds != _NONE]).astype(np.float64)
    return over_units(features, n_units, _mean_share, resampling)


def _kappa(sums: Table) -> Values:
    """Return the kappa of each row of sums: how many are alike, then the counts of either."""
    alike, (first, second) = sums[:, 0], np.split(sums[:, 1:], 2, axis=1)
    n = first.sum(axis=1)
    by_chance = (first * second).sum(axis=1)
    found = np.full(len(sums), np.nan)
    np.divide(n * alike - by_chance, n * n - by_chance, out=found, where=n * n > by_chance)
    return found


def _mean_share(sums: Table) -> Values:
    """Return the mean share of each row of sums: how many are right, then of how many."""
    right, given = np.split(sums, 2, axis=1)
    shares = np.full(right.shape, np.nan)
    np.divide(right, given, out=shares, where=given > 0)
    found: Values = shares.mean(axis=1)
    return found
