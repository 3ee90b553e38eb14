"""Instances of words in context: two sentences with a term in each, as BioWiC's files have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.kinds import WIC_COLUMNS
from medsim.core.reading import read_json, reading

if TYPE_CHECKING:
    from pathlib import Path

_MOST = 1 << 31
_LONGEST_SHOWN = 60


def published_instances(path: Path) -> pl.DataFrame:
    """Return the instances of a JSON file, a list of objects with the columns of ``WIC_COLUMNS``.

    Returns:
        ``WIC_COLUMNS``, in the order of the file.

    Raises:
        InputError: the file cannot be read, or an instance lacks a value or has one of another
            type.
    """
    with reading(path, "instances"):
        content = read_json(path)
        if not isinstance(content, list):
            raise InputError(f"{path} holds {type(content).__name__}, not a list of instances")
        rows = [_row(path, number, one) for number, one in enumerate(content, start=1)]
        return pl.DataFrame(rows, schema=WIC_COLUMNS, orient="row")


def check_terms(path: Path, instances: pl.DataFrame) -> None:
    """Raise InputError if a term of an instance is not at its offsets in its sentence."""
    for number, row in enumerate(instances.iter_rows(named=True), start=1):
        for side in "12":
            start, end, term = row[f"start{side}"], row[f"end{side}"], row[f"term{side}"]
            there = row[f"sentence{side}"][start:end]
            if there != term or not term:
                raise InputError(
                    f"{path}: instance {number}: sentence{side} has {there[:60]!r} from {start} to "
                    f"{end}, not term{side}, {term[:60]!r}; medsim wic verify lists what is wrong"
                )


def _row(path: Path, number: int, one: object) -> list[object]:
    """Return the values of one instance in the order of the columns."""
    if not isinstance(one, dict):
        raise InputError(f"{path}: instance {number} is {type(one).__name__}, not an object")
    for name, kind in WIC_COLUMNS.items():
        if name not in one:
            raise InputError(f"{path}: instance {number} has no {name!r}")
        text = kind == pl.String
        if type(one[name]) is not (str if text else int):
            expected = "a text" if text else "a whole number"
            found = repr(one[name])[:_LONGEST_SHOWN]
            raise InputError(f"{path}: instance {number}: {name} is {found}, not {expected}")
        if not text and not 0 <= one[name] < _MOST:
            raise InputError(
                f"{path}: instance {number}: {name} is "
                f"{str(one[name])[:_LONGEST_SHOWN]}, out of range"
            )
    if one["label"] > 1:
        raise InputError(f"{path}: instance {number}: label is neither 0 nor 1")
    return [one[name] for name in WIC_COLUMNS]
