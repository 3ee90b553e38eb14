"""Checks every rule on a benchmark of words in context, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.core.checks import Verification, findings_table
from medsim.core.errors import InputError
from medsim.core.options import public
from medsim.core.progress import Progress, progress_of
from medsim.wic import MOST_REPEATS
from medsim.wic.checks.benchmark_files import read_benchmark
from medsim.wic.checks.findings import SPLIT_FINDING_COLUMNS, breaches_table, instances_of
from medsim.wic.checks.instance_checks import check_instances
from medsim.wic.checks.provenance_checks import (
    check_mentions,
    check_outputs,
    check_provenance,
    read_provenance,
)
from medsim.wic.checks.split_checks import check_splits
from medsim.wic.checks.terminology_checks import (
    check_terminology,
    concepts_by_name,
    names_of_source,
)
from medsim.wic.options import WicVerifyOptions

if TYPE_CHECKING:
    import polars as pl

    from medsim.wic.benchmark import Benchmark
    from medsim.wic.checks.benchmark_files import BenchmarkFiles
    from medsim.wic.checks.findings import SplitFinding
    from medsim.wic.checks.provenance_checks import Provenance
    from medsim.wic.checks.terminology_checks import ConceptsByName


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verified(Verification):
    """The outcome of a verification of words in context.

    Attributes:
        findings: a row per split and check: its promise, the numbers of checked items and of
            violations, and the first of these or a note.
        breaches: a row per violation.
    """

    breaches: pl.DataFrame


@public(WicVerifyOptions)
def verify_wic(options: WicVerifyOptions) -> Verified:
    """Return whether a benchmark of words in context obeys the rules of Rouhizadeh et al. (2024).

    Each instance, each split, and the splits against each other are checked a pair of terms at a
    time. A folder of ``medsim wic build`` has the provenance of its instances; with it labels,
    concepts and synonyms are checked as well.

    Raises:
        InputError: a file cannot be read or has another layout.
        OptionError: it is not clear which split a file is, or the extra wic is missing.
    """
    progress = progress_of(options.progress)
    source = None if options.terminology is None else str(options.terminology)
    with progress.stage("read instances"):
        benchmark = read_benchmark(options)
    with benchmark.being_read():
        findings = _findings(benchmark, source, progress)
    return Verified(
        findings=findings_table(findings, SPLIT_FINDING_COLUMNS), breaches=breaches_table(findings)
    )


def _findings(
    benchmark: BenchmarkFiles, source: str | None, progress: Progress
) -> list[SplitFinding]:
    """Return all findings on a benchmark."""
    with progress.stage("compare files with the manifest"):
        findings, provenance = ([], None) if benchmark.made is None else _of_folder(benchmark.made)
    if benchmark.made is not None and provenance is not None and source is not None:
        findings += check_terminology(source, benchmark.made, provenance, progress)
    names = _names(benchmark, provenance, source, progress)
    with progress.stage("check the rules"):
        findings += _of_splits(benchmark, provenance, names)
    return findings


def _of_folder(made: Benchmark) -> tuple[list[SplitFinding], Provenance | None]:
    """Return the findings on the files of a folder, and their provenance if they are whole."""
    outputs = check_outputs(made)
    try:
        provenance = read_provenance(made)
    except InputError:
        if not outputs.violations:
            raise
        return [outputs], None
    return [outputs, check_mentions(provenance)], provenance


def _names(
    benchmark: BenchmarkFiles,
    provenance: Provenance | None,
    source: str | None,
    progress: Progress,
) -> ConceptsByName | None:
    """Return the concepts of the terms, by the names in the folder or those of a terminology."""
    if provenance is not None:
        names = provenance.names
    elif source is not None:
        names = names_of_source(source, benchmark.reading, progress)
    else:
        return None
    columns = [frame[name] for frame in benchmark.splits.values() for name in ("term1", "term2")]
    return concepts_by_name({term for column in columns for term in column}, names)


def _of_splits(
    benchmark: BenchmarkFiles, provenance: Provenance | None, names: ConceptsByName | None
) -> list[SplitFinding]:
    """Return the findings on the instances, split by split."""
    splits = {split: instances_of(frame) for split, frame in benchmark.splits.items()}
    language = benchmark.language
    together = check_splits(
        splits,
        benchmark.made.manifest.quotas if benchmark.made else None,
        language=language,
        most_repeats=int(str(benchmark.options.get("most_repeats", MOST_REPEATS))),
    )
    findings = []
    for split, instances in splits.items():
        findings += check_instances(split, instances, names, language) + together[split]
        if provenance is not None:
            findings += check_provenance(split, benchmark.splits[split], provenance)
    return findings
