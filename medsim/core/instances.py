"""Instances of words in context: two sentences with a marked term in each, in BioWiC's format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.errors import InputError
from medsim.core.kinds import WIC_COLUMNS
from medsim.core.parquet import scan_of_users
from medsim.core.reading import json_lines, open_file, parsed_json, reading
from medsim.core.tables import is_parquet

_MOST = (1 << 31) - 1
_LONGEST_SHOWN = 60


def file_of(folder: Path, split: str) -> Path:
    """Return the file of a split in a folder: JSON, else JSON lines, else Parquet."""
    paths = [folder / f"{split}.{suffix}" for suffix in ("json", "jsonl", "parquet")]
    return next((path for path in paths if path.exists()), paths[0])


def published_instances(path: Path) -> pl.DataFrame:
    """Return the instances of a file with the columns of ``WIC_COLUMNS``.

    It is Parquet, or JSON: a list of objects, or lines with an object each.

    Returns:
        ``WIC_COLUMNS``, in the order of the file.

    Raises:
        InputError: the file cannot be read, or a value of an instance is missing or has the wrong
            type.
    """
    with reading(path, "instances"):
        content = _content(path)
        if not isinstance(content, list):
            raise InputError(f"{path} holds {type(content).__name__}, not a list of instances")
        rows = [_row(path, number, instance) for number, instance in enumerate(content, start=1)]
        return pl.DataFrame(rows, schema=WIC_COLUMNS, orient="row")


def _content(path: Path) -> Any:
    """Return the value of a JSON file, or the rows of JSON lines or Parquet."""
    if is_parquet(path):
        return scan_of_users(path).collect().to_dicts()
    with open_file(path) as stream:
        data = stream.read().removeprefix(b"\xef\xbb\xbf").strip()
    if not data.startswith(b"{"):
        return parsed_json(path, data)
    return json_lines(path, data)


def checked_terms(path: Path, instances: pl.DataFrame) -> pl.DataFrame:
    """Return instances; raise InputError if a term is not at its offsets in the sentence."""
    for number, row in enumerate(instances.iter_rows(named=True), start=1):
        for side in "12":
            start, end, term = row[f"start{side}"], row[f"end{side}"], row[f"term{side}"]
            text = row[f"sentence{side}"][start:end]
            if text != term or not term:
                raise InputError(
                    f"{path}: instance {number}: sentence{side} has {text[:60]!r} from {start} to "
                    f"{end}, not term{side}, {term[:60]!r}; medsim wic verify lists what is wrong"
                )
    return instances


def _row(path: Path, number: int, instance: object) -> list[object]:
    """Return the values of one instance in the order of the columns."""
    if not isinstance(instance, dict):
        raise InputError(f"{path}: instance {number} is {type(instance).__name__}, not an object")
    for name, kind in WIC_COLUMNS.items():
        value, max_value = instance.get(name), 1 if name == "label" else _MOST
        is_number = type(value) is int and 0 <= value <= max_value
        if not (type(value) is str if kind == pl.String else is_number):
            expected = "a text" if kind == pl.String else f"a whole number from 0 to {max_value:,}"
            actual = repr(value)[:_LONGEST_SHOWN] if name in instance else "missing"
            raise InputError(f"{path}: instance {number}: {name} is {actual}, not {expected}")
    return [instance[name] for name in WIC_COLUMNS]
