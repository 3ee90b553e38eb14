"""Builds the datasets of a terminology, from its files to a folder of Parquet."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.cards import build_card
from medsim.builds.compiling import compiled_meanwhile, no_wait
from medsim.builds.corrections import correction_rows, read_corrections
from medsim.builds.datasets import (
    CheckedPairs,
    Names,
    SetMaker,
    positive_rows,
    positive_set,
    set_keys,
)
from medsim.builds.embedded import embedded, identity_of, paired_terms, place_of, without_vectors
from medsim.builds.negatives.candidates import search_plan
from medsim.builds.options import MOST_NAMES, BuildOptions
from medsim.builds.output import BUILD, CARD, TERM, Build, BuildManifest
from medsim.builds.positives import Derived, derive_positives, index_terms
from medsim.builds.stats import stats_row
from medsim.core import manifest, queries
from medsim.core.config import checked_threads
from medsim.core.errors import BrokenPromiseError, counted, listed, needing
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.options import public
from medsim.core.output import OutputFolder, claimed
from medsim.core.parquet import holds
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.embeddings.embedded_terms import identify, settled
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.given import embedding_spec
from medsim.terminologies.sources import read_terminology, source_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from medsim.builds.datasets import SetKey, SetRows
    from medsim.builds.negatives import SearchResult, TermIndex
    from medsim.builds.negatives.candidates import SearchRequest
    from medsim.builds.options import Correction, SearchOptions
    from medsim.builds.positives import Positives
    from medsim.core.output import OutputPart
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.terminologies.sources import Terminology

    Written = OutputFolder | OutputPart
    FirstSearch = Callable[["Run", TermIndex, Sequence[SearchRequest]], Sequence[SearchResult]]


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
    output.write(TERM.files, derived.terms(), key)
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


_LARGE_COMPONENT = 0.01  # of all terms; a chain of wrong positives can join what is not similar
_MANY_LINKED = 10  # terms; one concept may have as many names
_OF_NAMES = ["fsn_syn", "syn_syn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The options of a build or a shard, the files that they name, and the means of the run.

    Attributes:
        recorded: the options as the manifest has them, where they are those of another build that
            this one is a part of; None where they are its own.
        compiled: returns when the kernels of the search are compiled, if they are being so.
    """

    options: SearchOptions
    corrections: tuple[Correction, ...]
    named: NamedEmbedding | None
    cache: Path | None
    store: Store
    threads: int
    progress: Progress
    recorded: Mapping[str, object] | None = None
    compiled: Callable[[Progress], object] = no_wait

    @classmethod
    def of(cls, options: SearchOptions, store: Store) -> Run:
        """Return the run of a build or a shard."""
        progress = progress_of(options.progress)
        corrections = read_corrections(options.corrections)
        named, cache = None, None
        if isinstance(options, BuildOptions) and options.embedding is not None:
            named = identify(embedding_spec(options.embedding), progress)
            cache = cache_folder(options.cache)
        return cls(
            options=options,
            corrections=corrections,
            named=named,
            cache=cache,
            store=store,
            threads=checked_threads(options.threads),
            progress=progress,
        )

    def with_settled(self, terms: Sequence[str]) -> Run:
        """Return the run with the fingerprint of its embedding; see ``settled``."""
        if self.named is None:
            return self
        named = settled(self.named, terms, self.progress, threads=self.threads)
        return replace(self, named=named)

    def read(self) -> Terminology:
        """Fill the canonical tables."""
        options = self.options
        return read_terminology(str(options.source), self.store, options, self.progress)


def derive(run: Run, terminology: Terminology) -> Derived:
    """Return the positives of the canonical tables, and the terms that they join."""
    with run.progress.stage("derive positives") as stage:
        positives = derive_positives(
            run.store,
            language=run.options.language,
            rf2_rules=terminology.rf2_rules,
            threads=run.threads,
            corrections=run.corrections,
            most_names=run.options.most_names or MOST_NAMES,
        )
        index = index_terms(positives, run.store, pool=run.options.pool)
        stage.found(f"{positives.pairs.height:,} pairs of {positives.terms.height:,} terms")
    n_corrections = len(run.corrections)
    if n_unmatched := n_corrections - positives.corrected.height:
        run.progress.warn(
            f"{n_unmatched:,} of {n_corrections:,} corrections name terms that this "
            "terminology does not have; they change nothing"
        )
    _warn_of_empty_datasets(run, terminology, positives)
    return Derived(positives=positives, index=index)


