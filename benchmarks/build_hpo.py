"""The whole build of the Human Phenotype Ontology, as a newcomer runs it."""

from __future__ import annotations

import hashlib
import tempfile
import time
from pathlib import Path

import medsim


def measure() -> tuple[str, str, str, str]:
    """Return input, seconds, peak memory and a fingerprint of all outputs together."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        build = medsim.build("hpo", Path(folder) / "hpo")
        seconds = time.perf_counter() - began
        stages = build.manifest.stages
        slowest = max(stages, key=lambda stage: stage["seconds"])
        peak = max(stage["peak_mib"] for stage in stages)
        prints = "".join(output.fingerprint for output in build.manifest.outputs.values())
    return (
        "hpo",
        f"{seconds:.1f} s, of which {slowest['name']} {slowest['seconds']:.1f} s",
        f"{peak} MiB",
        hashlib.sha256(prints.encode()).hexdigest()[:16],
    )
