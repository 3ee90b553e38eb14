"""The inputs of studies: names of annotators, instructions, and files of pairs to rate."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.progress import Progress, progress_of
from medsim.core.reading import decoded
from medsim.core.tables.named import read_table
from medsim.core.tables.text import bytes_of
from medsim.core.terms import lowered
from medsim.evaluations.ratings.properties import PAIR_PROPERTIES, property_in
from medsim.studies.output import GRADED_ITEM_COLUMNS, RATED_COLUMNS

if TYPE_CHECKING:
    from medsim.core.tables.named import Table
    from medsim.studies.sheets import Scale

_LONGEST = 20_000  # characters of instructions
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")

_SIDES = ("term1", "term2")
_TAKEN = frozenset({*GRADED_ITEM_COLUMNS, *RATED_COLUMNS} - set(_SIDES))


def instructions_of(scale: Scale, file: str | Path | None) -> tuple[str, ...]:
    """Return paragraphs for annotators: those of a text file, by default those of the scale.

    Paragraphs are separated by empty lines.
    """
    if file is None:
        text = (files("medsim.studies") / f"{scale.name}.txt").read_text(encoding="utf-8")
    else:
        text = _read_plain_text(Path(file))
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return tuple(filter(None, paragraphs))


def _read_plain_text(path: Path) -> str:
    data, _ = bytes_of(path)
    text = decoded(data, path)
    if (found := _CONTROL.search(text)) is not None:
        raise InputError(f"{path} is no plain text: it has the character {found[0]!r}")
    if not text.strip():
        raise InputError(f"{path} holds no text")
    if len(text) > _LONGEST:
        raise InputError(f"{path} has {len(text):,} characters; up to {_LONGEST:,} are accepted")
    return text


def read_pairs(path: Path, progress: Progress | None = None) -> Table:
    """Return the pairs of a table: term1, term2, and its other columns as text.

    Raises:
        InputError: the file cannot be read, lacks a column or has one whose name medsim gives, or
            a pair has one term alone or stands twice; the message names the line.
    """
    table = read_table(path, _SIDES, known=None)
    for warning in table.warnings:
        progress_of(progress).warn(warning)
    for name in table.frame.columns:
        if name in _TAKEN:
            raise InputError(f"{path}: the column {name!r} has a name that medsim gives; rename it")
    if table.frame.is_empty():
        raise InputError(f"{path} has no pairs")
    for side in _SIDES:
        table.refuse(table.frame[side] == "", side, "is empty")
    _check_properties(table)
    seen: dict[tuple[str, ...], str] = {}
    for location, (term1, term2, *_) in table.rows():
        pair = tuple(sorted(lowered([term1, term2])))
        if pair[0] == pair[1]:
            raise InputError(f"{path}: {location}: both terms are {term1!r}")
        if (known := seen.setdefault(pair, location)) != location:
            raise InputError(f"{path}: {known} and {location} have the same pair")
    return table


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
