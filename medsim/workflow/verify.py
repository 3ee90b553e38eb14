"""Re-derives from a build on disk everything that medsim promises of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.config import STRATEGIES, checked_threads
from medsim.errors import InputError, OptionError
from medsim.manifest import fingerprint
from medsim.progress import Progress
from medsim.schema import CANONICAL_TABLES, PAIR_COLUMNS, STATS_COLUMNS
from medsim.store import Store
from medsim.workflow.checks import finding, run_checks
from medsim.workflow.datasets import set_keys
from medsim.workflow.evidence import (
    check_nearest,
    check_positives,
    check_random,
    check_rows,
    check_stats,
    gather,
)
from medsim.workflow.opened import VIEWS, Build

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_SAMPLE = 100
"""First terms of each set that are searched again by brute force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found.

    Attributes:
        findings: a row per check: check, promise, violations, example.
    """

    findings: pl.DataFrame

    @property
    def holds(self) -> bool:
        """Whether every promise holds."""
        return not self.broken

    @property
    def broken(self) -> list[str]:
        """The checks that found violations."""
        return self.findings.filter(pl.col("violations") > 0)["check"].to_list()


def verify(
    folder: str | Path,
    *,
    sample: int = DEFAULT_SAMPLE,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Return whether a build on disk keeps medsim's promises, each derived anew.

    Files and rows are compared with the manifest; positives are derived again from the canonical
    tables; rules are checked in SQL; distances, statistics, ids and the order of rows are computed
    again; random negatives are drawn again; a sample of first terms is compared with every term of
    its set by an independent library.

    Args:
        folder: of the build.
        sample: how many first terms of each set of Levenshtein negatives are compared by brute
            force; they are spread evenly over the set.
        threads: how many to use, all available ones by default.
        progress: told of every stage; silent by default.

    Raises:
        InputError: the folder holds no finished build.
        OptionError: the sample is negative.
    """
    if sample < 0:
        raise OptionError(f"--sample {sample} is negative")
    build, progress = Build(folder), progress or Progress()
    with progress.stage("compare files with the manifest"):
        findings = list(_check_files(build))
        damaged = any(found["violations"][0] for found in findings[:2])
    if not damaged:
        findings += _check_content(build, sample, checked_threads(threads), progress)
    return Verification(findings=pl.concat(findings))


def _check_files(build: Build) -> Iterator[pl.DataFrame]:
    """Yield whether files are there, have their columns, and hold the rows of the manifest."""
    promised = build.manifest.outputs
    found = {path.relative_to(build.folder).as_posix() for path in build.folder.rglob("*.parquet")}
    expected = set(VIEWS.values()) - {VIEWS["pair"]}
    expected |= {key.path for strategy in STRATEGIES for key in set_keys(strategy)}
    wrong = sorted((expected ^ found) | (expected ^ set(promised)))
    yield finding("files", "The files of a build are there, and no others.", *_counted(wrong))
    unreadable, changed = [], []
    for name in sorted(expected & found & set(promised)):
        try:
            frame = build.read(name)
        except InputError:
            unreadable.append(name)
            continue
        if frame.schema != pl.Schema(_columns(name)):
            unreadable.append(name)
        elif (
            fingerprint(frame) != promised[name].fingerprint or frame.height != promised[name].rows
        ):
            changed.append(name)
    yield finding("columns", "Every file has the columns of its table.", *_counted(unreadable))
    yield finding("fingerprint", "Every file holds the rows of the manifest.", *_counted(changed))


def _check_content(
    build: Build, sample: int, threads: int, progress: Progress
) -> list[pl.DataFrame]:
    """Return what is found in the rows, all files being readable."""
    with Store(threads=threads) as store:
        store.view_parquet(build.folder, VIEWS)
        with progress.stage("derive positives anew"):
            evidence = gather(build, store, threads)
            findings = [check_positives(evidence)]
        with progress.stage("check the rules"):
            findings.append(run_checks(store))
        with progress.stage("compute ids, distances, order and statistics anew"):
            findings += [check_rows(evidence), check_stats(evidence)]
        with progress.stage("draw random negatives anew") as stage:
            findings.append(check_random(evidence, stage))
        with progress.stage("search a sample by brute force") as stage:
            findings.append(check_nearest(evidence, sample, stage))
    return findings


def _columns(name: str) -> dict[str, pl.DataType | type[pl.DataType]]:
    """Return the columns that a file of a build has."""
    if name.startswith("terminology/"):
        return CANONICAL_TABLES[Path(name).stem]
    return STATS_COLUMNS if name == "stats.parquet" else PAIR_COLUMNS


def _counted(places: list[str]) -> tuple[int, str]:
    return len(places), places[0] if places else ""
