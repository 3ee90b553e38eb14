"""Confidence intervals of clustered values.

Values of one cluster are not independent. Their standard error is the cluster jackknife, CV3 of
MacKinnon, Nielsen and Webb (Journal of Applied Econometrics 38:671-694, 2023): the value is
computed without each cluster in turn. ``clusters`` holds the number of each value's cluster, from
0 on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.estimates import Estimate, student_reach, wilson

if TYPE_CHECKING:
    from medsim.kernels.types import Rows, Values

FEWEST_CLUSTERS = 5
"""The least effective number of clusters that intervals and tests need."""

_ROUNDING = 1e-12


def effective_clusters(clusters: Rows) -> float:
    """Return the effective number of clusters, 0 without values.

    It is the squared sum of the sizes over the sum of their squares: with one cluster of half of
    the values it is below 4, however many others there are.
    """
    sizes = np.bincount(clusters).astype(np.float64)
    return float(sizes.sum() ** 2 / max(sizes @ sizes, 1.0))


def degrees_of(effective: float) -> float:
    """Return the degrees of freedom: half the effective number of clusters; NaN if too few.

    One less than their number would do for normal sums of equal clusters. Sums of unequal clusters
    are skewed, and a few of them decide the variance (Carter, Schnepel and Steigerwald, Review of
    Economics and Statistics 99:698-709, 2017). By simulation, half is enough for both.
    """
    return effective / 2 if effective >= FEWEST_CLUSTERS else math.nan


def degrees_of_error(value: float, left_out: Values) -> float:
    """Return the degrees of freedom of ``jackknife_error``: few if few clusters dominate it.

    They are those of the chi-square law whose relative variance is that of the squared error
    (Satterthwaite, Biometrics Bulletin 2:110-114, 1946), estimated from the clusters' shares in it:
    2 if one cluster dominates, and the number of clusters if the shares are like those of normal
    values. The result is infinite if no cluster changes the value.

    Args:
        value: value of all clusters.
        left_out: float64[n_clusters], the value without each cluster.
    """
    shares = (left_out - value) ** 2
    of_all = float(shares.sum())
    spread = float(shares @ shares) - of_all**2 / len(shares)
    return 2 * of_all**2 / spread if spread > 0 else math.inf


def jackknife_error(value: float, left_out: Values) -> float:
    """Return the standard error of a value from those without each cluster, float64[n_clusters]."""
    share = 1 - 1 / len(left_out)
    error = math.sqrt(share * float(((left_out - value) ** 2).sum()))
    return error if error > _ROUNDING else 0.0


def means_without_each(values: Values, clusters: Rows) -> Values:
    """Return the mean of the values without each cluster, float64[n_clusters]; NaN without any."""
    sizes, sums = np.bincount(clusters), np.bincount(clusters, values)
    n_left, left = len(values) - sizes[sizes > 0], values.sum() - sums[sizes > 0]
    found: Values = np.divide(left, n_left, out=np.full(len(left), np.nan), where=n_left > 0)
    return found


def clustered_estimate(value: float, left_out: Values, n_values: int, effective: float) -> Estimate:
    """Return a value from 0 to 1 with Wilson's interval at its effective size.

    The effective size is that of independent hits with the same standard error, but no more than
    there are values (Korn and Graubard, Survey Methodology 24:193-201, 1998); where the standard
    error is 0 it is the effective number of clusters. The interval is NaN if fewer than
    ``FEWEST_CLUSTERS`` clusters are effective.

    Degrees of freedom are ``degrees_of`` the clusters, or those of the standard error if they are
    fewer: a high share misses in few clusters, however many there are. The latter never widen the
    interval beyond that of one value for each effective cluster.

    Args:
        value: a mean, a share or an area under a ROC curve.
        left_out: float64[n_clusters], the value without each cluster.
        n_values: number of values, or pairs.
        effective: the effective number of clusters.
    """
    degrees = degrees_of(effective)
    if math.isnan(degrees):
        return Estimate(value=value)
    spread, error = value * (1 - value), jackknife_error(value, left_out)
    size, reach = effective, student_reach(degrees)
    if spread > 0 and error:
        size = min(spread / error**2, n_values)
        if size > effective:
            of_few = student_reach(min(degrees, degrees_of_error(value, left_out)))
            reach = min(of_few, reach * math.sqrt(size / effective))
    return wilson(value, size, reach)


def clustered_mean(values: Values, clusters: Rows) -> Estimate:
    """Return the mean of values from 0 to 1, such as hits, with ``clustered_estimate``'s interval.

    It is NaN without values.
    """
    if not len(values):
        return Estimate(value=math.nan)
    left_out, effective = means_without_each(values, clusters), effective_clusters(clusters)
    return clustered_estimate(float(values.mean()), left_out, len(values), effective)
