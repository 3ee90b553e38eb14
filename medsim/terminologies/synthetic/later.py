"""Invents the changes of the release that follows an invented one, half a year later."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import polars as pl

from medsim.terminologies import sctid
from medsim.terminologies.synthetic.components import ids, uuids
from medsim.terminologies.synthetic.concepts import Model, places_of

if TYPE_CHECKING:
    from datetime import date

    from medsim.terminologies.sctid import Component
    from medsim.terminologies.synthetic.concepts import Ints, Outline, Weights

Event = IntEnum(
    "Event", "NONE ADDED RETIRED REVIVED MOVED NAMED UNNAMED REWORDED RENAMED RELINKED", start=0
)
"""What happens to a concept, its names, parents or associations; ADDED is a concept below it."""

_OF_ACTIVE: Weights = {
    Event.NONE: 84,
    Event.ADDED: 3,
    Event.RETIRED: 2,
    Event.MOVED: 2,
    Event.NAMED: 3,
    Event.UNNAMED: 2,
    Event.REWORDED: 3,
    Event.RENAMED: 1,
}
_OF_RETIRED: Weights = {Event.NONE: 94, Event.REVIVED: 2, Event.RELINKED: 4}
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
    drawn = [outline.draws.weigh("later", concepts, each) for each in (_OF_ACTIVE, _OF_RETIRED)]
    has_parent = places_of(concepts, outline.draws).ordinal > 0  # so no other family is below it
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
