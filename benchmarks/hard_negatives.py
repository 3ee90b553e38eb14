"""Embedding negatives of many first terms, compared with NumPy and sentence-transformers."""

from __future__ import annotations

import hashlib
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.embedded import Sizes, invented_families
from benchmarks.harness.mining import has_miner, mine, nearest_by_numpy
from benchmarks.harness.timing import timed
from medsim.builds.negatives import SAMPLERS, IndexedVectors, PositiveSet, Sampling, TermIndex
from medsim.core.progress import Progress
from medsim.core.terms import content_hashes

if TYPE_CHECKING:
    from medsim.kernels.types import Ids, Ranks, Vectors

_MOST_WANTED = 3
_SPARE = 8  # more of NumPy's nearest terms, since earlier first terms used some pairs
_NEAR = 1e-5  # cosines in single precision
_WARM_UP = 500  # first terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a search.

    Attributes:
        sizes: sizes of the invented data; its pairs are the first terms.
        n_compared: first terms that the other libraries search for; the rest is extrapolated.
        rounds: number of rounds.
        threads: threads of medsim; NumPy and FAISS use the system's default.
    """

    sizes: Sizes
    n_compared: int
    rounds: int
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The times of a search.

    Attributes:
        seconds: time for all first terms, the median over the rounds.
        n_negatives: number of all negatives.
        peak_mib: peak memory, with the vectors.
        others: extrapolated seconds of the other libraries for all first terms, by name; medians.
        ratios: their seconds divided by medsim's; medians.
        fingerprint: hash of the negatives.
    """

    seconds: float
    n_negatives: int
    peak_mib: int
    others: dict[str, float]
    ratios: dict[str, float]
    fingerprint: str


def measure(settings: Settings) -> Measured:
    """Return the time of making embedding negatives; see ``Measure``.

    Full size is a large terminology with one to three negatives for each first term. The other
    libraries only search, and do not prevent repeated pairs.
    """
    job = Job(
        sizes=Sizes(
            n_pairs=settings.size(250_000, 10_000),
            n_terms=settings.size(400_000, 30_000),
            n_words=0,
            n_dimensions=200,
        ),
        n_compared=settings.size(2_000, 1_000),
        rounds=settings.size(1, 3),
        threads=settings.threads,
    )
    seen = apart(race, job)
    sizes = job.sizes
    rivals = ", ".join(f"{name} {seconds:,.0f} s" for name, seconds in seen.others.items())
    return Measured(
        about=f"{sizes.n_pairs:,} first terms in {sizes.n_terms:,}, {sizes.n_dimensions} "
        f"dimensions, {seen.n_negatives:,} negatives",
        times=f"{seen.seconds:.1f} s; {rivals} (from {job.n_compared:,})",
        ratios=seen.ratios,
        peak=f"{seen.peak_mib:,} MiB",
        fingerprint=seen.fingerprint,
    )


def race(job: Job) -> Seen:
    """Return the times of medsim and of the other libraries, after comparing results."""
    vectors, families = invented_families(job.sizes)
    positives = _positives(job.sizes, families)
    _negatives(vectors, families, _positives(replace(job.sizes, n_pairs=_few(job)), families), 1)
    progress = Progress()
    seconds, others = [], []
    for _ in range(job.rounds):
        with progress.stage("embedding negatives"):
            made, taken = timed(lambda: _negatives(vectors, families, positives, job.threads))
        seconds.append(taken)
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        others.append(_others(units, families, positives, job.n_compared))
    check(units, families, positives, made, job.n_compared)
    digest = hashlib.sha256(made.tobytes())
    return Seen(
        seconds=statistics.median(seconds),
        n_negatives=made.shape[1],
        peak_mib=progress.records[0].peak_mib,
        others={name: statistics.median(times[name] for times in others) for name in others[0]},
        ratios={
            name: statistics.median(
                times[name] / ours for times, ours in zip(others, seconds, strict=True)
            )
            for name in others[0]
        },
        fingerprint=digest.hexdigest()[:16],
    )


def _few(job: Job) -> int:
    return min(_WARM_UP, job.sizes.n_pairs)


