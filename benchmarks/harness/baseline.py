"""The committed baseline: ratios that must not fall and fingerprints that must not change."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchmarks.harness import MismatchError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.harness import Measured

MARGIN = 0.3
"""The share by which a ratio may fall on a busy machine before it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The committed ratios and fingerprint of a benchmark at quick size.

    Attributes:
        ratios: see ``Measured``.
        fingerprint: hash of the results.
    """

    ratios: dict[str, float]
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The committed baseline.

    Attributes:
        machine: the machine on which the ratios were measured.
        margin: the share by which a ratio may fall.
        benchmarks: the entries by name.
    """

    machine: str
    margin: float
    benchmarks: dict[str, Entry]


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a file, or an empty one if the file does not exist."""
    if not path.exists():
        return Baseline(machine="", margin=MARGIN, benchmarks={})
    content = json.loads(path.read_text(encoding="utf-8"))
    entries = {name: Entry(**entry) for name, entry in content["benchmarks"].items()}
    return Baseline(machine=content["machine"], margin=content["margin"], benchmarks=entries)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write the baseline to a file."""
    text = json.dumps(asdict(baseline), indent=2, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def entry_of(runs: Sequence[Measured]) -> Entry:
    """Return the entry of several runs of a benchmark: the median of each ratio.

    Raises:
        MismatchError: their fingerprints differ.
    """
    fingerprints = sorted({run.fingerprint for run in runs})
    if len(fingerprints) != 1:
        raise MismatchError(f"runs of one benchmark differ: {', '.join(fingerprints)}")
    ratios = {
        name: round(statistics.median(run.ratios[name] for run in runs), 3)
        for name in sorted(runs[0].ratios)
    }
    return Entry(ratios=ratios, fingerprint=fingerprints[0])


def best_ratios(runs: Sequence[Measured]) -> dict[str, float]:
    """Return the highest value of each ratio: a busy machine lowers some, slower code all."""
    names = sorted({name for run in runs for name in run.ratios})
    return {name: max(run.ratios.get(name, 0.0) for run in runs) for name in names}


def fallen(entry: Entry, ratios: dict[str, float], margin: float) -> list[str]:
    """Return the names of the ratios that fell by more than the margin, or are missing."""
    return [
        name
        for name, expected in entry.ratios.items()
        if ratios.get(name, 0.0) < expected * (1 - margin)
    ]


def complaints(name: str, entry: Entry, runs: Sequence[Measured], margin: float) -> list[str]:
    """Return a line for each ratio that fell in every run and each fingerprint that changed.

    Args:
        name: name of the benchmark.
        entry: its baseline.
        runs: one or more runs.
        margin: the share by which a ratio may fall.
    """
    best = best_ratios(runs)
    lines = [
        f"{name}: {ratio} fell from {entry.ratios[ratio]:.3g} to {best.get(ratio, 0.0):.3g} times, "
        f"by {1 - best.get(ratio, 0.0) / entry.ratios[ratio]:.0%}; the margin is {margin:.0%}"
        for ratio in fallen(entry, best, margin)
    ]
    others = sorted({run.fingerprint for run in runs} - {entry.fingerprint})
    lines += [
        f"{name}: the fingerprint is {other}, not {entry.fingerprint}: the results changed"
        for other in others
    ]
    return lines
