"""Builds the datasets of a terminology as a folder of Parquet files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.builds.cards import build_card
from medsim.builds.compiling import compile_in_background, no_wait
from medsim.builds.datasets import (
    CheckedPairs,
    SetMaker,
    file_rows,
    keys_of,
    positive_sets,
    set_keys,
)
from medsim.builds.negatives.candidates import SearchRequest, search_plan
from medsim.builds.options import BuildOptions, SearchOptions
from medsim.builds.output import BUILD, CARD, STATS, TERM, Build, BuildManifest
from medsim.builds.positives import Derived, derive_positives, index_terms, read_corrections
from medsim.builds.stats import stats_row
from medsim.core import manifest, queries
from medsim.core.config import CROSS_LANGUAGE, PARENT_CHILD, checked_threads
from medsim.core.errors import BrokenPromiseError, OptionError, counted, listed, needing
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import MANIFEST
from medsim.core.opened import reading_output
from medsim.core.options import PathOrOutput, folder_of, public
from medsim.core.output import OutputFolder, claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.embeddings.options import embedding_spec
from medsim.terminologies.sources import Terminology, read_terminology, source_paths

if TYPE_CHECKING:
    from medsim.builds.negatives import SearchResult, TermIndex
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.terminologies.options import ReadingOptions

    FirstSearch = Callable[[TermIndex, Sequence[SearchRequest], Progress], Sequence[SearchResult]]


_LARGE_COMPONENT = 0.01  # of all terms; chains of wrong positives can join unrelated terms
_MANY_LINKED = 10  # terms; a single concept may have this many names
_SYNONYMS = ["fsn_syn", "syn_syn"]


@public(BuildOptions)
def build(options: BuildOptions) -> Build:
    """Write a build, with ten sets for each strategy of negatives, and return it.

    With several languages it has twelve, and with a hierarchy two more.

    Raises:
        InputError: the source or the embedding is missing, damaged or in an unknown format.
        OptionError: an option is out of range or does not fit the source.
        OutputError: ``out`` exists or cannot be written.
        ClusterError: the cluster cannot be reached, or its workers cannot search.
    """
    if options.dask is None:
        return complete(options)
    with needing("`dask` needs Dask", "dask"):
        from medsim.builds.cluster import on_cluster  # noqa: PLC0415 — needs the extra
    threads, progress = checked_threads(options.threads), progress_of(options.progress)
    with on_cluster(options.dask, seed=options.seed, threads=threads, progress=progress) as search:
        return complete(options, search)


def complete(
    options: BuildOptions,
    search: FirstSearch | None = None,
    check: Callable[[Mapping[str, str]], None] | None = None,
) -> Build:
    """Write a build, and return it.

    ``search`` finds the nearest candidates of first terms elsewhere, such as on a cluster; any
    candidates missing in its results, by default all, are searched for here when needed. ``check``
    is called before anything is written; it raises MedsimError if ``search`` does not fit the run's
    key, see ``run_key``.
    """
    here = search is None and "levenshtein" in options.negatives
    with (
        compile_in_background() if here else nullcontext(no_wait) as wait,
        claimed_by(options, BUILD, source_paths(options.source)) as output,
        Store(threads=checked_threads(options.threads), spill=output.spill) as store,
    ):
        run = replace(BuildRun.from_options(options, store), compiled=wait)
        if check is not None:
            check(run_key(run))
        early = None
        if run.embedding and not run.embedding.fingerprint:  # only its vectors identify it
            early = derive(run)
            run = run.with_fingerprint(early)
        output.resume(run_key(run))
        write_terminology(run, output)
        write_build(run, early or derive(run), output, search)
    return Build(options.out)


def is_output(given: PathOrOutput) -> bool:
    """Return whether a build or source is an output of medsim, and not a source."""
    return not isinstance(given, (str, Path)) or (Path(given) / MANIFEST).exists()


def paths_of(given: PathOrOutput) -> list[Path]:
    """Return the path of a build or a source, as a list; empty for a built-in source."""
    return [folder_of(given)] if is_output(given) else source_paths(str(given))


def check_no_options(given: PathOrOutput, **reading: object) -> None:
    """Raise OptionError if there are options of reading a source, although a build is given."""
    for name in filter(reading.get, reading):
        raise OptionError(
            f"`{name}` does not apply to {folder_of(given)}, which is a build; leave it out"
        )


def fill_tables(
    given: PathOrOutput, reading: ReadingOptions, store: Store, progress: Progress
) -> dict[str, Any]:
    """Fill the canonical tables from a build or a source, and return the facts about it."""
    if not is_output(given):
        return read_terminology(str(given), store, reading, progress).to_json()
    check_no_options(given, extensions=reading.extensions)
    build = Build(folder_of(given))
    store.view_files(build.folder, {name: table.files for name, table in CANONICAL_TABLES.items()})
    return dict(build.manifest.source)


@contextmanager
def opened_or_built(
    given: PathOrOutput,
    spill: Path | None,
    threads: int,
    progress: Progress,
    extensions: Sequence[str | Path] = (),
) -> Iterator[Build]:
    """Give the body the build in a folder, or a temporary build of a source.

    Args:
        given: the folder of a build, or a source, which is built with default options. The folder
            of an output comes before a built-in source.
        spill: folder for the temporary build; the system's by default.
        threads: threads to use.
        progress: receives the stages of the temporary build.
        extensions: extensions of the source.
    """
    if is_output(given):
        check_no_options(given, extensions=extensions)
        with reading_output(Build(folder_of(given))) as opened:
            yield opened
        return
    progress.say(f"{given} is a source, so it is built with default options")
    with TemporaryDirectory(dir=spill) as folder:
        out = Path(folder, "build")
        yield build(str(given), out, extensions=extensions, threads=threads, progress=progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRun:
    """The context of a build or of one of its shards.

    Attributes:
        options: options, with the corrections read.
        terminology: facts about the canonical tables.
        embedding: embedding of the embedding negatives; None if there are none.
        cache: folder of cached vectors of encoders.
        store: store with the canonical tables.
        split: facts about the split, if the build is one; else empty.
        compiled: function that waits until the kernels of the search are compiled.
    """

    options: SearchOptions
    terminology: Terminology
    embedding: NamedEmbedding | None
    cache: Path | None
    store: Store
    threads: int
    progress: Progress
    split: Mapping[str, object] = field(default_factory=dict)
    compiled: Callable[[Progress], object] = no_wait

    @classmethod
    def from_options(cls, options: SearchOptions, store: Store) -> BuildRun:
        """Read the source, and return the run of a build or a shard."""
        progress = progress_of(options.progress)
        options = replace(options, corrections=read_corrections(options.corrections))
        embedding, cache = None, None
        if isinstance(options, BuildOptions) and options.embedding is not None:
            from medsim.embeddings.embedded_terms import identify  # noqa: PLC0415 — encoders
            from medsim.embeddings.encoders import cache_folder  # noqa: PLC0415 — encoders

            embedding = identify(embedding_spec(options.embedding), progress)
            cache = cache_folder(options.cache)
        return cls(
            options=options,
            terminology=read_terminology(str(options.source), store, options, progress),
            embedding=embedding,
            cache=cache,
            store=store,
            threads=checked_threads(options.threads),
            progress=progress,
        )

    def with_fingerprint(self, derived: Derived) -> BuildRun:
        """Return the run with the fingerprint of its embedding, if there is an embedding."""
        if self.embedding is None:
            return self
        from medsim.embeddings.embedded_terms import with_fingerprint  # noqa: PLC0415 — encoders

        terms = derived.pair_terms()
        embedding = with_fingerprint(self.embedding, terms, self.progress, threads=self.threads)
        return replace(self, embedding=embedding)

    @property
    def encoders(self) -> Sequence[str]:
        """The libraries that affect vectors, and so the rows of embedding negatives."""
        return () if self.embedding is None else manifest.ENCODERS

    def recorded(self) -> dict[str, object]:
        """Return everything that affects the rows, in the order of manifests."""
        recorded = self.options.recorded()
        if self.embedding is not None:
            recorded["embedding"] = {
                "name": self.embedding.spec.name,
                "fingerprint": self.embedding.fingerprint,
                "options": self.embedding.spec.options.deciding(),
            }
        return {**recorded, "split": self.split} if self.split else recorded


def run_key(run: BuildRun) -> dict[str, str]:
    """Return everything that affects the rows of a build, and whether they may be passed on.

    It contains no times and no paths. Every file of the build stores it as metadata.
    """
    terminology, day = run.terminology, run.terminology.release_date
    return {
        "medsim": manifest.medsim_version(),
        "libraries": json.dumps(manifest.library_versions(*run.encoders)),
        "source": terminology.name,
        "source_files": json.dumps([asdict(file) for file in terminology.files]),
        "release_date": day.isoformat() if day else "",
        "options": json.dumps(run.recorded()),
        "redistributable": json.dumps(terminology.redistributable),
        "terms_of_use": terminology.terms_of_use,
    }


def derive(run: BuildRun) -> Derived:
    """Return the positives of the canonical tables, and the terms that they link."""
    options, rf2_rules = run.options, run.terminology.rf2_rules
    with run.progress.stage("derive positives") as stage:
        positives = derive_positives(run.store, options, rf2_rules=rf2_rules, threads=run.threads)
        index = index_terms(positives, run.store, options)
        stage.note(f"{positives.pairs.height:,} pairs of {positives.terms.height:,} terms")
    n_corrections = len(options.loaded_corrections)
    if n_unmatched := n_corrections - positives.corrected.height:
        run.progress.warn(
            f"{n_unmatched:,} of {n_corrections:,} corrections name terms that are not in this "
            "terminology"
        )
    nonempty = set(positives.pairs["dataset"].unique())
    if nonempty.isdisjoint(_SYNONYMS):
        n_skipped = {skipped.reason: skipped.n_rows for skipped in run.terminology.skipped}
        n_others = n_skipped.get("synonym has another scope", 0)
        hint = f"; {n_others:,} have another scope, see `synonyms`" if n_others else ""
        run.progress.warn(f"{listed(_SYNONYMS)} are empty, because no concept has a synonym{hint}")
    if len(options.languages) > 1 and CROSS_LANGUAGE not in nonempty:
        run.progress.warn(f"{CROSS_LANGUAGE} is empty, because no concept has such names")
    if options.hierarchy and positives.parent_child.is_empty():
        run.progress.warn(f"{PARENT_CHILD} is empty, because no concept has a parent with a name")
    others = [d.name for d in queries.datasets(1, hierarchy=False) if d.name not in _SYNONYMS]
    if nonempty.isdisjoint(others):
        lacks_file = rf2_rules and not any(
            "Association" in file.name for file in run.terminology.files
        )
        why = "no file der2_cRefset_Association*.txt" if lacks_file else "no such association"
        run.progress.warn(f"{listed(others)} are empty, because there is {why}")
    return Derived(positives=positives, index=index)


def first_requests(
    run: BuildRun, derived: Derived, exists: Callable[[str], bool] = lambda _path: False
) -> list[SearchRequest]:
    """Return the initial searches for sets of Levenshtein negatives whose files do not exist."""
    keys = set_keys(1, "levenshtein", hierarchy=run.options.hierarchy)
    keys = [key for key in keys if not exists(key.path)]
    sets = [part for key in keys for part in positive_sets(derived.positives, key)]
    return list(search_plan(derived.index, sets)[0].values())


def write_terminology(run: BuildRun, output: OutputFolder) -> None:
    """Write the canonical tables, before positives take memory."""
    key = run_key(run)
    with run.progress.stage("write the terminology"):
        for name, table in CANONICAL_TABLES.items():
            output.write(table.files, run.store.table(name), key)


def write_build(
    run: BuildRun, derived: Derived, output: OutputFolder, search: FirstSearch | None = None
) -> None:
    """Write the files of a build except its terminology, with the manifest last.

    Args:
        run: context of the build; its embedding, if any, has a fingerprint.
        derived: positives of the canonical tables and the terms that they link.
        output: folder to write to.
        search: see ``complete``.

    Raises:
        BrokenPromiseError: the datasets break their own guarantees.
    """
    output.write(TERM.files, derived.terms(), run_key(run))
    run.store.rest()  # the searches need the memory
    components = derived.index.components
    largest, n_terms = int(np.bincount(components, minlength=1).max()), len(components)
    if largest > max(_LARGE_COMPONENT * n_terms, _MANY_LINKED):
        run.progress.warn(
            f"{largest:,} of {n_terms:,} terms are connected by chains of positives, so no "
            "negatives are made among them"
        )
    if run.embedding is not None:
        from medsim.builds.embedded import embed_pair_terms  # noqa: PLC0415 — encoders

        vectors = embed_pair_terms(
            run.embedding, derived, run.progress, threads=run.threads, cache=run.cache
        )
        derived = replace(derived, index=replace(derived.index, embedding=vectors))
        n_without, n_firsts = (skipped.n_rows for skipped in derived.without_vectors())
        if n_without:
            run.progress.warn(
                f"{n_without:,} terms have no vector in {run.embedding.spec.name}: they are not "
                f"candidates for embedding negatives, and the {n_firsts:,} first terms among them "
                "get none"
            )
    results: Sequence[SearchResult] = ()
    if search is not None:
        requests = first_requests(run, derived, output.exists)
        results = search(derived.index, requests, run.progress)
    stats = _write_sets(run, derived, results, output)
    _write_manifest(run, derived, int(stats["shortfall"].sum()), output)


def _write_sets(
    run: BuildRun, derived: Derived, results: Sequence[SearchResult], output: OutputFolder
) -> pl.DataFrame:
    """Write the datasets and check their rules; return their statistics."""
    rows: list[pl.DataFrame] = []
    folder = Path(mkdtemp(dir=output.spill))
    checked = CheckedPairs(run.store, derived.positives, run.options, folder)
    for strategy in run.options.negatives:
        if strategy == "levenshtein":
            run.compiled(run.progress)
        maker = SetMaker(
            strategy=strategy,
            derived=derived,
            store=run.store,
            options=run.options,
            threads=run.threads,
            results=results,
        )
        rows += _write_sets_of(maker, run, checked, output)
        del maker  # before the checks take memory
    stats = pl.concat(rows).sort(STATS.key)
    output.write(STATS.files, stats, run_key(run))
    with run.progress.stage("check the guarantees") as stage:
        findings = checked.findings()
        if broken := [finding.check for finding in findings if finding.violations]:
            raise BrokenPromiseError(
                f"the build breaks its own guarantees ({', '.join(broken)}); please report this bug"
            )
        stage.note(f"{len(findings)} hold")
    return stats


def _write_sets_of(
    maker: SetMaker, run: BuildRun, checked: CheckedPairs, output: OutputFolder
) -> Iterator[pl.DataFrame]:
    """Write the sets of one strategy; yield the statistics of each."""
    for set_key in keys_of(run.options, maker.strategy):
        before = output.scan(set_key.path)
        if before is not None and before.collect_schema() == set_key.schema():
            numbers = maker.take_over(set_key, before)
            output.register_existing(set_key.path, before)
            n_pairs = counted(numbers.height, "pair")
            run.progress.say(f"take over {set_key} from an interrupted run: {n_pairs}")
        else:
            with run.progress.stage(f"make {set_key}") as stage:
                numbers = maker.make(set_key, stage)
                file_frame = file_rows(numbers, maker.derived.positives, set_key.schema())
                output.write(set_key.path, file_frame, {**run_key(run), **asdict(set_key)})
                del file_frame
                stage.note(counted(numbers.height, "pair"))
        checked.add(set_key, numbers, output.folder / set_key.path)
        yield stats_row(asdict(set_key), numbers)
        del numbers  # before the next set takes memory


def _write_manifest(run: BuildRun, derived: Derived, shortfall: int, output: OutputFolder) -> None:
    if shortfall:
        run.progress.warn(
            f"{counted(shortfall, 'negative')} could not be made; the view stats has the "
            "shortfall of each set"
        )
    skipped = (*run.terminology.skipped, *derived.positives.skipped, *derived.without_vectors())
    components = derived.index.components
    written = BuildManifest(
        **output.run_facts(run.recorded(), run.progress, run.threads, *run.encoders),
        source=run.terminology.to_json(),
        embedding=None if run.embedding is None else location_of(run.embedding),
        skipped=[asdict(reason) for reason in skipped],
        components={
            "n_terms": len(components),
            "n_components": len(np.unique(components)),
            "largest": int(np.bincount(components, minlength=1).max()),
        },
        shortfall=shortfall,
    )
    output.write_text(CARD, build_card(written), 0)
    replace(written, outputs=dict(sorted(output.outputs.items()))).write(output.folder)


def location_of(embedding: NamedEmbedding) -> dict[str, str]:
    """Return the absolute path of an embedding, and the options to read it.

    For a Python object, it returns its kind and identity instead.
    """
    source, spec = embedding.source, embedding.spec
    path, vocabulary = spec.place, spec.options.vocabulary
    facts = {"path": source.location, "format": source.format_name}
    if source.identity is not None:
        return {**facts, "identity": source.identity}
    if isinstance(path, Path):
        facts["path"] = str(path.absolute())
    return facts if vocabulary is None else {**facts, "vocabulary": str(vocabulary.absolute())}
