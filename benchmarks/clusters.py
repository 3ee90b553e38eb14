"""How often intervals and tests of clustered pairs are right where clusters differ in size."""

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
from medsim.statistics.clusters import clustered_mean, degrees_of, effective_clusters
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
_SHARED = 0.5  # of the variance between clusters, by positives and negatives
_PART = 500_000  # similarities drawn at once
_N_CHECKED = 5  # samples of each cell that the functions of medsim are held against


class Cell(NamedTuple):
    """What is drawn in one simulation.

    Attributes:
        kind: how large the clusters are: equal, by the law of Zipf, log-normal, or one of this
            share of all pairs among equal ones.
        n_clusters: how many there are.
        area: the AUC of pairs of different clusters before rounding, and the rate of a mean.
        tied: whether similarities are rounded.
        within: the correlation of similarities of one cluster and one label.
        n_samples: how many sets of pairs are drawn.
    """

    kind: str
    n_clusters: int
    area: float
    tied: bool
    within: float
    n_samples: int

    def __str__(self) -> str:
        ties = ", tied" if self.tied else ""
        return f"{self.kind} {self.n_clusters}, {self.area}{ties}, within {self.within}"


class Drawn(NamedTuple):
    """What the kernel finds in samples of two embeddings.

    Attributes:
        areas: float64[n_samples, 2].
        without: float64[n_samples, 2, n_clusters], the areas without each cluster.
        correct: float64[n_samples, 2, n_clusters], how many pairs each threshold gets right.
        heldout: likewise, of the held-out pairs, at the threshold of the others.
        hits: float64[n_samples, 2, n_clusters], how many positives are above a fixed threshold.
    """

    areas: Values
    without: Values
    correct: Values
    heldout: Values
    hits: Values


class Found(NamedTuple):
    """Estimates by name, float64[3, n_samples] of value, low and high, and p-values of tests."""

    estimates: dict[str, Values]
    p: dict[str, Values]


def measure(settings: Settings) -> Measured:
    """Return the least coverage of intervals, and the most false alarms of tests."""
    n_samples, n_often = settings.size(10_000, 200), settings.size(200_000, 1_000)
    cells = [
        Cell(kind, n_clusters, area, tied, within, n_samples)
        for kind, n_clusters, area, tied in product(_KINDS, _CLUSTERS, _AREAS, (False, True))
        for within in ((0.5, 0.9) if n_clusters in {10, 30} else (0.5,))
    ]
    often = [
        Cell(kind, n_clusters, area, tied=False, within=0.5, n_samples=n_often)
        for kind, n_clusters, area in product(_KINDS[:4], (10, 30), (0.5, 0.9, 0.99))
    ]
    found, seconds = timed(lambda: {cell: simulated(cell) for cell in [*often, *cells]})
    said = "; ".join(
        [
            *_worst({cell: found[cell] for cell in cells}, "coverage", str(_LEVELS[0])),
            *_worst({cell: found[cell] for cell in often}, str(_LEVELS[1])),
        ]
    )
    return Measured(
        about=f"{len(cells)} kinds of clusters, {n_samples:,} samples each; {len(often)} of them "
        f"{n_often:,} times",
        times=f"{seconds:.0f} s; {said}",
        fingerprint=hashlib.sha256(said.encode()).hexdigest()[:16],
    )


def _worst(found: dict[Cell, dict[str, float]], *kinds: str) -> list[str]:
    """Return the least coverage, the largest share of false alarms, each with its cell."""
    said = []
    for name in dict.fromkeys(name for shares in found.values() for name in shares):
        if any(kind in name for kind in kinds):
            of = {cell: shares[name] for cell, shares in found.items() if name in shares}
            cell = (min if name.startswith("coverage") else max)(of, key=of.__getitem__)
            said.append(f"{name} {of[cell]:.5g} ({cell})")
    return said


