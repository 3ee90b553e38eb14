"""Coverage of intervals near 0 and 1, for clusters that tend to be right or wrong as a whole."""

from __future__ import annotations

import hashlib
import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.clusters import Drawn, _counted, intervals_of, sizes_of
from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.timing import timed
from medsim.statistics.estimates import clustered_mean, effective_clusters

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Values

_NORMAL = NormalDist()
_PART = 500_000  # similarities drawn at a time
_N_CHECKED = 5  # samples of each cell that are compared with medsim's function


class Cell(NamedTuple):
    """The parameters of one simulation.

    Attributes:
        statistic: a share, or AUC.
        kind: sizes of the clusters as in ``sizes_of``, "single" for clusters of one, or "wide" for
            log-normal sizes whose logarithms have a standard deviation of 1.5.
        n_clusters: number of clusters.
        value: the true share, or the AUC before larger clusters are made harder.
        within: intraclass correlation of hits, or of similarities with the same label.
        harder: power of the size of a cluster to which its rate of misses is proportional, or the
            similarity that its positives lose for each unit of the logarithm of its size.
    """

    statistic: str
    kind: str
    n_clusters: int
    value: float
    within: float
    harder: float = 0.0

    def __str__(self) -> str:
        harder = f", larger harder {self.harder}" if self.harder else ""
        kind = f"{self.kind} {self.n_clusters}, within {self.within}"
        return f"{self.statistic} {self.value}, {kind}{harder}"


CELLS = (
    *(Cell("share", "zipf", 300, at, within) for within in (0.3, 0.6) for at in (0.97, 0.05)),
    *(Cell("share", "zipf", 300, 0.97, 0.3, harder) for harder in (0.25, 0.5, 1.0)),
    *(Cell("share", "zipf", 300, at, 0.5) for at in (0.5, 0.8, 0.9, 0.99)),
    Cell("share", "zipf", 1000, 0.1, 0.9),
    *(Cell("share", "lognormal", 100, at, 0.6) for at in (0.8, 0.97, 0.05)),
    *(Cell("share", "equal", 300, at, 0.3) for at in (0.8, 0.97, 0.99)),
    *(Cell("share", "single", 1000, at, 0.3) for at in (0.8, 0.97, 0.99)),
    *(Cell("AUC", "lognormal", 100, 0.97, 0.9, harder) for harder in (0.0, 0.5)),
    *(Cell("AUC", "wide", 100, 0.97, 0.9, harder) for harder in (0.0, 0.5)),
    *(Cell("AUC", "equal", 300, at, 0.5) for at in (0.8, 0.97)),
)


class Coverage(NamedTuple):
    """What the intervals of a cell are like.

    Attributes:
        share: share of samples whose interval has the true value.
        above: share of samples whose interval is above it.
        width: mean width.
        none: share of samples without an interval, which count in no other attribute.
    """

    share: float
    above: float
    width: float
    none: float

    def __str__(self) -> str:
        none = f" ({self.none:.1%} without)" if self.none else ""
        return f"{self.share:.1%}{none}, {self.above:.1%} above, {self.width:.4f} wide"


def measure(settings: Settings) -> Measured:
    """Return the coverage and the mean width of intervals in each cell."""
    n_samples = settings.size(4_000, 200)
    found, seconds = timed(lambda: {cell: simulated(cell, n_samples) for cell in CELLS})
    summary = "; ".join(f"{cell}: {coverage}" for cell, coverage in found.items())
    return Measured(
        about=f"{len(CELLS)} cells, {n_samples:,} samples each",
        times=f"{seconds:.0f} s; coverage {summary}",
        fingerprint=hashlib.sha256(summary.encode()).hexdigest()[:16],
    )


