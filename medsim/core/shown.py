"""The summaries of results: a line at a prompt, and a table in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import polars as pl

from medsim.core.errors import CONTROL, MedsimError

_MAX_ROWS = 12


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a result.

    Attributes:
        facts: its sources and sizes, a few words each.
        calls: useful next calls, as a user types them.
        table: function that returns its most informative table; None if it has none.
        result: function that returns the result in sentences; None if it has none.
    """

    facts: Sequence[str]
    calls: Sequence[str]
    table: Callable[[], pl.DataFrame] | None = None
    result: Callable[[], str] | None = None

    def said(self) -> list[str]:
        """Return the sentences of the result, or why it cannot be read."""
        if self.result is None:
            return []
        try:
            return self.result().splitlines()
        except MedsimError as error:
            return [str(error)]


class Shown:
    """A result that shows itself as a summary."""

    __slots__ = ()

    def _summary(self) -> Summary:
        """Return the summary; cheap, except for its table."""
        raise NotImplementedError

    @property
    def _name(self) -> str:
        """The name of the result, such as "Build('hpo')"."""
        return type(self).__name__

    def __repr__(self) -> str:
        summary = self._summary()
        about = f"{self._name}: {', '.join(summary.facts)}"
        return "\n".join([*summary.said()[:1], about, f"  next: {', '.join(summary.calls)}"])

    def _repr_html_(self) -> str:
        """Return the summary as HTML for notebooks; an unreadable table becomes its error."""
        summary = self._summary()
        facts = escape(", ".join(summary.facts))
        parts = [f"<p>{escape(' '.join(said))}</p>"] if (said := summary.said()) else []
        parts.append(f"<p><strong>{escape(self._name)}</strong>: {facts}</p>")
        if summary.table is not None:
            try:
                parts.append(html_table(summary.table()))
            except MedsimError as error:
                parts.append(f"<p>{escape(str(error))}</p>")
        calls = ", ".join(f"<code>{escape(call)}</code>" for call in summary.calls)
        return f"<div>{''.join(parts)}<p>Next: {calls}</p></div>"


def html_table(frame: pl.DataFrame) -> str:
    """Return the first rows of a frame as an HTML table."""
    more = frame.height - _MAX_ROWS
    note = f"<p>and {more:,} more rows</p>" if more > 0 else ""
    rows = readable(frame.head(_MAX_ROWS))
    return html_of([[escape(cell) for cell in row] for row in rows]) + note


def html_of(cells: Sequence[Sequence[str]]) -> str:
    """Return rows of HTML, the first with the names of columns, as a table with a row per line."""
    head, *rows = cells
    lines = [f"<thead><tr><th>{'</th><th>'.join(head)}</th></tr></thead>"]
    lines += (f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows)
    return "\n".join(["<table>", *lines, "</table>"])


MISSING = "\N{EN DASH}"
"""The sign for a missing number in tables for people; a sentence then says why."""


def readable(frame: pl.DataFrame) -> list[list[str]]:
    """Return names and values as text, with thousands separators and without control characters."""
    columns = [texts(column, readable_text).fill_null("") for column in frame]
    rows = [frame.columns, *zip(*columns, strict=True)]
    return [[CONTROL.sub("\N{REPLACEMENT CHARACTER}", value) for value in row] for row in rows]


def texts(column: pl.Series, text: Callable[[Any], str] = str) -> pl.Series:
    """Return the values of a column as text; nulls stay null."""
    values = [None if value is None else text(value) for value in column.to_list()]
    return pl.Series(column.name, values, dtype=pl.String)


def why_missing(frame: pl.DataFrame, reasons: Mapping[str, str]) -> str:
    """Return why numbers are missing (null or ``MISSING``) in columns of a table.

    Args:
        frame: the table.
        reasons: a clause after "where", by column.
    """
    lacking: dict[str, list[str]] = {}
    for name, why in reasons.items():
        if name in frame.columns and {None, MISSING} & {*frame[name].to_list()}:
            lacking.setdefault(why, []).append(name)
    return "; ".join(f"no {' or '.join(names)} where {why}" for why, names in lacking.items())


def number(value: float, form: str) -> str:
    """Format a number, with a minus sign instead of a hyphen."""
    return format(value, form).replace("-", "\N{MINUS SIGN}")


def readable_text(value: Any) -> str:
    """Return a value as text for people, with thousands separators."""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
