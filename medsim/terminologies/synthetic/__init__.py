"""Invents RF2 releases of any size, with full history, to test and measure without a licence."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from medsim.terminologies.rf2_writer import ReleaseOrigin, release_writer
from medsim.terminologies.synthetic.components import (
    History,
    association_components,
    association_rows,
    concept_components,
    concept_rows,
    description_components,
    description_rows,
    relationship_components,
    relationship_rows,
    text_definition_components,
)
from medsim.terminologies.synthetic.concepts import outline_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from medsim.terminologies.rf2_writer import ReleaseType, ReleaseWriter, RF2Table
    from medsim.terminologies.synthetic.concepts import Ints, Outline

    Make = Callable[[Ints, Outline], pl.DataFrame]
    Finish = Callable[[pl.DataFrame, Outline], pl.DataFrame]

DEFAULT_DATE = date(2026, 1, 1)

_ORIGIN = ReleaseOrigin(
    origin="synthetic",
    redistributable=True,
    terms="Invented by medsim from a seed; holds no content of SNOMED CT and may be passed on.",
)
_CHUNK = 20_000  # concepts
_MAKERS: dict[RF2Table, tuple[Make, Finish]] = {
    "concept": (concept_components, concept_rows),
    "description": (description_components, description_rows),
    "text_definition": (text_definition_components, description_rows),
    "relationship": (relationship_components, relationship_rows),
    "association": (association_components, association_rows),
}


def write_synthetic(
    path: Path,
    *,
    concepts: int,
    seed: int,
    release_date: date = DEFAULT_DATE,
    overwrite: bool = False,
) -> dict[ReleaseType, dict[RF2Table, int]]:
    """Write an invented RF2 release, Full and Snapshot in one zip.

    Returned is how many rows each file has, by type of release. The content depends on the
    arguments alone. Memory does not grow with ``concepts``.
    """
    outline = outline_of(concepts, seed)
    history = History(outline.draws, release_date)
    types: tuple[ReleaseType, ...] = ("Full", "Snapshot")
    with release_writer(
        path, release_date=release_date, origin=_ORIGIN, overwrite=overwrite
    ) as writer:
        return {one: _write_tables(writer, outline, history, one) for one in types}


def _write_tables(
    writer: ReleaseWriter, outline: Outline, history: History, release_type: ReleaseType
) -> dict[RF2Table, int]:
    """Write the files of one type, some concepts at a time, and return how many rows they have.

    A table's first function makes the components of some concepts, a row each with its ``item``
    number, its ``concept`` and its ``fate``; the history makes a row per time of these, and the
    table's second function gives them RF2's columns.
    """
    newest_only = release_type == "Snapshot"

    def rows(table: RF2Table, make: Make, finish: Finish) -> int:
        parts = (make(numbers, outline) for numbers in outline.stretches(_CHUNK))
        dated = (history.rows(table, some, newest_only=newest_only) for some in parts)
        return writer.write(table, release_type, (finish(some, outline) for some in dated))

    return {table: rows(table, make, finish) for table, (make, finish) in _MAKERS.items()}
