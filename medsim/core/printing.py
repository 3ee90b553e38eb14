"""Tables as text, for a terminal, a program or a paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.cells import cell_len

from medsim.core.formats import TableFormat

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROL = re.compile(
    # With what ends a line in Unicode, and what turns the direction of those after it.
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{MINUS SIGN}": "$-$",
}
_MARKDOWN = re.compile(r"[|<\\]")  # what Markdown would take for more than a text
_GAP = "   "  # between the columns of a table


def rendered(frame: pl.DataFrame, form: TableFormat) -> str:
    """Return a frame as text, without a line feed at its end.

    ``json`` (an array of objects) and ``csv`` carry values as they are, those of kinds that the
    format lacks as text; the others are to be read: numbers are rounded and characters that steer
    a terminal are replaced.
    """
    writers: dict[TableFormat, Callable[[pl.DataFrame], str]] = {
        TableFormat.table: _as_table,
        TableFormat.json: _as_json,
        TableFormat.csv: _as_csv,
        TableFormat.md: _as_markdown,
        TableFormat.latex: _as_latex,
    }
    return writers[form](frame)


def _as_json(frame: pl.DataFrame) -> str:
    return frame.with_columns(_texts(c) for c in frame if c.dtype == pl.Binary).write_json()


def _as_csv(frame: pl.DataFrame) -> str:
    lacking = (
        c for c in frame if c.dtype.is_nested() or isinstance(c.dtype, (pl.Binary, pl.Duration))
    )
    return frame.with_columns(map(_texts, lacking)).write_csv().removesuffix("\n")


def _as_table(frame: pl.DataFrame) -> str:
    rows = _readable(frame)
    if not frame.width:
        return ""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    numeric = [kind.is_numeric() for kind in frame.dtypes]
    head, *body = [_padded(row, widths, numeric) for row in rows]
    rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    return "\n".join([head, f" {rule}", *body])


def _padded(row: list[str], widths: list[int], numeric: list[bool]) -> str:
    """Return a line of a table: numbers to the right, all else to the left."""
    cells = []
    for text, width, right in zip(row, widths, numeric, strict=True):
        space = " " * (width - cell_len(text))
        cells.append(space + text if right else text + space)
    return f" {_GAP.join(cells)}".rstrip()


def _as_markdown(frame: pl.DataFrame) -> str:
    rules = ["--:" if kind.is_numeric() else "---" for kind in frame.dtypes]
    head, *rows = [[_MARKDOWN.sub(r"\\\g<0>", value) for value in row] for row in _readable(frame)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rules, *rows])


def _as_latex(frame: pl.DataFrame) -> str:
    columns = "".join("r" if kind.is_numeric() else "l" for kind in frame.dtypes)
    head, *rows = _readable(frame)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _latex_row(head),
            r"\midrule",
            *(_latex_row(row) for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex_row(values: list[str]) -> str:
    row = " & ".join("".join(_LATEX.get(c, c) for c in value) for value in values) + r" \\"
    return "{}" + row if row.startswith(("[", "*")) else row  # else an option of the line before


def _readable(frame: pl.DataFrame) -> list[list[str]]:
    """Return names, then values, as text: thousands apart, nulls as nothing, no controls."""
    columns = [_texts(column, _readable_text).fill_null("") for column in frame]
    rows = [frame.columns, *zip(*columns, strict=True)]
    return [[_CONTROL.sub("\N{REPLACEMENT CHARACTER}", value) for value in row] for row in rows]


def _texts(column: pl.Series, text: Callable[[Any], str] = str) -> pl.Series:
    """Return the values of a column as text; nulls stay."""
    values = [None if value is None else text(value) for value in column.to_list()]
    return pl.Series(column.name, values, dtype=pl.String)


def _readable_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
