"""Tables of a study to be read: every estimate in one cell with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDS = ("_low", "_high")
_LONGEST = 80  # characters of a term that is shown


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
            cells = [_cell(*row) for row in rows]
            yield pl.Series(column, cells, dtype=pl.String)
        elif table[column].dtype == pl.String:
            yield table[column].map_elements(_shortened, pl.String)
        else:
            yield table[column]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def _cell(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return ""
    if low is None or high is None:
        return _number(value)
    return f"{_number(value)} [{_number(low)}, {_number(high)}]"


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "\N{MINUS SIGN}")
