"""Lists of names, from files, builds and Python objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import polars as pl

from medsim.core.errors import InputError, OptionError, listed
from medsim.core.opened import open_output
from medsim.core.options import OpenedFolder, type_of
from medsim.core.reading import expanded
from medsim.core.tables import is_parquet, read_table, read_text

USUAL_COLUMNS = ("term", "name", "label", "synonym", "text", "query", "match")
"""The columns that names are taken from if no column is given, the first that a file has."""

_DELIMITED = (".csv", ".tsv", ".psv")


def names_of(given: object, option: str, column: str | None = None) -> pl.Series:
    """Return names as a column of strings.

    Args:
        given: a file, the folder of a build, an opened build, or a list, Series or array of
            strings of Python, Polars, pandas, Arrow or NumPy.
        option: the option that gives them, for messages.
        column: the column of a table; by default the only one, or the first of ``USUAL_COLUMNS``.

    Raises:
        InputError: a file or folder cannot be read.
        OptionError: an object holds something else than strings.
    """
    if isinstance(given, (str, Path)):
        path = expanded(given)
        if not path.is_dir():
            return _read(path, column)
        given = cast("OpenedFolder", open_output(path))
    if isinstance(given, OpenedFolder):
        terms = getattr(given, "terms", None)
        if terms is None:
            raise InputError(f"{given.folder} has no names; give the folder of a build")
        return cast("pl.Series", terms()["term"])
    if not isinstance(given, pl.Series):
        given = _listed(given, option)
    if given.dtype not in {pl.String, pl.Categorical, pl.Enum, pl.Null}:
        raise OptionError(f"`{option}` takes strings, not {given.dtype}")
    if given.null_count():
        raise OptionError(f"`{option}` has no value in row {given.is_null().arg_max() or 0}")
    return given.cast(pl.String)


def _listed(given: Any, option: str) -> pl.Series:
    """Return an array or sequence as a column."""
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, pandas and NumPy
        if hasattr(given, method):
            given = getattr(given, method)()
    try:
        return pl.Series(list(given), dtype=pl.String)
    except (TypeError, ValueError) as error:  # also strings that are not valid Unicode
        raise OptionError(f"`{option}` takes strings, not {type_of(given)}") from error


def _read(path: Path, column: str | None) -> pl.Series:
    """Return the names of a file, without blank ones."""
    if not (is_parquet(path) or path.suffix.lower() in _DELIMITED):
        if column is not None:
            raise OptionError(f"{path} is read as lines; a column needs a .csv or .parquet file")
        names = pl.Series(read_text(path).content.splitlines(), dtype=pl.String)
    else:
        needed = [column.lower()] if column else []
        frame = read_table(path, needed, () if column else None).frame
        names = frame[needed[0] if needed else _usual_column(path, frame.columns)]
    names = names.str.strip_chars()
    return names.filter(names != "")


def _usual_column(path: Path, columns: list[str]) -> str:
    """Return the column to read."""
    if len(columns) == 1:
        return columns[0]
    by_name = {name.lower(): name for name in columns}
    usual = [by_name[name] for name in USUAL_COLUMNS if name in by_name]
    if not usual:
        raise InputError(f"{path} has the columns {listed(columns)}; choose one of them")
    return usual[0]
