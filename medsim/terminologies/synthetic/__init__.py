"""Invents RF2 releases of any size, with full history, to test and measure without a licence."""

from __future__ import annotations

from datetime import date
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies.rf2_writer import COLUMNS, release_writer
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
from medsim.terminologies.synthetic.concepts import Draws, Model, Names, Outline
from medsim.terminologies.synthetic.later import later_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from medsim.terminologies.rf2_writer import ReleaseType
    from medsim.terminologies.synthetic.concepts import Ints

    Make = Callable[[Ints, Outline], pl.DataFrame]
    Finish = Callable[[pl.DataFrame, Outline], pl.DataFrame]

DEFAULT_DATE = date(2026, 1, 1)
LATER_DATE = date(2026, 7, 1)

_ORIGIN = {
    "origin": "synthetic",
    "redistributable": True,
    "terms": "Invented by medsim from a seed; holds no content of SNOMED CT and may be passed on.",
}
_CHUNK = 20_000  # concepts

# For each table, the first function makes the components of some concepts, as rows with ``item``
# number, ``concept`` and ``fate``; the history makes a row for each of their dates, and the second
# function gives these RF2's columns.
_MAKERS: dict[str, tuple[Make, Finish]] = {
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
    later: date | None = None,
    overwrite: bool = False,
) -> dict[ReleaseType, dict[str, int]]:
    """Write an invented RF2 release, Full and Snapshot in one zip.

    Returns the number of rows of each file, by type of release. The content depends only on the
    arguments. Memory does not grow with ``concepts``. With ``later``, it is the release of that
    date, which follows the release of ``release_date`` and adds rows to it.
    """
    draws = Draws(seed)
    outline = Outline(n_active=concepts, draws=draws, names=Names(draws))
    history = History(draws, release_date)
    n_concepts = outline.n_clinical + len(Model)
    starts = range(0, n_concepts, _CHUNK)
    n_rows: dict[ReleaseType, dict[str, int]] = {"Full": {}, "Snapshot": {}}
    with release_writer(
        path, release_date=later or release_date, origin=_ORIGIN, overwrite=overwrite
    ) as writer:
        for release_type, table in product(n_rows, _MAKERS):
            parts = (np.arange(at, min(at + _CHUNK, n_concepts)) for at in starts)
            newest_only = release_type == "Snapshot"
            frames = (
                _rows(table, numbers, outline, history, later, newest_only=newest_only)
                for numbers in parts
            )
            n_rows[release_type][table] = writer.write(table, release_type, frames)
    return n_rows


def _rows(
    table: str,
    numbers: Ints,
    outline: Outline,
    history: History,
    later: date | None,
    *,
    newest_only: bool,
) -> pl.DataFrame:
    """Return the rows of some concepts in one file."""
    make, finish = _MAKERS[table]
    made = make(numbers, outline)
    rows = finish(history.rows(table, made, newest_only=newest_only), outline)
    if later is None:
        return rows
    newest = rows if newest_only else finish(history.rows(table, made, newest_only=True), outline)
    added = later_rows(table, newest, outline, later)
    kept = rows.join(added, on="id", how="anti", maintain_order="left") if newest_only else rows
    return pl.concat(
        [part.select(COLUMNS[table]) for part in (kept, added)], how="vertical_relaxed"
    )
