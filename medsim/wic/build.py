"""Builds a benchmark of words in context from corpora and a terminology."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.manifest import (
    WIC,
    Skipped,
    WicManifest,
    language_versions,
    library_versions,
    medsim_version,
)
from medsim.core.options import public
from medsim.core.output import claimed
from medsim.core.progress import Progress
from medsim.core.store import Store
from medsim.terminologies.reading import read_terminology
from medsim.terminologies.sources import find_source
from medsim.wic import GROUPS, SPLITS
from medsim.wic.benchmark import (
    INSTANCES,
    MENTIONS,
    NAMES,
    RELATED,
    STATISTICS,
    Benchmark,
)
from medsim.wic.checks.rules import QUOTAS
from medsim.wic.corpora.mentions import read_corpora
from medsim.wic.layout import instances_text
from medsim.wic.making.candidates import candidate_blocks
from medsim.wic.making.instances import benchmark_mentions, instance_rows
from medsim.wic.making.mentions import chosen_mentions, content_hashes
from medsim.wic.making.splits import Splitter
from medsim.wic.options import WicBuildOptions
from medsim.wic.statistics import statistics_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.core.output import OutputFolder
    from medsim.terminologies.sources import Terminology
    from medsim.wic.corpora.mentions import Corpora
    from medsim.wic.making.candidates import Blocks

_ALL = 1 << 62


@public(WicBuildOptions)
def build_wic(options: WicBuildOptions) -> Benchmark:
    """Return the benchmark that it writes to ``out``, as Rouhizadeh et al. (2024) built BioWiC.

    Raises:
        InputError: a corpus or the terminology is missing or damaged, or no mention of a corpus
            stands for a concept of the terminology.
        OptionError: an option is out of range or does not fit, or medsim[wic] is not installed.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress, threads = options.progress or Progress(), checked_threads(options.threads)
    source = str(options.terminology)
    find_source(source)  # before corpora are cut into sentences
    with (
        claimed(Path(options.out), overwrite=options.overwrite, kind=WIC) as output,
        Store(threads=threads, spill=output.spill) as store,
    ):
        output.resume({})
        corpora = _read_corpora(options, progress)
        terminology = read_terminology(source, store, options, progress)
        mentions, unlinked = _link(options, corpora, terminology, store, progress)
        blocks = _compare(options, terminology, mentions, store, progress)
        instances = _split(options, mentions, blocks, progress)
        _warn_of_small_groups(instances, progress)
        tables = {
            INSTANCES: instances,
            MENTIONS: benchmark_mentions(mentions),
            NAMES: store.frame("wic/benchmark_name"),
            RELATED: store.table("related_concept"),
            STATISTICS: statistics_of(instances, mentions, corpora),
        }
        _write(output, tables, _metadata(options, corpora, terminology))
        _finish(options, output, corpora, terminology, unlinked, instances, progress)
        output.publish()
    return Benchmark(options.out)


def _read_corpora(options: WicBuildOptions, progress: Progress) -> Corpora:
    with progress.stage("read corpora") as stage:
        found = read_corpora(
            list(map(Path, options.corpora)),
            threads=checked_threads(options.threads),
            advance=stage.advance,
        )
        n_sentences = sum(one.n_sentences for one in found.corpora)
        stage.found(f"{found.mentions.height:,} mentions in {n_sentences:,} sentences")
    for warning in found.warnings:
        progress.warn(warning)
    return found


def _link(
    options: WicBuildOptions,
    corpora: Corpora,
    terminology: Terminology,
    store: Store,
    progress: Progress,
) -> tuple[pl.DataFrame, tuple[Skipped, ...]]:
    """Return one mention of each sentence with its concept, and how many stand for none."""
    with progress.stage("link mentions to concepts") as stage:
        store.put("mention", corpora.mentions)
        store.run("wic/cited_code", vocabulary=terminology.vocabulary)
        store.run("wic/linked_mention")
        unlinked = store.frame("wic/unlinked_mention")
        mentions = chosen_mentions(store.table("linked_mention"), options.seed)
        stage.found(
            f"{mentions.height:,} sentences with one of "
            f"{mentions['concept_id'].n_unique():,} concepts"
        )
    if not mentions.height:
        vocabularies = ", ".join(corpora.mentions["vocabulary"].unique().sort())
        raise InputError(
            f"no mention stands for a concept of {terminology.name}: the corpora have codes of "
            f"{vocabularies or 'no vocabulary'}; a terminology with these ids or codes is needed"
        )
    skipped = tuple(Skipped(reason=why, n_rows=n) for why, n in unlinked.iter_rows())
    return mentions, skipped