def _positives(sizes: Sizes, families: Ids) -> PositiveSet:
    """Return one to three positives of each first term, all in its family."""
    rng = np.random.default_rng(1)
    firsts = np.sort(rng.choice(sizes.n_terms, sizes.n_pairs, replace=False)).astype(np.int32)
    n_wanted = rng.integers(1, _MOST_WANTED + 1, len(firsts))
    begins = np.searchsorted(families, families[firsts])
    term1_ids = np.repeat(firsts, n_wanted)
    return PositiveSet(
        name="fsn_syn/hard", term1_ids=term1_ids, term2_ids=np.repeat(begins, n_wanted)
    )


def _negatives(vectors: Vectors, families: Ids, positives: PositiveSet, threads: int) -> Ranks:
    every = np.arange(len(vectors), dtype=np.int32)
    names = pl.Series(every).cast(pl.String)
    space = TermIndex(
        lower=names,
        hashes=content_hashes(names),
        components=families,
        groups=families,
        pool=every,
        embedding=IndexedVectors(vectors=vectors, rows=every),
    )
    none = np.empty((2, 0), np.int32)
    make = SAMPLERS.get("embedding")(space, Sampling(seed=0, threads=threads))
    with Progress().stage("negatives") as stage:
        rows, term2_ids = make(positives, none, stage)
    return np.stack([positives.term1_ids[rows], term2_ids])


def check(
    units: Vectors, families: Ids, positives: PositiveSet, made: Ranks, n_compared: int
) -> None:
    """Raise MismatchError if a first term's negatives are not its nearest available terms.

    Args:
        units: float32[n_terms, n_dimensions], vectors of length 1.
        families: int32[n_terms].
        positives: the positives of the first terms.
        made: int32[2, n_negatives], the first and second terms of the negatives.
        n_compared: number of first terms to compare with NumPy.
    """
    term1_ids, term2_ids = made
    pairs = set(zip(*made.tolist(), strict=True))
    sample = _sample(positives, n_compared)
    near = nearest_by_numpy(units, families, sample, _MOST_WANTED + _SPARE)
    for first, candidates in zip(sample.tolist(), near, strict=True):
        left = [row for row in candidates.tolist() if row > first or (row, first) not in pairs]
        chosen = term2_ids[term1_ids == first]
        expected = np.sort(units[left[: len(chosen)]] @ units[first])
        cosines = np.sort(units[chosen] @ units[first])
        n_wanted = int(np.count_nonzero(positives.term1_ids == first))
        if len(cosines) != n_wanted or not np.allclose(cosines, expected, rtol=0, atol=_NEAR):
            raise MismatchError(f"term {first}: cosines {cosines}, and {expected} by NumPy")


def _sample(positives: PositiveSet, n_sampled: int) -> Ids:
    firsts = np.unique(positives.term1_ids)
    return firsts[np.linspace(0, len(firsts) - 1, n_sampled).astype(np.int64)]


def _others(
    units: Vectors, families: Ids, positives: PositiveSet, n_compared: int
) -> dict[str, float]:
    """Return the seconds of each other library for all first terms, by name.

    NumPy prepares nothing, so its time is in proportion to a sample. The miner first writes all
    texts and an index; two samples separate this time from its search.
    """
    n_firsts = len(np.unique(positives.term1_ids))
    few, many = (_sample(positives, n) for n in (n_compared // 4, n_compared))
    _, taken = timed(lambda: nearest_by_numpy(units, families, many, _MOST_WANTED))
    seconds = {"NumPy": taken / len(many) * n_firsts}
    if has_miner():
        _mined(units, families, few)
        of_few, of_many = (_mined(units, families, sample) for sample in (few, many))
        each = max(of_many - of_few, 0.0) / (len(many) - len(few))
        seconds["sentence-transformers"] = of_many + each * (n_firsts - len(many))
    return seconds


def _mined(units: Vectors, families: Ids, sample: Ids) -> float:
    """Return the seconds that sentence-transformers takes to mine negatives of some terms."""
    begins = np.searchsorted(families, families[sample]).astype(np.int32)
    _, taken = timed(lambda: mine(units, sample, begins, _MOST_WANTED))
    return taken


BENCHMARKS.register("hard_negatives", measure)
