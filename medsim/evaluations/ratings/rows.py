"""Reads the terms and ratings of a file, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, counted
from medsim.evaluations.ratings.columns import HOW_TO_NAME
from medsim.evaluations.ratings.lines import cells_of
from medsim.evaluations.ratings.properties import OF_PAIRS, is_missing, number_in, property_in
from medsim.statistics.ranks import without_rounding_errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.core.tables import Text
    from medsim.evaluations.ratings.positions import ColumnPositions


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedRows:
    """The lines of a file that have two terms and all ratings, in their order.

    Attributes:
        pairs: ``term1``, ``term2`` and a Float64 column for each rating, no value missing.
        properties: row for row, a column for each property in the file; values may be missing.
        raters: row for row, a Float64 column for each rater; values may be missing.
        left_out: how many lines were left out, by reason.
    """

    pairs: pl.DataFrame
    properties: pl.DataFrame
    raters: pl.DataFrame
    left_out: dict[str, int]


def read_rows(text: Text, positions: ColumnPositions) -> RatedRows:
    """Return the pairs of a file.

    Where it has raters and no rating, the mean of those who rated a pair is its rating.

    Raises:
        InputError: a line has more or fewer cells than the first, a rating that is no number or is
            outside the scale, or a property that is none; or there is no line but the header.
    """
    path = text.path
    rows: list[tuple[str | float, ...]] = []
    properties: list[tuple[str | float | None, ...]] = []
    raters: list[list[float | None]] = []
    n_lines = n_without_rating = 0
    for n_lines, (number, cells) in enumerate(_lines(text, positions), start=1):  # noqa: B007 — counted past the end
        _check_width(path, number, cells, positions)
        values = [_rating(path, number, cells[at], positions) for at in positions.ratings.values()]
        given = [_rating(path, number, cells[at], positions) for at in positions.raters]
        if not positions.ratings:
            told = [rating for rating in given if rating is not None]
            values = [sum(told) / len(told) if told else None]
        ratings = [rating for rating in values if rating is not None]
        if len(ratings) < len(values):
            n_without_rating += 1
        elif cells[positions.term1] and cells[positions.term2]:
            rows.append((cells[positions.term1], cells[positions.term2], *ratings))
            properties.append(_properties(path, number, cells, positions))
            raters.append(given)
    if not n_lines:
        raise InputError(f"{path} has a header and no pair")
    kinds = {name: pl.String if name in OF_PAIRS else pl.Float64 for name in positions.properties}
    terms = {"term1": pl.String, "term2": pl.String}
    schema = pl.Schema({**terms, **dict.fromkeys(positions.ratings or ("mean",), pl.Float64)})
    pairs = pl.DataFrame(rows, schema, orient="row")
    if not positions.ratings:
        means = without_rounding_errors(pairs["mean"].to_numpy())
        pairs = pairs.with_columns(pl.Series("mean", means))
    columns = {f"rater{at}": pl.Float64 for at in range(len(positions.raters))}
    return RatedRows(
        pairs=pairs,
        properties=pl.DataFrame(properties, kinds, orient="row"),
        raters=pl.DataFrame(raters, columns, orient="row"),
        left_out={
            "a rating is missing": n_without_rating,
            "a term is empty": n_lines - n_without_rating - len(rows),
        },
    )


def _lines(text: Text, positions: ColumnPositions) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line of a pair."""
    layout = positions.layout
    sentences = layout is not None and layout.sentences
    lines = cells_of(text, positions.separator, positions.used(), sentences=sentences)
    if positions.has_header:
        next(lines)
    return lines


def _check_width(path: Path, number: int, cells: list[str], positions: ColumnPositions) -> None:
    """Raise InputError unless a line has as many cells as the first, or all that are read."""
    layout, expected = positions.layout, positions.n_columns
    if layout is not None and layout.first and len(cells) > max(positions.used()):
        return
    if len(cells) != expected:
        raise InputError(
            f"{path}: line {number} has {counted(len(cells), 'cell')}, and the first {expected}"
        )


def _rating(path: Path, number: int, cell: str, positions: ColumnPositions) -> float | None:
    """Return the rating in a cell, which is checked against the scale of the layout.

    None where none is given.
    """
    if is_missing(cell):
        return None
    value = number_in(cell)
    if value is None:
        raise InputError(f"{path}: line {number}: rating {cell!r} is no number such as 3.5")
    layout = positions.layout
    scale = None if layout is None else layout.scale
    if layout is not None and scale is not None and not scale[0] <= value <= scale[1]:
        raise InputError(
            f"{path}: line {number}: rating {cell!r} is outside {scale[0]:g} to "
            f"{scale[1]:g}, the scale of {layout.name}; if it is another set, say {HOW_TO_NAME}"
        )
    return value


def _properties(
    path: Path, number: int, cells: list[str], positions: ColumnPositions
) -> tuple[str | float | None, ...]:
    try:
        return tuple(property_in(name, cells[at]) for name, at in positions.properties.items())
    except InputError as error:
        raise InputError(f"{path}: line {number}: {error}") from error
