"""Values of tables as text for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MISSING = "\N{EN DASH}"
"""What tables for people have in place of a number that is missing; a sentence then says why."""

_CONTROL = re.compile(
    # With what ends a line in Unicode, and what turns the direction of those after it.
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def readable(frame: pl.DataFrame) -> list[list[str]]:
    """Return names, then values, as text: thousands apart, nulls as nothing, no controls."""
    columns = [texts(column, readable_text).fill_null("") for column in frame]
    rows = [frame.columns, *zip(*columns, strict=True)]
    return [[_CONTROL.sub("\N{REPLACEMENT CHARACTER}", value) for value in row] for row in rows]


def texts(column: pl.Series, text: Callable[[Any], str] = str) -> pl.Series:
    """Return the values of a column as text; nulls stay."""
    values = [None if value is None else text(value) for value in column.to_list()]
    return pl.Series(column.name, values, dtype=pl.String)


def why_missing(frame: pl.DataFrame, reasons: Mapping[str, str]) -> str:
    """Return why columns of a table lack numbers, which are null or ``MISSING`` there.

    Args:
        frame: the table.
        reasons: by column, a clause after "where".
    """
    lacking: dict[str, list[str]] = {}
    for name, why in reasons.items():
        if name in frame.columns and {None, MISSING} & {*frame[name].to_list()}:
            lacking.setdefault(why, []).append(name)
    return "; ".join(f"no {' or '.join(names)} where {why}" for why, names in lacking.items())


def number(value: float, form: str) -> str:
    """Return a number in a format, what is negative with a minus sign instead of a hyphen."""
    return format(value, form).replace("-", "\N{MINUS SIGN}")


def readable_text(value: Any) -> str:
    """Return a value as text for people, thousands apart."""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
