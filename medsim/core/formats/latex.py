"""Tables in LaTeX, for the package booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.cells import readable

if TYPE_CHECKING:
    import polars as pl

FOR_PEOPLE = True
_ESCAPED = {
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


def render(frame: pl.DataFrame) -> str:
    """Return a frame as a tabular environment."""
    columns = "".join("r" if kind.is_numeric() else "l" for kind in frame.dtypes)
    head, *rows = map(_row, readable(frame))
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", end])


def _row(values: list[str]) -> str:
    row = " & ".join("".join(_ESCAPED.get(c, c) for c in value) for value in values) + r" \\"
    return "{}" + row if row.startswith(("[", "*")) else row  # else an option of the line before
