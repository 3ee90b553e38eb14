"""Means of values that stand together in clusters, with intervals and tests that allow for it.

What is found for the names of one concept is not independent. The variance of a mean is taken from
the sums of the clusters' deviations (Liang and Zeger, Biometrika 1986), so that a hundred names of
one concept tell no more than they do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from medsim.evaluation.estimates import Z95, Estimate, two_sided_p, wilson
from medsim.evaluation.significance import Test

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Rows, Values

_FEWEST_CLUSTERS = 2


def clustered_mean(values: Values, clusters: Rows) -> Estimate:
    """Return the mean of values from 0 to 1, with the interval of the normal law cut off there.

    Args:
        values: float64[n_values].
        clusters: int[n_values], which cluster each is of.

    Returns:
        NaN of no values; without an interval where there are fewer than two clusters.
    """
    if not len(values):
        return Estimate(value=math.nan)
    mean, error = float(values.mean()), _standard_error(values, clusters)
    if math.isnan(error):
        return Estimate(value=mean)
    reach = Z95 * error
    return Estimate(value=mean, low=max(0.0, mean - reach), high=min(1.0, mean + reach))


def clustered_share(hits: Flags, clusters: Rows) -> Estimate:
    """Return a share with Wilson's interval for as many values as the clusters are worth.

    The effective size is that of independent values with the same standard error (Korn and
    Graubard, Survey Methodology 1998); where all hit or none does, it is the number of clusters.

    Args:
        hits: bool[n_values].
        clusters: int[n_values], which cluster each is of.

    Returns:
        NaN of no values; without an interval where there are fewer than two clusters.
    """
    if not len(hits):
        return Estimate(value=math.nan)
    share, error = float(hits.mean()), _standard_error(hits.astype(np.float64), clusters)
    if math.isnan(error):
        return Estimate(value=share)
    spread = share * (1 - share)
    size = spread / error**2 if spread and error else float(len(np.unique(clusters)))
    return wilson(share, size)


def clustered_difference(values1: Values, values2: Values, clusters: Rows) -> Test:
    """Return whether the means of paired values differ, by their standard error.

    Args:
        values1: float64[n_values].
        values2: float64[n_values], of the same things.
        clusters: int[n_values], which cluster each is of.

    Returns:
        The statistic is the difference of the means over its standard error; p is 1 where no value
        differs, and NaN where there are fewer than two clusters.
    """
    method = "clustered_z"
    differences = values1 - values2
    error = _standard_error(differences, clusters)
    if math.isnan(error):
        return Test(method=method, statistic=math.nan, p=math.nan)
    difference = float(differences.mean())
    if error == 0:
        p = 1.0 if difference == 0 else 0.0
        return Test(method=method, statistic=math.nan, p=p, low=difference, high=difference)
    z, reach = difference / error, Z95 * error
    return Test(
        method=method,
        statistic=z,
        p=two_sided_p(z),
        low=difference - reach,
        high=difference + reach,
    )


def _standard_error(values: Values, clusters: Rows) -> float:
    """Return the standard error of a mean; NaN where there are fewer than two clusters."""
    names, at = np.unique(clusters, return_inverse=True)
    n_clusters = len(names)
    if n_clusters < _FEWEST_CLUSTERS:
        return math.nan
    sums = np.bincount(at, values - values.mean(), n_clusters)
    correction = n_clusters / (n_clusters - 1)
    return math.sqrt(correction * float(sums @ sums)) / len(values)
