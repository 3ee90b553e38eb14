"""Makes invented concepts, and what all components have: ids, fates, a row for each event."""

from __future__ import annotations

from datetime import timedelta
from enum import IntEnum, auto
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies import sctid
from medsim.terminologies.sctid import sctids
from medsim.terminologies.synthetic.outline import Model

if TYPE_CHECKING:
    from datetime import date

    from medsim.terminologies.rf2_writer import RF2Table
    from medsim.terminologies.sctid import Component
    from medsim.terminologies.synthetic.draws import Draws, Ints, Reals, Weights
    from medsim.terminologies.synthetic.outline import Outline


class Fate(IntEnum):
    """The events of a component between its first row and the release."""

    KEPT = 0
    CHANGED = auto()
    RETIRED = auto()
    CHANGED_THEN_RETIRED = auto()
    REVIVED = auto()
    LATE = auto()


# A component has rows at up to three times: a line for each fate, a column for each time.
_HAS_ROW = np.array(
    [[1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 1, 0]], dtype=np.bool_
)
_IS_ACTIVE = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]])
_CHANGING = (Fate.CHANGED, Fate.CHANGED_THEN_RETIRED)

# Six periods of seven half-yearly releases; associations come after what they replace retires.
_N_PERIODS, _PER_PERIOD, _DAYS_PER_RELEASE = 6, 7, 182
_PERIODS: dict[RF2Table, tuple[int, int, int]] = {
    "concept": (0, 1, 2),
    "description": (0, 1, 5),
    "text_definition": (0, 1, 5),
    "relationship": (0, 1, 2),
    "association": (3, 4, 5),
}


class History:
    """The history of a release: when the rows of its components took effect."""

    def __init__(self, draws: Draws, release_date: date) -> None:
        self._draws = draws
        ages = reversed(range(_N_PERIODS * _PER_PERIOD))
        days = (release_date - timedelta(days=_DAYS_PER_RELEASE * age) for age in ages)
        self._releases = np.array([int(f"{day:%Y%m%d}") for day in days])

    def rows(self, table: RF2Table, components: pl.DataFrame, *, newest_only: bool) -> pl.DataFrame:
        """Return a row for each component and time, ordered by both.

        All that happens to a concept's components in one period happens in one release. The rows
        have the components' columns, among them ``concept`` and ``fate``, and ``effectiveTime``,
        ``active`` and ``changes_later``.
        """
        fate = components["fate"].to_numpy()
        has_row = _HAS_ROW[fate]
        if newest_only:
            newest = 2 - np.argmax(has_row[:, ::-1], axis=1)
            has_row = newest[:, None] == np.arange(3)
        component, event = np.nonzero(has_row)
        period = np.array(_PERIODS[table])[event]
        moment = components["concept"].to_numpy()[component] * _N_PERIODS + period
        release = period * _PER_PERIOD + self._draws.choose("release", moment, _PER_PERIOD)
        return components[component].with_columns(
            effectiveTime=pl.Series(self._releases[release]),
            active=pl.Series(_IS_ACTIVE[fate[component], event]),
            changes_later=pl.Series(np.isin(fate[component], _CHANGING) & (event == 0)),
        )


USUAL_FATES: Weights = {
    Fate.KEPT: 80,
    Fate.CHANGED: 9,
    Fate.RETIRED: 7,
    Fate.CHANGED_THEN_RETIRED: 2,
    Fate.REVIVED: 2,
}
"""The weight of each fate for a component that no rule needs."""

_ACTIVE_FATES: Weights = {Fate.KEPT: 78, Fate.CHANGED: 19, Fate.REVIVED: 3}
_RETIRED_FATES: Weights = {Fate.RETIRED: 85, Fate.CHANGED_THEN_RETIRED: 15}
_DEFINED = 0.3  # of the concepts


def components(label: str, concepts: Ints, shares: Reals, draws: Draws) -> pl.DataFrame:
    """Return components of concepts, int64[n]: in each slot one, in that share of the concepts.

    There is a row per component: its number as ``item``, its ``concept``, its ``slot``.
    """
    n_slots = len(shares)
    concept, slot = np.repeat(concepts, n_slots), np.tile(np.arange(n_slots), len(concepts))
    item = concept * n_slots + slot
    exists = draws.chance(label, item, shares[slot])
    return pl.DataFrame({"item": item, "concept": concept, "slot": slot}).filter(exists)


def fates(
    label: str, parts: pl.DataFrame, outline: Outline, *, active: Weights, retired: Weights
) -> Ints:
    """Return the fate of each component; those of the model's concepts are kept.

    A component of an active concept and one of a retired concept have weights of their own.
    """
    draws, item, concept = outline.draws, parts["item"].to_numpy(), parts["concept"].to_numpy()
    return np.select(
        [concept < outline.n_active, concept < outline.n_clinical],
        [draws.weigh(label, item, active), draws.weigh(label, item, retired)],
        Fate.KEPT,
    )


def ids(numbers: pl.Series, component: Component) -> pl.Series:
    """Return the identifiers of components or concepts by their numbers, which begin at 0."""
    return pl.Series(sctids(numbers.to_numpy() + 1, component))


def concept_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the concepts with those numbers, each with its fate."""
    parts = pl.DataFrame({"item": numbers, "concept": numbers})
    fate = fates("concept", parts, outline, active=_ACTIVE_FATES, retired=_RETIRED_FATES)
    # The model's concepts were in the clinical module once.
    fate = np.where(numbers >= outline.n_clinical, Fate.CHANGED, fate)
    return parts.with_columns(fate=pl.Series(fate))


def concept_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated concepts with RF2's columns."""
    is_defined = outline.draws.chance("defined", rows["concept"].to_numpy(), _DEFINED)
    is_model = (pl.col("concept") >= outline.n_clinical) & ~pl.col("changes_later")
    return rows.with_columns(
        id=ids(rows["concept"], "concept"),
        moduleId=pl.when(is_model)
        .then(sctid.MODEL_COMPONENT_MODULE)
        .otherwise(outline.model_id(Model.MODULE)),
        definitionStatusId=pl.when(pl.Series(is_defined) ^ pl.col("changes_later"))
        .then(sctid.DEFINED)
        .otherwise(sctid.PRIMITIVE),
    )
