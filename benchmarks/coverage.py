"""How often intervals hold what is true, and tests find differences that are not there."""

from __future__ import annotations

import hashlib
import math
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.timing import timed
from medsim.statistics.bootstrap import SpearmanBootstrap
from medsim.statistics.estimates import Z95, Estimate
from medsim.statistics.scores import LabelledSample, labelled_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from medsim.kernels.types import Counts, Flags, Values

_PAIRS = (4, 10, 30, 100, 1_000)
_AREAS = (0.7, 0.9, 0.99)
_RATED = (10, 30, 100, 300)
_CORRELATIONS = (0.3, 0.6, 0.9)
_NAMES = (2, 4, 8)  # of a concept
_LINKED_PAIRS = (30, 300)
_DIMENSIONS, _NOISE = 32, 1.6
_ALPHA = 0.05


class Job(NamedTuple):
    """The sizes of a simulation.

    Attributes:
        n_samples: of labelled pairs, of every kind.
        n_rated: samples of rated pairs, which are slower.
        resamples: of each bootstrap.
        threads: of each bootstrap.
    """

    n_samples: int
    n_rated: int
    resamples: int
    threads: int


class Drawn(NamedTuple):
    """Similarities of labelled pairs, all drawn anew, and their clusters if they have any."""

    similarities: Values
    labels: Flags
    clusters: Counts | None = None


def measure(settings: Settings) -> Measured:
    """Return the shares of samples whose 95% interval holds the truth, and of false alarms."""
    job = Job(
        n_samples=settings.size(4_000, 200),
        n_rated=settings.size(1_000, 50),
        resamples=settings.size(2_000, 200),
        threads=settings.threads,
    )
    found, seconds = timed(lambda: simulated(job))
    said = "; ".join(f"{name} {value:.1%}" for name, value in found.items())
    return Measured(
        about=f"{job.n_samples:,} samples of labelled pairs, {job.n_rated:,} of rated ones",
        times=f"{seconds:.0f} s; {said}",
        fingerprint=hashlib.sha256(said.encode()).hexdigest()[:16],
    )


def simulated(job: Job) -> dict[str, float]:
    """Return all shares by what they are of."""
    return {
        **areas(job),
        **linked_areas(job),
        **thresholds(job),
        **correlations(job),
        **false_alarms(job),
    }


def areas(job: Job) -> dict[str, float]:
    """Return how often the interval of an AUC holds it, and DeLong's by itself, cut at 1."""
    found: dict[str, float] = {}
    for n_pairs in _PAIRS:
        for area in _AREAS:
            rng = np.random.default_rng([n_pairs, int(1_000 * area)])
            samples = [_sample(_normal(rng, n_pairs, area)) for _ in range(job.n_samples)]
            name = f"{area} of {n_pairs}"
            found[f"AUC {name}"] = _held((one.area.auc for one in samples), area)
            found[f"DeLong {name}"] = _held((_delong(one) for one in samples), area)
    return found


def linked_areas(job: Job) -> dict[str, float]:
    """Return how often intervals of AUC and accuracy hold the truth where pairs share terms.

    Those of clusters, and those of independent pairs. The true values are the means over samples.
    """
    found: dict[str, float] = {}
    for n_names in _NAMES:
        for n_pairs in _LINKED_PAIRS:
            rng = np.random.default_rng([n_names, n_pairs])
            drawn = [_linked(rng, n_names, n_pairs) for _ in range(job.n_samples)]
            of = f"of {n_pairs} pairs, {n_names} names a concept"
            samples = [_sample(one) for one in drawn]
            alone = [_sample(one._replace(clusters=None)) for one in drawn]
            for kind, scored in (("", samples), (" as independent", alone)):
                areas = [one.area.auc for one in scored]
                heldout = [one.accuracy_heldout for one in scored]
                for name, has in (("AUC", areas), ("held-out accuracy", heldout)):
                    truth = float(np.mean([one.value for one in has]))
                    found[f"{name}{kind} {truth:.2f} {of}"] = _held(has, truth)
    return found


def thresholds(job: Job) -> dict[str, float]:
    """Return the mean accuracies of similarities that know nothing."""
    found: dict[str, float] = {}
    for n_pairs in _PAIRS[1:]:
        rng = np.random.default_rng(n_pairs)
        samples = [_sample(_normal(rng, n_pairs, 0.5)) for _ in range(job.n_samples)]
        means = {
            "best": float(np.mean([one.accuracy.value for one in samples])),
            "held out": float(np.mean([one.accuracy_heldout.value for one in samples])),
        }
        found |= {f"accuracy, {name}, of {n_pairs}": mean for name, mean in means.items()}
    return found


