"""Coverage of confidence intervals and false positive rates of significance tests."""

from __future__ import annotations

import hashlib
import math
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.timing import timed
from medsim.statistics.estimates import Z95, Estimate
from medsim.statistics.options import Resampling
from medsim.statistics.scores import LabelledSample, SpearmanBootstrap, labelled_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from medsim.kernels.types import Counts, Flags, Values

_PAIRS = (4, 10, 30, 100, 1_000)
_AREAS = (0.7, 0.9, 0.99)
_RATED = (10, 30, 100, 300)
_CORRELATIONS = (0.3, 0.6, 0.9)
_NAMES = (2, 4, 8)  # per concept
_LINKED_PAIRS = (30, 300)
_DIMENSIONS, _NOISE = 32, 1.6
_ALPHA = 0.05


class Job(NamedTuple):
    """The sizes of a simulation.

    Attributes:
        n_samples: samples of each kind of labelled pairs.
        n_rated: samples of rated pairs, which are slower.
        resamples: resamples of each bootstrap.
        threads: threads of each bootstrap.
    """

    n_samples: int
    n_rated: int
    resamples: int
    threads: int


class Drawn(NamedTuple):
    """Randomly drawn similarities of labelled pairs, and their clusters if they have any."""

    similarities: Values
    labels: Flags
    clusters: Counts | None = None


def measure(settings: Settings) -> Measured:
    """Return the coverage of 95% confidence intervals, and false positive rates of tests."""
    job = Job(
        n_samples=settings.size(4_000, 200),
        n_rated=settings.size(1_000, 50),
        resamples=settings.size(2_000, 200),
        threads=settings.threads,
    )
    shares, seconds = timed(lambda: simulated(job))
    summary = "; ".join(f"{name} {value:.1%}" for name, value in shares.items())
    return Measured(
        about=f"{job.n_samples:,} samples of labelled pairs, {job.n_rated:,} of rated ones",
        times=f"{seconds:.0f} s; {summary}",
        fingerprint=hashlib.sha256(summary.encode()).hexdigest()[:16],
    )


def simulated(job: Job) -> dict[str, float]:
    """Return all coverages and rates by name."""
    return {
        **areas(job),
        **linked_areas(job),
        **thresholds(job),
        **correlations(job),
        **false_alarms(job),
    }


def areas(job: Job) -> dict[str, float]:
    """Return the coverage of intervals of AUC: medsim's, and DeLong's clipped at 1."""
    shares: dict[str, float] = {}
    for n_pairs in _PAIRS:
        for area in _AREAS:
            rng = np.random.default_rng([n_pairs, int(1_000 * area)])
            samples = [_sample(_normal(rng, n_pairs, area)) for _ in range(job.n_samples)]
            name = f"{area} of {n_pairs}"
            shares[f"AUC {name}"] = _held((sample.area.auc for sample in samples), area)
            shares[f"DeLong {name}"] = _held((_delong(sample) for sample in samples), area)
    return shares


def linked_areas(job: Job) -> dict[str, float]:
    """Return the coverage of intervals of AUC and accuracy for pairs that share terms.

    Pairs are treated as clustered, and as independent. The true values are means over samples.
    """
    shares: dict[str, float] = {}
    for n_names in _NAMES:
        for n_pairs in _LINKED_PAIRS:
            rng = np.random.default_rng([n_names, n_pairs])
            drawn = [_linked(rng, n_names, n_pairs) for _ in range(job.n_samples)]
            suffix = f"of {n_pairs} pairs, {n_names} names a concept"
            samples = [_sample(sample) for sample in drawn]
            alone = [_sample(sample._replace(clusters=None)) for sample in drawn]
            for kind, scored in (("", samples), (" as independent", alone)):
                areas = [sample.area.auc for sample in scored]
                heldout = [sample.accuracy_heldout for sample in scored]
                for name, estimates in (("AUC", areas), ("held-out accuracy", heldout)):
                    truth = float(np.mean([sample.value for sample in estimates]))
                    shares[f"{name}{kind} {truth:.2f} {suffix}"] = _held(estimates, truth)
    return shares


def thresholds(job: Job) -> dict[str, float]:
    """Return the mean accuracies of random similarities."""
    shares: dict[str, float] = {}
    for n_pairs in _PAIRS[1:]:
        rng = np.random.default_rng(n_pairs)
        samples = [_sample(_normal(rng, n_pairs, 0.5)) for _ in range(job.n_samples)]
        means = {
            "best": float(np.mean([sample.accuracy.value for sample in samples])),
            "held out": float(np.mean([sample.accuracy_heldout.value for sample in samples])),
        }
        shares |= {f"accuracy, {name}, of {n_pairs}": mean for name, mean in means.items()}
    return shares


def correlations(job: Job) -> dict[str, float]:
    """Return the coverage of intervals of Spearman's correlation for normal values."""
    shares: dict[str, float] = {}
    for n_pairs in _RATED:
        for correlation in _CORRELATIONS:
            rng = np.random.default_rng([n_pairs, int(10 * correlation)])
            truth = 6 / math.pi * math.asin(correlation / 2)
            tested = [
                _bootstrap(rng, n_pairs, [correlation], job).correlation(0)
                for _ in range(job.n_rated)
            ]
            name = f"Spearman {truth:.2f} of {n_pairs}"
            shares[name] = sum(test.low <= truth <= test.high for test in tested) / job.n_rated
    return shares


