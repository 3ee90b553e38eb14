"""Tables for a terminal, with columns that are aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from medsim.core.cells import readable

if TYPE_CHECKING:
    import polars as pl

FOR_PEOPLE = True
_GAP = "   "  # between columns


def render(frame: pl.DataFrame) -> str:
    """Return a frame as lines, numbers to the right and all else to the left."""
    if not frame.width:
        return ""
    rows = readable(frame)
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    numeric = [kind.is_numeric() for kind in frame.dtypes]
    head, *body = [_padded(row, widths, numeric) for row in rows]
    rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    return "\n".join([head, f" {rule}", *body])


def _padded(row: list[str], widths: list[int], numeric: list[bool]) -> str:
    cells = []
    for text, width, right in zip(row, widths, numeric, strict=True):
        space = " " * (width - cell_len(text))
        cells.append(space + text if right else text + space)
    return f" {_GAP.join(cells)}".rstrip()