def correlations(job: Job) -> dict[str, float]:
    """Return how often the interval of Spearman's correlation holds it, of normal values."""
    found: dict[str, float] = {}
    for n_pairs in _RATED:
        for correlation in _CORRELATIONS:
            rng = np.random.default_rng([n_pairs, int(10 * correlation)])
            truth = 6 / math.pi * math.asin(correlation / 2)
            tested = [
                _bootstrap(rng, n_pairs, [correlation], job).correlation(0)
                for _ in range(job.n_rated)
            ]
            name = f"Spearman {truth:.2f} of {n_pairs}"
            found[name] = sum(one.low <= truth <= one.high for one in tested) / job.n_rated
    return found


def false_alarms(job: Job) -> dict[str, float]:
    """Return how often two equally good similarities are told apart, at p below 0.05."""
    found: dict[str, float] = {}
    for n_pairs in _PAIRS[2:]:
        drawing = partial(_normal, np.random.default_rng([n_pairs, 1]), n_pairs, 0.8)
        found |= _told_apart(f"of {n_pairs}", drawing, job)
    for n_names in _NAMES:
        for n_pairs in _LINKED_PAIRS:
            drawing = partial(_linked, np.random.default_rng([n_names, 1]), n_names, n_pairs)
            found |= _told_apart(f"of {n_pairs} pairs, {n_names} names a concept", drawing, job)
    for n_pairs in _RATED[1:]:
        rng = np.random.default_rng([n_pairs, 2])
        drawn = (_bootstrap(rng, n_pairs, [0.5, 0.5], job) for _ in range(job.n_rated))
        found[f"BCa's of {n_pairs}"] = _alarms([one.difference(0, 1).p for one in drawn])
    return found


def _told_apart(of: str, drawing: Callable[[], Drawn], job: Job) -> dict[str, float]:
    """Return how often either test tells two similarities apart that are drawn alike.

    Where pairs are in clusters the tests of independent ones are tried as well.
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
            delong = tests.setdefault(f"DeLong's test{kind} {of}", [])
            delong.append(first.auc_difference(second).p)
            mcnemar = tests.setdefault(f"McNemar's{kind} {of}", [])
            mcnemar.append(first.accuracy_difference(second).p)
    return {name: _alarms(p) for name, p in tests.items()}


def _normal(rng: np.random.Generator, n_pairs: int, area: float) -> Drawn:
    """Return normal similarities of as many positives as negatives, of a true AUC."""
    labels = np.arange(n_pairs) % 2 == 0
    apart = math.sqrt(2) * NormalDist().inv_cdf(area)
    return Drawn(rng.normal(size=n_pairs) + apart * labels, labels)


def _linked(rng: np.random.Generator, n_names: int, n_pairs: int) -> Drawn:
    """Return cosines of all pairs of the names of concepts, and of as many negatives."""
    first, second = np.triu_indices(n_names, 1)
    n_concepts = max(2, math.ceil(n_pairs / len(first)))
    centres = rng.normal(size=(n_concepts, 1, _DIMENSIONS))
    vectors = centres + _NOISE * rng.normal(size=(n_concepts, n_names, _DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    one = vectors[:, first].reshape(-1, _DIMENSIONS)
    synonym = vectors[:, second].reshape(-1, _DIMENSIONS)
    concept = np.repeat(np.arange(n_concepts), len(first))
    others = (concept + rng.integers(1, n_concepts, len(concept))) % n_concepts
    other = vectors[others, rng.integers(0, n_names, len(concept))]
    similarities = np.concatenate([(one * synonym).sum(axis=1), (one * other).sum(axis=1)])
    labels = np.arange(len(similarities)) < len(concept)
    return Drawn(similarities, labels, np.concatenate([concept, concept]))


def _sample(drawn: Drawn) -> LabelledSample:
    held_out = np.arange(len(drawn.labels)) // 2 % 2 == 0  # as many of either label in each half
    return labelled_sample(drawn.similarities, drawn.labels, held_out, drawn.clusters)


def _delong(sample: LabelledSample) -> Estimate:
    """Return the AUC with DeLong's interval, cut at 0 and 1."""
    placements, labels = sample.area.placements, sample.labels
    parts = [placements[labels], placements[~labels]]
    reach = Z95 * math.sqrt(sum(float(np.var(one, ddof=1)) / len(one) for one in parts))
    auc = sample.area.auc.value
    return Estimate(value=auc, low=max(0.0, auc - reach), high=min(1.0, auc + reach))


def _bootstrap(
    rng: np.random.Generator, n_pairs: int, correlations: list[float], job: Job
) -> SpearmanBootstrap:
    ratings = rng.normal(size=n_pairs)
    sides = [c * ratings + math.sqrt(1 - c * c) * rng.normal(size=n_pairs) for c in correlations]
    seed, resamples = int(rng.integers(1 << 32)), job.resamples
    return SpearmanBootstrap(sides, ratings, seed=seed, resamples=resamples, threads=job.threads)


def _held(estimates: Iterable[Estimate], truth: float) -> float:
    return float(np.mean([one.low <= truth <= one.high for one in estimates]))


def _alarms(p: list[float]) -> float:
    return float(np.mean(np.array(p) < _ALPHA))


BENCHMARKS.register("coverage", measure)
