"""The stages that a build has in common with its shards, and the key that decides its rows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from medsim.builds.compiling import no_wait
from medsim.builds.corrections import correction_rows, read_corrections
from medsim.builds.datasets import positive_rows, positive_set
from medsim.builds.embedded import embedded, identity_of, without_vectors
from medsim.builds.negatives.search_plan import search_plan
from medsim.builds.options import MOST_NAMES, BuildOptions
from medsim.builds.positives import derive_positives
from medsim.builds.term_index import Derived, index_terms
from medsim.core import manifest, queries
from medsim.core.config import checked_threads
from medsim.core.errors import listed
from medsim.core.progress import Progress, progress_of
from medsim.embeddings.embedded_terms import identify, settled
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.given import embedding_spec
from medsim.terminologies.sources import read_terminology

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from medsim.builds.datasets import SetKey
    from medsim.builds.negatives import TermIndex
    from medsim.builds.negatives.candidates import SearchRequest
    from medsim.builds.options import Correction, SearchOptions
    from medsim.builds.positives import Positives
    from medsim.core.store import Store
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.terminologies.sources import Terminology

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
