"""Splits a build so that nothing in one split is linked to another."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.builds.build import Run, derive, paths_of, write_build, write_terminology
from medsim.builds.cards import splits_card
from medsim.builds.output import BUILD, CARD, STATS, Build
from medsim.core import manifest
from medsim.core.canonical import canonical_digest
from medsim.core.config import checked_threads
from medsim.core.files import digest_of
from medsim.core.kinds import CANONICAL_TABLES, read_manifest
from medsim.core.manifest import MANIFEST, Output
from medsim.core.opened import reading_output
from medsim.core.options import folder_of, public
from medsim.core.output import OutputFolder, claimed
from medsim.core.parquet import read_parquet
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.embeddings.encoders import cache_folder
from medsim.splits.options import SplitOptions, shares_of
from medsim.splits.output import CONCEPT_SPLIT, SPLIT_STATS, SPLITS, Splits, SplitsManifest
from medsim.splits.partition import find_partition
from medsim.terminologies.sources import SourceFile, Terminology

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.splits.partition import Partition


@public(SplitOptions)
def split(options: SplitOptions) -> Splits:
    """Write the splits of a build, each itself a build, and return them.

    Groups of concepts linked by shared names, positives and corrections stay together. A split has
    the build's positives between its concepts; its negatives are made again from the split's terms,
    in the same way as the build's.

    Raises:
        InputError: the folder is not a finished build, or its embedding is missing or differs.
        OptionError: an option is out of range, or a split would be empty.
        OutputError: ``out`` exists or cannot be written.
    """
    build = Build(folder_of(options.build))
    progress = progress_of(options.progress)
    threads = checked_threads(options.threads)
    with (
        reading_output(build),
        claimed(
            Path(options.out),
            SPLITS,
            overwrite=options.overwrite,
            inputs=options.paths_read(),
            input_folders=[build.folder, *(paths_of(options.since) if options.since else ())],
        ) as output,
    ):
        partition = find_partition(build, options, output.spill, threads, progress)
        _warn_of_large_group(partition, options, progress)
        others = () if partition.embedding is None else manifest.ENCODERS
        job: dict[str, Any] = {  # everything that affects the rows
            "medsim": manifest.medsim_version(),
            "libraries": manifest.library_versions(*others),
            "build": build_digest(build),
            "options": options.recorded(),
            "rule": dict(partition.assignment.facts),
        }
        output.resume(job)
        parts = {
            name: _write_split(build, name, partition, options, output, progress)
            for name in shares_of(options.ratios)
        }
        _write_tables(build, parts, partition, output)
        manifests = {name: read_manifest(part.folder, BUILD) for name, part in parts.items()}
        output.write_text(CARD, splits_card(manifests, options.recorded()), 0)
        SplitsManifest(
            **job,
            source=build.manifest.source,
            splits={name: _facts(name, partition, output) for name in parts},
            threads=threads,
            warnings=list(progress.warnings),
            outputs=dict(sorted(output.outputs.items())),
            stages=[asdict(record) for record in progress.records],
        ).write(output.folder)
        output.publish()
    return Splits(options.out)


def build_digest(build: Build) -> str:
    """Return a SHA-256 of the fingerprints of a build's files."""
    return canonical_digest(
        sorted((path, output.fingerprint) for path, output in build.manifest.tables.items())
    )


def _warn_of_large_group(partition: Partition, options: SplitOptions, progress: Progress) -> None:
    """Warn about a group that is larger than the share of a split."""
    concepts = partition.concepts
    sizes = concepts.group_by("group_id", "split").len("n").sort("n", "group_id")
    group, split_name, largest = sizes.row(-1)
    smallest, share = min(shares_of(options.ratios).items(), key=lambda item: item[1])
    if largest > share * concepts.height:
        progress.warn(
            f"the group of {group} has {largest:,} of {concepts.height:,} concepts, more than the "
            f"share of {smallest} ({float(share):.1%}); it is all in {split_name}, so the splits "
            "do not have the sizes of `ratios`"
        )


