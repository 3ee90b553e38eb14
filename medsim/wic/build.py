"""Builds a benchmark of words in context from corpora and a terminology."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.manifest import Skipped, library_versions, medsim_version
from medsim.core.options import public
from medsim.core.output import claimed
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.corpora.sentences import check_language
from medsim.terminologies.sources import find_source, read_terminology, source_paths
from medsim.terminologies.sources.ontology_rows import VOCABULARIES
from medsim.wic import GROUPS, SPLITS
from medsim.wic.benchmark import Benchmark, instances_text
from medsim.wic.candidates import candidate_blocks
from medsim.wic.mentions import chosen_mentions, codes_of_corpora, content_hashes, read_corpora
from medsim.wic.options import WicBuildOptions
from medsim.wic.output import INSTANCE, MENTION, NAME, RELATED, SEMANTIC_TYPE, WIC, WicManifest
from medsim.wic.rules import QUOTAS
from medsim.wic.splits import Splitter, benchmark_mentions, instance_rows

if TYPE_CHECKING:
    from medsim.core.manifest import Output
    from medsim.terminologies.sources import Terminology
    from medsim.wic.candidates import Blocks
    from medsim.wic.mentions import Corpora


@dataclass(frozen=True, slots=True, kw_only=True)
class _Making:
    """The context that all stages share."""

    options: WicBuildOptions
    threads: int
    progress: Progress
    store: Store


@public(WicBuildOptions)
def build_wic(options: WicBuildOptions) -> Benchmark:
    """Return the benchmark that it writes to ``out``, as Rouhizadeh et al. (2024) built BioWiC.

    Raises:
        InputError: a corpus or the terminology is missing or damaged, or no mention of a corpus
            stands for a concept of the terminology.
        OptionError: an option is out of range or does not fit, or the extra wic is not installed.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    source = str(options.terminology)
    find_source(source)  # before corpora are cut into sentences
    check_language(options.language)
    with (
        claimed(
            Path(options.out),
            WIC,
            overwrite=options.overwrite,
            read=options.paths_read(),
            whole=source_paths(options.terminology),
        ) as output,
        Store(threads=threads, spill=output.spill) as store,
    ):
        making = _Making(options=options, threads=threads, progress=progress, store=store)
        with progress.stage("read codes of corpora") as stage:
            codes = codes_of_corpora([Path(path) for path in options.corpora])
            stage.found(f"{codes.height:,} codes of {_vocabularies_in(codes)}")
        terminology = read_terminology(source, store, options, progress)
        _check_serves(store, codes, terminology)
        corpora = _read_corpora(making)
        mentions, unlinked = _link(making, corpora, terminology)
        blocks = _compare(making, mentions, terminology)
        instances = _split(making, mentions, blocks)
        for split in SPLITS:
            own = instances.filter(split=split)
            output.write_text(f"{split}.json", instances_text(own) + "\n", own.height)
        metadata = _metadata(options, corpora, terminology)
        output.write(INSTANCE.files, instances, metadata)
        output.write(MENTION.files, benchmark_mentions(mentions), metadata)
        output.write(NAME.files, store.frame("wic/benchmark_name"), metadata)
        output.write(RELATED.files, store.table("related_concept"), metadata)
        if (types := store.frame("wic/semantic_type")).height:
            output.write(SEMANTIC_TYPE.files, types, metadata)
        skipped = (*terminology.skipped, *corpora.skipped, *unlinked)
        written = _manifest(making, corpora, terminology, skipped, instances, output.outputs)
        written.write(output.folder)
        output.publish()
    return Benchmark(options.out)


def _check_serves(store: Store, codes: pl.DataFrame, terminology: Terminology) -> None:
    """Raise InputError if no code of the corpora stands for a concept of the terminology.

    It is found before sentences are cut, which takes longest.
    """
    store.put("corpus_code", codes)
    prefixes = {"prefix": list(VOCABULARIES), "vocabulary": list(VOCABULARIES.values())}
    store.put("vocabulary_prefix", pl.DataFrame(prefixes))
    store.run("wic/cited_code", vocabulary=terminology.vocabulary)
    if not store.frame("wic/known_code")["n_codes"].item():
        raise _no_mention(codes, terminology)
    store.drop("corpus_code", "vocabulary_prefix")


def _no_mention(codes: pl.DataFrame, terminology: Terminology) -> InputError:
    return InputError(
        f"no mention stands for a concept of {terminology.name}: the corpora have codes of "
        f"{_vocabularies_in(codes)}; a terminology with these ids or codes is needed"
    )


def _vocabularies_in(codes: pl.DataFrame) -> str:
    return ", ".join(codes["vocabulary"].unique().sort()) or "no vocabulary"


