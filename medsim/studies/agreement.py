"""Inter-annotator agreement: alpha, kappas, Gwet's AC1 and accuracy, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import polars as pl

from medsim.core.terms import numbers_of
from medsim.kernels.types import Counts, FloatTable, Values
from medsim.statistics.bca import bca_estimate
from medsim.statistics.estimates import Estimate, defined, quotients
from medsim.statistics.options import Resampling

ScoreRow: TypeAlias = dict[str, object]

Judgements: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int8]]
"""The value of each annotator for each unit, -1 if missing: int8[n_units, n_annotators]."""

NONE = -1
"""The value of a missing answer."""

_PAIRABLE = 2
_ROUNDING = 1e-12
_RESAMPLES_A_STEP = 10_000


def over_units(
    features: FloatTable,
    n_units: Counts,
    statistic: Callable[[FloatTable], Values],
    resampling: Resampling,
) -> Estimate:
    """Return a statistic of sums over units, with its BCa interval (Efron 1987) over units.

    Units with the same contribution to the sums are of one kind; a resample has a number per kind.

    Args:
        features: float64[n_kinds, n_features], the contribution of a unit of each kind to the sums,
            in an order of kinds that depends only on the contributions.
        n_units: int64[n_kinds], the number of units of each kind.
        statistic: takes sums, float64[n, n_features], and returns float64[n], NaN if undefined;
            such resamples are left out.
        resampling: 0 resamples give no interval. Each takes time O(n_kinds).
    """
    sums = n_units @ features
    estimate = float(statistic(sums[None, :])[0])
    if not resampling.resamples or np.isnan(estimate):
        return Estimate(value=estimate)
    left_out = np.repeat(statistic(sums - features), n_units)
    n_drawn, draw = int(n_units.sum()), np.random.default_rng(resampling.seed)
    firsts = range(0, resampling.resamples, _RESAMPLES_A_STEP)
    sizes = (min(_RESAMPLES_A_STEP, resampling.resamples - first) for first in firsts)
    drawn = (draw.multinomial(n_drawn, n_units / n_drawn, size) for size in sizes)
    statistics = np.concatenate([statistic(counts @ features) for counts in drawn])
    return bca_estimate(estimate, statistics, left_out)


def nominal_alpha(table: Judgements, n_values: int, resampling: Resampling) -> Estimate:
    """Return Krippendorff's alpha of nominal values, with its bootstrap interval over units.

    It is 1 minus the ratio of observed disagreement to the disagreement expected by chance
    (Krippendorff, Computing Krippendorff's Alpha-Reliability 2011). If n_v of a unit's m values are
    v, its disagreement is (m^2 - sum of n_v^2) / (m - 1). So only counts are needed, and time is
    linear in the number of values. Units with fewer than two values are left out, also from
    resamples.

    The interval comes from ``over_units``; resamples in which only one value occurs are left out.

    Args:
        table: values from 0 to ``n_values`` - 1, or -1 if missing.
        n_values: the number of possible values.
        resampling: settings of the interval; its draws do not depend on the order of units or of
            annotators.

    Returns:
        1 if all agree, about 0 if they agree by chance. NaN if no unit has two values, or if only
        one value occurs: without variation, reliability cannot be estimated (Krippendorff 2011).
    """
    kinds, n_units = _kinds(table, n_values, _PAIRABLE)
    n = kinds.sum(axis=1)
    disagreement = (n * n - (kinds * kinds).sum(axis=1)) / (n - 1)
    return over_units(np.column_stack([kinds, disagreement]), n_units, _alpha, resampling)


def _kinds(table: Judgements, n_values: int, least: int) -> tuple[Counts, Counts]:
    """Return the counts of values of units with at least some, and the number of such units.

    Units with the same count of each value are one kind; kinds are in order of their counts.

    Returns:
        int64[n_kinds, n_values] and int64[n_kinds].
    """
    counts = np.column_stack([(table == value).sum(axis=1) for value in range(n_values)])
    kinds, n_units = np.unique(counts[counts.sum(axis=1) >= least], axis=0, return_counts=True)
    return kinds, n_units


def agreements(table: Judgements, n_values: int, resampling: Resampling) -> dict[str, Estimate]:
    """Return percent agreement, Fleiss' kappa and Gwet's AC1 by name, with intervals over units.

    Percent agreement is the mean over units of the share of equal answers among all pairs of
    answers. Fleiss' kappa and AC1 are (p - e) / (1 - e) for this share p and the share e that is
    expected by chance, from the mean share of each value over units: the sum of its squares for
    kappa (Fleiss, Psychological Bulletin 1971), and the sum of share * (1 - share), divided by the
    number of values that occur less one, for AC1 (Gwet, British Journal of Mathematical and
    Statistical Psychology 2008). As in Gwet's handbook, units with one answer count for the shares
    of values, except of two annotators, whose common units are compared as in Cohen's kappa.

    Args:
        table: values from 0 to ``n_values`` - 1, or -1 if missing.
        n_values: the number of possible values.
        resampling: settings of the BCa intervals over units.

    Returns:
        NaN if no unit has two answers; the kappa also if only one value occurs.
    """
    kinds, n_units = _kinds(table, n_values, _PAIRABLE if table.shape[1] == _PAIRABLE else 1)
    kinds = np.ascontiguousarray(kinds[:, kinds.any(axis=0)])
    n = kinds.sum(axis=1)
    alike = (kinds * (kinds - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
    features = np.column_stack([kinds / n[:, None], alike, n >= _PAIRABLE])
    return {
        name: over_units(features, n_units, partial(_beyond_chance, by_chance), resampling)
        for name, by_chance in _BY_CHANCE.items()
    }


_BY_CHANCE: dict[str, Callable[[FloatTable], Values]] = {
    "percent_agreement": lambda shares: np.zeros(len(shares)),
    "fleiss_kappa": lambda shares: (shares * shares).sum(axis=1),
    "ac1": lambda shares: (shares * (1 - shares)).sum(axis=1) / max(1, shares.shape[1] - 1),
}
"""The agreement by chance, given the shares of values, float64[n, n_values]."""


def _beyond_chance(by_chance: Callable[[FloatTable], Values], sums: FloatTable) -> Values:
    """Return the agreement of each row of sums; see ``agreements`` for the columns."""
    shares, alike, n_pairable = sums[:, :-2], sums[:, -2], sums[:, -1]
    expected = by_chance(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1))
    beyond = np.where(expected < 1 - _ROUNDING, 1 - expected, 0)
    return quotients(quotients(alike, n_pairable) - expected, beyond)


def _alpha(sums: FloatTable) -> Values:
    """Return the alpha of each row of sums; NaN if fewer than two values occur."""
    counts, disagreement = sums[:, :-1], sums[:, -1]
    n = counts.sum(axis=1)
    expected = n * n - (counts * counts).sum(axis=1)
    return 1 - quotients((n - 1) * disagreement, expected)


def cohens_kappa(table: Judgements, n_values: int, resampling: Resampling) -> Estimate:
    """Return Cohen's kappa (Educational and Psychological Measurement 1960) of two annotators.

    It is (p - e) / (1 - e), where p is the share of units on which both agree, and e the expected
    share if both distribute their answers over units at random.

    Args:
        table: values of two annotators, from 0 to ``n_values`` - 1, or -1 if missing; units without
            both answers are left out.
        n_values: the number of possible values.
        resampling: settings of the BCa interval over units.

    Returns:
        NaN if both answered no unit, or gave the same answer to all units.
    """
    both = table[(table != NONE).all(axis=1)]
    if not len(both):
        return Estimate(value=math.nan)
    kinds, n_units = np.unique(both, axis=0, return_counts=True)
    indicators = np.eye(n_values)
    alike = (kinds[:, 0] == kinds[:, 1]).astype(np.float64)
    features = np.column_stack([alike, indicators[kinds[:, 0]], indicators[kinds[:, 1]]])
    return over_units(features, n_units, _kappa, resampling)


def mean_accuracy(correct: Judgements, resampling: Resampling) -> Estimate:
    """Return the mean of annotators' accuracies, with its BCa interval over units.

    Args:
        correct: 1 if an annotator's answer to a unit is right, 0 if it is wrong, -1 if it is
            missing. Every annotator answers at least one unit.
        resampling: settings of the interval; resamples in which an annotator has no answer are left
            out.
    """
    kinds, n_units = np.unique(correct, axis=0, return_counts=True)
    features = np.column_stack([kinds == 1, kinds != NONE]).astype(np.float64)
    return over_units(features, n_units, _mean_share, resampling)


def _kappa(sums: FloatTable) -> Values:
    """Return the kappa of each row of sums: number of equal answers, then counts by annotator."""
    alike, (first, second) = sums[:, 0], np.split(sums[:, 1:], 2, axis=1)
    n = first.sum(axis=1)
    by_chance = (first * second).sum(axis=1)
    return quotients(n * alike - by_chance, n * n - by_chance)


def _mean_share(sums: FloatTable) -> Values:
    """Return the mean accuracy of each row of sums: counts of right answers, then of all."""
    means: Values = quotients(*np.split(sums, 2, axis=1)).mean(axis=1)
    return means


def answer_table(items: pl.DataFrame, answers: pl.DataFrame, names: Sequence[str]) -> FloatTable:
    """Return float64[n_annotators, n_items]: mean values of answers, NaN without answers."""
    table = np.full((len(names), items.height), np.nan)
    means = answers.group_by("annotator", "item_id").agg(pl.col("value").mean())
    rows = numbers_of(means["annotator"], pl.Series(names))
    table[rows, numbers_of(means["item_id"], items["item_id"])] = means["value"]
    return table


def estimate_columns(name: str, estimate: Estimate) -> ScoreRow:
    """Return an estimate as the columns NAME, NAME_low and NAME_high; undefined values are None."""
    ends = {"": estimate.value, "_low": estimate.low, "_high": estimate.high}
    return {name + end: defined(value) for end, value in ends.items()}


def score_table(rows: Sequence[ScoreRow]) -> pl.DataFrame:
    """Return rows with the same columns as a table; columns with only None are numbers."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64))