def simulated(cell: Cell) -> dict[str, float]:
    """Return the shares of a cell: of intervals that hold the truth, and of false alarms.

    The true values are the means over samples. There is nothing of a statistic without intervals.
    """
    sizes = sizes_of(cell.kind, cell.n_clusters)
    clusters = np.tile(np.repeat(np.arange(len(sizes)), sizes), 2)
    labels = np.arange(len(clusters)) < sizes.sum()
    held_out = np.arange(len(labels)) % 2 == 0
    rng = np.random.default_rng([*map(ord, str(cell)), cell.n_samples])
    apart = math.sqrt(2) * _NORMAL.inv_cdf(cell.area)
    above = apart - _NORMAL.inv_cdf(cell.area)  # what the share ``area`` of positives is above
    at_once = max(_N_CHECKED, _PART // len(labels))
    parts: list[Found] = []
    for start in range(0, cell.n_samples, at_once):
        drawn = _similarities(rng, labels, clusters, cell, min(at_once, cell.n_samples - start))
        counted = Drawn(*_counted(drawn, labels, held_out, clusters, len(sizes), above))
        if start == 0:
            _check(drawn, labels, held_out, clusters, counted, above)
        parts.append(_found(counted, sizes, np.bincount(clusters[held_out], minlength=len(sizes))))
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


def _found(drawn: Drawn, sizes: Counts, n_heldout: Counts) -> Found:
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
            name: np.array([one[0], *intervals_of(*one)]) for name, one in estimates.items()
        },
        p={
            "AUC": tests_of(a1, a2, v1, v2, n_pairs, effective),
            "McNemar": mcnemar_of(drawn.correct[:, 0] - drawn.correct[:, 1], effective),
            "mean": tests_of(m1, m2, w1, w2, sizes.sum(), effective),
        },
    )


def intervals_of(
    values: Values, without: Values, n_values: int, effective: float
) -> tuple[Values, Values]:
    """Return the ends of intervals as ``clustered_estimate`` makes them, for all samples at once.

    Args:
        values: float64[n_samples].
        without: float64[n_samples, n_clusters].
        n_values: how many values a sample has.
        effective: the effective number of clusters.
    """
    degrees = np.full(len(values), degrees_of(effective))
    if np.isnan(degrees).any():
        return degrees, degrees
    error, spread = _errors(values, without), values * (1 - values)
    usual = (error > 0) & (spread > 0)
    size = np.full(len(values), effective)
    size[usual] = np.minimum(spread[usual] / error[usual] ** 2, n_values)
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
    """Return p-values as ``clustered_test`` gives them, for all samples at once."""
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


def mcnemar_of(differences: Values, effective: float) -> Values:
    """Return p-values as ``mcnemar`` gives them for clusters, for all samples at once.

    Args:
        differences: float64[n_samples, n_clusters], by how many more pairs the first is right.
        effective: the effective number of clusters.
    """
    further = np.abs(differences.sum(axis=1))
    squares = np.maximum(1, (differences**2).sum(axis=1))
    roots = np.maximum(0, further - 1) / np.sqrt(squares)
    p: Values = 2 * stats.t.sf(roots, degrees_of(effective))
    for row in np.flatnonzero(p < max(_LEVELS)):  # elsewhere it does not matter
        sums = np.abs(differences[row][differences[row] != 0]).astype(np.int64)
        if len(sums) < 25:  # noqa: PLR2004 - fewer are tried with all signs
            p[row] = max(p[row], _share_as_far(sums, int(further[row])))
    return p


def _errors(values: Values, without: Values) -> Values:
    """Return the standard errors of the cluster jackknife."""
    n_clusters = len(without.T)
    squares = ((without - values[:, None]) ** 2).sum(axis=1)
    error: Values = np.sqrt((1 - 1 / n_clusters) * squares)
    error[error < 1e-12] = 0  # noqa: PLR2004 - what rounding leaves
    return error


def _mean_of(hits: Values, sizes: Counts, effective: float) -> tuple[Values, Values, int, float]:
    """Return means of hits, those without each cluster, the number of values, and ``effective``."""
    of_all = hits.sum(axis=1)
    seen = sizes > 0
    without = (of_all[:, None] - hits[:, seen]) / (sizes.sum() - sizes[seen])
    return of_all / sizes.sum(), without, int(sizes.sum()), effective


def sizes_of(kind: str, n_clusters: int) -> Counts:
    """Return how many positives each cluster has; it has as many negatives."""
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
    found: Counts = np.maximum(1, np.round(sizes)).astype(np.int64)
    return found


