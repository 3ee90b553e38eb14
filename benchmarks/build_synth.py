"""The whole build of an invented release of SNOMED CT's size."""

from __future__ import annotations

import tempfile
from pathlib import Path

import medsim
from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.building import build, measured


def measure(settings: Settings) -> Measured:
    """Return the time and memory of the build; see ``Measure``."""
    concepts = settings.size(350_000, 5_000)
    with tempfile.TemporaryDirectory() as folder:
        release = Path(folder) / "release.zip"
        medsim.synth(release, concepts=concepts, seed=1)
        return measured(
            f"synth of {concepts:,} concepts, seed 1", apart(build, str(release), settings.threads)
        )


BENCHMARKS.register("build_synth", measure)