class OutputPart(OutputFolder):
    """An output inside an unfinished output, such as the build of a split.

    Its files are written, recorded and resumed as files of the outer output.
    """

    def __init__(self, whole: OutputFolder, name: str) -> None:
        self._whole_output, self._prefix = whole, f"{name}/"
        self.folder = whole.folder / name
        self.outputs = {}
        self._job, self._digests = whole._job, whole._digests  # noqa: SLF001 — one note

    def register_manifest(self) -> None:
        """Record the manifest, which is written last, as a file of the outer output."""
        digest = digest_of(self.folder / MANIFEST)
        self._whole_output.outputs[self._prefix + MANIFEST] = Output(rows=1, fingerprint=digest)

    def _register(self, name: str, output: Output) -> None:
        super()._register(name, output)
        self._whole_output.outputs[self._prefix + name] = output

    def _note_job(self) -> None:
        self._whole_output._note_job()  # noqa: SLF001 — as above


def _write_split(
    build: Build,
    name: str,
    partition: Partition,
    options: SplitOptions,
    output: OutputFolder,
    progress: Progress,
) -> OutputPart:
    """Write the build of one split."""
    part, split_progress = OutputPart(output, name), progress.part(name)
    threads = checked_threads(options.threads)
    with Store(threads=threads, spill=output.spill) as store:
        with split_progress.stage("select its rows") as stage:
            whole = {f"whole_{name}": table.files for name, table in CANONICAL_TABLES.items()}
            store.view_files(build.folder, whole)
            store.put("concept_split", partition.concepts.filter(split=name))
            store.put("left_out", partition.left_out.filter(split=name))
            for table_name in CANONICAL_TABLES:
                store.run(f"splits/tables/{table_name}")
            stage.note(f"{store.n_rows('concept'):,} concepts")
        facts = {"name": name, **options.recorded(), "build": build_digest(build)}
        if "split" in build.manifest.options:
            facts["of"] = build.manifest.options["split"]
        run = Run(
            options=replace(build.options, corrections=partition.corrections[name]),
            terminology=replace(terminology_of(build), skipped=partition.skipped(name)),
            embedding=partition.embedding,
            cache=cache_folder(options.cache),
            store=store,
            threads=threads,
            progress=split_progress,
            split=facts,
        )
        derived = derive(run)
        run = run.with_fingerprint(derived)
        write_terminology(run, part)
        write_build(run, derived, part)
    part.register_manifest()
    progress.warnings += [f"{name}: {line}" for line in split_progress.warnings]
    progress.records += [replace(r, name=f"{name}: {r.name}") for r in split_progress.records]
    return part


def terminology_of(build: Build) -> Terminology:
    """Return the facts about a build's terminology from its manifest."""
    source: dict[str, Any] = dict(build.manifest.source)
    day = source["release_date"]
    return Terminology(
        **{
            **source,
            "release_date": day and date.fromisoformat(day),
            "files": tuple(SourceFile(**facts) for facts in source["files"]),
            "skipped": (),
        }
    )


def _write_tables(
    build: Build, parts: Mapping[str, OutputPart], partition: Partition, output: OutputFolder
) -> None:
    """Write the tables of all splits together."""
    key = {
        "medsim": manifest.medsim_version(),
        "redistributable": str(build.manifest.source["redistributable"]),
    }
    stats = pl.concat(
        read_parquet(part.folder / STATS.files)
        .with_columns(split=pl.lit(name))
        .select(*SPLIT_STATS.dtypes)
        for name, part in parts.items()
    )
    output.write(CONCEPT_SPLIT.files, partition.concepts, key)
    output.write(SPLIT_STATS.files, stats, key)


def _facts(name: str, partition: Partition, output: OutputFolder) -> dict[str, object]:
    """Return the sizes of one split, and its share of the positives of each dataset."""
    concepts = partition.concepts.filter(split=name)
    whole, split_counts = (
        sets.group_by("dataset").agg(pl.col("n_positives").sum())
        for sets in (partition.positives, partition.positives.filter(split=name))
    )
    counts = dict(split_counts.iter_rows())
    return {
        "n_groups": concepts["group_id"].n_unique(),
        "n_concepts": concepts.height,
        "largest_group": concepts.group_by("group_id").len()["len"].max() or 0,
        "n_terms": output.outputs[f"{name}/terminology/term.parquet"].rows,
        "positives": {dataset: counts.get(dataset, 0) for dataset in sorted(whole["dataset"])},
        "shares": {
            dataset: round(counts.get(dataset, 0) / total, 6)
            for dataset, total in sorted(whole.iter_rows())
        },
    }
