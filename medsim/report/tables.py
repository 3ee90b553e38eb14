"""Tables as text, for a terminal, a program or a paper."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from medsim.report.formats import TableFormat

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROL = r"[\x00-\x1f\x7f-\x9f]"
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
}
_UNLIMITED = 1_000_000  # columns; a terminal folds what does not fit


def rendered(frame: pl.DataFrame, form: TableFormat) -> str:
    """Return a frame as text, without a line feed at its end.

    ``json`` (an array of objects) and ``csv`` carry values as they are; the others are to be read:
    numbers are rounded and characters that steer a terminal are replaced.
    """
    writers: dict[TableFormat, Callable[[pl.DataFrame], str]] = {
        TableFormat.table: _as_table,
        TableFormat.json: lambda f: f.write_json(),
        TableFormat.csv: lambda f: f.write_csv(),
        TableFormat.md: _as_markdown,
        TableFormat.latex: _as_latex,
    }
    return writers[form](frame).rstrip("\n")


def _as_table(frame: pl.DataFrame) -> str:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="")
    for name, kind in frame.schema.items():
        table.add_column(Text(name), justify="right" if kind.is_numeric() else "left", no_wrap=True)
    for row in _readable(frame).iter_rows():
        table.add_row(*(Text(value) for value in row))
    stream = io.StringIO()
    Console(file=stream, width=_UNLIMITED, color_system=None, markup=False).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().strip("\n").splitlines())


def _as_markdown(frame: pl.DataFrame) -> str:
    rules = ("--:" if kind.is_numeric() else "---" for kind in frame.dtypes)
    rows = [frame.columns, list(rules)]
    rows += [[value.replace("|", r"\|") for value in row] for row in _readable(frame).iter_rows()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _as_latex(frame: pl.DataFrame) -> str:
    columns = "".join("r" if kind.is_numeric() else "l" for kind in frame.dtypes)
    head, *rows = [frame.columns, *_readable(frame).iter_rows()]
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


def _latex_row(values: list[str] | tuple[str, ...]) -> str:
    escaped = ("".join(_LATEX.get(c, c) for c in value) for value in values)
    return " & ".join(escaped) + r" \\"


def _readable(frame: pl.DataFrame) -> pl.DataFrame:
    """Return all values as text: numbers with their thousands apart, nulls as nothing."""
    return frame.select(_readable_column(frame[name]) for name in frame.columns)


def _readable_column(column: pl.Series) -> pl.Series:
    if column.dtype.is_integer():
        texts = [None if v is None else f"{v:,}" for v in column]
    elif column.dtype.is_float():
        texts = [None if v is None else f"{v:,.4g}" if abs(v) < 1 else f"{v:,.2f}" for v in column]
    elif column.dtype == pl.String:
        return column.str.replace_all(_CONTROL, "\N{REPLACEMENT CHARACTER}").fill_null("")
    else:
        texts = [None if v is None else str(v) for v in column]
    return pl.Series(column.name, texts, dtype=pl.String).fill_null("")
