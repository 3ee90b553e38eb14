"""Files of pairs that are to be rated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.progress import Progress
from medsim.core.tables.named import read_table
from medsim.core.terms import lowered
from medsim.evaluations.ratings.properties import PAIR_PROPERTIES, property_in
from medsim.studies.output import GRADED_ITEM_COLUMNS, RATED_COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from medsim.core.tables.named import Table

_SIDES = ("term1", "term2")
_TAKEN = frozenset({*GRADED_ITEM_COLUMNS, *RATED_COLUMNS} - set(_SIDES))
_LONGEST_SHOWN = 40


def read_pairs(path: Path, progress: Progress | None = None) -> pl.DataFrame:
    """Return the pairs of a table: term1, term2, and its other columns as text.

    Args:
        path: of a CSV, TSV or Parquet file.
        progress: warned where the file's encoding is in doubt; silent by default.

    Raises:
        InputError: the file cannot be read, lacks a column or has one whose name medsim gives, or
            a pair has one term alone or stands twice; the message names the line.
    """
    table = read_table(path, _SIDES, known=None)
    for warning in table.warnings:
        (progress or Progress()).warn(warning)
    for name in table.frame.columns:
        if name in _TAKEN:
            raise InputError(f"{path}: the column {name!r} has a name that medsim gives; rename it")
    if table.frame.is_empty():
        raise InputError(f"{path} has no pairs")
    for side in _SIDES:
        table.refuse(table.frame[side] == "", side, "is empty")
    _check_properties(table)
    seen: dict[tuple[str, ...], str] = {}
    for place, (term1, term2, *_) in table.rows():
        pair = tuple(sorted(lowered([term1, term2])))
        if pair[0] == pair[1]:
            raise InputError(f"{path}: {place}: both terms are {term1[:_LONGEST_SHOWN]!r}")
        if (known := seen.setdefault(pair, place)) != place:
            raise InputError(f"{path}: {known} and {place} have the same pair")
    return table.frame


def _check_properties(table: Table) -> None:
    """Raise InputError where a column that an evaluation reads holds what it would refuse."""
    for column in PAIR_PROPERTIES:
        if column not in table.frame.columns:
            continue
        for at, cell in zip(table.at, table.frame[column], strict=True):
            try:
                property_in(column, cell)
            except InputError as error:
                raise InputError(f"{table.path}: {table.unit} {at}: {error}") from error
