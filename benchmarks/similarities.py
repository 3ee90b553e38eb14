"""Compares pairs under every metric, and with NumPy's and SciPy's functions pair by pair."""

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
_DIGITS = 6  # digits of similarities in the fingerprint
_NEAR = 3e-4  # means in single precision may swap almost equal values
_WARM_UP = 100  # pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        sizes: sizes of the invented data.
        plain_seconds: seconds of the plain way under each metric.
        rounds: number of rounds.
        threads: threads of medsim; the run compared with the plain way has one.
    """

    sizes: Sizes
    plain_seconds: float
    rounds: int
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The speed of one metric.

    Attributes:
        metric: name of the metric.
        seconds: time for all pairs with all threads, the median over the rounds.
        alone_seconds: the same with one thread.
        ratio: speed with one thread over the plain way's speed, also the median.
        peak_mib: peak memory, with what is compared.
        digest: hash of the similarities.
    """

    metric: str
    seconds: float
    alone_seconds: float
    ratio: float
    peak_mib: int
    digest: str


def measure(settings: Settings) -> Measured:
    """Return the number of pairs that each metric compares per second; see ``Measure``.

    Full size is a large evaluation: 726,158 pairs of half a million terms. Pairs are random, so
    they share fewer words than pairs of a terminology. Ratios compare one thread with one thread,
    since a busy machine slows two threads more.
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
    rates = ", ".join(
        f"{speed.metric} {sizes.n_pairs / speed.seconds:,.0f} pairs/s" for speed in speeds
    )
    goal = "" if settings.quick else f"goal {_GOAL} s, "
    digests = "".join(speed.digest for speed in speeds)
    return Measured(
        about=f"{sizes.n_pairs:,} pairs of {sizes.n_terms:,} terms, {sizes.n_words:,} words, "
        f"{sizes.n_dimensions} dimensions",
        times=f"{len(of_words)} metrics of words {_seconds(of_words)} ({goal}one thread "
        f"{_alone_seconds(of_words)}), {len(of_terms)} of terms {_seconds(of_terms)} (one thread "
        f"{_alone_seconds(of_terms)}): {rates}; beside NumPy and SciPy, one thread each",
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
    """Return the speeds of the metrics of terms with one vector each."""
    points = invented_points(job.sizes)
    return [
        _raced(job, points, name, plain, lambda term: points.vectors[term])
        for name, plain in OF_VECTORS.items()
    ]


def _raced(
    job: Job, embedded: Embedded, name: str, plain: Compare, of_term: Callable[[int], Vectors]
) -> Speed:
    """Return the speed of a metric, after comparing its results with the plain way's."""
    metric = METRICS.get(name)
    workers, alone = Workers(threads=job.threads), Workers(threads=1)
    first, second = invented_pairs(job.sizes)
    metric.similarities(embedded, first[:_WARM_UP], second[:_WARM_UP], workers)
    plain(of_term(int(first[0])), of_term(int(second[0])))
    progress = Progress()
    seconds, alone_seconds, ratios = [], [], []
    for _ in range(job.rounds):
        with progress.stage(name):
            results, taken = timed(lambda: metric.similarities(embedded, first, second, workers))
        seconds.append(taken)
        same, taken = timed(lambda: metric.similarities(embedded, first, second, alone))
        alone_seconds.append(taken)
        expected, taken = timed(
            lambda: _compared_plainly(plain, of_term, first, second, job.plain_seconds)
        )
        ratios.append(taken / len(expected) * len(first) / alone_seconds[-1])
        if results.tobytes() != same.tobytes():
            raise MismatchError(f"{name}: {job.threads} threads change similarities")
        check(name, results[: len(expected)], expected)
    return Speed(
        metric=name,
        seconds=statistics.median(seconds),
        alone_seconds=statistics.median(alone_seconds),
        ratio=statistics.median(ratios),
        peak_mib=max(record.peak_mib for record in progress.records),
        digest=hashlib.sha256(results.round(_DIGITS).tobytes()).hexdigest(),
    )


def _compared_plainly(
    plain: Compare, of_term: Callable[[int], Vectors], first: Ids, second: Ids, seconds: float
) -> Values:
    """Return the similarities of the first pairs, as many as the given seconds allow."""
    ends = time.perf_counter() + seconds
    values = []
    for left, right in zip(first.tolist(), second.tolist(), strict=True):
        values.append(plain(of_term(left), of_term(right)))
        if time.perf_counter() > ends:
            break
    return np.array(values)


def check(name: str, values: Values, expected: Values) -> None:
    """Raise MismatchError if a similarity differs from the plain way's, or is NaN."""
    wrong = ~(np.abs(values - expected) <= _NEAR)
    if wrong.any():
        at = int(wrong.argmax())
        raise MismatchError(
            f"{name}: pair {at} is {values[at]:.6f}, and {expected[at]:.6f} the plain way"
        )


def _seconds(speeds: list[Speed]) -> str:
    return f"{sum(speed.seconds for speed in speeds):.1f} s"


def _alone_seconds(speeds: list[Speed]) -> str:
    return f"{sum(speed.alone_seconds for speed in speeds):.1f} s"


def _peak(speeds: list[Speed]) -> int:
    return max(speed.peak_mib for speed in speeds)


BENCHMARKS.register("similarities", measure)
