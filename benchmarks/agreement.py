"""Krippendorff's alpha with its interval, compared with the package krippendorff."""

from __future__ import annotations

import hashlib
import statistics
from dataclasses import dataclass

import krippendorff
import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.timing import timed
from medsim.core.progress import Progress
from medsim.statistics.options import Resampling
from medsim.studies.agreement import Judgements, nominal_alpha
from medsim.studies.sheets import JUDGEMENT

_ANNOTATORS = 3
_STUDY = 1_200  # pairs, as in Schulz and Juric (2020)
_RESAMPLES = 10_000
_ERROR, _MISSING = 0.1, 0.02  # shares of judgements
_DIGITS = 9  # digits in the fingerprint
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        n_pairs: pairs for which alpha is computed.
        n_plain: resamples of a study by the package; the rest is extrapolated.
        rounds: number of rounds.
    """

    n_pairs: int
    n_plain: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Seconds of one round, all with one thread.

    Attributes:
        alpha: alpha of all pairs.
        package: alpha of all pairs by the package.
        interval: interval of a study, with all resamples.
        resample: one resample of a study by the package.
    """

    alpha: float
    package: float
    interval: float
    resample: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The times of a race.

    Attributes:
        turns: the seconds of each round.
        peak_mib: peak memory, for all pairs.
        fingerprint: hash of alpha and the interval.
    """

    turns: list[Turn]
    peak_mib: int
    fingerprint: str


def measure(settings: Settings) -> Measured:
    """Return the time of alpha of a million pairs, and of the interval of a study of 1,200."""
    job = Job(
        n_pairs=settings.size(1_000_000, 100_000),
        n_plain=settings.size(1_000, 200),
        rounds=3,
    )
    seen = apart(race, job)
    alpha, package, interval, resample = (
        statistics.median(getattr(turn, name) for turn in seen.turns)
        for name in ("alpha", "package", "interval", "resample")
    )
    return Measured(
        about=f"{job.n_pairs:,} pairs x {_ANNOTATORS} annotators; {_STUDY:,} pairs x "
        f"{_RESAMPLES:,} resamples",
        times=f"alpha {alpha:.2f} s, the package {package:.2f} s; interval {interval:.2f} s, the "
        f"package {resample * _RESAMPLES:.0f} s (from {job.n_plain:,} resamples)",
        ratios={
            "krippendorff": statistics.median(turn.package / turn.alpha for turn in seen.turns),
            "krippendorff in resamples": statistics.median(
                turn.resample * _RESAMPLES / turn.interval for turn in seen.turns
            ),
        },
        peak=f"{seen.peak_mib} MiB",
        fingerprint=seen.fingerprint,
    )


def race(job: Job) -> Race:
    """Return the times of both sides, after comparing their results."""
    whole, study = invented(job.n_pairs), invented(_STUDY)
    _interval(invented(100))
    progress = Progress()
    turns = []
    for _ in range(job.rounds):
        with progress.stage("all pairs"):
            ours, alpha_seconds = timed(lambda: nominal_alpha(whole, len(JUDGEMENT), _drawing(0)))
        theirs, package_seconds = timed(lambda: _package(whole))
        if not abs(ours.value - theirs) <= _ROUNDING:
            raise MismatchError(f"alpha is {ours.value:.6f}, but {theirs:.6f} by the package")
        interval, interval_seconds = timed(lambda: _interval(study))
        _, resample_seconds = timed(lambda: _resampled(study, job.n_plain))
        turns.append(
            Turn(
                alpha=alpha_seconds,
                package=package_seconds,
                interval=interval_seconds,
                resample=resample_seconds / job.n_plain,
            )
        )
    numbers = np.round([ours.value, *interval], _DIGITS)
    return Race(
        turns=turns,
        peak_mib=max(record.peak_mib for record in progress.records),
        fingerprint=hashlib.sha256(numbers.tobytes()).hexdigest()[:16],
    )


def invented(n_pairs: int, seed: int = 0) -> Judgements:
    """Return judgements of annotators who make errors, are sometimes unsure, or skip pairs."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_pairs)
    shape = (n_pairs, _ANNOTATORS)
    table = np.where(rng.random(shape) < _ERROR, 1 - truth[:, None], truth[:, None])
    table[rng.random(shape) < _ERROR / 2] = len(JUDGEMENT) - 1
    table[rng.random(shape) < _MISSING] = -1
    return table.astype(np.int8)


def _interval(table: Judgements) -> tuple[float, float, float]:
    estimate = nominal_alpha(table, len(JUDGEMENT), _drawing(_RESAMPLES))
    return estimate.value, estimate.low, estimate.high


def _drawing(resamples: int) -> Resampling:
    return Resampling(seed=0, resamples=resamples, threads=1)


def _package(table: Judgements) -> float:
    values = np.where(table < 0, np.nan, table).T
    return float(krippendorff.alpha(values, level_of_measurement="nominal"))


def _resampled(table: Judgements, n_resamples: int) -> None:
    """Draw pairs and compute alpha with the package, for a number of resamples."""
    rng = np.random.default_rng(0)
    for _ in range(n_resamples):
        _package(table[rng.integers(0, len(table), len(table))])


BENCHMARKS.register("agreement", measure)
