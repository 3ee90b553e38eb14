"""Pairs compared under every metric, beside NumPy's and SciPy's functions called pair by pair."""

from __future__ import annotations

import hashlib
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.embedded import Sizes, invented_bags, invented_pairs, invented_points
from benchmarks.harness.plain_metrics import OF_VECTORS, OF_WORDS
from benchmarks.harness.timing import timed
from medsim.core.progress import Progress
from medsim.embeddings.metrics import METRICS, Embedded, Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.plain_metrics import Compare
    from medsim.kernels.types import Ids, Values, Vectors

_GOAL = 120  # seconds for all metrics of words at full size, with 2 threads
_DIGITS = 6  # of a similarity that count for the fingerprint
_NEAR = 3e-4  # means in single precision may put values that are almost equal in another order
_WARM_UP = 100  # pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        sizes: of what is invented.
        plain_seconds: how long the plain way is given under each metric.
        rounds: how often the sides take turns.
        threads: of medsim, beside the run with one that is held against the plain way.
    """

    sizes: Sizes
    plain_seconds: float
    rounds: int
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The speed of one metric.

    Attributes:
        metric: its name.
        seconds: for all pairs with all threads, the median over the rounds.
        alone_seconds: the same with one thread.
        ratio: of pairs a second with one thread to those of the plain way, the median as well.
        peak_mib: of memory, what is compared included.
        digest: of the similarities.
    """

    metric: str
    seconds: float
    alone_seconds: float
    ratio: float
    peak_mib: int
    digest: str


def measure(settings: Settings) -> Measured:
    """Return the number of pairs that each metric compares a second; see ``Measure``.

    Full size is that of a large evaluation: 726,158 pairs of half a million terms. Pairs are drawn
    at random, so they share fewer words than those of a terminology. Ratios are of one thread on
    either side: a busy machine slows two threads more than one.
    """
    job = Job(
        sizes=Sizes(
            n_pairs=settings.size(726_158, 30_000),
            n_terms=settings.size(500_000, 25_000),
            n_words=50_000,
            n_dimensions=200,
        ),
        plain_seconds=0.25 if settings.quick else 1.0,
        rounds=settings.size(1, 3),
        threads=settings.threads,
    )
    of_words = apart(race_words, job)
    of_terms = apart(race_terms, job)
    speeds = of_words + of_terms
    sizes = job.sizes
    told = ", ".join(
        f"{speed.metric} {sizes.n_pairs / speed.seconds:,.0f} pairs/s" for speed in speeds
    )
    goal = "" if settings.quick else f"goal {_GOAL} s, "
    digests = "".join(speed.digest for speed in speeds)
    return Measured(
        about=f"{sizes.n_pairs:,} pairs of {sizes.n_terms:,} terms, {sizes.n_words:,} words, "
        f"{sizes.n_dimensions} dimensions",
        times=f"{len(of_words)} metrics of words {_seconds(of_words)} ({goal}one thread "
        f"{_alone_seconds(of_words)}), {len(of_terms)} of terms {_seconds(of_terms)} (one thread "
        f"{_alone_seconds(of_terms)}): {told}; beside NumPy and SciPy, one thread each",
        ratios={speed.metric: speed.ratio for speed in speeds},
        peak=f"words {_peak(of_words)} MiB, terms {_peak(of_terms)} MiB",
        fingerprint=hashlib.sha256(digests.encode()).hexdigest()[:16],
    )


def race_words(job: Job) -> list[Speed]:
    """Return the speeds of the metrics of words."""
    bags = invented_bags(job.sizes)

    def words_of(term: int) -> Vectors:
        return bags.vectors[bags.words[bags.starts[term] : bags.starts[term + 1]]]

    return [_raced(job, bags, name, plain, words_of) for name, plain in OF_WORDS.items()]


def race_terms(job: Job) -> list[Speed]:
    """Return the speeds of the metrics of terms that have a vector each."""
    points = invented_points(job.sizes)
    return [
        _raced(job, points, name, plain, lambda term: points.vectors[term])
        for name, plain in OF_VECTORS.items()
    ]


def _raced(
    job: Job, embedded: Embedded, name: str, plain: Compare, of_term: Callable[[int], Vectors]
) -> Speed:
    """Return the speed of a metric, after comparing its results with those of the plain way."""
    metric = METRICS.get(name)
    workers, alone = Workers(threads=job.threads), Workers(threads=1)
    first, second = invented_pairs(job.sizes)
    metric.similarities(embedded, first[:_WARM_UP], second[:_WARM_UP], workers)
    plain(of_term(int(first[0])), of_term(int(second[0])))
    progress = Progress()
    seconds, alone_seconds, ratios = [], [], []
    for _ in range(job.rounds):
        with progress.stage(name):
            found, taken = timed(lambda: metric.similarities(embedded, first, second, workers))
        seconds.append(taken)
        same, taken = timed(lambda: metric.similarities(embedded, first, second, alone))
        alone_seconds.append(taken)
        expected, taken = timed(
            lambda: _compared_plainly(plain, of_term, first, second, job.plain_seconds)
        )
        ratios.append(taken / len(expected) * len(first) / alone_seconds[-1])
        if found.tobytes() != same.tobytes():
            raise MismatchError(f"{name}: {job.threads} threads change similarities")
        check(name, found[: len(expected)], expected)
    return Speed(
        metric=name,
        seconds=statistics.median(seconds),
        alone_seconds=statistics.median(alone_seconds),
        ratio=statistics.median(ratios),
        peak_mib=max(record.peak_mib for record in progress.records),
        digest=hashlib.sha256(found.round(_DIGITS).tobytes()).hexdigest(),
    )


def _compared_plainly(
    plain: Compare, of_term: Callable[[int], Vectors], first: Ids, second: Ids, seconds: float
) -> Values:
    """Return the similarities of as many pairs, from the first on, as so many seconds are for."""
    ends = time.perf_counter() + seconds
    found = []
    for left, right in zip(first.tolist(), second.tolist(), strict=True):
        found.append(plain(of_term(left), of_term(right)))
        if time.perf_counter() > ends:
            break
    return np.array(found)


def check(name: str, found: Values, expected: Values) -> None:
    """Raise MismatchError where a similarity differs from that of the plain way, or is NaN."""
    wrong = ~(np.abs(found - expected) <= _NEAR)
    if wrong.any():
        at = int(wrong.argmax())
        raise MismatchError(
            f"{name}: pair {at} is {found[at]:.6f}, and {expected[at]:.6f} the plain way"
        )


def _seconds(speeds: list[Speed]) -> str:
    return f"{sum(speed.seconds for speed in speeds):.1f} s"


def _alone_seconds(speeds: list[Speed]) -> str:
    return f"{sum(speed.alone_seconds for speed in speeds):.1f} s"


def _peak(speeds: list[Speed]) -> int:
    return max(speed.peak_mib for speed in speeds)


BENCHMARKS.register("similarities", measure)
