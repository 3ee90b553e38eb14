"""The whole build of an invented release of UMLS's size: 24 million positives."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.building import build, measured
from benchmarks.harness.metathesaurus import write_metathesaurus


def measure(settings: Settings) -> Measured:
    """Return the time and memory of the build; see ``Measure``."""
    concepts = settings.size(4_100_000, 50_000)
    with tempfile.TemporaryDirectory() as folder:
        release = Path(folder) / "META"
        apart(write_metathesaurus, release, concepts, seed=1)
        return measured(
            f"UMLS of {concepts:,} invented concepts, seed 1",
            apart(build, str(release), settings.threads),
        )


BENCHMARKS.register("build_umls", measure)
