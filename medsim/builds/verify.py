"""Re-derives from a build on disk everything that medsim promises of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.checks import run_checks
from medsim.builds.datasets import set_keys
from medsim.builds.embedded import embedded, embedding_of
from medsim.builds.embedding_evidence import check_most_similar, check_similarities
from medsim.builds.evidence import (
    Evidence,
    check_nearest,
    check_positives,
    check_random,
    check_rows,
    check_stats,
    gather,
)
from medsim.builds.options import VerifyOptions
from medsim.builds.output import BUILD, PAIR_FILES, STATS_COLUMNS, Build
from medsim.core.checks import Finding, Verification, findings_table
from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.manifest import fingerprint
from medsim.core.options import public
from medsim.core.progress import Progress
from medsim.core.schema import CANONICAL_TABLES
from medsim.core.store import Store
from medsim.embeddings.vector_cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.embeddings.embedded_terms import NamedEmbedding


@public(VerifyOptions)
def verify(options: VerifyOptions) -> Verification:
    """Return whether a build on disk keeps medsim's promises, each derived anew.

    Files and rows are compared with the manifest; positives are derived again from the canonical
    tables; rules are checked in SQL; distances, statistics, ids and the order of rows are computed
    again; random negatives are drawn again; a sample of first terms, spread evenly over each set,
    is compared with every term of the set by an independent library; cosines are computed again
    from the embedding.

    Raises:
        InputError: the folder holds no finished build, or its embedding is missing or another.
        OptionError: the sample is negative, or ``embedding`` does not fit the build.
    """
    build, progress = Build(options.folder), options.progress or Progress()
    named = embedding_of(build, options.embedding, progress)
    with progress.stage("compare files with the manifest"):
        findings = list(_check_files(build))
        damaged = any(found.violations for found in findings[:2])
    if not damaged:
        checking = _Checking(
            build=build,
            named=named,
            cache=cache_folder(options.cache),
            sample=options.sample,
            threads=checked_threads(options.threads),
            progress=progress,
        )
        findings += _check_content(checking)
    return Verification(findings=findings_table(findings))


def _check_files(build: Build) -> Iterator[Finding]:
    """Yield whether files are there, have their columns, and hold the rows of the manifest."""
    promised = build.manifest.outputs
    found = {path.relative_to(build.folder).as_posix() for path in build.folder.rglob("*.parquet")}
    expected = set(BUILD.views_in(build.folder).values()) - {PAIR_FILES}
    sets = {key.path: key for strategy in build.strategies for key in set_keys(strategy)}
    expected |= set(sets)
    wrong = sorted((expected ^ found) | (expected ^ set(promised)))
    yield Finding("files", "The files of a build are there, and no others.", wrong)
    unreadable, changed = [], []
    for name in sorted(expected & found & set(promised)):
        try:
            frame = build.read(name)
        except InputError:
            unreadable.append(name)
            continue
        schema = sets[name].schema() if name in sets else _schema(name)
        if frame.schema != schema:
            unreadable.append(name)
        elif (
            fingerprint(frame) != promised[name].fingerprint or frame.height != promised[name].rows
        ):
            changed.append(name)
    yield Finding("columns", "Every file has the columns of its table.", unreadable)
    yield Finding("fingerprint", "Every file holds the rows of the manifest.", changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checking:
    """What the content of a build is checked with; see ``verify``."""

    build: Build
    named: NamedEmbedding | None
    cache: Path | None
    sample: int
    threads: int
    progress: Progress


def _check_content(checking: _Checking) -> list[Finding]:
    """Return what is found in the rows, all files being readable."""
    build, progress, threads = checking.build, checking.progress, checking.threads
    with Store(threads=threads) as store:
        store.view_files(build.folder, {"pair": PAIR_FILES})
        with progress.stage("derive positives anew"):
            evidence = gather(build, store, threads)
            findings = [check_positives(evidence)]
        with progress.stage("check the rules"):
            findings += run_checks(store)
        with progress.stage("compute ids, distances, order and statistics anew"):
            findings += [check_rows(evidence), check_stats(evidence)]
        return findings + _check_negatives(evidence, checking)


def _check_negatives(evidence: Evidence, checking: _Checking) -> list[Finding]:
    """Return what is found of each strategy that the build has."""
    findings, progress, strategies = [], checking.progress, checking.build.strategies
    if "random" in strategies:
        with progress.stage("draw random negatives anew") as stage:
            findings.append(check_random(evidence, stage))
    if "levenshtein" in strategies:
        with progress.stage("search a sample by brute force") as stage:
            findings.append(check_nearest(evidence, checking.sample, stage))
    if checking.named is not None:
        space = embedded(
            checking.named,
            evidence.positives,
            evidence.space,
            progress,
            threads=checking.threads,
            cache=checking.cache,
        )
        evidence = replace(evidence, space=space)
        with progress.stage("compute similarities anew"):
            findings.append(check_similarities(evidence))
        with progress.stage("compare a sample of vectors by brute force") as stage:
            findings.append(check_most_similar(evidence, checking.sample, stage))
    return findings


def _schema(name: str) -> pl.Schema:
    """Return the columns of a file of a build that holds no pairs."""
    if name.startswith("terminology/"):
        return pl.Schema(CANONICAL_TABLES[Path(name).stem])
    return pl.Schema(STATS_COLUMNS)
