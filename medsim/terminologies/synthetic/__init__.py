"""Invents RF2 releases of any size, with full history, to test and measure without a licence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError
from medsim.terminologies.rf2_writer import ReleaseOrigin, ReleaseWriter
from medsim.terminologies.synthetic.associations import association_components, association_rows
from medsim.terminologies.synthetic.concepts import concept_components, concept_rows
from medsim.terminologies.synthetic.descriptions import (
    description_components,
    description_rows,
    text_definition_components,
)
from medsim.terminologies.synthetic.history import History
from medsim.terminologies.synthetic.outline import Model, outline_of
from medsim.terminologies.synthetic.relationships import relationship_components, relationship_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from medsim.terminologies.rf2_writer import ReleaseType, Table
    from medsim.terminologies.synthetic.draws import Ints
    from medsim.terminologies.synthetic.outline import Outline

    Make = Callable[[Ints, Outline], pl.DataFrame]
    Finish = Callable[[pl.DataFrame, Outline], pl.DataFrame]

DEFAULT_DATE = date(2026, 1, 1)
MOST_CONCEPTS = 9_000_000
"""The most active concepts; more would need longer identifiers than RF2 allows."""

_ORIGIN = ReleaseOrigin(
    kind="synthetic",
    redistributable=True,
    terms="Invented by medsim from a seed; holds no content of SNOMED CT and may be passed on.",
)
_CHUNK = 20_000  # concepts
_EARLIEST_YEAR = 1950


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """How many rows each file of a release has."""

    concept: int
    description: int
    text_definition: int
    relationship: int
    association: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticSummary:
    """What an invented release holds.

    Attributes:
        active_concepts: active clinical concepts.
        retired_concepts: inactive clinical concepts.
        model_concepts: concepts of the model component module.
        full: rows of the full history.
        snapshot: rows of the newest state.
    """

    active_concepts: int
    retired_concepts: int
    model_concepts: int
    full: RowCounts
    snapshot: RowCounts


def write_synthetic(
    path: Path, *, concepts: int, seed: int, release_date: date = DEFAULT_DATE
) -> SyntheticSummary:
    """Write an invented RF2 release, Full and Snapshot in one zip, and return what it holds.

    The content depends on the arguments alone. Memory does not grow with ``concepts``.

    Args:
        path: the zip to write; an earlier file is replaced.
        concepts: how many active clinical concepts; a quarter as many retired ones come besides.
        seed: of every random choice.
        release_date: the date of the release; its history goes back 21 years.

    Raises:
        OptionError: ``concepts`` or ``release_date`` is out of range.
        OutputError: the zip cannot be written.
    """
    if not 1 <= concepts <= MOST_CONCEPTS:
        raise OptionError(f"a release has 1 to {MOST_CONCEPTS} concepts; asked for {concepts}")
    if release_date.year < _EARLIEST_YEAR:
        raise OptionError(f"a release is of {_EARLIEST_YEAR} or later; asked for {release_date}")
    outline = outline_of(concepts, seed)
    history = History(outline.draws, release_date)
    with ReleaseWriter(path, release_date=release_date, origin=_ORIGIN) as writer:
        full = _write_tables(writer, outline, history, "Full")
        snapshot = _write_tables(writer, outline, history, "Snapshot")
    return SyntheticSummary(
        active_concepts=concepts,
        retired_concepts=outline.n_clinical - concepts,
        model_concepts=len(Model),
        full=full,
        snapshot=snapshot,
    )


def _write_tables(
    writer: ReleaseWriter, outline: Outline, history: History, release_type: ReleaseType
) -> RowCounts:
    """Write the files of one type, some concepts at a time, and return how many rows they have.

    A table's first function makes the components of some concepts, a row each with its ``item``
    number, its ``concept`` and its ``fate``; the history makes a row per time of these, and the
    table's second function gives them RF2's columns.
    """
    newest_only = release_type == "Snapshot"

    def rows(table: Table, make: Make, finish: Finish) -> int:
        parts = (make(numbers, outline) for numbers in outline.stretches(_CHUNK))
        dated = (history.rows(table, some, newest_only=newest_only) for some in parts)
        return writer.write(table, release_type, (finish(some, outline) for some in dated))

    return RowCounts(
        concept=rows("concept", concept_components, concept_rows),
        description=rows("description", description_components, description_rows),
        text_definition=rows("text_definition", text_definition_components, description_rows),
        relationship=rows("relationship", relationship_components, relationship_rows),
        association=rows("association", association_components, association_rows),
    )
