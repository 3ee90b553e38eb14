"""Which concepts bear the terms of a benchmark as names."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from medsim.core.config import available_threads
from medsim.core.store import Store
from medsim.core.terms import lowered
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.reading import read_terminology

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

    from medsim.core.progress import Progress
    from medsim.terminologies.options import ReadingOptions
    from medsim.wic.checks.instance_checks import Bearers


def names_of_source(location: str, options: ReadingOptions, progress: Progress) -> pl.DataFrame:
    """Return the names of a terminology's active concepts.

    Args:
        location: a built-in name or a path; see ``medsim.terminologies.sources.find_source``.
        location: a built-in name or a path; see ``medsim.terminologies.sources.find_source``.
        options: how it is read; its language is the names'.
        progress: told of the stage.

    Returns:
        term and concept_id.

    Raises:
        InputError: the terminology is missing, damaged or in no known format.
    """
    with Store(threads=available_threads()) as store:
        read_terminology(location, store, options, progress)
        return store.frame("wic/name", language=options.language)


def bearers_of(terms: Collection[str], names: pl.DataFrame) -> Bearers:
    """Return the concepts that bear some terms as names, ignoring case.

    Args:
        terms: any.
        names: term and concept_id.
    """
    wanted = set(lowered(list(terms)))
    found: dict[str, set[str]] = defaultdict(set)
    concepts = names["concept_id"].to_list()
    for lower, concept in zip(lowered(names["term"].to_list()), concepts, strict=True):
        if lower in wanted:
            found[lower].add(concept)
    return {lower: frozenset(bearing) for lower, bearing in found.items()}
