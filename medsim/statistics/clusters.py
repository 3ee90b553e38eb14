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

    It is the squared sum of the sizes divided by the sum of their squares. If one cluster has half
    of the values, it is below 4, however many other clusters there are.
    """
    sizes = np.bincount(clusters).astype(np.float64)
    return float(sizes.sum() ** 2 / max(sizes @ sizes, 1.0))


def degrees_of(effective: float) -> float:
    """Return the degrees of freedom: half the effective number of clusters; NaN if too few.

    For normal sums of equal clusters, their number minus 1 would be right. Sums of unequal clusters
    are skewed, and a few of them decide the variance (Carter, Schnepel and Steigerwald, Review of
    Economics and Statistics 99:698-709, 2017). In simulations, half corrects for both.
    """
    return effective / 2 if effective >= FEWEST_CLUSTERS else math.nan


def degrees_of_error(value: float, left_out: Values) -> float:
    """Return the degrees of freedom of ``jackknife_error``: few if few clusters dominate it.

    The chi-square distribution with these degrees has the relative variance of the squared error
    (Satterthwaite, Biometrics Bulletin 2:110-114, 1946), estimated from the clusters' shares in the
    error: 2 if one cluster dominates, and the number of clusters if the shares are distributed as
    for normal values. The result is infinite if no cluster changes the value.

    Args:
        value: value of all clusters.
        left_out: float64[n_clusters], the value without each cluster.
    """
    shares = (left_out - value) ** 2
    total = float(shares.sum())
    spread = float(shares @ shares) - total**2 / len(shares)
    return 2 * total**2 / spread if spread > 0 else math.inf


def jackknife_error(value: float, left_out: Values) -> float:
    """Return the standard error of a value; ``left_out`` is as in ``degrees_of_error``."""
    share = 1 - 1 / len(left_out)
    error = math.sqrt(share * float(((left_out - value) ** 2).sum()))
    return error if error > _ROUNDING else 0.0


def means_without_each(values: Values, clusters: Rows) -> Values:
    """Return the mean of the values without each cluster, float64[n_clusters]; NaN without any."""
    sizes, sums = np.bincount(clusters), np.bincount(clusters, values)
    n_left, sums_left = len(values) - sizes[sizes > 0], values.sum() - sums[sizes > 0]
    means: Values = np.divide(
        sums_left, n_left, out=np.full(len(sums_left), np.nan), where=n_left > 0
    )
    return means


def clustered_estimate(value: float, left_out: Values, n_values: int, effective: float) -> Estimate:
    """Return a value from 0 to 1 with Wilson's interval at its effective size.

    The effective size is the number of independent hits with the same standard error, at most the
    number of values (Korn and Graubard, Survey Methodology 24:193-201, 1998). If the standard error
    is 0, it is the effective number of clusters. The interval is NaN if fewer than
    ``FEWEST_CLUSTERS`` clusters are effective.

    Degrees of freedom are the smaller of ``degrees_of`` and ``degrees_of_error``, since a high
    share has its misses in few clusters, however many there are. The latter never widen the
    interval beyond the one for a single value per effective cluster.

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
            reach_of_few = student_reach(min(degrees, degrees_of_error(value, left_out)))
            reach = min(reach_of_few, reach * math.sqrt(size / effective))
    return wilson(value, size, reach)


def clustered_mean(values: Values, clusters: Rows) -> Estimate:
    """Return the mean of values from 0 to 1, such as hits, with ``clustered_estimate``'s interval.

    It is NaN without values.
    """
    if not len(values):
        return Estimate(value=math.nan)
    left_out, effective = means_without_each(values, clusters), effective_clusters(clusters)
    return clustered_estimate(float(values.mean()), left_out, len(values), effective)
