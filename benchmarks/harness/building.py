"""Builds a terminology in a new process, and times a fixed piece of another library's work."""

from __future__ import annotations

import hashlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import medsim
from benchmarks.harness import Measured
from benchmarks.harness.brute_force import distances
from medsim.builds.output import TERM

if TYPE_CHECKING:
    from medsim.builds.output import BuildManifest

_SLOWEST = 4  # stages to report
_YARDSTICK_TERMS, _YARDSTICK_QUERIES, _YARDSTICK_LENGTH = 50_000, 200, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The time and memory of a build.

    Attributes:
        seconds: total time.
        cpu_seconds: CPU time of all threads, without processes that compile.
        yardstick_seconds: time of the fixed piece of work, the mean of before and after.
        manifest: manifest of the build.
        n_positives: positives in all sets of one strategy.
        fingerprint: see ``fingerprint_of``.
    """

    seconds: float
    cpu_seconds: float
    yardstick_seconds: float
    manifest: BuildManifest
    n_positives: int
    fingerprint: str


def build(source: str, threads: int) -> Built:
    """Return the time and memory of building a source."""
    before = yardstick(threads)
    with tempfile.TemporaryDirectory() as folder:
        began, began_cpu = time.perf_counter(), time.process_time()
        built = medsim.build(source, Path(folder) / "out", threads=threads)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
        return Built(
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            yardstick_seconds=(before + yardstick(threads)) / 2,
            manifest=built.manifest,
            n_positives=int(built.stats()["n_positives"].sum()) // 2,
            fingerprint=fingerprint_of(built),
        )


def measured(about: str, built: Built) -> Measured:
    """Return the time and memory of a build as a benchmark's result."""
    stages = built.manifest.stages
    slowest = sorted(stages, key=lambda stage: -float(str(stage["seconds"])))[:_SLOWEST]
    slow = ", ".join(f"{stage['name']} {stage['seconds']:.1f} s" for stage in slowest)
    return Measured(
        about=f"{about}: {built.n_positives:,} positives",
        times=f"{built.seconds:.1f} s ({built.cpu_seconds:.1f} s of CPU), of which {slow}; "
        f"yardstick {built.yardstick_seconds:.2f} s",
        ratios={"yardstick": built.yardstick_seconds / built.seconds},
        peak=f"{max(int(str(stage['peak_mib'])) for stage in stages)} MiB",
        fingerprint=built.fingerprint,
    )


def fingerprint_of(built: medsim.Build) -> str:
    """Return a fingerprint of all rows of a build except the terms, which follow from the others.

    The baselines are older than the file of terms.
    """
    digest = hashlib.sha256()
    for path, table in built.manifest.tables.items():
        if path != TERM.files:
            digest.update(table.fingerprint.encode())
    return digest.hexdigest()[:16]


def yardstick(threads: int) -> float:
    """Return the seconds that RapidFuzz takes to compare fixed invented terms.

    Nothing else in the same run is comparable with a build, so its time is given in units of this
    one, which is longer if the machine is slower.
    """
    rng = np.random.default_rng(0)
    letters = rng.integers(0x61, 0x7B, (_YARDSTICK_TERMS, _YARDSTICK_LENGTH), np.uint8)
    terms = [row.tobytes().decode("ascii") for row in letters]
    began = time.perf_counter()
    distances(terms, range(_YARDSTICK_QUERIES), threads)
    return time.perf_counter() - began
