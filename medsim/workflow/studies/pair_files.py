"""Files of pairs that are to be rated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.errors import InputError
from medsim.ratings.lines import cells_of_lines, read_content
from medsim.schema import GRADED_ITEM_COLUMNS, RATED_COLUMNS
from medsim.terms import lowered

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.ratings.lines import Content

_SIDES = ("term1", "term2")
_TAKEN = frozenset({*GRADED_ITEM_COLUMNS, *RATED_COLUMNS} - set(_SIDES))


def read_pairs(path: Path) -> pl.DataFrame:
    """Return the pairs of a CSV or TSV file: term1, term2, and its other columns as text.

    Raises:
        InputError: the file cannot be read, lacks a column or has one whose name medsim gives, or
            a pair has one term alone or stands twice; the message names the line.
    """
    content = read_content(path)
    separator, header = _header(content)
    rows: list[list[str]] = []
    seen: dict[tuple[str, ...], int] = {}
    sides = [header.index(side) for side in _SIDES]
    for line, cells in cells_of_lines(content, separator):
        if not seen and not rows and cells == header:
            continue
        if len(cells) != len(header):
            raise InputError(f"{path}: line {line} has {len(cells)} cells, not {len(header)}")
        pair = tuple(sorted(lowered([cells[side] for side in sides])))
        if not all(pair):
            raise InputError(f"{path}: line {line}: a term is empty")
        if pair[0] == pair[1]:
            raise InputError(f"{path}: line {line}: both terms are {cells[sides[0]][:40]!r}")
        if (known := seen.setdefault(pair, line)) != line:
            raise InputError(f"{path}: lines {known} and {line} have the same pair")
        rows.append(cells)
    if not rows:
        raise InputError(f"{path} has no pairs")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")
    return frame.select(*_SIDES, pl.exclude(_SIDES))


def _header(content: Content) -> tuple[str, list[str]]:
    """Return the separator of a file and the names of its columns."""
    path = content.path
    names: list[str] = []
    for separator in (",", "\t", ";"):
        _, names = next(cells_of_lines(content, separator), (0, []))
        if set(_SIDES) <= set(names):
            break
    else:
        raise InputError(f"{path} has no columns term1 and term2 in its first line")
    for at, name in enumerate(names):
        if not name or name in names[:at]:
            raise InputError(f"{path}: column {at + 1} has no name, or that of another")
        if name in _TAKEN:
            raise InputError(f"{path}: the column {name!r} has a name that medsim gives; rename it")
    return separator, names
