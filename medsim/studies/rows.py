"""Rows of the tables of scores, in which an estimate has three columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.statistics.estimates import Estimate

Row: TypeAlias = dict[str, object]


def with_ends(name: str, estimate: Estimate) -> Row:
    """Return an estimate as the columns NAME, NAME_low and NAME_high, None where not defined."""
    ends = {"": estimate.value, "_low": estimate.low, "_high": estimate.high}
    return {name + end: number(value) for end, value in ends.items()}


def number(value: float) -> float | None:
    """Return a number, None where it is not defined."""
    return None if math.isnan(value) else float(value)


def table_of(rows: Sequence[Row]) -> pl.DataFrame:
    """Return rows, which have the same columns, as a table; what is None throughout are numbers."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64))
