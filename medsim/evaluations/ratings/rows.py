"""Reads the terms and ratings of a file, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.tables.lines import cells_of_lines
from medsim.evaluations.ratings.columns import HOW_TO_NAME
from medsim.evaluations.ratings.properties import property_in
from medsim.evaluations.ratings.values import is_missing, number_in

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.tables.text import Text
    from medsim.evaluations.ratings.places import Places

_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rated pairs of a file, in its order.

    Attributes:
        frame: ``term1``, ``term2`` and a Float64 column for each rating; no value is missing.
        properties: row for row, a column for each property that the file has; values may be
            missing.
        n_without_rating: how many lines lack a rating.
        n_without_term: how many lines have all ratings and lack a term.
    """

    frame: pl.DataFrame
    properties: pl.DataFrame
    n_without_rating: int
    n_without_term: int


def read_rows(text: Text, places: Places) -> Rows:
    """Return the pairs of those lines that have two terms and all ratings.

    Raises:
        InputError: a line has more or fewer cells than the first, a rating that is no number or is
            outside the scale, or a property that is none; or there is no line but the header.
    """
    path = text.path
    lines = cells_of_lines(text, places.separator)
    if places.has_header:
        next(lines)
    rows: list[tuple[str | float, ...]] = []
    properties: list[tuple[str | float | None, ...]] = []
    n_lines = n_without_rating = 0
    for n_lines, (number, cells) in enumerate(lines, start=1):  # noqa: B007 — counted past the end
        if len(cells) != places.n_columns:
            raise InputError(
                f"{path}: line {number} has {len(cells)} cells, and the first {places.n_columns}"
            )
        found = [cells[at] for at in places.ratings.values()]
        values = [_rating(path, number, cell, places) for cell in found if not is_missing(cell)]
        if len(values) < len(found):
            n_without_rating += 1
        elif cells[places.term1] and cells[places.term2]:
            rows.append((cells[places.term1], cells[places.term2], *values))
            properties.append(_properties(path, number, cells, places))
    if not n_lines:
        raise InputError(f"{path} has a header and no pair")
    terms = {"term1": pl.String, "term2": pl.String}
    schema = pl.Schema({**terms, **dict.fromkeys(places.ratings, pl.Float64)})
    return Rows(
        frame=pl.DataFrame(rows, schema, orient="row"),
        properties=pl.DataFrame(properties, _property_schema(places), orient="row"),
        n_without_rating=n_without_rating,
        n_without_term=n_lines - n_without_rating - len(rows),
    )


def _properties(
    path: Path, number: int, cells: list[str], places: Places
) -> tuple[str | float | None, ...]:
    try:
        return tuple(property_in(name, cells[at]) for name, at in places.properties.items())
    except InputError as error:
        raise InputError(f"{path}: line {number}: {error}") from error


def _property_schema(places: Places) -> pl.Schema:
    texts = {"domain", "associated"}
    return pl.Schema(
        {name: pl.String if name in texts else pl.Float64 for name in places.properties}
    )


def _rating(path: Path, number: int, cell: str, places: Places) -> float:
    """Return the rating in a cell, which is checked against the scale of the layout."""
    value = number_in(cell)
    if value is None:
        raise InputError(
            f"{path}: line {number}: rating {cell[:_LONGEST_SHOWN]!r} is no number such as 3.5"
        )
    layout = places.layout
    if layout is not None and not layout.low <= value <= layout.high:
        raise InputError(
            f"{path}: line {number}: rating {cell[:_LONGEST_SHOWN]!r} is outside {layout.low:g} to "
            f"{layout.high:g}, the scale of {layout.name}; if it is another set, say {HOW_TO_NAME}"
        )
    return value
