"""The stages of a build that shards, and searches elsewhere, have in common with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.builds.datasets import SetKey, positive_rows, positive_set
from medsim.builds.embedded import embedded, without_vectors
from medsim.builds.negatives.wanted import wanted_candidates
from medsim.builds.options import BuildOptions, SearchOptions
from medsim.builds.positives import Positives, derive_positives
from medsim.core.config import checked_threads
from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import identify
from medsim.embeddings.options import parse_embedding
from medsim.embeddings.vector_cache import cache_folder
from medsim.terminologies.reading import read_terminology

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.negatives import TermIndex
    from medsim.builds.negatives.wanted import Wanted
    from medsim.core.store import Store
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.terminologies.sources import Terminology

_LARGE_COMPONENT = 0.01  # of all terms; a chain of wrong positives can join what is not similar


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What every stage of one run needs."""

    options: SearchOptions
    store: Store
    threads: int
    progress: Progress

    @classmethod
    def of(cls, options: SearchOptions, store: Store) -> Run:
        """Return the run of a build or a shard with the options that it is asked for."""
        return cls(
            options=options,
            store=store,
            threads=checked_threads(options.threads),
            progress=options.progress or Progress(),
        )


def named_embedding(run: Run) -> NamedEmbedding | None:
    """Return the embedding of embedding negatives, if one is named."""
    text = run.options.embedding if isinstance(run.options, BuildOptions) else None
    return None if text is None else identify(parse_embedding(text), run.progress)


def read(run: Run) -> Terminology:
    """Fill the canonical tables."""
    options = run.options
    return read_terminology(str(options.source), run.store, options, run.progress)


def derive(run: Run, terminology: Terminology) -> Positives:
    """Return the positives of the canonical tables."""
    with run.progress.stage("derive positives") as stage:
        positives = derive_positives(
            run.store,
            language=run.options.language,
            rf2_rules=terminology.rf2_rules,
            threads=run.threads,
            corrections=run.options.corrections_made,
        )
        stage.found(f"{positives.pairs.height:,} pairs of {positives.terms.height:,} terms")
    n_corrections = len(run.options.corrections_made)
    if n_unmatched := n_corrections - positives.corrected.height:
        run.progress.warn(
            f"{n_unmatched:,} of {n_corrections:,} corrections name terms that this "
            "terminology does not have; they change nothing"
        )
    return positives


def wanted_of_sets(positives: Positives, index: TermIndex, keys: Sequence[SetKey]) -> list[Wanted]:
    """Return what sets of Levenshtein negatives will search for first."""
    sets = [positive_set(positive_rows(positives, key), key) for key in keys]
    return wanted_candidates(index, sets)


def warn_of_large_component(run: Run, index: TermIndex) -> None:
    """Warn where chains of positives link many of the terms."""
    largest, n_terms = largest_component(index), len(index.components)
    if largest > _LARGE_COMPONENT * n_terms:
        run.progress.warn(
            f"{largest:,} of {n_terms:,} terms are linked to each other by chains of positives; "
            "they are never paired as negatives"
        )


def largest_component(index: TermIndex) -> int:
    """Return how many terms the largest connected component has."""
    return int(np.bincount(index.components).max()) if len(index.components) else 0


def with_vectors(
    run: Run, named: NamedEmbedding, positives: Positives, index: TermIndex
) -> TermIndex:
    """Return all terms with their vectors, and warn of those that have none."""
    index = embedded(
        named,
        positives,
        index,
        run.progress,
        threads=run.threads,
        cache=cache_folder(run.options.cache) if isinstance(run.options, BuildOptions) else None,
    )
    terms, firsts = (one.n_rows for one in without_vectors(positives, index))
    if terms:
        run.progress.warn(
            f"{terms:,} terms have no vector in {named.spec.name}: they are no candidates of "
            f"embedding negatives, and the {firsts:,} first terms among them get none"
        )
    return index