def false_alarms(job: Job) -> dict[str, float]:
    """Return how often two equally good similarities differ significantly, p below 0.05."""
    shares: dict[str, float] = {}
    for n_pairs in _PAIRS[2:]:
        drawing = partial(_normal, np.random.default_rng([n_pairs, 1]), n_pairs, 0.8)
        shares |= _rejections(f"of {n_pairs}", drawing, job)
    for n_names in _NAMES:
        for n_pairs in _LINKED_PAIRS:
            drawing = partial(_linked, np.random.default_rng([n_names, 1]), n_names, n_pairs)
            shares |= _rejections(f"of {n_pairs} pairs, {n_names} names a concept", drawing, job)
    for n_pairs in _RATED[1:]:
        rng = np.random.default_rng([n_pairs, 2])
        drawn = (_bootstrap(rng, n_pairs, [0.5, 0.5], job) for _ in range(job.n_rated))
        shares[f"BCa's of {n_pairs}"] = _alarms([test.difference(0, 1).p for test in drawn])
    return shares


def _rejections(suffix: str, drawing: Callable[[], Drawn], job: Job) -> dict[str, float]:
    """Return the false positive rate of each test for two equally good similarities.

    For clustered pairs, the tests for independent pairs are tried as well.
    """
    tests: dict[str, list[float]] = {}
    for _ in range(job.n_samples):
        both = drawing(), drawing()
        kinds = {"": both}
        if both[0].clusters is not None:
            alone = both[0]._replace(clusters=None), both[1]._replace(clusters=None)
            kinds = {"": both, " as independent": alone}
        for kind, drawn in kinds.items():
            first, second = map(_sample, drawn)
            delong = tests.setdefault(f"DeLong's test{kind} {suffix}", [])
            delong.append(first.auc_difference(second).p)
            mcnemar = tests.setdefault(f"McNemar's{kind} {suffix}", [])
            mcnemar.append(first.accuracy_difference(second).p)
    return {name: _alarms(p) for name, p in tests.items()}


def _normal(rng: np.random.Generator, n_pairs: int, area: float) -> Drawn:
    """Return normal similarities of equally many positives and negatives with a true AUC."""
    labels = np.arange(n_pairs) % 2 == 0
    apart = math.sqrt(2) * NormalDist().inv_cdf(area)
    return Drawn(rng.normal(size=n_pairs) + apart * labels, labels)


def _linked(rng: np.random.Generator, n_names: int, n_pairs: int) -> Drawn:
    """Return cosines of all pairs of names of the same concept, and of equally many negatives."""
    first, second = np.triu_indices(n_names, 1)
    n_concepts = max(2, math.ceil(n_pairs / len(first)))
    centres = rng.normal(size=(n_concepts, 1, _DIMENSIONS))
    vectors = centres + _NOISE * rng.normal(size=(n_concepts, n_names, _DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    name = vectors[:, first].reshape(-1, _DIMENSIONS)
    synonym = vectors[:, second].reshape(-1, _DIMENSIONS)
    concept = np.repeat(np.arange(n_concepts), len(first))
    others = (concept + rng.integers(1, n_concepts, len(concept))) % n_concepts
    other = vectors[others, rng.integers(0, n_names, len(concept))]
    similarities = np.concatenate([(name * synonym).sum(axis=1), (name * other).sum(axis=1)])
    labels = np.arange(len(similarities)) < len(concept)
    return Drawn(similarities, labels, np.concatenate([concept, concept]))


def _sample(drawn: Drawn) -> LabelledSample:
    held_out = np.arange(len(drawn.labels)) // 2 % 2 == 0  # both labels equally often in each half
    return labelled_sample(drawn.similarities, drawn.labels, held_out, drawn.clusters)


def _delong(sample: LabelledSample) -> Estimate:
    """Return the AUC with DeLong's interval, clipped at 0 and 1."""
    placements, labels = sample.area.placements, sample.labels
    parts = [placements[labels], placements[~labels]]
    reach = Z95 * math.sqrt(sum(float(np.var(part, ddof=1)) / len(part) for part in parts))
    auc = sample.area.auc.value
    return Estimate(value=auc, low=max(0.0, auc - reach), high=min(1.0, auc + reach))


def _bootstrap(
    rng: np.random.Generator, n_pairs: int, correlations: list[float], job: Job
) -> SpearmanBootstrap:
    ratings = rng.normal(size=n_pairs)
    sides = [c * ratings + math.sqrt(1 - c * c) * rng.normal(size=n_pairs) for c in correlations]
    seed = int(rng.integers(1 << 32))
    resampling = Resampling(seed=seed, resamples=job.resamples, threads=job.threads)
    return SpearmanBootstrap(sides, ratings, resampling)


def _held(estimates: Iterable[Estimate], truth: float) -> float:
    return float(np.mean([estimate.low <= truth <= estimate.high for estimate in estimates]))


def _alarms(p: list[float]) -> float:
    return float(np.mean(np.array(p) < _ALPHA))


BENCHMARKS.register("coverage", measure)
