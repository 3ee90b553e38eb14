"""Pearson's correlation of two sides, its test, and the smallest one that a test could show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError
from medsim.statistics.estimates import Estimate, pearson_of, two_sided_student
from medsim.statistics.pairs import checked_values

if TYPE_CHECKING:
    from medsim.kernels.types import Values

FEWEST_FOR_TEST = 3
"""Of fewer values, any two sides lie on a line."""

_FEWEST_FOR_FISHER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PearsonTest:
    """Pearson's correlation of two sides with its test.

    Attributes:
        r: Pearson's correlation, with Fisher's interval of at least 4 values; NaN of fewer than 3,
            of a constant side, or where a value is infinite.
        t: r sqrt((n - 2) / (1 - r^2)); infinite where r is 1 or -1.
        p: two-tailed, under Student's law of n - 2 degrees.
    """

    r: Estimate
    t: float
    p: float
    n: int


def pearson_test(left: Values, right: Values) -> PearsonTest:
    """Return Pearson's correlation of float64[n] values with its two-tailed test (Student 1908)."""
    left = checked_values("left values", left)
    right = checked_values("right values", right, len(left))
    n = len(left)
    r = pearson(left, right) if n >= FEWEST_FOR_TEST else math.nan
    if math.isnan(r):
        return PearsonTest(r=Estimate(value=r), t=math.nan, p=math.nan, n=n)
    rest = (1 - r) * (1 + r)
    t = r * math.sqrt((n - 2) / rest) if rest else math.copysign(math.inf, r)
    return PearsonTest(r=pearson_of(r, n), t=t, p=two_sided_student(t, n - 2), n=n)


def pearson(left: Values, right: Values) -> float:
    """Return Pearson's correlation of float64[n] values.

    It is NaN of no values or a constant side, or where a value is infinite.
    """
    sides = []
    for values in (left, right):
        largest = np.abs(values).max(initial=0.0)
        if not len(values) or values.min() == values.max() or math.isinf(largest):
            return math.nan
        scaled = values / largest  # so that no square overflows
        sides.append(scaled - scaled.mean())
    x, y = sides
    correlation = float((x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum()))
    return max(-1.0, min(1.0, correlation))


def smallest_detectable(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest absolute correlation that a test of ``n`` values is likely to show.

    A true correlation of this size is significant, two-tailed at ``alpha``, in the share ``power``
    of samples. It is taken by Fisher's transformation, whose standard error is 1 / sqrt(n - 3)
    (Cohen, Statistical Power Analysis 1988, section 3.5). Of few values that is a little strict: of
    12, a correlation of this size is shown in 84% of samples rather than 80%. It is NaN of fewer
    than 4 values, by which nothing could be shown.
    """
    for name, share in (("power", power), ("alpha", alpha)):
        if not 0 < share < 1:
            raise OptionError(f"{name} {share} is out of range; between 0 and 1 is accepted")
    if n < _FEWEST_FOR_FISHER:
        return math.nan
    normal = NormalDist()
    reach = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    return math.tanh(max(reach, 0.0) / math.sqrt(n - 3))
