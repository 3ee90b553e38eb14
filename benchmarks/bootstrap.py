"""Bootstrap intervals of the difference of two correlations, compared with SciPy on few pairs."""

from __future__ import annotations

import hashlib
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.timing import timed
from medsim.core.progress import Progress
from medsim.statistics.options import Resampling
from medsim.statistics.scores import SpearmanBootstrap
from medsim.statistics.significance import Test

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.kernels.types import Values

_RESAMPLES = 1_000
_FEW = 2_000  # pairs, since SciPy's jackknife takes quadratic time
_SEED = 0
_DIGITS = 9  # digits in the fingerprint
_ROUNDING = 1e-9
_CHANCE = 0.2  # of the interval's width: five standard errors of an end with 1,000 resamples
_AN_HOUR = 3_600  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """Pairs with ratings.

    Attributes:
        similarities1: float64[n_pairs], by one embedding.
        similarities2: float64[n_pairs], by another embedding.
        ratings: float64[n_pairs].
    """

    similarities1: Values
    similarities2: Values
    ratings: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        n_pairs: pairs for which medsim computes intervals.
        n_plain: resamples of them that SciPy correlates.
        rounds: number of rounds.
        threads: threads of medsim; runs compared with SciPy have one.
    """

    n_pairs: int
    n_plain: int
    rounds: int
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Seconds of one round.

    Attributes:
        single: the interval of one correlation, all pairs.
        difference: the interval of a difference of correlations, all pairs.
        alone: the same with one thread.
        few: the interval of a difference with few pairs and one thread.
        scipy: the same by SciPy.
        resample: one resample of all pairs and its correlations by SciPy.
    """

    single: float
    difference: float
    alone: float
    few: float
    scipy: float
    resample: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The times of a race.

    Attributes:
        turns: the seconds of each round.
        peak_mib: peak memory, for all pairs.
        fingerprint: hash of both tests of all pairs.
    """

    turns: list[Turn]
    peak_mib: int
    fingerprint: str

    def median(self, value: Callable[[Turn], float]) -> float:
        """Return the median over the turns."""
        return statistics.median(map(value, self.turns))


def measure(settings: Settings) -> Measured:
    """Return the time of 1,000 resamples compared with ``scipy.stats.bootstrap``; see ``Measure``.

    SciPy leaves out each pair in turn and ranks the others again, which takes quadratic time. So
    it only gets 2,000 pairs, and its time for all pairs is extrapolated from single resamples.
    Ratios compare one thread with one thread, since a busy machine slows two threads more.
    """
    job = Job(
        n_pairs=settings.size(700_000, 20_000),
        n_plain=settings.size(10, 30),
        rounds=settings.size(1, 3),
        threads=settings.threads,
    )
    seen = apart(race, job)
    resample = seen.median(lambda turn: turn.resample)
    hours = resample * (_RESAMPLES + job.n_pairs) / _AN_HOUR
    return Measured(
        about=f"{job.n_pairs:,} pairs x {_RESAMPLES:,} resamples",
        times=f"difference of two correlations {seen.median(lambda turn: turn.difference):.2f} s, "
        f"with one thread {seen.median(lambda turn: turn.alone):.2f} s; one correlation "
        f"{seen.median(lambda turn: turn.single):.2f} s; difference of {_FEW:,} pairs "
        f"{seen.median(lambda turn: turn.few):.3f} s, SciPy "
        f"{seen.median(lambda turn: turn.scipy):.1f} s; a resample of all pairs by SciPy "
        f"{resample:.3f} s, so its BCa {hours:,.3g} hours (extrapolated)",
        ratios={
            f"scipy of {_FEW:,} pairs": seen.median(lambda turn: turn.scipy / turn.few),
            "scipy without jackknife": seen.median(
                lambda turn: turn.resample * _RESAMPLES / turn.alone
            ),
        },
        peak=f"{seen.peak_mib} MiB",
        fingerprint=seen.fingerprint,
    )


def race(job: Job) -> Race:
    """Return the times of both sides, after comparing their results on the same pairs."""
    rated, few = invented(job.n_pairs), invented(_FEW)
    _correlation(few, job.threads)
    _difference(few, job.threads)
    progress = Progress()
    turns = []
    for _ in range(job.rounds):
        with progress.stage("all pairs"):
            correlation, correlation_seconds = timed(lambda: _correlation(rated, job.threads))
            difference, difference_seconds = timed(lambda: _difference(rated, job.threads))
        same, alone_seconds = timed(lambda: _difference(rated, 1))
        if same != difference:
            raise MismatchError(f"{job.threads} threads change the difference")
        small, few_seconds = timed(lambda: _difference(few, 1))
        expected, scipy_seconds = timed(lambda: _scipy(few))
        check(small, expected)
        _, resample_seconds = timed(lambda: _resample(rated, job.n_plain))
        turns.append(
            Turn(
                single=correlation_seconds,
                difference=difference_seconds,
                alone=alone_seconds,
                few=few_seconds,
                scipy=scipy_seconds,
                resample=resample_seconds / job.n_plain,
            )
        )
    return Race(
        turns=turns,
        peak_mib=max(record.peak_mib for record in progress.records),
        fingerprint=_fingerprint(correlation, difference),
    )


def invented(n_pairs: int, seed: int = 0) -> Rated:
    """Return rated pairs, from 0 to 10, with the similarities of a good and a worse embedding."""
    rng = np.random.default_rng(seed)
    truth, noise1, noise2, doubt = rng.standard_normal((4, n_pairs))
    return Rated(
        similarities1=(truth + 0.8 * noise1).astype(np.float32).astype(np.float64),
        similarities2=(truth + noise2).astype(np.float32).astype(np.float64),
        ratings=(5 + 2 * (truth + doubt)).round().clip(0, 10),
    )


def check(test: Test, expected: Test) -> None:
    """Raise MismatchError if a test differs from SciPy's by more than chance allows."""
    near = _CHANCE * (expected.high - expected.low)
    for what, ours, scipys, tolerance in (
        ("difference", test.statistic, expected.statistic, _ROUNDING),
        ("lower end", test.low, expected.low, near),
        ("upper end", test.high, expected.high, near),
    ):
        if not abs(ours - scipys) <= tolerance:
            raise MismatchError(f"the {what} is {ours:.6f}, but {scipys:.6f} by SciPy")


