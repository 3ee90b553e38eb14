"""The nearest terms of HPO, compared with RapidFuzz and the plain search in the same run."""

from __future__ import annotations

from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.corpora import hpo
from benchmarks.harness.searching import Job, Race, race


def measure(settings: Settings) -> Measured:
    """Return the ratios to comparing all terms and to the plain search; see ``Measure``."""
    job = Job(
        n_queries=15_000,
        wanted=2,
        n_compared=settings.size(1_000, 300),
        n_plain=settings.size(5_000, 1_000),
        rounds=3,
        threads=settings.threads,
    )
    seen = apart(_race, job)
    return Measured(
        about=f"hpo, {job.n_queries:,} in {seen.n_terms:,} terms, k = {job.wanted}",
        times=f"{seen.search_seconds:.2f} s; cdist {seen.cdist_seconds:.0f} s",
        ratios={"cdist": seen.cdist, "plain search": seen.plain},
        peak=f"{seen.peak_mib} MiB",
        fingerprint=seen.fingerprint,
    )


def _race(job: Job) -> Race:
    return race(hpo(), job)


BENCHMARKS.register("search_hpo", measure)