def _similarities(
    rng: np.random.Generator, labels: Flags, clusters: Counts, cell: Cell, n_samples: int
) -> Values:
    """Return normal similarities with a shift for each cluster, and for each label in it.

    Returns:
        float64[n_samples, 2, n_pairs], of two embeddings that are equally good.
    """
    of_labels = rng.normal(size=(n_samples, 2, 2, cell.n_clusters))
    of_both = rng.normal(size=(n_samples, 2, 1, cell.n_clusters))
    shifts = math.sqrt(1 - _SHARED) * of_labels + math.sqrt(_SHARED) * of_both
    found: Values = rng.normal(size=(n_samples, 2, len(labels))) * math.sqrt(1 - cell.within)
    found += math.sqrt(cell.within) * shifts[:, :, labels.astype(int), clusters]
    found += math.sqrt(2) * _NORMAL.inv_cdf(cell.area) * labels
    return np.round(found / _TIE) * _TIE if cell.tied else found


@njit(parallel=True, cache=True)
def _counted(  # noqa: C901, PLR0912, PLR0915 - one pass over each sample
    drawn: Values, labels: Flags, held_out: Flags, clusters: Counts, n_clusters: int, above: float
) -> tuple[Any, ...]:
    """Return ``Drawn``'s arrays; sample ``s`` fills its own slots alone."""
    n_samples, n_pairs = len(drawn), len(labels)
    areas = np.zeros((n_samples, 2))
    without = np.zeros((n_samples, 2, n_clusters))
    correct = np.zeros((n_samples, 2, n_clusters))
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
            won = np.zeros(n_clusters)  # by a cluster's positives and its negatives
            within = np.zeros(n_clusters)  # by its positives over its own negatives
            own = np.zeros(n_clusters)
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
                        within[c] += own[c] / 2
                    else:
                        won[c] += n_each - taken - positives / 2
                for at in range(start, end):
                    if not labels[order[at]]:
                        own[clusters[order[at]]] += 1
                for at in range(start, end):
                    if labels[order[at]]:
                        within[clusters[order[at]]] += own[clusters[order[at]]] / 2
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
            for c in range(n_clusters):
                total += won[c] / 2
            areas[s, side] = total / n_each**2
            for c in range(n_clusters):
                without[s, side, c] = (total - won[c] + within[c]) / (n_each - sizes[c]) ** 2
    return areas, without, correct, heldout, hits


def _check(
    drawn: Values, labels: Flags, held_out: Flags, clusters: Counts, found: Drawn, above: float
) -> None:
    """Raise AssertionError if the first samples are not what medsim's functions give."""
    sizes = np.bincount(clusters[labels])
    effective = effective_clusters(clusters[labels])
    for s, sides in enumerate(drawn[:_N_CHECKED]):
        first, second = (labelled_sample(one, labels, held_out, clusters) for one in sides)
        hits = [(one[labels] > above).astype(np.float64) for one in sides]
        part = slice(s, s + 1)
        means = [_mean_of(found.hits[part, k], sizes, effective) for k in (0, 1)]
        areas = [(found.areas[part, k], found.without[part, k]) for k in (0, 1)]
        n_heldout = np.bincount(clusters[held_out], minlength=len(sizes))
        of_heldout = _mean_of(
            found.heldout[part, 0], n_heldout, effective_clusters(clusters[held_out])
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
        differences = found.correct[part, 0] - found.correct[part, 1]
        p = [
            (first.auc_difference(second).p, tests_of(a1, a2, w1, w2, len(labels), effective)),
            (
                clustered_difference(hits[0], hits[1], clusters[labels]).p,
                tests_of(m1, m2, v1, v2, n_values, effective),
            ),
            (first.accuracy_difference(second).p, mcnemar_of(differences, effective)),
        ]
        for name, (expected, (of_all,)) in zip(("AUC", "mean", "McNemar"), p, strict=True):
            if name != "McNemar" or of_all < max(_LEVELS):
                np.testing.assert_allclose(of_all, expected, 1e-6, 1e-9, err_msg=name)


BENCHMARKS.register("clusters", measure)
