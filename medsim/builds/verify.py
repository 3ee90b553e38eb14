"""Verifies all promises of a finished build, each derived anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.datasets import set_keys, with_concept_numbers
from medsim.builds.embedded import check_same, embedded, embedding_of, paired_terms
from medsim.builds.embedding_checks import check_most_similar, check_similarities
from medsim.builds.options import VerifyOptions
from medsim.builds.output import (
    BUILD,
    CARD,
    PAIR_FILES,
    STATS_COLUMNS,
    TERM_COLUMNS,
    TERM_FILE,
    Build,
)
from medsim.builds.recomputed_checks import (
    Recomputed,
    Sample,
    check_nearest,
    check_positives,
    check_random,
    check_rows,
    check_stats,
    check_terms,
    recompute,
)
from medsim.builds.rule_checks import CheckedPairs
from medsim.core.checks import Finding, Verification, findings_table
from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.files import digest_of
from medsim.core.kinds import CANONICAL_TABLES, DIALECT_DESCRIPTION_COLUMNS
from medsim.core.manifest import fingerprint
from medsim.core.opened import read_damaged_rows, reading_output
from medsim.core.options import folder_of, public
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.embeddings.embedded_terms import settled
from medsim.embeddings.encoders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.builds.datasets import SetKey
    from medsim.embeddings.embedded_terms import NamedEmbedding


@public(VerifyOptions)
def verify(options: VerifyOptions) -> Verification:
    """Return whether a build on disk keeps medsim's promises, each derived anew.

    Files and rows are compared with the manifest; positives are derived again from the canonical
    tables; rules are checked in SQL; distances, statistics, ids and the order of rows are computed
    again; random negatives are drawn again; first terms of each set, a random sample of them or
    all, are compared with every term of the set by an independent library; cosines are computed
    again from the embedding. What a sample leaves out may be wrong: ``n_compared`` and
    ``n_first_terms`` of the result say how much that is. First terms that have fewer negatives
    than positives are always compared.

    Raises:
        InputError: the folder holds no finished build, or its embedding is missing or another.
        OptionError: the sample is negative, or ``embedding`` does not fit the build.
    """
    build, progress = Build(folder_of(options.folder)), progress_of(options.progress)
    sample = Sample.of(options)
    with reading_output(build):
        named = embedding_of(build, options.embedding, progress)
        with progress.stage("compare files with the manifest"):
            findings = list(_check_files(build))
            damaged = any(found.violations for found in findings[:2])
        if not damaged:
            findings += _check_content(build, named, options, sample, progress)
    return Verification(
        findings=findings_table(findings),
        n_compared=sum(one.n_compared for one in findings),
        n_first_terms=sum(one.n_first_terms for one in findings),
        seed=sample.seed,
    )


def _check_files(build: Build) -> Iterator[Finding]:
    """Yield whether files are there, have their columns, and hold the rows of the manifest."""
    promised, card = build.manifest.tables, build.manifest.outputs.get(CARD)
    found = {path.relative_to(build.folder).as_posix() for path in build.folder.rglob("*.parquet")}
    expected = set(BUILD.views_in(build.folder).values()) - {PAIR_FILES}
    sets = {key.path: key for strategy in build.strategies for key in set_keys(strategy)}
    expected |= set(sets)
    wrong = sorted((expected ^ found) | (expected ^ set(promised)))
    yield Finding("files", "The Parquet files of a build are there, and no others.", wrong)
    unreadable, changed = [], []
    for name in sorted(expected & found & set(promised)):
        try:
            frame = read_damaged_rows(build.folder / name)
        except InputError:
            unreadable.append(name)
            continue
        if frame.schema != _schema(build, name, sets.get(name)):
            unreadable.append(name)
            continue
        if fingerprint(frame) != promised[name].fingerprint or frame.height != promised[name].rows:
            changed.append(name)
    yield Finding("columns", "Every file has the columns of its table.", unreadable)
    yield Finding("fingerprint", "Every file holds the rows of the manifest.", changed)
    if card is not None:  # earlier versions wrote none
        path = build.folder / CARD
        is_same = path.is_file() and digest_of(path) == card.fingerprint
        yield Finding("card", "The card is that of the manifest.", [] if is_same else [CARD])


def _check_content(
    build: Build,
    named: NamedEmbedding | None,
    options: VerifyOptions,
    sample: Sample,
    progress: Progress,
) -> list[Finding]:
    threads = checked_threads(options.threads)
    with Store(threads=threads) as store:
        with progress.stage("derive positives anew"):
            recomputed = recompute(build, store, threads)
            findings = [check_positives(recomputed)]
            if TERM_FILE in build.manifest.outputs:  # which builds of earlier versions lack
                findings.append(check_terms(recomputed))
        with progress.stage("check the rules"):
            checked = CheckedPairs(store, recomputed.derived.positives, recomputed.names)
            for key, pairs in recomputed.pairs.items():
                numbers = with_concept_numbers(pairs, recomputed.names)
                checked.add(key, numbers, build.folder / key.path)
            findings += checked.findings()
        with progress.stage("compute ids, distances, order and statistics anew"):
            findings += [check_rows(recomputed), check_stats(recomputed)]
        if "random" in build.strategies:
            with progress.stage("draw random negatives anew") as stage:
                findings.append(check_random(recomputed, stage))
        if "levenshtein" in build.strategies:
            with progress.stage("search first terms by brute force") as stage:
                findings.append(check_nearest(recomputed, sample, stage))
        if named is not None:
            cache = cache_folder(options.cache)
            findings += _check_embedding(recomputed, named, cache, sample, progress)
    return findings


def _check_embedding(
    recomputed: Recomputed,
    named: NamedEmbedding,
    cache: Path | None,
    sample: Sample,
    progress: Progress,
) -> list[Finding]:
    derived = recomputed.derived
    if not named.fingerprint:
        terms = paired_terms(derived)
        named = settled(named, terms, progress, threads=recomputed.threads)
        check_same(recomputed.build, named)
    index = embedded(named, derived, progress, threads=recomputed.threads, cache=cache)
    recomputed = replace(recomputed, derived=replace(derived, index=index))
    with progress.stage("compute similarities anew"):
        findings = [check_similarities(recomputed)]
    with progress.stage("compare vectors of first terms by brute force") as stage:
        findings.append(check_most_similar(recomputed, sample, stage))
    return findings


def _schema(build: Build, name: str, key: SetKey | None) -> pl.Schema:
    """Return the columns that a file must have."""
    if key is not None:
        return key.schema()
    if name == TERM_FILE:
        return pl.Schema(TERM_COLUMNS)
    if name == "terminology/description.parquet" and "dialect" in build.manifest.options:
        return pl.Schema(DIALECT_DESCRIPTION_COLUMNS)
    if name.startswith("terminology/"):
        return pl.Schema(CANONICAL_TABLES[Path(name).stem])
    return pl.Schema(STATS_COLUMNS)
