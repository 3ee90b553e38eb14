"""Reads the words or terms that name the rows of an array, from a file beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError
from medsim.core.parquet import scan_of_users
from medsim.core.reading import check_file, decoded, is_left_behind, open_file, read_json, reading
from medsim.embeddings import TERMS, WORDS
from medsim.embeddings.formats.rows import Keys

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUFFIXES = (".txt", ".json", ".parquet", ".csv", ".tsv")
"""Of the files in which a vocabulary may be."""

_ACCEPTED = ", ".join(SUFFIXES)

COLUMNS = ("word", "token", "term", "index")
"""Names of a column of words or terms, the first that a table has counts."""


def candidates(array: Path) -> list[Path]:
    """Return the files that may name the rows of an array.

    Those that bear its name, less the suffix; else all in its folder.
    """
    beside = sorted(
        file
        for file in array.parent.iterdir()
        if file.suffix.lower() in SUFFIXES and file.is_file() and not is_left_behind(file.name)
    )
    return [file for file in beside if file.stem == array.stem] or beside


def find_vocabulary(array: Path, given: Path | None) -> Path:
    """Return the file that names the rows of an array."""
    if given is not None:
        return given
    found = candidates(array)
    if len(found) == 1:
        return found[0]
    several = ", ".join(file.name for file in found)
    fault = f"several files may ({several})" if found else f"none beside it does ({_ACCEPTED})"
    raise InputError(f"{array} needs a file that names its rows, and {fault}; add ,vocabulary=FILE")


def read_vocabulary(path: Path, keys: str | None) -> Keys:
    """Return the words or terms of a file, in order of row.

    A text file has one a line; a JSON file is a list of them, or an object that gives the row of
    each, counted from 0; a table has them in a column of one of the names ``COLUMNS``, or in its
    only column of text. A column named "term" has terms, any other has words; ``keys`` overrules
    that.
    """
    with reading(path, "a vocabulary"):
        check_file(path)
        match path.suffix.lower():
            case ".txt":
                return Keys(path=path, values=_lines(path), kind=keys or WORDS)
            case ".json":
                return Keys(path=path, values=_of_json(path), kind=keys or WORDS)
            case ".parquet":
                return table_keys(path, scan_of_users(path), keys)
            case ".csv" | ".tsv":
                return table_keys(path, _scan_text(path), keys)
    raise InputError(f"{path} is no vocabulary; {_ACCEPTED} are read")


def table_keys(path: Path, table: pl.LazyFrame, keys: str | None) -> Keys:
    """Return the words or terms of a table; see ``read_vocabulary``."""
    name = chosen_column(
        path, table.collect_schema(), COLUMNS, "text", lambda one: one == pl.String
    )
    n_rows, size = table.select(pl.len()).collect().item(), path.stat().st_size
    if n_rows > size:  # as few bytes hold as many rows of nothing as one likes
        raise InputError(f"{path} claims {n_rows:,} rows in {size:,} bytes")
    values = table.select(name).collect().to_series()
    if values.is_empty():
        raise InputError(f"{path} has no rows")
    if values.null_count():
        row = int(values.is_null().arg_max() or 0)
        raise InputError(f"{path}: row {row + 1:,} has no {name}")
    kind = keys or (TERMS if name.lower() == "term" else WORDS)
    return Keys(path=path, values=values.to_list(), kind=kind)


def chosen_column(
    path: Path | str,
    schema: pl.Schema,
    names: tuple[str, ...],
    kind: str,
    fits: Callable[[Any], bool],
) -> str:
    """Return the column of a kind that has the first of some names, else the only one of it."""
    fitting = [name for name, dtype in schema.items() if fits(dtype)]
    found = [name for known in names for name in fitting if name.lower() == known][:1] or fitting
    if len(found) != 1:
        for name, dtype in schema.items():
            if name.lower() in names and name not in fitting:
                raise InputError(f"{path}: the column {name} has {dtype} values; expected {kind}")
        raise InputError(
            f"{path} has the columns {', '.join(schema)}; expected one column of {kind}, or one "
            f"named {', '.join(names)}"
        )
    return found[0]


def _lines(path: Path) -> list[str]:
    with open_file(path) as stream:
        lines = stream.read().split(b"\n")
    if not lines[-1]:
        del lines[-1]
    return [
        decoded(line.removesuffix(b"\r"), path, number)
        for number, line in enumerate(lines, start=1)
    ]


def _of_json(path: Path) -> list[str]:
    values = content = read_json(path)
    if isinstance(content, dict):
        rows = list(content.values())
        if not all(type(row) is int for row in rows) or sorted(rows) != list(range(len(rows))):
            raise InputError(f"{path} does not give each of the rows 0 to {len(rows) - 1:,} a word")
        values = sorted(content, key=content.__getitem__)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{path} is neither a list of words nor an object of words and rows")
    return values


def _scan_text(path: Path) -> pl.LazyFrame:
    is_tabbed = path.suffix.lower() == ".tsv"
    return pl.scan_csv(
        path.absolute(),
        glob=False,
        separator="\t" if is_tabbed else ",",
        quote_char=None if is_tabbed else '"',
        infer_schema=False,
        empty_string_is_null=False,
    )