def _warn_of_empty_datasets(run: Run, terminology: Terminology, positives: Positives) -> None:
    """Warn if there are no pairs of names, or none of associations, and say why."""
    found = set(positives.pairs["dataset"].unique())
    if found.isdisjoint(_OF_NAMES):
        n_others = sum(
            one.n_rows for one in terminology.skipped if one.reason == "synonym has another scope"
        )
        hint = f"; {n_others:,} are of another scope, see `synonyms`" if n_others else ""
        run.progress.warn(f"{listed(_OF_NAMES)} are empty, since no concept has a synonym{hint}")
    of_associations = [one.name for one in queries.datasets() if one.name not in _OF_NAMES]
    if found.isdisjoint(of_associations):
        lacks_file = terminology.rf2_rules and not any(
            "Association" in file.name for file in terminology.files
        )
        why = "no file der2_cRefset_Association*.txt" if lacks_file else "no such association"
        run.progress.warn(f"{listed(of_associations)} are empty, since there is {why}")


def requests_of_sets(derived: Derived, keys: Sequence[SetKey]) -> list[SearchRequest]:
    """Return the first searches of sets of Levenshtein negatives."""
    sets = [positive_set(positive_rows(derived.positives, key), key) for key in keys]
    return list(search_plan(derived.index, sets).requests.values())


def warn_of_large_component(run: Run, index: TermIndex) -> None:
    """Warn where chains of positives link many of the terms."""
    largest, n_terms = largest_component(index), len(index.components)
    if largest > max(_LARGE_COMPONENT * n_terms, _MANY_LINKED):
        run.progress.warn(
            f"{largest:,} of {n_terms:,} terms are linked to each other by chains of positives; "
            "they are never paired as negatives"
        )


def largest_component(index: TermIndex) -> int:
    """Return how many terms the largest connected component has."""
    return int(np.bincount(index.components).max()) if len(index.components) else 0


def with_vectors(run: Run, named: NamedEmbedding, derived: Derived) -> Derived:
    """Return the terms with their vectors, and warn of those that have none."""
    index = embedded(named, derived, run.progress, threads=run.threads, cache=run.cache)
    derived = replace(derived, index=index)
    terms, firsts = (one.n_rows for one in without_vectors(derived))
    if terms:
        run.progress.warn(
            f"{terms:,} terms have no vector in {named.spec.name}: they are no candidates of "
            f"embedding negatives, and the {firsts:,} first terms among them get none"
        )
    return derived


def run_key(run: Run, terminology: Terminology) -> dict[str, str]:
    """Return all that decides the rows of a build, and whether they may be passed on.

    No clock and no path is in it. Every file of the build has it as metadata.
    """
    day = terminology.release_date
    return {
        "medsim": manifest.medsim_version(),
        "libraries": json.dumps(libraries_of(run.named)),
        "source": terminology.name,
        "source_files": json.dumps([asdict(file) for file in terminology.files]),
        "release_date": day.isoformat() if day else "",
        "options": json.dumps(recorded_options(run)),
        "redistributable": json.dumps(terminology.redistributable),
        "terms_of_use": terminology.terms_of_use,
    }


def recorded_options(run: Run) -> dict[str, object]:
    """Return the options that decide the rows, in the order of manifests."""
    if run.recorded is not None:
        return dict(run.recorded)
    record = run.options.recorded()
    if run.corrections:
        record["corrections"] = correction_rows(run.corrections)
    return record if run.named is None else {**record, "embedding": identity_of(run.named)}


def libraries_of(named: NamedEmbedding | None) -> dict[str, str]:
    """Return the versions of libraries that decide rows; encoders do where there are vectors."""
    return manifest.library_versions(*(() if named is None else manifest.ENCODERS))
