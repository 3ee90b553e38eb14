"""Coverage of intervals, false positives and power of tests, for clusters of unequal sizes."""

from __future__ import annotations

import hashlib
import math
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit, prange
from scipy import stats

from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.timing import timed
from medsim.statistics.estimates import clustered_mean, degrees_of, effective_clusters
from medsim.statistics.scores import labelled_sample
from medsim.statistics.significance import _share_as_far, clustered_difference

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, Values

_NORMAL = NormalDist()
_KINDS = ("equal", "zipf", "lognormal", "25%", "50%", "75%", "90%", "96%")
_CLUSTERS = (5, 10, 30, 100, 300)
_AREAS = (0.5, 0.7, 0.9, 0.99)
_LEVELS = (0.05, 0.0002)
_MEAN_SIZE, _SMALL, _SPREAD = 4, 2, 0.7
_TIE = 0.5  # similarities are rounded to its multiples
_SHARED = 0.5  # share of the variance between clusters that positives and negatives have in common
_PART = 500_000  # similarities drawn at a time
_LARGE = 0.05  # share of the pairs of a cluster without which thresholds are chosen again
_N_CHECKED = 5  # samples of each cell that are compared with medsim's functions


class Cell(NamedTuple):
    """The parameters of one simulation.

    Attributes:
        kind: sizes of the clusters: equal, by Zipf's law, log-normal, or equal except for one
            cluster with this share of all pairs.
        n_clusters: number of clusters.
        area: AUC of pairs in different clusters before rounding, and the rate of a mean.
        tied: whether similarities are rounded.
        within: correlation of similarities with the same cluster and label.
        n_samples: number of samples of pairs.
        other: the area of the second embedding; None if both are equally good.
    """

    kind: str
    n_clusters: int
    area: float
    tied: bool
    within: float
    n_samples: int
    other: float | None = None

    def __str__(self) -> str:
        ties = ", tied" if self.tied else ""
        other = f" and {self.other}" if self.other else ""
        return f"{self.kind} {self.n_clusters}, {self.area}{other}{ties}, within {self.within}"


class Drawn(NamedTuple):
    """Results of the kernel for samples of two embeddings.

    Attributes:
        areas: float64[n_samples, 2].
        without: float64[n_samples, 2, n_clusters], the areas without each cluster.
        correct: float64[n_samples, 2, n_clusters], number of correct pairs at the best threshold.
        fitted: the number of correct pairs without each cluster; without a large one, at the
            threshold that is best then.
        heldout: as ``correct`` for held-out pairs, at the threshold of the other pairs.
        hits: float64[n_samples, 2, n_clusters], number of positives above a fixed threshold.
    """

    areas: Values
    without: Values
    correct: Values
    fitted: Values
    heldout: Values
    hits: Values


class Found(NamedTuple):
    """Estimates by name, float64[3, n_samples] of value, low and high, and p-values of tests."""

    estimates: dict[str, Values]
    p: dict[str, Values]


def measure(settings: Settings) -> Measured:
    """Return the lowest coverage of intervals and the highest false positive rates of tests."""
    n_samples, n_often = settings.size(10_000, 200), settings.size(200_000, 1_000)
    cells = [
        Cell(kind, n_clusters, area, tied, within, n_samples)
        for kind, n_clusters, area, tied in product(_KINDS, _CLUSTERS, _AREAS, (False, True))
        for within in ((0.5, 0.9) if n_clusters in {10, 30, 300} else (0.5,))
    ]
    often = [
        Cell(kind, n_clusters, area, tied=False, within=0.5, n_samples=n_often)
        for kind, n_clusters, area in product(_KINDS[:4], (10, 30), (0.5, 0.9, 0.99))
    ]
    unlike = [
        Cell(kind, n_clusters, 0.7, tied=False, within=0.5, n_samples=n_samples, other=0.9)
        for kind, n_clusters in product(_KINDS[:4], (10, 30, 300))
    ]
    both = [*often, *cells, *unlike]
    shares, seconds = timed(lambda: {cell: simulated(cell) for cell in both})
    summary = "; ".join(
        [
            *_worst({cell: shares[cell] for cell in cells}, "coverage", str(_LEVELS[0])),
            *_worst({cell: shares[cell] for cell in often}, str(_LEVELS[1])),
            *(_power(cell, shares[cell]) for cell in unlike),
        ]
    )
    return Measured(
        about=f"{len(cells)} kinds of clusters, {n_samples:,} samples each; {len(often)} of them "
        f"{n_often:,} times",
        times=f"{seconds:.0f} s; {summary}",
        fingerprint=hashlib.sha256(summary.encode()).hexdigest()[:16],
    )


