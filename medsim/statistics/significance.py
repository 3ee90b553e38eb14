"""Significance tests of paired comparisons, and corrections for multiple tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from medsim.kernels.types import Counts, Flags, FlagTable, Rows, Values
from medsim.statistics import estimates
from medsim.statistics.estimates import Estimate, means_without_each

_FEWEST_FOR_CHI_SQUARE = 25

T = TypeVar("T", "Flags", "FlagTable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """The result of a test.

    Attributes:
        method: "mcnemar_exact", "mcnemar", "mcnemar_clusters_exact", "mcnemar_clusters",
            "mcnemar_runs", "stuart_maxwell", "delong", "delong_clusters", "bca" or "clustered_t".
        statistic: of the method.
        p: two-sided p-value; NaN if the test is undefined.
        low: lower end of the confidence interval of the tested value; NaN if there is none.
    """

    method: str
    statistic: float
    p: float
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def of(cls, method: str, statistic: float, p: float, tested: Estimate) -> Test:
        """Return a test with the interval of the tested value."""
        return cls(method=method, statistic=statistic, p=p, low=tested.low, high=tested.high)


def mcnemar(
    correct1: Flags,
    correct2: Flags,
    clusters: Rows | None = None,
    effective: float | None = None,
    left_out: Values | None = None,
) -> Test:
    """Test whether two classifications of the same pairs differ in accuracy.

    Only discordant pairs count, which one gets right and the other wrong (McNemar 1947). Fewer than
    25 are tested with the binomial distribution, more with the chi-square distribution of one
    degree and the continuity correction of Edwards (1948). The correction is at most the difference
    itself, as in R's ``mcnemar.test``. (statsmodels subtracts 1 even from 0, so its statistic is
    1 / n if equally many of n pairs disagree either way.)

    Pairs of a cluster are not independent. The value of a cluster is its number of pairs that only
    the first gets right minus the number that only the second does. Under the null hypothesis, its
    sign is random. If fewer than 25 clusters have a nonzero value, all signs are tried. Otherwise
    the chi-square is the squared sum of the values, corrected alike, divided by the sum of their
    squares (Yang et al., Statistics in Medicine 2010). A threshold that follows the largest
    clusters makes the others differ together, so p is at least that of Student's t of the
    difference in accuracy, with the error of the cluster jackknife. It is NaN if too few clusters
    are effective.

    The statistic of an exact test is the smaller number of pairs that only one gets right;
    otherwise it is the chi-square. Without discordant pairs p is 1.

    Args:
        correct1: bool[n_pairs], whether the first gets each pair right.
        correct2: bool[n_pairs], whether the second does.
        clusters: int[n_pairs], the cluster of each pair from 0 on; None if all are independent.
        effective: the effective number of clusters, such as for the label with fewer; by default
            computed from ``clusters``.
        left_out: float64[n_clusters], the difference in accuracy without each cluster, for
            thresholds that depend on the clusters; by default computed from the same answers.
    """
    only1, only2 = correct1 & ~correct2, ~correct1 & correct2
    if clusters is None:
        differences = np.ones(np.count_nonzero(only1 | only2), np.int64)
    else:
        n_clusters = int(clusters.max(initial=-1)) + 1
        differences = np.bincount(clusters[only1], minlength=n_clusters)
        differences = differences - np.bincount(clusters[only2], minlength=n_clusters)
        differences = np.abs(differences[differences != 0])
    n_only1, n_only2 = int(np.count_nonzero(only1)), int(np.count_nonzero(only2))
    further = abs(n_only1 - n_only2)
    chi_square = max(0, further - 1) ** 2 / max(1, int((differences**2).sum()))
    method = "mcnemar" if clusters is None else "mcnemar_clusters"
    statistic, p = chi_square, math.erfc(math.sqrt(chi_square / 2))
    if len(differences) < _FEWEST_FOR_CHI_SQUARE:
        method, statistic = f"{method}_exact", float(min(n_only1, n_only2))
        p = _share_as_far(differences, further)
    if clusters is not None:
        if left_out is None:
            left_out = means_without_each(correct1.astype(np.float64) - correct2, clusters)
        effective = estimates.effective_clusters(clusters) if effective is None else effective
        accuracies = [np.count_nonzero(c) / max(1, len(c)) for c in (correct1, correct2)]
        first, second = (Estimate(value=value, low=value, high=value) for value in accuracies)
        p = max(clustered_test(method, first, second, left_out, effective).p, p)  # NaN if it is
    return Test(method=method, statistic=statistic, p=p)


def clustered_test(
    method: str, first: Estimate, second: Estimate, left_out: Values, effective: float
) -> Test:
    """Test whether two values of the same clusters differ, by the cluster jackknife.

    The statistic is Student's t, with the interval of the difference; all are NaN if too few
    clusters are effective. A standard error of 0 means nothing if one value is at its edge in
    every cluster; interval and p then come from ``difference_of``.

    Args:
        method: name of the method in the result.
        first: first value, with the interval of ``clustered_estimate``.
        second: second value, with its interval.
        left_out: float64[n_clusters], the difference without each cluster.
        effective: the effective number of clusters.
    """
    degrees, difference = estimates.degrees_of(effective), first.value - second.value
    if math.isnan(degrees) or math.isnan(difference):
        return Test(method=method, statistic=math.nan, p=math.nan)
    error, reach = estimates.jackknife_error(difference, left_out), estimates.student_reach(degrees)
    if not error and (difference or first.value in {0.0, 1.0}):
        estimate, t = estimates.difference_of(first, second, reach)
    else:
        estimate, t = estimates.tested_difference(first, second, error, reach)
    return Test.of(method, t, estimates.two_sided_student(t, degrees), estimate)


def clustered_difference(values1: Values, values2: Values, clusters: Rows) -> Test:
    """Test whether the means of paired values from 0 to 1 differ; see ``clustered_test``.

    Args:
        values1: float64[n_values].
        values2: float64[n_values], of the same items.
        clusters: int[n_values], the cluster of each item.
    """
    effective = estimates.effective_clusters(clusters)
    left_out = means_without_each(values1 - values2, clusters)
    first, second = (estimates.clustered_mean(values, clusters) for values in (values1, values2))
    return clustered_test("clustered_t", first, second, left_out, effective)


def _share_as_far(sizes: Counts, distance: int) -> float:
    """Return the share of all choices of signs whose sum of sizes is at least ``distance`` from 0.

    The sum is twice the sum of the sizes with a positive sign, minus the total.
    """
    n_ways = np.ones(1, np.int64)  # by the sum of the sizes with a positive sign
    for size in sizes:
        longer = np.zeros(len(n_ways) + size, np.int64)
        longer[: len(n_ways)] += n_ways
        longer[size:] += n_ways
        n_ways = longer
    total = len(n_ways) - 1
    is_as_far = np.abs(2 * np.arange(total + 1) - total) >= distance
    return float(n_ways[is_as_far].sum() / n_ways.sum())


def mcnemar_of_runs(correct1: FlagTable, correct2: FlagTable) -> Test:
    """Test whether two models with several runs each differ in accuracy on the same instances.

    McNemar's test of clustered pairs (Durkalski et al. 2003): the runs of an instance are a
    cluster, and its value is the difference of both models' shares of right answers. The statistic
    is the squared sum of these differences divided by the sum of their squares, with a chi-square
    distribution of one degree. It treats instances, not runs, as a sample. With one run of both
    models it is ``mcnemar``.

    Args:
        correct1: bool[n_runs1, n_instances].
        correct2: bool[n_runs2, n_instances].
    """
    if len(correct1) == len(correct2) == 1:
        return mcnemar(correct1[0], correct2[0])
    differences = correct1.mean(axis=0) - correct2.mean(axis=0)
    squares = float((differences**2).sum())
    chi_square = float(differences.sum()) ** 2 / squares if squares else 0.0
    return Test(method="mcnemar_runs", statistic=chi_square, p=math.erfc(math.sqrt(chi_square / 2)))


def marginal_homogeneity(counts: NDArray[np.int64]) -> Test:
    """Test whether two classifications of the same items have equal shares of each class.

    It is McNemar's test for several classes (Stuart 1955; Maxwell 1970), without a correction for
    continuity. The chi-square has a degree for each class, except one for each group of classes
    that items with two classes connect. p is 1 if both classes of every item are equal.

    Args:
        counts: int64[n_classes, n_classes], items by their first and their second class.
    """
    both = counts + counts.T
    covariance = np.diag(both.sum(axis=0)) - both
    differences = counts.sum(axis=0) - counts.sum(axis=1)
    statistic = float(differences @ np.linalg.pinv(covariance) @ differences)
    degrees = int(np.linalg.matrix_rank(covariance))
    p = _chi_square_p(statistic, degrees) if degrees else 1.0
    return Test(method="stuart_maxwell", statistic=statistic, p=p)


def _chi_square_p(statistic: float, degrees: int) -> float:
    """Return the share of the chi-square distribution above a value (Abramowitz and Stegun 26.4).

    It grows by one term with every two degrees.
    """
    half = max(statistic, 0.0) / 2
    p = math.erfc(math.sqrt(half)) if degrees % 2 else math.exp(-half)
    for below in range(degrees % 2 or 2, degrees, 2):
        p += half ** (below / 2) * math.exp(-half - math.lgamma(below / 2 + 1))
    return p


def bonferroni(p: Values) -> Values:
    """Return p-values, float64[n], corrected by Bonferroni's inequality (Dunn 1961).

    NaN, for an undefined test, stays NaN.
    """
    return np.minimum(1.0, p * np.count_nonzero(~np.isnan(p)))


def holm(p: Values) -> Values:
    """Return p-values, float64[n], corrected for their number step by step (Holm 1979).

    The smallest is multiplied by the number of tests, the next by one less, and so on; the order
    of p-values is kept. NaN, for an undefined test, stays NaN.
    """
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]  # NaN comes last
    corrected = np.full(len(p), np.nan)
    stepped = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return corrected


def test_columns(tests: Sequence[Test]) -> list[dict[str, Any]]:
    """Return the columns of tests for a table, with p-values corrected for their number."""
    p = np.array([test.p for test in tests], np.float64)
    corrected = zip(
        *(map(estimates.defined, each) for each in (p, bonferroni(p), holm(p))), strict=True
    )
    names = ("p", "p_bonferroni", "p_holm")
    return [
        {"test": test.method, "statistic": estimates.defined(test.statistic)}
        | {"low": estimates.defined(test.low), "high": estimates.defined(test.high)}
        | dict(zip(names, values, strict=True))
        for test, values in zip(tests, corrected, strict=True)
    ]


def against_best(correct: Sequence[T], test: Callable[[T, T], Test]) -> list[float | None]:
    """Return the p-value of each model's difference from the most accurate, by Holm's correction.

    It is None for that model, the first if several are, and where a test is undefined. ``correct``
    has a mask of the right answers of each model.
    """
    best = int(np.argmax([flags.mean() for flags in correct]))
    p = np.array([test(correct[best], flags).p for flags in correct])
    p[best] = np.nan
    return list(map(estimates.defined, holm(p).tolist()))
