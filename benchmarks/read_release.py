"""Inventing a release of SNOMED CT's size, reading it, and deriving its positives."""

from __future__ import annotations

import tempfile
from pathlib import Path

import medsim
from medsim.config import SourceOptions, available_threads
from medsim.manifest import fingerprint
from medsim.progress import Progress
from medsim.sources import find_source
from medsim.store import Store
from medsim.workflow.positives import derive_positives

CONCEPTS = 350_000


def measure() -> tuple[str, str, str, str]:
    """Return input, seconds of each stage, peak memory and a fingerprint of the positives."""
    progress, threads = Progress(), available_threads()
    with tempfile.TemporaryDirectory() as folder:
        release = Path(folder) / "release.zip"
        with progress.stage("synth"):
            medsim.synth(release, concepts=CONCEPTS, seed=1)
        source, path = find_source(str(release))
        with Store(threads=threads) as store:
            with progress.stage("read"):
                source.load(path, store, SourceOptions())
            with progress.stage("positives"):
                positives = derive_positives(store, language="en", rf2_rules=True, threads=threads)
    times = ", ".join(f"{record.name} {record.seconds:.1f} s" for record in progress.records)
    peak = max(record.peak_mib for record in progress.records)
    return (
        f"synth of {CONCEPTS:,} concepts, seed 1: {positives.pairs.height:,} positives",
        times,
        f"{peak} MiB",
        fingerprint(positives.pairs)[:16],
    )
