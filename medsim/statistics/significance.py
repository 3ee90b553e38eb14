"""Tests of differences, and corrections of p-values for the number of tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError
from medsim.statistics.pairs import checked_flags

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Values

_FEWEST_FOR_CHI_SQUARE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """The result of a test.

    Attributes:
        method: "mcnemar_exact", "mcnemar", "delong", "bca" or "clustered_t".
        statistic: of the method.
        p: two-sided; NaN where the test is not defined.
        low: the lower end of the interval of what is tested; NaN where there is none.
    """

    method: str
    statistic: float
    p: float
    low: float = math.nan
    high: float = math.nan


def mcnemar(correct1: Flags, correct2: Flags) -> Test:
    """Return whether two classifications of the same pairs differ in accuracy.

    Only pairs that one gets right and the other wrong count (McNemar 1947). Fewer than 25 of them
    are tested by the binomial law; more by the chi-square law of one degree, with the
    continuity correction of Edwards (1948), which takes off no more than there is, as in R's
    ``mcnemar.test``. (statsmodels takes off 1 even from 0, and so finds 1 / n where equally many
    disagree either way.)

    The statistic of the exact test is the smaller number of pairs that only one gets right, of the
    other the chi-square. p is 1 where none disagree.
    """
    correct1 = checked_flags("truths", correct1, len(correct1))
    correct2 = checked_flags("truths", correct2, len(correct1))
    only1 = int(np.count_nonzero(correct1 & ~correct2))
    only2 = int(np.count_nonzero(~correct1 & correct2))
    n_disagreeing, fewer = only1 + only2, min(only1, only2)
    if n_disagreeing < _FEWEST_FOR_CHI_SQUARE:
        n_as_far = 2 * sum(math.comb(n_disagreeing, n) for n in range(fewer + 1))
        p = min(1.0, n_as_far / 2**n_disagreeing)
        return Test(method="mcnemar_exact", statistic=float(fewer), p=p)
    chi_square = max(0, abs(only1 - only2) - 1) ** 2 / n_disagreeing
    return Test(method="mcnemar", statistic=chi_square, p=math.erfc(math.sqrt(chi_square / 2)))


def bonferroni(p: Values) -> Values:
    """Return p-values corrected for their number by Bonferroni's inequality (Dunn 1961).

    NaN is no test and stays NaN.
    """
    p = _checked_p(p)
    return np.minimum(1.0, p * np.count_nonzero(~np.isnan(p)))


def holm(p: Values) -> Values:
    """Return p-values corrected for their number step by step (Holm 1979).

    The smallest is multiplied by the number of tests, the next by one less, and so on; none falls
    below one that was smaller. NaN is no test and stays NaN.
    """
    p = _checked_p(p)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]  # NaN comes last
    corrected = np.full(len(p), np.nan)
    stepped = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return corrected


def _checked_p(p: Values) -> Values:
    values = np.asarray(p, np.float64)
    wrong = values[~np.isnan(values) & ~((values >= 0) & (values <= 1))]
    if len(wrong):
        raise OptionError(f"p-value {wrong[0]} is out of range; 0 to 1 are accepted")
    return values
