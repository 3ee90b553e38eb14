"""Means of clustered values, with intervals and tests that allow for the clusters.

Values of the names of one concept are not independent. The variance of a mean is taken from the
sums of the clusters' deviations (Liang and Zeger, Biometrika 1986), with Student's law. Of each
value, ``clusters`` has the number of its cluster, from 0 on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.estimates import Estimate, student_reach, two_sided_student, wilson
from medsim.statistics.significance import Test

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Rows, Values

FEWEST_CLUSTERS = 10
"""Fewer clusters have no intervals and no tests, which would be too narrow and too significant."""

_NOTHING = 1e-24


def clustered_mean(values: Values, clusters: Rows) -> Estimate:
    """Return the mean of values from 0 to 1, with an interval that is cut off there.

    It is NaN of no values, and without an interval where clusters are too few, or none deviates.
    """
    if not len(values):
        return Estimate(value=math.nan)
    mean, error = float(values.mean()), _standard_error(values, clusters)
    if math.isnan(error) or error == 0:
        return Estimate(value=mean)
    reach = student_reach(degrees_of(clusters)) * error
    return Estimate(value=mean, low=max(0.0, mean - reach), high=min(1.0, mean + reach))


def clustered_share(hits: Flags, clusters: Rows, fewest: int = FEWEST_CLUSTERS) -> Estimate:
    """Return a share with Wilson's interval for as many values as the clusters are worth.

    The effective size is that of independent values with the same standard error, but no more than
    there are values (Korn and Graubard, Survey Methodology 1998); where all hit or none does, it is
    the effective number of clusters. The share is NaN of no values, and without an interval where
    clusters are too few: fewer than ``fewest``, at least 2.
    """
    if not len(hits):
        return Estimate(value=math.nan)
    share = float(hits.mean())
    error = _standard_error(hits.astype(np.float64), clusters, fewest)
    if math.isnan(error):
        return Estimate(value=share)
    spread, degrees = share * (1 - share), degrees_of(clusters)
    size = min(spread / error**2, len(hits)) if spread and error else degrees + 1
    return wilson(share, size, student_reach(degrees))


def clustered_difference(values1: Values, values2: Values, clusters: Rows) -> Test:
    """Return whether the means of paired values differ, by their standard error.

    The statistic is the difference of the means over its standard error; p is 1 where no value
    differs, and NaN where clusters are too few or all deviate alike.
    """
    method = "clustered_t"
    differences = values1 - values2
    error = _standard_error(differences, clusters)
    if math.isnan(error) or error == 0:
        p = math.nan if math.isnan(error) or differences.any() else 1.0
        return Test(method=method, statistic=math.nan, p=p)
    difference = float(differences.mean())
    t, degrees = difference / error, degrees_of(clusters)
    reach = student_reach(degrees) * error
    return Test(
        method=method,
        statistic=t,
        p=two_sided_student(t, degrees),
        low=difference - reach,
        high=difference + reach,
    )


def degrees_of(clusters: Rows) -> float:
    """Return the degrees of freedom of a variance between clusters, at least 1.

    One less than the effective number of clusters, which is that of equally large ones whose sizes
    have as large a mean square beside their squared mean: a few large clusters among many small
    ones decide the variance (Carter, Schnepel and Steigerwald, Review of Economics and Statistics
    99:698-709, 2017).
    """
    sizes = np.bincount(clusters).astype(np.float64)
    return max(1.0, float(sizes.sum() ** 2 / (sizes @ sizes)) - 1)


def _standard_error(values: Values, clusters: Rows, fewest: int = FEWEST_CLUSTERS) -> float:
    """Return the standard error of a mean, NaN where clusters are too few."""
    sums = np.bincount(clusters, values - values.mean())
    n_clusters = np.count_nonzero(np.bincount(clusters))
    if n_clusters < fewest:
        return math.nan
    correction = n_clusters / (n_clusters - 1)
    square = float(sums @ sums)
    if square < _NOTHING * len(values):  # what rounding leaves of equal means
        return 0.0
    return math.sqrt(correction * square) / len(values)
