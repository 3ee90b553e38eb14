"""Turns invented components into dated rows: a row for each time that something happened."""

from __future__ import annotations

from datetime import timedelta
from enum import IntEnum, auto
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from datetime import date

    from medsim.terminologies.rf2_writer import RF2Table
    from medsim.terminologies.synthetic.draws import Draws


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
