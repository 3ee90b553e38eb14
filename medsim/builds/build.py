"""Builds the datasets of a terminology, from its files to a folder of Parquet."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from medsim.builds.checks import run_checks
from medsim.builds.datasets import (
    SetKey,
    SetMaker,
    set_keys,
    set_maker,
)
from medsim.builds.embedded import place_of, without_vectors
from medsim.builds.run_key import run_key, libraries_of, options_of
from medsim.builds.options import BuildOptions
from medsim.builds.term_index import index_terms
from medsim.builds.stages import (
    Run,
    derive,
    largest_component,
    named_embedding,
    read,
    wanted_of_sets,
    warn_of_large_component,
    with_vectors,
)
from medsim.builds.stats import stats_row
from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import BrokenPromiseError, OptionError
from medsim.core.opened import PAIR_FILES, Build
from medsim.core.options import public
from medsim.core.output import OutputFolder, claimed
from medsim.core.schema import CANONICAL_TABLES
from medsim.core.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from medsim.builds.negatives import Found, TermIndex
    from medsim.builds.negatives.wanted import Wanted
    from medsim.builds.positives import Positives
    from medsim.core.manifest import Skipped
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.terminologies.sources import Terminology


@public(BuildOptions)
def build(options: BuildOptions) -> Build:
    """Return the build that it writes: ten datasets a strategy of negatives.

    Raises:
        InputError: the source or the embedding is missing, damaged or in no known format.
        OptionError: an option is out of range or does not fit the source.
        OutputError: ``out`` is taken or cannot be written.
        ClusterError: the cluster cannot be reached, or its workers cannot do what is asked.
    """
    with _search_elsewhere(options) as search:
        return complete(options, search)


class FirstSearch(Protocol):
    """Searches for the nearest candidates of first terms elsewhere, before they are served."""

    def check(self, job: Mapping[str, str]) -> None:
        """Raise MedsimError if it cannot serve a job, see ``run_key``; nothing is written yet."""

    def find(self, run: Run, index: TermIndex, wanted: Sequence[Wanted]) -> Sequence[Found]:
        """Return what was found; what is missing is searched for when it is needed.

        Args:
            run: what is asked for.
            index: all terms.
            wanted: what the sets that are still to be made will ask for.
        """


def complete(options: BuildOptions, search: FirstSearch | None = None) -> Build:
    """Return the build that it writes.

    Args:
        options: what is asked for.
        search: where nearest candidates are searched for; here, set by set, by default.
    """
    options = options.corrected()
    with (
        claimed(Path(options.out), overwrite=options.overwrite) as output,
        Store(threads=checked_threads(options.threads), spill=output.spill) as store,
    ):
        run = Run.of(options, store)
        named = named_embedding(run)
        terminology = read(run)
        job = run_key(options, terminology, named)
        if search is not None:
            search.check(job)
        _begin(run, output, job)
        positives = derive(run, terminology)
        index = index_terms(positives, store, pool=options.pool)
        warn_of_large_component(run, index)
        if named is not None:
            index = with_vectors(run, named, positives, index)
        known: Sequence[Found] = ()
        if search is not None:
            left = [key for key in set_keys("levenshtein") if not output.holds(key.path)]
            known = search.find(run, index, wanted_of_sets(positives, index, left))
        stats = _write_sets(run, output, _makers(run, positives, index, known), job)
        _check(run, output)
        skipped = (*positives.skipped, *without_vectors(positives, index))
        _finish(run, output, terminology, named, skipped, index, stats)
        output.publish()
    return Build(options.out)


def _search_elsewhere(options: BuildOptions) -> AbstractContextManager[FirstSearch | None]:
    """Return what opens and closes the cluster that is named, if one is."""
    if options.dask is None:
        return nullcontext()
    try:
        from medsim.builds.cluster import on_cluster  # noqa: PLC0415 — needs the extra dask
    except ImportError as error:
        raise OptionError('`dask` needs Dask: pip install "medsim[dask]"') from error
    return on_cluster(options.dask, threads=checked_threads(options.threads))


def _begin(run: Run, output: OutputFolder, job: dict[str, str]) -> None:
    """Write the canonical tables, beside what an interrupted run of the same job has written."""
    output.resume(job)
    for table in CANONICAL_TABLES:
        output.write(f"terminology/{table}.parquet", run.store.table(table), job)


def _makers(
    run: Run, positives: Positives, index: TermIndex, known: Sequence[Found]
) -> Iterator[tuple[str, SetMaker]]:
    """Yield what makes the sets of each strategy, in the order in which they are made."""
    seed, threads = run.options.seed, run.threads
    for name in run.options.strategies:
        yield (
            name,
            set_maker(name, positives, index, run.store, seed=seed, threads=threads, known=known),
        )


def _write_sets(
    run: Run,
    output: OutputFolder,
    makers: Iterable[tuple[str, SetMaker]],
    job: dict[str, str],
) -> pl.DataFrame:
    """Write the datasets and their statistics, which are returned.

    Args:
        run: what is asked for.
        output: where files are written.
        makers: of the sets of each strategy, by its name, in the order in which they are made.
        job: the metadata of files.
    """
    rows = []
    for name, maker in makers:
        for key in set_keys(name):
            pairs = _taken_over(run, output, maker, key)
            if pairs is None:
                with run.progress.stage(f"make {key}") as stage:
                    pairs = maker.make(key, stage)
                    output.write(key.path, pairs, {**job, **key.columns()})
                    stage.found(f"{pairs.height:,} pairs")
            rows.append(stats_row(key.columns(), pairs))
    stats = pl.concat(rows).sort("dataset", "difficulty", "negatives")
    output.write("stats.parquet", stats, job)
    return stats


def _taken_over(
    run: Run, output: OutputFolder, maker: SetMaker, key: SetKey
) -> pl.DataFrame | None:
    """Return the rows that an interrupted run of the same job wrote, if it did."""
    pairs = output.read(key.path)
    if pairs is None or pairs.schema != key.schema():
        return None
    maker.take_over(key, pairs)
    output.took_over(key.path, pairs)
    run.progress.say(f"take over {key} from an interrupted run: {pairs.height:,} pairs")
    return pairs


def _check(run: Run, output: OutputFolder) -> None:
    """Check the rules of the datasets on what lies on disk.

    Raises:
        BrokenPromiseError: a rule does not hold, which is a bug.
    """
    with run.progress.stage("check the rules") as stage:
        run.store.view_parquet(output.folder, {"pair": PAIR_FILES})
        findings = run_checks(run.store)
        broken = findings.filter(pl.col("violations") > 0)
        if broken.height:
            raise BrokenPromiseError(
                f"the build breaks its own rules ({', '.join(broken['check'])}); please report it"
            )
        stage.found(f"{findings.height} hold")


def _finish(
    run: Run,
    output: OutputFolder,
    terminology: Terminology,
    named: NamedEmbedding | None,
    skipped: tuple[Skipped, ...],
    index: TermIndex,
    stats: pl.DataFrame,
) -> None:
    """Write the manifest, the last file of a build."""
    shortfall = int(stats["shortfall"].sum())
    if shortfall:
        run.progress.warn(
            f"{shortfall:,} negatives could not be made; see them by medsim sql OUT 'from stats'"
        )
    manifest.Manifest(
        medsim=manifest.medsim_version(),
        libraries=libraries_of(named),
        source=terminology.told(),
        options=options_of(run.options, named),
        embedding=None if named is None else place_of(named),
        threads=run.threads,
        skipped=[asdict(one) for one in (*terminology.skipped, *skipped)],
        components={
            "n_terms": len(index.components),
            "n_components": len(np.unique(index.components)),
            "largest": largest_component(index),
        },
        shortfall=shortfall,
        warnings=list(run.progress.warnings),
        outputs=dict(sorted(output.outputs.items())),
        stages=[asdict(record) for record in run.progress.records],
    ).write(output.folder)
