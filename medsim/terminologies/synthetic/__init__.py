"""Invents RF2 releases of any size, with full history, to test and measure without a licence."""

from __future__ import annotations

from datetime import date
from enum import IntEnum
from itertools import product
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import polars as pl

from medsim.terminologies import sctid
from medsim.terminologies.rf2_writer import COLUMNS, release_writer
from medsim.terminologies.synthetic.components import (
    History,
    association_components,
    association_rows,
    concept_components,
    concept_rows,
    description_components,
    description_rows,
    ids,
    relationship_components,
    relationship_rows,
    text_definition_components,
    uuids,
)
from medsim.terminologies.synthetic.concepts import (
    CHANCES,
    Draws,
    Model,
    Names,
    Outline,
    families_of,
    weights_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from medsim.terminologies.rf2_writer import ReleaseType
    from medsim.terminologies.sctid import Component
    from medsim.terminologies.synthetic.concepts import Ints

    Make = Callable[[Ints, Outline], pl.DataFrame]
    Finish = Callable[[pl.DataFrame, Outline], pl.DataFrame]


Event = IntEnum(
    "Event", "NONE ADDED RETIRED REVIVED MOVED NAMED UNNAMED REWORDED RENAMED RELINKED", start=0
)
"""What happens to a concept, its names, parents or associations; ADDED is a concept below it."""

_N_SLOTS: dict[str, int] = {"description": 8, "relationship": 6, "association": 3}

_ACTIVE, _EVENT = pl.col("active"), pl.col("event")
_SLOT, _TERM = pl.col("slot"), pl.col("term")
_FSN, _PREFERRED, _OTHER = (_SLOT.eq(slot) for slot in range(3))  # names
_IS_PARENT = _SLOT == 0
_IS_MOVED = (_EVENT == Event.MOVED) & _IS_PARENT & (pl.col("target") > 0)
_OTHER_KIND = (
    pl.when(pl.col("refsetId") == sctid.SAME_AS).then(sctid.REPLACED_BY).otherwise(sctid.SAME_AS)
)
_Rule: TypeAlias = tuple[pl.Expr, dict[str, pl.Expr]]  # which rows, and how they change


def _worded(before: str, after: str = "") -> pl.Expr:
    first, rest = _TERM.str.slice(0, 1).str.to_lowercase(), _TERM.str.slice(1)
    return pl.concat_str(pl.lit(before), first, rest, pl.lit(after))


def _retired(which: pl.Expr) -> _Rule:
    return _ACTIVE & which, {"active": pl.lit(value=False)}


def _revived(which: pl.Expr) -> _Rule:
    return ~_ACTIVE & which, {"active": pl.lit(value=True)}


def _copied(which: pl.Expr, **differing: pl.Expr) -> _Rule:
    return _ACTIVE & which, {"id": pl.col("new_id"), **differing}


_RULES: dict[str, list[_Rule]] = {
    "concept": [
        _retired(_EVENT == Event.RETIRED),
        _copied(_EVENT == Event.ADDED),
        _revived(_EVENT == Event.REVIVED),
    ],
    "description": [
        _retired(
            ((_EVENT == Event.RENAMED) & _FSN)
            | (_EVENT.is_in([Event.UNNAMED, Event.REWORDED]) & _OTHER)
        ),
        _copied(
            (_EVENT == Event.ADDED) & (_FSN | _PREFERRED),
            conceptId=pl.col("added_id"),
            term=_worded("Early "),
        ),
        _copied((_EVENT == Event.NAMED) & _PREFERRED, term=_worded("Typical ", " in adults")),
        _copied((_EVENT == Event.REWORDED) & _OTHER, term=_TERM.str.replace("([aeiou])", "${1}h")),
        _copied((_EVENT == Event.RENAMED) & _FSN, term=_worded("Primary ")),
        _revived((_EVENT == Event.REVIVED) & _FSN),
    ],
    "relationship": [
        _retired((_EVENT == Event.RETIRED) | pl.col("target_retired") | _IS_MOVED),
        _copied(
            (_EVENT == Event.ADDED) & _IS_PARENT,
            sourceId=pl.col("added_id"),
            destinationId=pl.col("concept_id"),
        ),
        _copied(_IS_MOVED, destinationId=pl.col("root_id")),
        _revived((_EVENT == Event.REVIVED) & _IS_PARENT),
    ],
    "association": [
        _retired(_EVENT.is_in([Event.REVIVED, Event.RELINKED])),
        _copied(_EVENT == Event.RELINKED, refsetId=_OTHER_KIND),
    ],
}
"""Which components become inactive, have a new copy, or become active again, by table."""


def events_of(concepts: Ints, outline: Outline) -> Ints:
    """Return the event of each concept, given the concepts' numbers."""
    weights = (CHANCES["events"][state] for state in ("active", "retired"))
    drawn = [
        outline.draws.weigh("later", concepts, weights_of(each, Event.__members__))
        for each in weights
    ]
    has_parent = families_of(concepts, outline.draws).ordinal > 0  # so no other family is below it
    is_active = concepts < outline.n_active
    is_retired = ~is_active & (concepts < outline.n_clinical)
    return np.select([is_active & has_parent, is_retired], drawn, Event.NONE)


def later_rows(table: str, newest: pl.DataFrame, outline: Outline, day: date) -> pl.DataFrame:
    """Return the rows that the later release adds, given the newest rows of some concepts.

    Rows have the columns of RF2 and of components.
    """
    if table not in _RULES:
        return newest.clear()
    n_earlier, concept, item = outline.n_clinical + len(Model), newest["concept"], newest["item"]
    targets = newest["target" if table == "relationship" else "concept"].to_numpy()
    items = item + n_earlier * _N_SLOTS.get(table, 1)
    rows = newest.with_columns(
        _ACTIVE.cast(pl.Boolean),
        event=pl.Series(events_of(concept.to_numpy(), outline)),
        target_retired=pl.Series(events_of(targets, outline) == Event.RETIRED),
        added_id=ids(concept + n_earlier, "concept"),
        concept_id=ids(concept, "concept"),
        root_id=ids(concept * 0, "concept"),
        new_id=uuids(outline.draws, items.to_numpy())
        if table == "association"
        else ids(items, cast("Component", table)),
    )
    added = pl.concat([rows.filter(which).with_columns(**how) for which, how in _RULES[table]])
    time = pl.lit(int(f"{day:%Y%m%d}"))
    return added.with_columns(_ACTIVE.cast(pl.Int64), effectiveTime=time)


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
