"""Category separation under every metric of words, compared with visiting all triples."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.embedded import Sizes, invented_bags
from benchmarks.harness.timing import timed
from medsim.core.progress import Progress
from medsim.embeddings.metrics import WordBags, Workers, metrics_of
from medsim.evaluations.separation import Separation, separation

if TYPE_CHECKING:
    from medsim.embeddings.metrics import Metric
    from medsim.kernels.types import Ids, Starts

_N_CATEGORIES = 3
_FEW = 50  # terms per category in the check, where the plain way visits all first terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        n_terms: terms per category.
        n_beside: terms per category in the comparison with the plain way.
        n_plain: first terms of the plain way in that comparison.
        n_words: words of the vocabulary.
        n_dimensions: dimensions of every vector.
        threads: threads of medsim; the comparison has one.
    """

    n_terms: int
    n_beside: int
    n_plain: int
    n_words: int
    n_dimensions: int
    threads: int

    def bags(self) -> WordBags:
        """Return the terms of all categories."""
        n_terms = _N_CATEGORIES * self.n_terms
        sizes = Sizes(
            n_pairs=0, n_terms=n_terms, n_words=self.n_words, n_dimensions=self.n_dimensions
        )
        return invented_bags(sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The speed of separating categories under one metric.

    Attributes:
        metric: name of the metric.
        seconds: time for all terms with all threads.
        ratio: speed with one thread over the plain way's speed, in first terms per second; the
            plain way gets its similarities from medsim.
        peak_mib: peak memory, with the terms.
        digest: hash of the counts.
    """

    metric: str
    seconds: float
    ratio: float
    peak_mib: int
    digest: str


def measure(settings: Settings) -> Measured:
    """Return the seconds of each metric to separate three categories; see ``Measure``.

    Terms are invented without regard to categories, so that about half of all triples are errors.
    """
    job = Job(
        n_terms=settings.size(10_000, 1_000),
        n_beside=1_000,
        n_plain=settings.size(300, 100),
        n_words=settings.size(50_000, 5_000),
        n_dimensions=200,
        threads=settings.threads,
    )
    speeds = [apart(race, job, name) for name in metrics_of(WordBags)]
    times = ", ".join(f"{speed.metric} {speed.seconds:.1f} s" for speed in speeds)
    digests = "".join(speed.digest for speed in speeds)
    return Measured(
        about=f"{_N_CATEGORIES} categories of {job.n_terms:,} terms, {job.n_words:,} words, "
        f"{job.n_dimensions} dimensions",
        times=f"{len(speeds)} metrics {sum(speed.seconds for speed in speeds):.1f} s: {times}; "
        f"beside full comparisons by NumPy, {job.n_beside:,} terms a category, one thread each",
        ratios={speed.metric: speed.ratio for speed in speeds},
        peak=f"{max(speed.peak_mib for speed in speeds)} MiB",
        fingerprint=hashlib.sha256(digests.encode()).hexdigest()[:16],
    )


def race(job: Job, name: str) -> Speed:
    """Return the speed of a metric, after checking its counts of a few terms."""
    metric, bags = metrics_of(WordBags)[name], job.bags()
    few = replace(job, n_terms=min(_FEW, job.n_terms))
    check(name, separate(metric, bags, few, job.threads), counted_plainly(metric, bags, few, _FEW))
    progress = Progress()
    with progress.stage(name):
        result, seconds = timed(lambda: separate(metric, bags, job, job.threads))
    comparison = replace(job, n_terms=job.n_beside)
    _, alone_seconds = timed(lambda: separate(metric, bags, comparison, 1))
    _, plain_seconds = timed(lambda: counted_plainly(metric, bags, comparison, job.n_plain))
    share = job.n_plain / (_N_CATEGORIES * job.n_beside)
    return Speed(
        metric=name,
        seconds=seconds,
        ratio=plain_seconds / share / alone_seconds,
        peak_mib=max(record.peak_mib for record in progress.records),
        digest=hashlib.sha256(result.n_errors.tobytes()).hexdigest(),
    )


def separate(metric: Metric, bags: WordBags, job: Job, threads: int) -> Separation:
    """Return the separation of the categories."""
    workers = Workers(threads=threads)
    table = metric.tabulated(bags, _terms(job), workers)
    return separation(table, _starts(job), workers)


def counted_plainly(metric: Metric, bags: WordBags, job: Job, n_first: int) -> list[int]:
    """Return the errors of first terms of the first category with each other, triple by triple."""
    similarities = metric.tabulated(bags, _terms(job), Workers(threads=1))(slice(0, n_first))
    inner, *others = (slice(begin, end) for begin, end in pairwise(_starts(job).tolist()))
    counts = [0] * _N_CATEGORIES
    for first, row in enumerate(similarities):
        within = np.delete(row[inner], first)
        for category, other in enumerate(others, start=1):
            counts[category] += int(np.count_nonzero(within[:, None] <= row[other]))
    return counts


def check(name: str, result: Separation, expected: list[int]) -> None:
    """Raise MismatchError if the errors of the first category differ from the plain way's."""
    errors = result.n_errors[0].tolist()
    if errors != expected:
        raise MismatchError(f"{name}: errors {errors}, but {expected} in the plain way")


def _terms(job: Job) -> Ids:
    return np.arange(_N_CATEGORIES * job.n_terms, dtype=np.int32)


def _starts(job: Job) -> Starts:
    return np.arange(_N_CATEGORIES + 1) * job.n_terms


BENCHMARKS.register("separation", measure)
