"""Lists of names, from files, builds and Python objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from medsim.core.errors import InputError, OptionError, listed
from medsim.core.opened import open_output
from medsim.core.options import OpenedFolder, type_of
from medsim.core.parquet import scan_of_users
from medsim.core.reading import expanded, reading
from medsim.core.tables import LINE_END, is_parquet, read_text, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

USUAL_COLUMNS = ("term", "name", "label", "synonym", "text", "query", "match")
"""The columns that names are taken from if no column is given, the first that a file has."""

_DELIMITED = (".csv", ".tsv", ".psv")


def names_of(
    given: object,
    option: str,
    column: str | None = None,
    warn: Callable[[str], object] = lambda _warning: None,
) -> pl.Series:
    """Return names as a column of strings.

    Args:
        given: a file, the folder of a build, an opened build, or a list, Series or array of
            strings of Python, Polars, pandas, Arrow or NumPy.
        option: the option that gives them, for messages.
        column: the column of a table; by default the only one, or the first of ``USUAL_COLUMNS``.
        warn: called with a warning about a file.

    Raises:
        InputError: a file or folder cannot be read.
        OptionError: an object holds something else than strings.
    """
    if isinstance(given, (str, Path)):
        path = expanded(given)
        if not path.exists():
            raise InputError(f"{path} does not exist")
        if not path.is_dir():
            return _read(path, column, warn)
        given = cast("OpenedFolder", open_output(path))
    if column is not None:
        raise OptionError(f"`{option}` has no columns; a column needs a .csv or .parquet file")
    if isinstance(given, OpenedFolder):
        terms = getattr(given, "terms", None)
        if terms is None:
            raise InputError(f"{given.folder} has no names; give the folder of a build")
        return cast("pl.Series", terms()["term"])
    return _texts(given if isinstance(given, pl.Series) else _listed(given, option), f"`{option}`")


def _texts(names: pl.Series, what: str) -> pl.Series:
    """Return a column as strings; null is an error."""
    if not isinstance(names.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise OptionError(f"{what} takes strings, not {names.dtype}")
    if names.null_count():
        raise OptionError(f"{what} has no value in row {names.is_null().arg_max() or 0}")
    return names.cast(pl.String)


def _listed(given: Any, option: str) -> pl.Series:
    """Return an array or sequence as a column."""
    kind, dimensions = type_of(given), getattr(given, "ndim", 1)
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, pandas and NumPy
        if hasattr(given, method):
            given = getattr(given, method)()
    try:
        if dimensions == 1 and not hasattr(given, "columns"):
            return pl.Series(list(given), dtype=pl.String)
    except (TypeError, ValueError) as error:  # also strings that are not valid Unicode
        raise OptionError(f"`{option}` takes strings, not {kind}") from error
    raise OptionError(f"`{option}` takes strings in one dimension, not {kind}")


def _read(path: Path, column: str | None, warn: Callable[[str], object]) -> pl.Series:
    """Return the names of a file, without blank ones and without white space at their ends."""
    if is_parquet(path):
        with reading(path, "Parquet"):
            frame = scan_of_users(path)
            chosen = _column(path, frame.collect_schema().names(), column)
            cells = frame.select(chosen).collect()[chosen].drop_nulls()
        names = _texts(cells, f"{path}: {chosen}")
    else:
        is_delimited = path.suffix.lower() in _DELIMITED
        if column is not None and not is_delimited:
            raise OptionError(f"{path} is read as lines; a column needs a .csv or .parquet file")
        text = read_text(path)
        for warning in text.warnings:
            warn(warning)
        if is_delimited:
            table = table_of(text, [column.lower()] if column else [], None).frame
            names = table[_column(path, table.columns, column)]
        else:
            names = pl.Series(LINE_END.split(text.content), dtype=pl.String)
    names = names.str.strip_chars()
    return names.filter(names != "")


def _column(path: Path, columns: list[str], chosen: str | None) -> str:
    """Return the column to read; case does not count."""
    if chosen is None and len(columns) == 1:
        return columns[0]
    for name in USUAL_COLUMNS if chosen is None else (chosen.lower(),):
        matching = [column for column in columns if column.lower() == name]
        if len(matching) > 1:
            raise InputError(f"{path} has several columns {name}")
        if matching:
            return matching[0]
    raise InputError(
        f"{path} has no column {chosen or 'named term, name or label'}; choose one with "
        f"`query_column` or `pool_column`: {listed(columns) or 'it has none'}"
    )