def _compare(
    options: WicBuildOptions,
    terminology: Terminology,
    mentions: pl.DataFrame,
    store: Store,
    progress: Progress,
) -> Blocks:
    with progress.stage("compare terms") as stage:
        blocks = candidate_blocks(
            store,
            mentions,
            language=options.language,
            vocabulary=terminology.vocabulary,
            any_depth=options.broader == "any",
            threads=checked_threads(options.threads),
        )
        stage.found(f"{int(blocks.n_pairs.sum()):,} candidate instances")
    return blocks


def _split(
    options: WicBuildOptions, mentions: pl.DataFrame, blocks: Blocks, progress: Progress
) -> pl.DataFrame:
    """Return the instances of all splits with their provenance."""
    with progress.stage("draw splits") as stage:
        splits = Splitter(
            blocks=blocks,
            hashes=content_hashes(mentions),
            seed=options.seed,
            quotas=QUOTAS["test"],
            most_train=options.most_train or _ALL,
        ).split()
        instances = pl.concat(instance_rows(name, splits[name], mentions) for name in SPLITS)
        numbers = (f"{name} {len(splits[name].labels):,}" for name in SPLITS)
        stage.found(", ".join(numbers))
    if not instances.height:
        raise InputError(
            "no two sentences make an instance of either label; more sentences are needed, or a "
            "terminology that knows more of their codes"
        )
    return instances


def _quotas(instances: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return how many instances of either label each group of each split has."""
    counts = Counter(instances.select("split", "cat").iter_rows())
    return {split: {group: counts[split, group] // 2 for group in GROUPS} for split in SPLITS}


def _warn_of_small_groups(instances: pl.DataFrame, progress: Progress) -> None:
    found = _quotas(instances)["test"]
    small = [
        f"{group} {2 * found[group]} of {2 * quota}"
        for group, quota in QUOTAS["test"].items()
        if found[group] < quota
    ]
    if small:
        progress.warn(
            f"the corpora give fewer instances than BioWiC has; in test {', '.join(small)}; "
            "dev has half as many"
        )


def _write(
    output: OutputFolder, tables: Mapping[str, pl.DataFrame], metadata: dict[str, str]
) -> None:
    for split in SPLITS:
        own = tables[INSTANCES].filter(pl.col("split") == split)
        output.write_text(f"{split}.json", instances_text(own) + "\n", own.height)
    for name, table in tables.items():
        output.write(name, table, metadata)


def _metadata(
    options: WicBuildOptions, corpora: Corpora, terminology: Terminology
) -> dict[str, str]:
    """Return what every Parquet file says of where it comes from, and whether it may be passed on.

    Corpora do not say it of themselves, so what a terminology allows is not enough.
    """
    redistributable = False if terminology.redistributable is False else None
    return {
        "medsim": medsim_version(),
        "corpora": json.dumps(sorted(one.corpus for one in corpora.corpora)),
        "terminology": terminology.name,
        "options": json.dumps(options.recorded()),
        "redistributable": json.dumps(redistributable),
        "terms_of_use": f"those of the corpora, and of the terminology: {terminology.terms_of_use}",
    }


def _finish(
    options: WicBuildOptions,
    output: OutputFolder,
    corpora: Corpora,
    terminology: Terminology,
    unlinked: tuple[Skipped, ...],
    instances: pl.DataFrame,
    progress: Progress,
) -> None:
    """Write the manifest, the last file."""
    skipped = (*terminology.skipped, *corpora.skipped, *unlinked)
    WicManifest(
        medsim=medsim_version(),
        libraries={**library_versions(), **language_versions()},
        corpora=[
            {
                "name": one.corpus,
                "file": path.name,
                "sha256": digest,
                "n_documents": one.n_documents,
                "n_sentences": one.n_sentences,
                "n_mentions": one.n_mentions,
            }
            for path, one, digest in zip(
                map(Path, options.corpora), corpora.corpora, corpora.digests, strict=True
            )
        ],
        terminology=terminology.to_json(),
        options=options.recorded(),
        quotas=_quotas(instances),
        threads=checked_threads(options.threads),
        skipped=[asdict(one) for one in skipped],
        warnings=list(progress.warnings),
        outputs=dict(sorted(output.outputs.items())),
        stages=[asdict(record) for record in progress.records],
    ).write(output.folder)
