"""Mean ratings on a scale from 0 to 10, and the consistency of raters with themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError
from medsim.statistics.estimates import Estimate, share_of
from medsim.studies.agreement.rater_agreement import pairwise_spearman

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Table, Values

HIGHEST_RATING = 6
"""The end of the scale of ratings, which begins with 0 (Chiu et al. 2018)."""

SCALED_TO = 10
"""The end of the scale of means, as rated sets have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledMeans:
    """The ratings of each item, scaled linearly from 0-6 to 0-10.

    Attributes:
        mean: float64[n_items], NaN where nobody rated.
        deviation: float64[n_items], the standard deviation (n - 1); NaN of fewer than two ratings.
        n_ratings: int64[n_items].
    """

    mean: Values
    deviation: Values
    n_ratings: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """The agreement of a rater's two ratings of the same items.

    Attributes:
        equal: the share of items whose ratings are equal, with Wilson's interval; NaN of no item.
        within_one: the share whose ratings are one apart at most.
        mean_difference: the mean absolute difference; NaN of no item.
        spearman: the correlation of the first with the second; NaN where either is constant.
        n_items: how many were rated twice.
    """

    equal: Estimate
    within_one: Estimate
    mean_difference: float
    spearman: float
    n_items: int


def scaled_means(ratings: Table) -> ScaledMeans:
    """Return the mean rating of each item on a scale from 0 to 10.

    Args:
        ratings: float64[n_raters, n_items] from 0 to 6, NaN where there is none.

    Raises:
        OptionError: a rating is outside the scale.
    """
    _check_scale(ratings)
    rated = ~np.isnan(ratings)
    n_ratings = rated.sum(axis=0)
    scaled = np.where(rated, ratings, 0.0) * SCALED_TO / HIGHEST_RATING
    none = np.full(ratings.shape[1], np.nan)
    mean = np.divide(scaled.sum(axis=0), n_ratings, out=none.copy(), where=n_ratings > 0)
    squares = (np.where(rated, scaled - mean, 0.0) ** 2).sum(axis=0)
    variance = np.divide(squares, n_ratings - 1, out=none, where=n_ratings > 1)
    return ScaledMeans(mean=mean, deviation=np.sqrt(variance), n_ratings=n_ratings)


def consistency(first: Values, second: Values) -> Consistency:
    """Return the agreement of a rater's two ratings, over the items that were rated both times.

    Args:
        first: float64[n_items] from 0 to 6, the ratings at the first presentation; NaN for none.
        second: float64[n_items], those at the second.

    Raises:
        OptionError: the arrays are not of one length, or a rating is outside the scale.
    """
    if len(first) != len(second):
        raise OptionError(f"there are {len(first):,} first ratings and {len(second):,} second ones")
    twice = np.stack([first, second])
    _check_scale(twice)
    twice = twice[:, ~np.isnan(twice).any(axis=0)]
    differences = np.abs(twice[0] - twice[1])
    n_items = len(differences)
    return Consistency(
        equal=share_of(int((differences == 0).sum()), n_items),
        within_one=share_of(int((differences <= 1).sum()), n_items),
        mean_difference=float(differences.mean()) if n_items else math.nan,
        spearman=float(pairwise_spearman(twice)[0, 1]),
        n_items=n_items,
    )


def _check_scale(ratings: Table) -> None:
    wrong = ratings[~np.isnan(ratings) & ~((ratings >= 0) & (ratings <= HIGHEST_RATING))]
    if len(wrong):
        raise OptionError(
            f"rating {wrong[0]:g} is out of range; 0 to {HIGHEST_RATING} are accepted"
        )
