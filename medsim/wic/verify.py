"""Checks every rule on a benchmark of words in context, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.progress import Progress
from medsim.terminologies.options import ReadingOptions
from medsim.wic.checks.bearers import bearers_of, names_of_source
from medsim.wic.checks.benchmark_files import read_benchmark
from medsim.wic.checks.findings import breaches_frame, findings_frame, instances_of
from medsim.wic.checks.instance_checks import check_instances
from medsim.wic.checks.provenance_checks import (
    check_mentions,
    check_outputs,
    check_provenance,
    read_provenance,
)
from medsim.wic.checks.split_checks import check_splits
from medsim.wic.checks.terminology_checks import check_terminology

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.wic.checks.benchmark_files import BenchmarkFiles
    from medsim.wic.checks.findings import Finding, Instance
    from medsim.wic.checks.instance_checks import Bearers
    from medsim.wic.checks.provenance_checks import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was found.

    Attributes:
        findings: a row per split and check: what it promises, how many it looked at, how many
            violations there are, and an example or what else to know.
        breaches: a row per violation.
    """

    findings: pl.DataFrame
    breaches: pl.DataFrame

    @property
    def holds(self) -> bool:
        """Whether every rule holds."""
        return not self.broken

    @property
    def broken(self) -> list[str]:
        """The checks that found violations, each once, in order."""
        found = self.findings.filter(pl.col("violations") > 0)["check"]
        return found.unique(maintain_order=True).to_list()


def verify(
    data: Path,
    *,
    split: str | None = None,
    train: Path | None = None,
    dev: Path | None = None,
    test: Path | None = None,
    terminology: str | None = None,
    progress: Progress | None = None,
) -> Verified:
    """Return whether a benchmark of words in context obeys the rules of Rouhizadeh et al. (2024).

    Each instance, each split, and the splits against each other are looked at a pair at a time.
    A folder that ``medsim wic build`` wrote tells where its instances come from; then labels,
    concepts and synonyms are checked as well.

    Args:
        data: a folder with any of train.json, dev.json and test.json, or one such file.
        split: what a single file is; by default its name says so.
        train: another file that belongs to the benchmark.
        dev: as train.
        test: as train.
        terminology: a path or a built-in name. Its names decide which terms are synonyms, which is
            not checked without. A folder of medsim's keeps them; it is compared with it.
        progress: told of every stage; silent by default.

    Raises:
        InputError: something cannot be read or is not what it should be.
        OptionError: it is not clear which split a file is, or the extra medsim[wic] is missing.
    """
    progress = progress or Progress()
    with progress.stage("read instances"):
        others = {"train": train, "dev": dev, "test": test}
        benchmark = read_benchmark(data, split=split, others=others)
    with progress.stage("compare files with the manifest"):
        findings, provenance = _of_folder(benchmark)
    if provenance is not None and terminology is not None:
        findings += check_terminology(terminology, benchmark.options, provenance, progress)
    bearers = _bearers(benchmark, provenance, terminology, progress)
    with progress.stage("check the rules"):
        findings += _of_splits(benchmark, provenance, bearers)
    return Verified(findings=findings_frame(findings), breaches=breaches_frame(findings))


def _of_folder(benchmark: BenchmarkFiles) -> tuple[list[Finding], Provenance | None]:
    """Return what is found in the files that medsim wrote, and what they hold if they are whole."""
    if benchmark.folder is None:
        return [], None
    outputs = check_outputs(benchmark, benchmark.folder)
    try:
        provenance = read_provenance(benchmark.folder)
    except InputError:
        if not outputs.breaches:
            raise
        return [outputs], None
    return [outputs, check_mentions(provenance)], provenance


def _bearers(
    benchmark: BenchmarkFiles,
    provenance: Provenance | None,
    terminology: str | None,
    progress: Progress,
) -> Bearers | None:
    """Return who bears the terms, by what the folder keeps of a terminology or by one itself."""
    if provenance is not None:
        names = provenance.names
    elif terminology is not None:
        names = names_of_source(
            terminology, ReadingOptions.from_record(benchmark.options), progress
        )
    else:
        return None
    terms = {
        term
        for frame in benchmark.splits.values()
        for column in ("term1", "term2")
        for term in frame[column].to_list()
    }
    return bearers_of(terms, names)


def _of_splits(
    benchmark: BenchmarkFiles, provenance: Provenance | None, bearers: Bearers | None
) -> list[Finding]:
    """Return what is found in the instances, split by split."""
    splits: Mapping[str, Sequence[Instance]] = {
        split: instances_of(frame) for split, frame in benchmark.splits.items()
    }
    together = check_splits(splits, benchmark.quotas)
    findings = []
    for split, instances in splits.items():
        findings += check_instances(split, instances, bearers) + together[split]
        if provenance is not None:
            findings += check_provenance(split, benchmark.splits[split], provenance)
    return findings
