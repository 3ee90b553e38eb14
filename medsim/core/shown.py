"""The summaries of results: a line at a prompt, and a table in a notebook."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import MedsimError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


_MOST_ROWS = 12
_CELL = "padding: .2em .6em; text-align: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary of a result.

    Attributes:
        what: the name of what it is, such as "Build('hpo')".
        facts: what it is of and its sizes, a few words each.
        calls: the calls that go on from here, as a user types them.
        table: returns its most telling table; None where there is none.
    """

    what: str
    facts: Sequence[str]
    calls: Sequence[str]
    table: Callable[[], pl.DataFrame] | None = None


class Shown:
    """A result with a summary, by which it shows itself."""

    __slots__ = ()

    def _summary(self) -> Summary:
        """Return the summary; cheap but for its table."""
        raise NotImplementedError

    def __repr__(self) -> str:
        found = self._summary()
        return f"{found.what}: {', '.join(found.facts)}\n  next: {', '.join(found.calls)}"

    def _repr_html_(self) -> str:
        """Return the summary as HTML, for notebooks; what cannot be read is told in its place."""
        found = self._summary()
        parts = [f"<p><strong>{escape(found.what)}</strong>: {escape(', '.join(found.facts))}</p>"]
        if found.table is not None:
            try:
                parts.append(html_table(found.table()))
            except MedsimError as error:
                parts.append(f"<p>{escape(str(error))}</p>")
        calls = ", ".join(f"<code>{escape(call)}</code>" for call in found.calls)
        return f"<div>{''.join(parts)}<p>Next: {calls}</p></div>"


def html_table(frame: pl.DataFrame) -> str:
    """Return the first rows of a frame as a table of HTML, numbers with three decimals."""
    sides = ["right" if kind.is_numeric() else "left" for kind in frame.dtypes]

    def row(tag: str, values: Iterable[str]) -> str:
        cells = zip(values, sides, strict=True)
        styled = (f'<{tag} style="{_CELL}{side}">{escape(one)}</{tag}>' for one, side in cells)
        return f"<tr>{''.join(styled)}</tr>"

    head = row("th", frame.columns)
    rows = "".join(row("td", map(_text, values)) for values in frame.head(_MOST_ROWS).iter_rows())
    more = frame.height - _MOST_ROWS
    note = f"<p>and {more:,} more rows</p>" if more > 0 else ""
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>{note}"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


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