def _read_corpora(making: _Making) -> Corpora:
    with making.progress.stage("read corpora") as stage:
        found = read_corpora(
            [Path(path) for path in making.options.corpora],
            language=making.options.language,
            threads=making.threads,
            advance=stage.advance,
        )
        n_sentences = sum(one.n_sentences for one in found.corpora)
        stage.found(f"{found.mentions.height:,} mentions in {n_sentences:,} sentences")
    for warning in found.warnings:
        making.progress.warn(warning)
    return found


def _link(
    making: _Making, corpora: Corpora, terminology: Terminology
) -> tuple[pl.DataFrame, tuple[Skipped, ...]]:
    """Return one mention of each sentence with its concept, and how many stand for none.

    The table cited_code is there; see ``_check_serves``.
    """
    store = making.store
    with making.progress.stage("link mentions to concepts") as stage:
        store.put("mention", corpora.mentions)
        store.run("wic/linked_mention")
        unlinked = store.frame("wic/unlinked_mention")
        mentions = chosen_mentions(store.table("linked_mention"), making.options.seed)
        stage.found(
            f"{mentions.height:,} sentences with one of "
            f"{mentions['concept_id'].n_unique():,} concepts"
        )
    if not mentions.height:
        raise _no_mention(corpora.mentions, terminology)
    return mentions, tuple(Skipped(reason=why, n_rows=n) for why, n in unlinked.iter_rows())


def _compare(making: _Making, mentions: pl.DataFrame, terminology: Terminology) -> Blocks:
    with making.progress.stage("compare terms") as stage:
        blocks = candidate_blocks(
            making.store,
            mentions,
            language=making.options.language,
            vocabulary=terminology.vocabulary,
            any_depth=making.options.broader == "any",
            threads=making.threads,
        )
        stage.found(f"{int(blocks.n_pairs.sum()):,} candidate instances")
    return blocks


def _split(making: _Making, mentions: pl.DataFrame, blocks: Blocks) -> pl.DataFrame:
    """Return the instances of all splits with their provenance."""
    with making.progress.stage("draw splits") as stage:
        splits = Splitter(
            blocks=blocks,
            hashes=content_hashes(mentions),
            seed=making.options.seed,
            quotas=QUOTAS["test"],
            most_train=making.options.most_train,
            most_repeats=making.options.most_repeats,
        ).split()
        instances = pl.concat(instance_rows(name, splits[name], mentions) for name in SPLITS)
        stage.found(", ".join(f"{name} {len(splits[name].labels):,}" for name in SPLITS))
    if not instances.height:
        raise InputError(
            "no two sentences make an instance of either label; more sentences are needed, or a "
            "terminology that knows more of their codes"
        )
    own = _quotas(instances)["test"]
    small = [
        f"{group} {2 * own[group]} of {2 * quota}"
        for group, quota in QUOTAS["test"].items()
        if own[group] < quota
    ]
    if small:
        making.progress.warn(
            f"the corpora give fewer instances than BioWiC has; in test {', '.join(small)}; "
            "dev has half as many"
        )
    return instances


def _quotas(instances: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return how many instances of either label each group of each split has."""
    counts = Counter(instances.select("split", "cat").iter_rows())
    return {split: {group: counts[split, group] // 2 for group in GROUPS} for split in SPLITS}


def _metadata(
    options: WicBuildOptions, corpora: Corpora, terminology: Terminology
) -> dict[str, str]:
    """Return the provenance that every Parquet file carries, and whether it may be passed on.

    Corpora do not say that of themselves, so the permission of a terminology is not enough.
    """
    return {
        "medsim": medsim_version(),
        "corpora": json.dumps(sorted(one.corpus for one in corpora.corpora)),
        "terminology": terminology.name,
        "options": json.dumps(options.recorded()),
        "redistributable": "false" if terminology.redistributable is False else "null",
        "terms_of_use": f"those of the corpora, and of the terminology: {terminology.terms_of_use}",
    }


def _manifest(
    making: _Making,
    corpora: Corpora,
    terminology: Terminology,
    skipped: tuple[Skipped, ...],
    instances: pl.DataFrame,
    outputs: dict[str, Output],
) -> WicManifest:
    options, progress = making.options, making.progress
    files = zip(options.corpora, corpora.corpora, corpora.digests, strict=True)
    return WicManifest(
        medsim=medsim_version(),
        libraries=library_versions("pysbd", "simplemma"),
        corpora=[
            {
                "name": one.corpus,
                "file": Path(path).name,
                "sha256": digest,
                "n_documents": one.n_documents,
                "n_sentences": one.n_sentences,
                "n_mentions": one.n_mentions,
                "vocabularies": one.mentions["vocabulary"].unique().sort().to_list(),
                "kinds": one.mentions["kind"].unique().sort().to_list(),
            }
            for path, one, digest in files
        ],
        terminology=terminology.to_json(),
        options=options.recorded(),
        quotas=_quotas(instances),
        threads=making.threads,
        skipped=[asdict(one) for one in skipped],
        warnings=list(progress.warnings),
        outputs=dict(sorted(outputs.items())),
        stages=[asdict(record) for record in progress.records],
    )
