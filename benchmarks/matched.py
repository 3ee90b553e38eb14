"""How often intervals and tests of the matched AUC and of the AUC beyond spelling are right."""

from __future__ import annotations

import hashlib
import math
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.clusters import sizes_of
from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.timing import timed
from medsim.core.config import in_threads
from medsim.statistics.matched import MatchedPairs

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, Values

_KINDS = ("equal", "zipf", "lognormal", "25%")
_CLUSTERS = (30, 300)
_AREAS = (0.5, 0.75, 0.95)
_NEGATIVES = 2  # of a positive
_A_STRATUM = 12  # pairs, on average, of the matched AUC
_N_STRATA = 100  # of the AUC beyond spelling; the last have few negatives, the first few positives
_WITHIN = 0.5  # correlation of similarities of one cluster and one label
_UNCOVERED = 0.05  # share of pairs without a similarity


class Cell(NamedTuple):
    """A simulation: score, sizes of clusters, their number, and the AUC of covered pairs."""

    score: str
    kind: str
    n_clusters: int
    area: float


def measure(settings: Settings) -> Measured:
    """Return the least coverage of intervals, and the largest share of false positives."""
    n_samples = settings.size(2_000, 100)
    cells = [Cell(*cell) for cell in product(("matched", "beyond"), _KINDS, _CLUSTERS, _AREAS)]
    shares, seconds = timed(lambda: {cell: simulated(cell, n_samples) for cell in cells})
    extremes = []
    for score in ("matched", "beyond"):
        of_score = [cell for cell in cells if cell.score == score]
        least = min(of_score, key=lambda cell: shares[cell][0])
        most = max(of_score, key=lambda cell: shares[cell][1])
        extremes += [
            f"coverage {shares[least][0]:.4f} ({' '.join(map(str, least))})",
            f"false positives at 0.05 {shares[most][1]:.4f} ({' '.join(map(str, most))})",
        ]
    said = "; ".join(extremes)
    return Measured(
        about=f"{len(cells)} kinds of clusters, {n_samples:,} samples each",
        times=f"{seconds:.0f} s; {said}",
        fingerprint=hashlib.sha256(said.encode()).hexdigest()[:16],
    )


def simulated(cell: Cell, n_samples: int) -> tuple[float, float]:
    """Return the share of intervals with the true value, and of tests with p below 0.05.

    The true value is the mean over samples; the test compares two equally good models.
    """
    sizes = sizes_of(cell.kind, cell.n_clusters)
    clusters = np.tile(np.repeat(np.arange(len(sizes)), sizes), 1 + _NEGATIVES)
    labels = np.arange(len(clusters)) < sizes.sum()

    def one(seed: int) -> tuple[float, float, float, float]:
        rng = np.random.default_rng([*map(ord, "".join(map(str, cell))), seed])
        strata = rng.integers(0, max(1, len(labels) // _A_STRATUM), len(labels))
        if cell.score == "beyond":
            strata = (_N_STRATA * rng.beta(1 + 2 * labels, 3 - 2 * labels)).astype(np.int64)
        by_precision = cell.score == "beyond"
        pairs = MatchedPairs(labels, strata, clusters, by_precision=by_precision)
        first, second = (
            pairs.sample(_similarities(rng, labels, clusters, strata, cell.area)) for _ in range(2)
        )
        return first.auc.value, first.auc.low, first.auc.high, first.difference(second).p

    value, low, high, p = np.array(in_threads(2, one, range(n_samples))).T
    truth = value.mean()
    return float(((low <= truth) & (truth <= high)).mean()), float((p < 0.05).mean())  # noqa: PLR2004


def _similarities(
    rng: np.random.Generator, labels: Flags, clusters: Counts, strata: Counts, area: float
) -> Values:
    """Return normal similarities that depend on the stratum, the cluster and the label."""
    shifts = rng.normal(size=(2, int(clusters.max()) + 1))
    found: Values = rng.normal(size=len(labels)) * math.sqrt(1 - _WITHIN)
    found += math.sqrt(_WITHIN) * shifts[labels.astype(int), clusters]
    found += 3 * rng.normal(size=int(strata.max()) + 1)[strata]
    found += math.sqrt(2) * NormalDist().inv_cdf(area) * labels
    found[rng.random(len(labels)) < _UNCOVERED] = np.nan
    return found


BENCHMARKS.register("matched", measure)
