"""Reads the terms and ratings of a file, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, counted
from medsim.core.tables.lines import cells_of_lines
from medsim.evaluations.ratings.columns import HOW_TO_NAME
from medsim.evaluations.ratings.properties import is_missing, number_in, property_in

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.tables.text import Text
    from medsim.evaluations.ratings.positions import ColumnPositions

_LONGEST_SHOWN = 80


def read_rows(
    text: Text, positions: ColumnPositions
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, int]]:
    """Return the pairs of those lines that have two terms and all ratings, in their order.

    Returns:
        ``term1``, ``term2`` and a Float64 column for each rating, no value missing; row for row,
        a column for each property in the file, where values may be missing; and how many lines
        were left out, by reason.

    Raises:
        InputError: a line has more or fewer cells than the first, a rating that is no number or is
            outside the scale, or a property that is none; or there is no line but the header.
    """
    path = text.path
    lines = cells_of_lines(text, positions.separator)
    if positions.has_header:
        next(lines)
    rows: list[tuple[str | float, ...]] = []
    properties: list[tuple[str | float | None, ...]] = []
    n_lines = n_without_rating = 0
    for n_lines, (number, cells) in enumerate(lines, start=1):  # noqa: B007 — counted past the end
        if len(cells) != positions.n_columns:
            raise InputError(
                f"{path}: line {number} has {counted(len(cells), 'cell')}, and the first "
                f"{positions.n_columns}"
            )
        found = [cells[at] for at in positions.ratings.values()]
        values = [_rating(path, number, cell, positions) for cell in found if not is_missing(cell)]
        if len(values) < len(found):
            n_without_rating += 1
        elif cells[positions.term1] and cells[positions.term2]:
            rows.append((cells[positions.term1], cells[positions.term2], *values))
            properties.append(_properties(path, number, cells, positions))
    if not n_lines:
        raise InputError(f"{path} has a header and no pair")
    terms = {"term1": pl.String, "term2": pl.String}
    schema = pl.Schema({**terms, **dict.fromkeys(positions.ratings, pl.Float64)})
    kinds = {
        name: pl.String if name in {"domain", "associated"} else pl.Float64
        for name in positions.properties
    }
    left_out = {
        "a rating is missing": n_without_rating,
        "a term is empty": n_lines - n_without_rating - len(rows),
    }
    frames = pl.DataFrame(rows, schema, orient="row"), pl.DataFrame(properties, kinds, orient="row")
    return *frames, left_out


def _rating(path: Path, number: int, cell: str, positions: ColumnPositions) -> float:
    """Return the rating in a cell, which is checked against the scale of the layout."""
    value = number_in(cell)
    if value is None:
        raise InputError(
            f"{path}: line {number}: rating {cell[:_LONGEST_SHOWN]!r} is no number such as 3.5"
        )
    layout = positions.layout
    if layout is not None and not layout.low <= value <= layout.high:
        raise InputError(
            f"{path}: line {number}: rating {cell[:_LONGEST_SHOWN]!r} is outside {layout.low:g} to "
            f"{layout.high:g}, the scale of {layout.name}; if it is another set, say {HOW_TO_NAME}"
        )
    return value


def _properties(
    path: Path, number: int, cells: list[str], positions: ColumnPositions
) -> tuple[str | float | None, ...]:
    try:
        return tuple(property_in(name, cells[at]) for name, at in positions.properties.items())
    except InputError as error:
        raise InputError(f"{path}: line {number}: {error}") from error
