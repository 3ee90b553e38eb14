"""Category separation under every metric of words, beside a full comparison for each first term."""

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
_FEW = 50  # terms a category, all of whose first terms the plain way is given


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        n_terms: in each category.
        n_beside: in each category, where one thread is held against the plain way.
        n_plain: first terms that the plain way is given there.
        n_words: in the vocabulary.
        n_dimensions: of every vector.
        threads: of medsim, beside the run with one.
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
        metric: its name.
        seconds: for all terms with all threads.
        ratio: of first terms a second with one thread to those of the plain way, to which medsim
            gives the similarities.
        peak_mib: of memory, the terms included.
        digest: of the counts.
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
    told = ", ".join(f"{speed.metric} {speed.seconds:.1f} s" for speed in speeds)
    digests = "".join(speed.digest for speed in speeds)
    return Measured(
        about=f"{_N_CATEGORIES} categories of {job.n_terms:,} terms, {job.n_words:,} words, "
        f"{job.n_dimensions} dimensions",
        times=f"{len(speeds)} metrics {sum(speed.seconds for speed in speeds):.1f} s: {told}; "
        f"beside full comparisons by NumPy, {job.n_beside:,} terms a category, one thread each",
        ratios={speed.metric: speed.ratio for speed in speeds},
        peak=f"{max(speed.peak_mib for speed in speeds)} MiB",
        fingerprint=hashlib.sha256(digests.encode()).hexdigest()[:16],
    )


def race(job: Job, name: str) -> Speed:
    """Return the speed of a metric, after its counts of a few terms agreed with the plain way."""
    metric, bags = metrics_of(WordBags)[name], job.bags()
    few = replace(job, n_terms=min(_FEW, job.n_terms))
    check(name, separate(metric, bags, few, job.threads), counted_plainly(metric, bags, few, _FEW))
    progress = Progress()
    with progress.stage(name):
        found, seconds = timed(lambda: separate(metric, bags, job, job.threads))
    beside = replace(job, n_terms=job.n_beside)
    _, alone_seconds = timed(lambda: separate(metric, bags, beside, 1))
    _, plain_seconds = timed(lambda: counted_plainly(metric, bags, beside, job.n_plain))
    share = job.n_plain / (_N_CATEGORIES * job.n_beside)
    return Speed(
        metric=name,
        seconds=seconds,
        ratio=plain_seconds / share / alone_seconds,
        peak_mib=max(record.peak_mib for record in progress.records),
        digest=hashlib.sha256(found.n_errors.tobytes()).hexdigest(),
    )


def separate(metric: Metric, bags: WordBags, job: Job, threads: int) -> Separation:
    """Return the separation of the categories."""
    workers = Workers(threads=threads)
    table = metric.tabulated(bags, _terms(job), workers)
    return separation(table, _starts(job), workers)


def counted_plainly(metric: Metric, bags: WordBags, job: Job, n_first: int) -> list[int]:
    """Return errors with each category, of first terms of the first one, every triple compared."""
    similarities = metric.tabulated(bags, _terms(job), Workers(threads=1))(slice(0, n_first))
    own, *others = (slice(begin, end) for begin, end in pairwise(_starts(job).tolist()))
    counts = [0] * _N_CATEGORIES
    for first, row in enumerate(similarities):
        within = np.delete(row[own], first)
        for category, other in enumerate(others, start=1):
            counts[category] += int(np.count_nonzero(within[:, None] <= row[other]))
    return counts


def check(name: str, found: Separation, expected: list[int]) -> None:
    """Raise MismatchError where the errors of the first category are not those of the plain way."""
    errors = found.n_errors[0].tolist()
    if errors != expected:
        raise MismatchError(f"{name}: errors {errors}, and {expected} the plain way")


def _terms(job: Job) -> Ids:
    return np.arange(_N_CATEGORIES * job.n_terms, dtype=np.int32)


def _starts(job: Job) -> Starts:
    return np.arange(_N_CATEGORIES + 1) * job.n_terms


BENCHMARKS.register("separation", measure)
