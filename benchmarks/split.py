"""Splits of an invented release of SNOMED CT's size, compared with its build."""

from __future__ import annotations

import hashlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import medsim
from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.apart import apart

_RATIOS = "80/10/10"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The time and memory of a build or of splits.

    Attributes:
        seconds: total time.
        cpu_seconds: CPU time of all threads.
        peak_mib: peak memory.
        fingerprints: fingerprints of the Parquet files, in order of path.
    """

    seconds: float
    cpu_seconds: float
    peak_mib: int
    fingerprints: str


def measure(settings: Settings) -> Measured:
    """Return the time and memory of splits; see ``Measure``."""
    concepts = settings.size(350_000, 5_000)
    with tempfile.TemporaryDirectory() as folder:
        release, out = Path(folder) / "release.zip", Path(folder) / "out"
        medsim.synth(release, concepts=concepts, seed=1)
        built = apart(_build, str(release), out, settings.threads)
        split = apart(_split, out, Path(folder) / "splits", settings.threads)
    return Measured(
        about=f"synth of {concepts:,} concepts, seed 1, {_RATIOS}",
        times=f"{split.seconds:.1f} s ({split.cpu_seconds:.1f} s of CPU), "
        f"build {built.seconds:.1f} s ({built.cpu_seconds:.1f} s of CPU)",
        ratios={"build": built.cpu_seconds / split.cpu_seconds},
        peak=f"{split.peak_mib} MiB, build {built.peak_mib} MiB",
        fingerprint=hashlib.sha256(split.fingerprints.encode()).hexdigest()[:16],
    )


def _build(source: str, out: Path, threads: int) -> Made:
    began, began_cpu = time.perf_counter(), time.process_time()
    return _made(medsim.build(source, out, threads=threads), began, began_cpu)


def _split(build: Path, out: Path, threads: int) -> Made:
    began, began_cpu = time.perf_counter(), time.process_time()
    return _made(medsim.split(build, out, ratios=_RATIOS, threads=threads), began, began_cpu)


def _made(output: medsim.Build | medsim.Splits, began: float, began_cpu: float) -> Made:
    manifest = output.manifest
    rows = (table for path, table in manifest.outputs.items() if path.endswith(".parquet"))
    return Made(
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - began_cpu,
        peak_mib=max(int(str(stage["peak_mib"])) for stage in manifest.stages),
        fingerprints="".join(table.fingerprint for table in rows),
    )


BENCHMARKS.register("split", measure)