def simulated(cell: Cell, n_samples: int) -> Coverage:
    """Return the coverage of intervals in a cell; the true AUC is the mean over samples."""
    sizes = _sizes(cell)
    rng = np.random.default_rng([*map(ord, str(cell)), n_samples])
    effective = effective_clusters(np.repeat(np.arange(len(sizes)), sizes))
    if cell.statistic == "AUC":
        values, without = _areas(rng, cell, sizes, n_samples)
        truth, n_values = float(values.mean()), 2 * int(sizes.sum())
        low, high = intervals_of(values, without, n_values, effective)
    else:
        hits, truth = _hits(rng, cell, sizes, n_samples), cell.value
        values, n_values = hits.sum(axis=1) / sizes.sum(), int(sizes.sum())
        without = (hits.sum(axis=1)[:, None] - hits) / (n_values - sizes)
        low, high = intervals_of(values, without, n_values, effective)
        _check(hits, sizes, low, high)
    given = ~np.isnan(low)
    covered, is_above = (low <= truth) & (truth <= high), low > truth
    return Coverage(
        share=float(covered[given].mean()),
        above=float(is_above[given].mean()),
        width=float((high - low)[given].mean()),
        none=float((~given).mean()),
    )


def _sizes(cell: Cell) -> Counts:
    """Return the number of values, or of positives and of negatives, of each cluster."""
    if cell.kind == "single":
        return np.ones(cell.n_clusters, np.int64)
    if cell.kind != "wide":
        return sizes_of(cell.kind, cell.n_clusters)
    places = (np.arange(cell.n_clusters) + 0.5) / cell.n_clusters
    sizes = np.exp(1.5 * np.array([_NORMAL.inv_cdf(place) for place in places]))
    rounded: Counts = np.maximum(1, np.round(4 * sizes / sizes.mean())).astype(np.int64)
    return rounded


def _hits(rng: np.random.Generator, cell: Cell, sizes: Counts, n_samples: int) -> Values:
    """Return hits of clusters, float64[n_samples, n_clusters], by the beta-binomial model."""
    rates = sizes**cell.harder
    misses = rates / (sizes @ rates) * sizes.sum() * (1 - cell.value)
    scale = (1 - cell.within) / cell.within
    chances = rng.beta((1 - misses) * scale, misses * scale, size=(n_samples, len(sizes)))
    return rng.binomial(sizes, chances).astype(np.float64)


def _areas(
    rng: np.random.Generator, cell: Cell, sizes: Counts, n_samples: int
) -> tuple[Values, Values]:
    """Return AUC, float64[n_samples], and AUC without each cluster, of normal similarities."""
    clusters = np.tile(np.repeat(np.arange(len(sizes)), sizes), 2)
    labels = np.arange(len(clusters)) < sizes.sum()
    logarithms = np.log(sizes)
    loss = cell.harder * (logarithms - sizes @ logarithms / sizes.sum())
    means = labels * (math.sqrt(2) * _NORMAL.inv_cdf(cell.value) - loss[clusters])
    parts = []
    at_once = max(1, _PART // len(labels))
    for start in range(0, n_samples, at_once):
        n_drawn = min(at_once, n_samples - start)
        shifts = rng.normal(size=(n_drawn, 2, len(sizes)))[:, labels.astype(int), clusters]
        noise = rng.normal(size=(n_drawn, len(labels)))
        drawn = means + math.sqrt(cell.within) * shifts + math.sqrt(1 - cell.within) * noise
        both = np.repeat(drawn[:, None], 2, axis=1)  # the kernel counts two embeddings
        parts.append(Drawn(*_counted(both, labels, labels, clusters, len(sizes), 0.0)))
    values = np.concatenate([part.areas[:, 0] for part in parts])
    return values, np.concatenate([part.without[:, 0] for part in parts])


def _check(hits: Values, sizes: Counts, low: Values, high: Values) -> None:
    """Raise AssertionError if the first intervals differ from the results of medsim's function."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    order = np.concatenate([np.arange(size) for size in sizes])
    for s in range(_N_CHECKED):
        estimate = clustered_mean((order < hits[s][clusters]).astype(np.float64), clusters)
        np.testing.assert_allclose([low[s], high[s]], [estimate.low, estimate.high], 1e-6)


BENCHMARKS.register("extremes", measure)
