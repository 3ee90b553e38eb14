"""Intervals that hold where a statistic is at its edge: a perfect area, a perfect correlation.

There the usual variances are 0 and the usual intervals points, however few the pairs. These take
the variance at the values that an interval may hold, not at the one that was seen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from medsim.statistics.estimates import Z95, Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

_HALVINGS = 50  # to the last digits of a share
_FEWEST_FOR_VARIANCE = 4


def area_interval(auc: float, n_positives: int, n_negatives: int) -> Estimate:
    """Return an area under a ROC curve with the score interval of Newcombe (2006, method 5).

    It holds the areas from which the one seen is at most 1.96 standard errors away, by the variance
    of Hanley and McNeil (1982) at these areas, with the mean of both numbers of pairs for each
    (Newcombe, Statistics in Medicine 25:559-573). Simulated with 4 to 100 pairs and areas of 0.9
    to 0.99, it covers 87% to 99%; DeLong's interval, cut at 1, covers 3% to 93%.
    """

    def is_beyond(area: float) -> bool:
        return (auc - area) ** 2 > Z95**2 * _area_variance(area, n_positives, n_negatives)

    return Estimate(value=auc, low=_end(0.0, auc, is_beyond), high=_end(1.0, auc, is_beyond))


def _area_variance(area: float, n_positives: int, n_negatives: int) -> float:
    """Return the variance of an estimated area, where the true one is ``area``."""
    others = (n_positives + n_negatives) / 2 - 1
    shared = (1 - area) / (2 - area) + area / (1 + area)
    return area * (1 - area) * (1 + others * shared) / (n_positives * n_negatives)


def _end(outside: float, inside: float, is_beyond: Callable[[float], bool]) -> float:
    """Return the end of an interval between a value outside of it, or its bound, and one inside."""
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if is_beyond(middle):
            outside = middle
        else:
            inside = middle
    return inside


def perfect_correlation(sign: float, n_pairs: int, reach: float = Z95) -> Estimate:
    """Return a correlation of 1 or -1 with an interval, from -1 to 1 of fewer than 4 pairs.

    One of 0 stands for a known value: it has a point.

    Its inner end is that of Spearman's correlation by Bonett and Wright (Psychometrika 65:23-28,
    2000), taken halfway between 1 and the next value that ranks of so many pairs can give. Of
    samples of normal pairs with a correlation at that end, 0.1% to 3.1% are perfect (simulated with
    4 to 100 pairs): 2.5% would be exact.

    Args:
        sign: 1 or -1, or 0.
        n_pairs: at least 1.
        reach: standard errors to either side, by default those of a 95% interval.
    """
    inner = -1.0
    if n_pairs >= _FEWEST_FOR_VARIANCE:
        missing = 6 / (n_pairs * (n_pairs**2 - 1))
        error = _transformed_error(1 - missing, n_pairs)
        inner = math.tanh(math.log((2 - missing) / missing) / 2 - reach * error)
    low, high = sorted((sign * inner, sign))
    return Estimate(value=sign, low=low, high=high)


def rank_correlation(value: float, n_pairs: int, reach: float = Z95) -> tuple[Estimate, float]:
    """Return a Spearman's correlation between -1 and 1 with its interval, and its normal deviate.

    It is Fisher's transformed with the variance of Bonett and Wright (Psychometrika 65:23-28,
    2000). Of fewer than 4 pairs it is from -1 to 1, with a deviate of 0.

    Args:
        value: not -1 and not 1.
        n_pairs: at least 1.
        reach: standard errors to either side, by default those of a 95% interval.
    """
    if n_pairs < _FEWEST_FOR_VARIANCE:
        return Estimate(value=value, low=-1.0, high=1.0), 0.0
    transformed, error = math.atanh(value), _transformed_error(value, n_pairs)
    low, high = (math.tanh(transformed + sign * reach * error) for sign in (-1, 1))
    return Estimate(value=value, low=low, high=high), transformed / error


def _transformed_error(value: float, n_pairs: int) -> float:
    """Return the standard error of Fisher's transformed of a Spearman's correlation."""
    return math.sqrt((1 + value**2 / 2) / (n_pairs - 3))


def difference_of(first: Estimate, second: Estimate, reach: float = Z95) -> tuple[Estimate, float]:
    """Return the difference of two estimates with its interval, and its standard normal deviate.

    The interval is made of both (Newcombe, Statistics in Medicine 17:873-890, 1998, method 10), as
    if they were independent: that is for edges, where nothing tells how they depend on each other.
    The deviate is beyond ``reach`` where the interval leaves out 0.
    """
    difference = first.value - second.value
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    found = Estimate(value=difference, low=difference - below, high=difference + above)
    error = (below if difference > 0 else above) / reach
    if difference and error == 0:
        return found, math.copysign(math.inf, difference)
    return found, difference / error if difference else 0.0
