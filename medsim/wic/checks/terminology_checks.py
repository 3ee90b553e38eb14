"""Checks of a benchmark against a terminology: its names, and the concepts of its mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from medsim.core.config import available_threads
from medsim.core.store import Store
from medsim.core.terms import lowered
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.reading import read_terminology
from medsim.wic.checks.findings import Breach, finding
from medsim.wic.making.candidates import names_of_forms
from medsim.wic.making.mentions import forms_of

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

    from medsim.core.progress import Progress
    from medsim.wic.benchmark import Benchmark
    from medsim.wic.checks.findings import SplitFinding
    from medsim.wic.checks.provenance_checks import Provenance

ConceptsByName: TypeAlias = Mapping[str, frozenset[str]]
"""The concepts that have a name, by the name in lower case."""


def names_of_source(location: str, options: ReadingOptions, progress: Progress) -> pl.DataFrame:
    """Return the names of a terminology's active concepts: term and concept_id."""
    with Store(threads=available_threads()) as store:
        read_terminology(location, store, options, progress)
        return store.frame("wic/name", language=options.language)


def concepts_by_name(terms: Collection[str], names: pl.DataFrame) -> ConceptsByName:
    """Return the concepts of terms that are names, ignoring case."""
    wanted = set(lowered(list(terms)))
    found: dict[str, set[str]] = defaultdict(set)
    concepts = names["concept_id"].to_list()
    for lower, concept in zip(lowered(names["term"].to_list()), concepts, strict=True):
        if lower in wanted:
            found[lower].add(concept)
    return {lower: frozenset(named) for lower, named in found.items()}


def check_terminology(
    location: str, made: Benchmark, provenance: Provenance, progress: Progress
) -> list[SplitFinding]:
    """Return whether names, related concepts and concepts of mentions are the terminology's."""
    mentions, options = provenance.mentions, made.manifest.options
    with Store(threads=available_threads()) as store:
        reading = ReadingOptions.from_record(options)
        terminology = read_terminology(location, store, reading, progress)
        forms = forms_of(set(lowered(mentions["term"].to_list())))
        store.put("form", forms)
        names = store.frame("wic/name", language=reading.language)
        store.put("form_name", names_of_forms(names, forms))
        store.put("mentioned", mentions.select("concept_id").unique())
        store.run(
            "wic/related_concept",
            vocabulary=terminology.vocabulary,
            any_depth=options.get("broader") == "any",
        )
        active = store.table("concept").filter("active").select("concept_id")
        return [
            _compared("names", provenance.names, store.frame("wic/benchmark_name")),
            _compared("related", provenance.related, store.table("related_concept")),
            _compared("concepts", mentions.join(active, on="concept_id", how="semi"), mentions),
        ]


def _compared(check: str, own: pl.DataFrame, theirs: pl.DataFrame) -> SplitFinding:
    """Return the rows that only one of a benchmark and its terminology has."""
    columns = [name for name in theirs.columns if name in own.columns]
    kept, expected = (set(frame.select(columns).iter_rows()) for frame in (own, theirs))
    breaches = [
        *(Breach(found=f"{row} is not in the terminology") for row in sorted(kept - expected)),
        *(Breach(found=f"{row} is lacking") for row in sorted(expected - kept)),
    ]
    return finding("", check, theirs.height, breaches)
