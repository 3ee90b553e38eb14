"""Builds the datasets of a terminology, from its files to a folder of Parquet."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.cards.card import build_card
from medsim.builds.compiling import compiled_meanwhile, no_wait
from medsim.builds.datasets import SetMaker, set_keys
from medsim.builds.embedded import paired_terms, place_of, without_vectors
from medsim.builds.options import BuildOptions
from medsim.builds.output import BUILD, CARD, TERM_FILE, Build, BuildManifest
from medsim.builds.rule_checks import CheckedPairs
from medsim.builds.set_rows import Names
from medsim.builds.stages import (
    Run,
    derive,
    largest_component,
    libraries_of,
    recorded_options,
    requests_of_sets,
    run_key,
    warn_of_large_component,
    with_vectors,
)
from medsim.builds.stats import stats_row
from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import BrokenPromiseError, counted
from medsim.core.extras import needing
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.options import public
from medsim.core.output import OutputFolder, claimed
from medsim.core.parquet import holds
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.terminologies.sources import source_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from medsim.builds.datasets import SetKey
    from medsim.builds.negatives import SearchResult, TermIndex
    from medsim.builds.negatives.candidates import SearchRequest
    from medsim.builds.set_rows import SetRows
    from medsim.builds.term_index import Derived
    from medsim.core.output_part import OutputPart
    from medsim.terminologies.sources import Terminology

    Written = OutputFolder | OutputPart
    FirstSearch = Callable[[Run, TermIndex, Sequence[SearchRequest]], Sequence[SearchResult]]


@public(BuildOptions)
def build(options: BuildOptions) -> Build:
    """Return the build that it writes: ten datasets a strategy of negatives.

    Raises:
        InputError: the source or the embedding is missing, damaged or in no known format.
        OptionError: an option is out of range or does not fit the source.
        OutputError: ``out`` is taken or cannot be written.
        ClusterError: the cluster cannot be reached, or its workers cannot search.
    """
    here = options.dask is None and "levenshtein" in options.negatives
    compiling = compiled_meanwhile() if here else nullcontext(no_wait)
    with _search_elsewhere(options) as search, compiling as wait:
        return complete(options, search, wait=wait)


def complete(
    options: BuildOptions,
    search: FirstSearch | None = None,
    check: Callable[[Mapping[str, str]], None] | None = None,
    wait: Callable[[Progress], object] = no_wait,
) -> Build:
    """Return the build that it writes.

    ``search`` finds the nearest candidates of first terms elsewhere, before they are served; those
    that its results lack, by default all, are searched for here when they are needed. ``check``
    raises MedsimError if the search cannot serve a run of a key, see ``run_key``; nothing is
    written before. ``wait`` returns when kernels are compiled that are being compiled elsewhere.
    """
    with (
        claimed(
            Path(options.out),
            BUILD,
            overwrite=options.overwrite,
            read=options.paths_read(),
            whole=source_paths(options.source),
        ) as output,
        Store(threads=checked_threads(options.threads), spill=output.spill) as store,
    ):
        run = replace(Run.of(options, store), compiled=wait)
        terminology = run.read()
        key = run_key(run, terminology)
        if check is not None:
            check(key)
        early = None
        if run.named is not None and not run.named.fingerprint:  # only its vectors tell which it is
            early = derive(run, terminology)
            run = run.with_settled(paired_terms(early))
            key = run_key(run, terminology)
        output.resume(key)
        write_terminology(run, output, key)
        derived = early or derive(run, terminology)
        write_build(run, terminology, derived, output, search)
        output.publish()
    return Build(options.out)


def write_terminology(run: Run, output: Written, key: Mapping[str, str]) -> None:
    """Write the canonical tables, before positives take up memory.

    Args:
        run: its means; the store has the tables.
        output: where they are written.
        key: of the run, see ``run_key``.
    """
    with run.progress.stage("write the terminology"):
        for table in CANONICAL_TABLES:
            output.write(f"terminology/{table}.parquet", run.store.table(table), key)


def write_build(
    run: Run,
    terminology: Terminology,
    derived: Derived,
    output: Written,
    search: FirstSearch | None = None,
) -> pl.DataFrame:
    """Write the files of a build but its terminology, the manifest last; return its statistics.

    Args:
        run: its options and means; its embedding, if it has one, is settled.
        terminology: the facts about the canonical tables, which are in the store.
        derived: the positives of those and the terms that they join.
        output: where it is written.
        search: see ``complete``.

    Raises:
        BrokenPromiseError: the datasets break their own rules.
    """
    key = run_key(run, terminology)
    output.write(TERM_FILE, derived.terms(), key)
    warn_of_large_component(run, derived.index)
    if run.named is not None:
        derived = with_vectors(run, run.named, derived)
    known: Sequence[SearchResult] = ()
    if search is not None:
        left = [one for one in set_keys("levenshtein") if not output.exists(one.path)]
        known = search(run, derived.index, requests_of_sets(derived, left))
    names = Names.of(derived.positives, run.store)
    checked = CheckedPairs(run.store, derived.positives, names)
    stats = _write_sets(run, derived, names, known, checked, output, key)
    _check(run, checked)
    _write_manifest(run, terminology, derived, stats, output)
    return stats


def _search_elsewhere(options: BuildOptions) -> AbstractContextManager[FirstSearch | None]:
    """Return a context with the search on the cluster that is named, if one is."""
    if options.dask is None:
        return nullcontext()
    with needing("`dask` needs Dask", "dask"):
        from medsim.builds.cluster import on_cluster  # noqa: PLC0415 — needs the extra
    return on_cluster(
        options.dask,
        threads=checked_threads(options.threads),
        progress=progress_of(options.progress),
    )


def _write_sets(
    run: Run,
    derived: Derived,
    names: Names,
    known: Sequence[SearchResult],
    checked: CheckedPairs,
    output: Written,
    key: Mapping[str, str],
) -> pl.DataFrame:
    """Write the datasets and their statistics, which are returned."""
    seed, rows = run.options.seed, []
    for strategy in run.options.strategies:
        if strategy == "levenshtein":
            run.compiled(run.progress)
        maker = SetMaker(
            strategy, derived, names, run.store, seed=seed, threads=run.threads, known=known
        )
        for one in set_keys(strategy):
            numbers = _written_before(run, output, maker, one)
            if numbers is None:
                with run.progress.stage(f"make {one}") as stage:
                    numbers = _write_set(maker.make(one, stage), output, one, key)
                    stage.found(counted(numbers.height, "pair"))
            checked.add(one, numbers, output.folder / one.path)
            rows.append(stats_row(one.columns(), numbers))
            del numbers  # before the next set takes up memory
    stats = pl.concat(rows).sort("dataset", "difficulty", "negatives")
    output.write("stats.parquet", stats, key)
    return stats


def _write_set(
    made: SetRows, output: Written, key: SetKey, of_build: Mapping[str, str]
) -> pl.DataFrame:
    """Write one dataset, and return its numbers, which are those of what the file holds."""
    rows = made.rows()
    output.write(key.path, rows, {**of_build, **key.columns()})
    if not holds(output.folder / key.path, rows):
        raise BrokenPromiseError(f"{key.path} does not hold what was written; please report it")
    return made.numbers


def _written_before(run: Run, output: Written, maker: SetMaker, key: SetKey) -> pl.DataFrame | None:
    pairs = output.scan(key.path)
    if pairs is None or pairs.collect_schema() != key.schema():
        return None
    numbers = maker.take_over(key, pairs)
    output.register_existing(key.path, pairs)
    run.progress.say(f"take over {key} from an interrupted run: {counted(numbers.height, 'pair')}")
    return numbers


def _check(run: Run, checked: CheckedPairs) -> None:
    """Check the rules of the datasets on what the files hold."""
    with run.progress.stage("check the rules") as stage:
        findings = checked.findings()
        if broken := [one.check for one in findings if one.violations]:
            raise BrokenPromiseError(
                f"the build breaks its own rules ({', '.join(broken)}); please report it"
            )
        stage.found(f"{len(findings)} hold")


def _write_manifest(
    run: Run, terminology: Terminology, derived: Derived, stats: pl.DataFrame, output: Written
) -> None:
    shortfall = int(stats["shortfall"].sum())
    if shortfall:
        run.progress.warn(
            f"{counted(shortfall, 'negative')} could not be made; the column shortfall of the view "
            "stats has them by set"
        )
    skipped = (*terminology.skipped, *derived.positives.skipped, *without_vectors(derived))
    components = derived.index.components
    written = BuildManifest(
        medsim=manifest.medsim_version(),
        libraries=libraries_of(run.named),
        source=terminology.to_json(),
        options=recorded_options(run),
        embedding=None if run.named is None else place_of(run.named),
        threads=run.threads,
        skipped=[asdict(one) for one in skipped],
        components={
            "n_terms": len(components),
            "n_components": len(np.unique(components)),
            "largest": largest_component(derived.index),
        },
        shortfall=shortfall,
        warnings=list(run.progress.warnings),
        outputs=dict(sorted(output.outputs.items())),
        stages=[asdict(record) for record in run.progress.records],
    )
    output.write_text(CARD, build_card(written), 0)
    replace(written, outputs=dict(sorted(output.outputs.items()))).write(output.folder)
