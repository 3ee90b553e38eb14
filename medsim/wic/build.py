"""Builds a benchmark of words in context from corpora and a terminology."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.kinds import WIC_COLUMNS
from medsim.core.manifest import Skipped
from medsim.core.options import public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.corpora import CORPUS_SPLITS
from medsim.corpora.documents import Problems
from medsim.corpora.sentences import check_language
from medsim.terminologies.mappings import cite_codes
from medsim.terminologies.sources import Terminology, find_source, read_terminology, source_paths
from medsim.wic import GROUPS
from medsim.wic.mentions import (
    chosen_mentions,
    codes_of_corpora,
    forms_with_relations,
    mention_hashes,
    read_mentions,
)
from medsim.wic.options import WicBuildOptions
from medsim.wic.output import (
    CHOSEN_MENTION,
    INSTANCE,
    NAME,
    RELATED,
    SEMANTIC_TYPE,
    WIC,
    Benchmark,
    WicManifest,
)
from medsim.wic.rules import QUOTAS
from medsim.wic.splits import Splitter, benchmark_mentions, blocks_of, instance_rows


@public(WicBuildOptions)
def build_wic(options: WicBuildOptions) -> Benchmark:
    """Build a benchmark in ``out``, as Rouhizadeh et al. (2024) built BioWiC, and return it.

    Raises:
        InputError: a corpus or the terminology is missing or damaged, or no mention of a corpus is
            linked to a concept of the terminology.
        OptionError: an option is out of range or does not fit, or the extra wic is not installed.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    source, paths = str(options.terminology), [Path(path) for path in options.corpora]
    find_source(source)  # before corpora are split into sentences
    check_language(options.language)
    with (
        claimed_by(options, WIC, source_paths(options.terminology)) as output,
        Store(threads=threads, spill=output.spill) as store,
    ):
        with progress.stage("read codes of corpora") as stage:
            codes = codes_of_corpora(paths)
            vocabularies = ", ".join(codes["vocabulary"].unique().sort()) or "no vocabulary"
            stage.note(f"{codes.height:,} codes of {vocabularies}")
        terminology = read_terminology(source, store, options, progress)
        store.put("corpus_code", codes)
        cite_codes(store, terminology.vocabulary)  # leaves the table cited_code
        if not store.frame("wic/known_code")["n_codes"].item():  # before sentences, which are slow
            raise InputError(
                f"no mention is linked to a concept of {terminology.name}; the corpora have codes "
                f"of {vocabularies}, so use a terminology with these ids or codes"
            )
        facts, mentions, left_out = _linked_mentions(store, options, threads, progress)
        instances = _instances(store, options, mentions, terminology.vocabulary, threads, progress)
        quotas = _quotas(instances, progress)
        for split in CORPUS_SPLITS:
            rows = instances.filter(split=split).select(list(WIC_COLUMNS))
            text = json.dumps(rows.to_dicts(), ensure_ascii=False, indent=1)
            output.write_text(f"{split}.json", f"{text}\n", rows.height)
        metadata = _metadata(options, facts, terminology)
        output.write(INSTANCE.files, instances, metadata)
        output.write(CHOSEN_MENTION.files, benchmark_mentions(mentions), metadata)
        output.write(NAME.files, store.frame("wic/benchmark_name"), metadata)
        output.write(RELATED.files, store.table("related_concept"), metadata)
        if (types := store.frame("wic/semantic_type")).height:
            output.write(SEMANTIC_TYPE.files, types, metadata)
        WicManifest(
            corpora=facts,
            terminology=terminology.to_json(),
            quotas=quotas,
            skipped=[asdict(item) for item in (*terminology.skipped, *left_out)],
            **output.run_facts(options.recorded(), progress, threads, "pysbd", "simplemma"),
        ).write(output.folder)
    return Benchmark(options.out)


def _linked_mentions(
    store: Store, options: WicBuildOptions, threads: int, progress: Progress
) -> tuple[list[dict[str, Any]], pl.DataFrame, tuple[Skipped, ...]]:
    """Return facts on corpora, one mention of each sentence with its concept, and omissions."""
    paths, problems = [Path(path) for path in options.corpora], Problems()
    with progress.stage("read corpora") as stage:
        found, facts = read_mentions(
            paths, problems, language=options.language, threads=threads, advance=stage.advance
        )
        n_sentences = sum(each["n_sentences"] for each in facts)
        stage.note(f"{found.height:,} mentions in {n_sentences:,} sentences")
    progress.warn(*problems.warnings())
    with progress.stage("link mentions to concepts") as stage:
        store.put("mention", found)
        store.run("wic/linked_mention")
        unlinked = store.frame("wic/unlinked_mention")
        mentions = chosen_mentions(store.table("linked_mention"), options.seed)
        n_concepts = mentions["concept_id"].n_unique()
        stage.note(f"{mentions.height:,} sentences with one of {n_concepts:,} concepts")
    skipped = (Skipped(reason=why, n_rows=n) for why, n in unlinked.iter_rows())
    return facts, mentions, (*problems.skipped(), *skipped)


def _instances(
    store: Store,
    options: WicBuildOptions,
    mentions: pl.DataFrame,
    vocabulary: str | None,
    threads: int,
    progress: Progress,
) -> pl.DataFrame:
    """Return the instances of all splits with their provenance."""
    with progress.stage("compare terms") as stage:
        language, broader = options.language, options.broader
        forms = forms_with_relations(store, mentions, language, vocabulary, broader)
        blocks = blocks_of(store, mentions, forms, options.label_similarity, threads=threads)
        stage.note(f"{blocks['n_pairs'].sum():,} candidate instances")
    with progress.stage("draw splits") as stage:
        splits = Splitter(
            blocks=blocks,
            hashes=mention_hashes(mentions),
            seed=options.seed,
            quotas=QUOTAS["test"],
            max_train=options.max_train,
            max_repeats=options.max_repeats,
        ).split()
        instances = pl.concat(instance_rows(name, splits[name], mentions) for name in CORPUS_SPLITS)
        stage.note(", ".join(f"{name} {len(splits[name]):,}" for name in CORPUS_SPLITS))
    if not instances.height:
        raise InputError(
            "no two sentences make an instance; use more sentences, or a terminology with more of "
            "their codes"
        )
    return instances


def _quotas(instances: pl.DataFrame, progress: Progress) -> dict[str, dict[str, int]]:
    """Return the number of instances of either label, by group and split.

    Warn of groups that are smaller in test than in BioWiC.
    """
    counts = Counter(instances.select("split", "cat").iter_rows())
    quotas = {split: {cat: counts[split, cat] // 2 for cat in GROUPS} for split in CORPUS_SPLITS}
    published, in_test = QUOTAS["test"].items(), quotas["test"]
    small = [f"{cat} {2 * in_test[cat]} of {2 * n}" for cat, n in published if in_test[cat] < n]
    if small:
        progress.warn(
            f"the corpora give fewer instances than BioWiC has; in test {', '.join(small)}; "
            "dev has half as many"
        )
    return quotas


def _metadata(
    options: WicBuildOptions, corpora: Sequence[dict[str, Any]], terminology: Terminology
) -> dict[str, str]:
    """Return the provenance for every Parquet file, and whether it may be redistributed.

    Corpora do not say whether they may, so the permission of a terminology is not enough.
    """
    return {
        "corpora": json.dumps(sorted(facts["name"] for facts in corpora)),
        "terminology": terminology.name,
        "options": json.dumps(options.recorded()),
        "redistributable": "false" if terminology.redistributable is False else "null",
        "terms_of_use": f"those of the corpora, and of the terminology: {terminology.terms_of_use}",
    }