def _worst(results: dict[Cell, dict[str, float]], *kinds: str) -> list[str]:
    """Return the lowest coverage and the highest false positive rate, each with its cell."""
    lines = []
    for name in dict.fromkeys(name for shares in results.values() for name in shares):
        if any(kind in name for kind in kinds):
            values = {cell: shares[name] for cell, shares in results.items() if name in shares}
            cell = (min if name.startswith("coverage") else max)(values, key=values.__getitem__)
            lines.append(f"{name} {values[cell]:.5g} ({cell})")
    return lines


def _power(cell: Cell, shares: dict[str, float]) -> str:
    """Return the share of samples in which McNemar's test finds the better embedding."""
    power = shares.get(f"alarms of McNemar at {_LEVELS[0]}", math.nan)
    return f"power of McNemar {power:.3g} ({cell})"


def simulated(cell: Cell) -> dict[str, float]:
    """Return the coverage of intervals and the false positive rates of tests for a cell.

    The true values are the means over samples. Statistics without intervals are left out.
    """
    sizes = sizes_of(cell.kind, cell.n_clusters)
    clusters = np.tile(np.repeat(np.arange(len(sizes)), sizes), 2)
    labels = np.arange(len(clusters)) < sizes.sum()
    held_out = np.arange(len(labels)) % 2 == 0
    rng = np.random.default_rng([*map(ord, str(cell)), cell.n_samples])
    apart = math.sqrt(2) * _NORMAL.inv_cdf(cell.area)
    above = apart - _NORMAL.inv_cdf(cell.area)  # of a share ``area`` of positives
    at_once = max(_N_CHECKED, _PART // len(labels))
    parts: list[Found] = []
    for start in range(0, cell.n_samples, at_once):
        drawn = _similarities(rng, labels, clusters, cell, min(at_once, cell.n_samples - start))
        counted = Drawn(*_counted(drawn, labels, held_out, clusters, len(sizes), above))
        if start == 0:
            _check(drawn, labels, held_out, clusters, counted, above)
        n_heldout = np.bincount(clusters[held_out], minlength=len(sizes))
        parts.append(_estimated(counted, sizes, n_heldout))
    shares: dict[str, float] = {}
    for name in parts[0].estimates:
        value, low, high = np.hstack([part.estimates[name] for part in parts])
        if not np.isnan(low).all():
            truth = value.mean()
            shares[f"coverage of {name}"] = float(((low <= truth) & (truth <= high)).mean())
    for name, level in product(parts[0].p, _LEVELS):
        p = np.concatenate([part.p[name] for part in parts])
        if not np.isnan(p).all():
            shares[f"alarms of {name} at {level}"] = float((p < level).mean())
    return shares


def _estimated(drawn: Drawn, sizes: Counts, n_heldout: Counts) -> Found:
    """Return the estimates of the first embedding, and the tests of both."""
    effective, n_pairs = (
        effective_clusters(np.repeat(np.arange(len(sizes)), sizes)),
        2 * sizes.sum(),
    )
    of_heldout = effective_clusters(np.repeat(np.arange(len(sizes)), n_heldout))
    estimates = {
        "AUC": (drawn.areas[:, 0], drawn.without[:, 0], n_pairs, effective),
        "held-out accuracy": _mean_of(drawn.heldout[:, 0], n_heldout, of_heldout),
        "mean": _mean_of(drawn.hits[:, 0], sizes, effective),
    }
    m1, w1, *_ = estimates["mean"]
    m2, w2, *_ = _mean_of(drawn.hits[:, 1], sizes, effective)
    (a1, v1), (a2, v2) = ((drawn.areas[:, side], drawn.without[:, side]) for side in (0, 1))
    return Found(
        estimates={
            name: np.array([parts[0], *intervals_of(*parts)]) for name, parts in estimates.items()
        },
        p={
            "AUC": tests_of(a1, a2, v1, v2, n_pairs, effective),
            "McNemar": mcnemar_of(*_differences(drawn), sizes, effective),
            "mean": tests_of(m1, m2, w1, w2, sizes.sum(), effective),
        },
    )


def intervals_of(
    values: Values, without: Values, n_values: int, effective: float
) -> tuple[Values, Values]:
    """Return the ends of intervals as in ``clustered_estimate``, for all samples at once.

    Args:
        values: float64[n_samples].
        without: float64[n_samples, n_clusters].
        n_values: number of values of a sample.
        effective: the effective number of clusters.
    """
    degrees = np.full(len(values), degrees_of(effective))
    if np.isnan(degrees).any():
        return degrees, degrees
    error, spread = _errors(values, without), values * (1 - values)
    usual = (error > 0) & (spread > 0)
    size = np.full(len(values), effective)
    size[usual] = np.minimum(spread[usual] / error[usual] ** 2, n_values)
    none_differs = np.maximum(values, 1 - values) ** effective
    size *= np.minimum(1, effective / size) ** none_differs
    shares = (without[usual] - values[usual, None]) ** 2
    sums = shares.sum(axis=1) ** 2
    uneven = np.maximum((shares**2).sum(axis=1) - sums / len(without.T), 1e-300)
    reach = stats.t.ppf(0.975, degrees)
    of_few = stats.t.ppf(0.975, np.minimum(degrees[usual], 2 * sums / uneven))
    widest = reach[usual] * np.sqrt(np.maximum(1, size[usual] / effective))
    reach[usual] = np.minimum(of_few, widest)
    weight = reach**2 / size
    half = np.sqrt(weight * (spread + weight / 4))
    low = np.where(values == 0, 0, (values + weight / 2 - half) / (1 + weight))
    high = np.where(values == 1, 1, (values + weight / 2 + half) / (1 + weight))
    return low, high


def tests_of(
    first: Values,
    second: Values,
    without1: Values,
    without2: Values,
    n_values: int,
    effective: float,
) -> Values:
    """Return p-values as in ``clustered_test``, for all samples at once."""
    degrees, differences = degrees_of(effective), first - second
    error = _errors(differences, without1 - without2)
    low1, high1 = intervals_of(first, without1, n_values, effective)
    low2, high2 = intervals_of(second, without2, n_values, effective)
    below, above = np.hypot(first - low1, high2 - second), np.hypot(high1 - first, second - low2)
    at_edge = np.where(differences > 0, below, above) / stats.t.ppf(0.975, degrees)
    error = np.where(error > 0, error, at_edge)
    t = np.divide(differences, error, out=np.zeros(len(error)), where=differences != 0)
    p: Values = 2 * stats.t.sf(np.abs(t), degrees)
    return p


def _differences(drawn: Drawn) -> tuple[Values, Values]:
    """Return the differences of both embeddings in correct pairs, see ``mcnemar_of``."""
    return drawn.correct[:, 0] - drawn.correct[:, 1], drawn.fitted[:, 0] - drawn.fitted[:, 1]


def mcnemar_of(differences: Values, fitted: Values, sizes: Counts, effective: float) -> Values:
    """Return p-values as in ``mcnemar`` with clusters, for all samples at once.

    Args:
        differences: float64[n_samples, n_clusters], correct pairs of the first less the second.
        fitted: float64[n_samples, n_clusters], the same of all pairs without each cluster.
        sizes: int64[n_clusters], number of positives.
        effective: the effective number of clusters.
    """
    sums, n_pairs = differences.sum(axis=1), 2 * sizes.sum()
    further = np.abs(sums)
    squares = np.maximum(1, (differences**2).sum(axis=1))
    roots = np.maximum(0, further - 1) / np.sqrt(squares)
    error = _errors(sums / n_pairs, fitted / (n_pairs - 2 * sizes))
    t = np.divide(further / n_pairs, error, out=np.full(len(error), np.inf), where=error > 0)
    p_of_t = np.where(sums == 0, 1, 2 * stats.t.sf(t, degrees_of(effective)))
    p: Values = np.maximum(2 * stats.norm.sf(roots), p_of_t)
    for row in np.flatnonzero(p_of_t < max(_LEVELS)):  # elsewhere it does not matter
        sizes_of_row = np.abs(differences[row][differences[row] != 0]).astype(np.int64)
        if len(sizes_of_row) < 25:  # noqa: PLR2004 - for fewer, all signs are tried
            p[row] = max(p_of_t[row], _share_as_far(sizes_of_row, int(further[row])))
    return p


def _errors(values: Values, without: Values) -> Values:
    """Return the standard errors of the cluster jackknife."""
    n_clusters = len(without.T)
    squares = ((without - values[:, None]) ** 2).sum(axis=1)
    error: Values = np.sqrt((1 - 1 / n_clusters) * squares)
    error[error < 1e-12] = 0  # noqa: PLR2004 - rounding error
    return error


def _mean_of(hits: Values, sizes: Counts, effective: float) -> tuple[Values, Values, int, float]:
    """Return means of hits, means without each cluster, the number of values, ``effective``."""
    of_all = hits.sum(axis=1)
    seen = sizes > 0
    without = (of_all[:, None] - hits[:, seen]) / (sizes.sum() - sizes[seen])
    return of_all / sizes.sum(), without, int(sizes.sum()), effective


def sizes_of(kind: str, n_clusters: int) -> Counts:
    """Return the number of positives of each cluster, which equals its number of negatives."""
    if kind == "equal":
        return np.full(n_clusters, _MEAN_SIZE)
    if kind == "zipf":
        weights = 1 / np.arange(1, n_clusters + 1)
        sizes = weights / weights.sum() * n_clusters * _MEAN_SIZE
    elif kind == "lognormal":
        quantiles = [_NORMAL.inv_cdf((at + 0.5) / n_clusters) for at in range(n_clusters)]
        sizes = _SPREAD * _MEAN_SIZE * np.exp(quantiles)
    else:
        share = float(kind.removesuffix("%")) / 100
        sizes = np.full(n_clusters, float(_SMALL))
        sizes[0] = share / (1 - share) * sizes[1:].sum()
    rounded: Counts = np.maximum(1, np.round(sizes)).astype(np.int64)
    return rounded


def _similarities(
    rng: np.random.Generator, labels: Flags, clusters: Counts, cell: Cell, n_samples: int
) -> Values:
    """Return normal similarities with a shift for each cluster, and for each label in it.

    Returns:
        float64[n_samples, 2, n_pairs], by two embeddings.
    """
    of_labels = rng.normal(size=(n_samples, 2, 2, cell.n_clusters))
    of_both = rng.normal(size=(n_samples, 2, 1, cell.n_clusters))
    shifts = math.sqrt(1 - _SHARED) * of_labels + math.sqrt(_SHARED) * of_both
    similarities: Values = rng.normal(size=(n_samples, 2, len(labels))) * math.sqrt(1 - cell.within)
    similarities += math.sqrt(cell.within) * shifts[:, :, labels.astype(int), clusters]
    for side, area in enumerate((cell.area, cell.other or cell.area)):
        similarities[:, side] += math.sqrt(2) * _NORMAL.inv_cdf(area) * labels
    return np.round(similarities / _TIE) * _TIE if cell.tied else similarities


@njit(cache=True)
def _most_correct(
    x: Values, order: Counts, labels: Flags, clusters: Counts, left_out: int
) -> float:
    """Return the number of pairs without a cluster that the best threshold gets right."""
    right = 0.0
    for pair in range(len(x)):
        if labels[pair] and clusters[pair] != left_out:
            right += 1
    best = right
    for at in range(len(x)):
        pair = order[at]
        if clusters[pair] != left_out:
            right += -1.0 if labels[pair] else 1.0
        if right > best and (at + 1 == len(x) or x[order[at + 1]] != x[pair]):
            best = right
    return best


@njit(parallel=True, cache=True)
def _counted(  # noqa: C901, PLR0912, PLR0915 - one pass over each sample
    drawn: Values, labels: Flags, held_out: Flags, clusters: Counts, n_clusters: int, above: float
) -> tuple[Any, ...]:
    """Return the arrays of ``Drawn``; sample ``s`` writes only its own slots."""
    n_samples, n_pairs = len(drawn), len(labels)
    areas = np.zeros((n_samples, 2))
    without = np.zeros((n_samples, 2, n_clusters))
    correct = np.zeros((n_samples, 2, n_clusters))
    fitted = np.zeros((n_samples, 2, n_clusters))
    heldout = np.zeros((n_samples, 2, n_clusters))
    hits = np.zeros((n_samples, 2, n_clusters))
    sizes = np.zeros(n_clusters)
    for pair in range(n_pairs):
        sizes[clusters[pair]] += 0.5
    n_each = sizes.sum()
    for s in prange(n_samples):
        for side in range(2):
            x = drawn[s, side]
            order = np.argsort(x)
            won = np.zeros(n_clusters)  # pairs won by a cluster's positives and negatives
            within = np.zeros(n_clusters)  # pairs won by its positives over its negatives
            own_negatives = np.zeros(n_clusters)
            below = taken = 0.0
            right = best = n_each
            right_others = 0.0
            for pair in range(n_pairs):
                if labels[pair] and not held_out[pair]:
                    right_others += 1
            best_others = right_others
            threshold = threshold_others = -np.inf
            start = 0
            while start < n_pairs:
                end = start
                positives = negatives = 0.0
                while end < n_pairs and x[order[end]] == x[order[start]]:
                    pair = order[end]
                    step = -1.0 if labels[pair] else 1.0
                    right += step
                    if not held_out[pair]:
                        right_others += step
                    if labels[pair]:
                        positives += 1
                    else:
                        negatives += 1
                    end += 1
                for at in range(start, end):
                    c = clusters[order[at]]
                    if labels[order[at]]:
                        won[c] += below + negatives / 2
                        within[c] += own_negatives[c] / 2
                    else:
                        won[c] += n_each - taken - positives / 2
                for at in range(start, end):
                    if not labels[order[at]]:
                        own_negatives[clusters[order[at]]] += 1
                for at in range(start, end):
                    if labels[order[at]]:
                        within[clusters[order[at]]] += own_negatives[clusters[order[at]]] / 2
                below += negatives
                taken += positives
                following = x[order[end]] if end < n_pairs else np.inf
                if right > best:
                    best, threshold = right, (x[order[start]] + following) / 2
                if right_others > best_others:
                    at = end
                    while at < n_pairs and held_out[order[at]]:
                        at += 1
                    following = x[order[at]] if at < n_pairs else np.inf
                    best_others, threshold_others = right_others, (x[order[start]] + following) / 2
                start = end
            total = 0.0
            for pair in range(n_pairs):
                c = clusters[pair]
                if (x[pair] >= threshold) == labels[pair]:
                    correct[s, side, c] += 1
                if held_out[pair] and (x[pair] >= threshold_others) == labels[pair]:
                    heldout[s, side, c] += 1
                if labels[pair] and x[pair] > above:
                    hits[s, side, c] += 1
            n_correct = correct[s, side].sum()
            for c in range(n_clusters):
                total += won[c] / 2
                fitted[s, side, c] = n_correct - correct[s, side, c]
                if sizes[c] >= _LARGE * n_each:
                    fitted[s, side, c] = _most_correct(x, order, labels, clusters, c)
            areas[s, side] = total / n_each**2
            for c in range(n_clusters):
                without[s, side, c] = (total - won[c] + within[c]) / (n_each - sizes[c]) ** 2
    return areas, without, correct, fitted, heldout, hits


def _check(
    drawn: Values, labels: Flags, held_out: Flags, clusters: Counts, counted: Drawn, above: float
) -> None:
    """Raise AssertionError if the first samples differ from the results of medsim's functions."""
    sizes = np.bincount(clusters[labels])
    effective = effective_clusters(clusters[labels])
    for s, sides in enumerate(drawn[:_N_CHECKED]):
        first, second = (labelled_sample(side, labels, held_out, clusters) for side in sides)
        hits = [(side[labels] > above).astype(np.float64) for side in sides]
        part = slice(s, s + 1)
        means = [_mean_of(counted.hits[part, k], sizes, effective) for k in (0, 1)]
        areas = [(counted.areas[part, k], counted.without[part, k]) for k in (0, 1)]
        n_heldout = np.bincount(clusters[held_out], minlength=len(sizes))
        of_heldout = _mean_of(
            counted.heldout[part, 0], n_heldout, effective_clusters(clusters[held_out])
        )
        pairs = [
            (first.area.auc, intervals_of(*areas[0], len(labels), effective)),
            (clustered_mean(hits[0], clusters[labels]), intervals_of(*means[0])),
            (first.accuracy_heldout, intervals_of(*of_heldout)),
        ]
        for estimate, ends in pairs:
            np.testing.assert_allclose([*ends[0], *ends[1]], [estimate.low, estimate.high], 1e-6)
        (a1, w1), (a2, w2) = areas
        (m1, v1, n_values, _), (m2, v2, *_) = means
        differences = _differences(Drawn(*(of_all[part] for of_all in counted)))
        p = [
            (first.auc_difference(second).p, tests_of(a1, a2, w1, w2, len(labels), effective)),
            (
                clustered_difference(hits[0], hits[1], clusters[labels]).p,
                tests_of(m1, m2, v1, v2, n_values, effective),
            ),
            (first.accuracy_difference(second).p, mcnemar_of(*differences, sizes, effective)),
        ]
        for name, (expected, (of_all,)) in zip(("AUC", "mean", "McNemar"), p, strict=True):
            if name != "McNemar" or of_all < max(_LEVELS):
                np.testing.assert_allclose(of_all, expected, 1e-6, 1e-9, err_msg=name)


BENCHMARKS.register("clusters", measure)