def _correlation(rated: Rated, threads: int) -> Test:
    return _bootstrap(rated, [rated.similarities1], threads).correlation(0)


def _difference(rated: Rated, threads: int) -> Test:
    sides = [rated.similarities1, rated.similarities2]
    return _bootstrap(rated, sides, threads).difference(0, 1)


def _bootstrap(rated: Rated, sides: list[Values], threads: int) -> SpearmanBootstrap:
    order = np.lexsort([*sides, rated.ratings])
    return SpearmanBootstrap(
        [side[order] for side in sides],
        rated.ratings[order],
        Resampling(seed=_SEED, resamples=_RESAMPLES, threads=threads),
    )


def _scipy(rated: Rated) -> Test:
    """Return SciPy's difference and interval."""
    sides = (rated.similarities1, rated.similarities2, rated.ratings)
    result = stats.bootstrap(
        sides,
        _difference_plainly,
        n_resamples=_RESAMPLES,
        vectorized=False,
        paired=True,
        method="BCa",
        rng=np.random.default_rng(_SEED),
    )
    low, high = result.confidence_interval
    return Test(method="bca", statistic=_difference_plainly(*sides), p=math.nan, low=low, high=high)


def _resample(rated: Rated, n_resamples: int) -> None:
    """Draw pairs and compute the difference, for a number of resamples."""
    rng = np.random.default_rng(_SEED)
    sides = np.stack([rated.similarities1, rated.similarities2, rated.ratings])
    n_pairs = sides.shape[1]
    for _ in range(n_resamples):
        _difference_plainly(*sides[:, rng.integers(0, n_pairs, n_pairs)])


def _difference_plainly(similarities1: Values, similarities2: Values, ratings: Values) -> float:
    first, second = (stats.spearmanr(side, ratings) for side in (similarities1, similarities2))
    return float(first.statistic - second.statistic)


def _fingerprint(*tests: Test) -> str:
    numbers = [(test.statistic, test.low, test.high, test.p) for test in tests]
    return hashlib.sha256(np.round(numbers, _DIGITS).tobytes()).hexdigest()[:16]


BENCHMARKS.register("bootstrap", measure)
