"""Tables of scores: estimates with their intervals, for programs and to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from medsim.core.shown import MISSING, readable_text, texts
from medsim.statistics.estimates import defined
from medsim.studies.score_views import WHY_MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.kernels.types import Table
    from medsim.statistics.estimates import Estimate

Row: TypeAlias = dict[str, object]

_ENDS = ("_low", "_high")
_LONGEST = 80  # characters of a term in a table to be read


def answer_table(items: pl.DataFrame, answers: pl.DataFrame, names: Sequence[str]) -> Table:
    """Return float64[n_annotators, n_items]: mean values of answers, NaN where there is none."""
    table = np.full((len(names), items.height), np.nan)
    means = answers.group_by("annotator", "item_id").agg(pl.col("value").mean())
    column_of = {item_id: column for column, item_id in enumerate(items["item_id"])}
    row_of = {name: row for row, name in enumerate(names)}
    for name, item_id, value in means.iter_rows():
        table[row_of[name], column_of[item_id]] = value
    return table


def with_ends(name: str, estimate: Estimate) -> Row:
    """Return an estimate as the columns NAME, NAME_low and NAME_high, None where not defined."""
    ends = {"": estimate.value, "_low": estimate.low, "_high": estimate.high}
    return {name + end: defined(value) for end, value in ends.items()}


def table_of(rows: Sequence[Row]) -> pl.DataFrame:
    """Return rows, which have the same columns, as a table; columns of None alone are numbers."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64))


def readable_scores(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with one column for each three such as alpha, alpha_low and alpha_high."""
    return table.select(_cells(table))


def _cells(table: pl.DataFrame) -> Iterator[pl.Series]:
    columns = table.columns
    ends = {column + end for column in columns for end in _ENDS}
    for column in columns:
        if column in ends:
            continue
        if all(column + end in columns for end in _ENDS):
            rows = table.select(column, *(column + end for end in _ENDS)).rows()
            yield pl.Series(column, [_cell(*row) for row in rows], dtype=pl.String)
        elif table[column].dtype == pl.String:
            yield table[column].map_elements(_shortened, pl.String)
        elif column in WHY_MISSING and table[column].null_count():
            yield texts(table[column], readable_text).fill_null(MISSING)
        else:
            yield table[column]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def _cell(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return MISSING
    text = f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"
    return text.replace("-", "\N{MINUS SIGN}")
