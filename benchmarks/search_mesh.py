"""The nearest terms of MeSH, compared with RapidFuzz, and with the prototype if given."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.harness import BENCHMARKS, Measured, Settings, UnavailableError
from benchmarks.harness.apart import apart
from benchmarks.harness.corpora import mesh, without_groups
from benchmarks.harness.searching import Job, Race, race

_PROTOTYPE_TIME = re.compile(r"queries in [0-9]+ terms: ([0-9.]+) s")


def measure(settings: Settings) -> Measured:
    """Return the ratios to comparing all terms; see ``Measure``.

    Only the first term itself is excluded, as in the prototype. The prototype's time includes its
    preparation, so it is compared with the search including preparation.
    """
    job = Job(
        n_queries=settings.size(250_000, 20_000),
        wanted=1,
        n_compared=settings.size(100, 40),
        rounds=settings.size(1, 3),
        threads=settings.threads,
    )
    seen = apart(_race, job, settings.cache)
    whole = seen.prepare_seconds + seen.search_seconds
    times = (
        f"{seen.search_seconds:.2f} s after {seen.prepare_seconds:.1f} s of preparation; "
        f"cdist {seen.cdist_seconds:.0f} s (from {job.n_compared}), "
        f"{seen.cdist_seconds / whole:.3g} times with preparation"
    )
    if settings.prototype.exists() and not settings.quick:
        theirs = _prototype(settings, job.n_queries)
        times += f"; prototype {theirs:.1f} s, {theirs / whole:.2f} times with preparation"
    return Measured(
        about=f"MeSH, {job.n_queries:,} in {seen.n_terms:,} terms, k = 1, "
        f"mean distance {seen.mean_distance:.2f}",
        times=times,
        ratios={"cdist": seen.cdist},
        peak=f"{seen.peak_mib} MiB",
        fingerprint=seen.fingerprint,
    )


def _race(job: Job, cache: Path) -> Race:
    return race(without_groups(mesh(cache)), job)


def _prototype(settings: Settings, n_queries: int) -> float:
    """Return the seconds that the prototype prints for equally many first terms."""
    with tempfile.TemporaryDirectory() as folder:
        terms = Path(folder) / "terms.txt"
        terms.write_text("\n".join(mesh(settings.cache).terms) + "\n", encoding="utf-8")
        sizes = ["--queries", str(n_queries), "--threads", str(settings.threads), "--check", "10"]
        run = subprocess.run(
            [sys.executable, str(settings.prototype), str(terms), *sizes],
            capture_output=True,
            text=True,
            check=False,
        )
    match = _PROTOTYPE_TIME.search(run.stdout)
    if match is None:
        raise UnavailableError(f"the prototype ended with {run.returncode} and printed no time")
    return float(match[1])


BENCHMARKS.register("search_mesh", measure)
