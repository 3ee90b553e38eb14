"""Tables that a user made, read as text with the places that their cells come from."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_LINE_END = re.compile(r"\r\n|\r|\n")
_TAGS = re.compile(r"(\s*<[^<>]*>)+\s*")  # what wraps a text file that is shown as a web page
_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A table as text.

    Attributes:
        path: of its file.
        unit: what the numbers in column ``at`` count, "line" or "row".
        columns: the names of the columns, in lower case, in the file's order.
        frame: the columns that were asked for, trimmed, empty where nothing stands there; and
            ``at``, from 1.
    """

    path: Path
    unit: str
    columns: tuple[str, ...]
    frame: pl.DataFrame

    def refuse(self, wrong: pl.Series, column: str, expected: str) -> None:
        """Raise InputError for the first row where ``wrong`` is true, quoting a cell of it."""
        rows = self.frame.filter(wrong)
        if rows.height:
            at, value = rows["at"][0], rows[column][0][:_LONGEST_SHOWN]
            raise InputError(f"{self.path}: {self.unit} {at}: {column} {value!r} {expected}")


def read_table(path: Path, needed: Sequence[str], known: Sequence[str] = ()) -> Cells:
    """Return columns of a Parquet file, or of a text file that commas or tabs cut into cells.

    Columns are found by their names, where letter case does not matter. Text is UTF-8 or else
    latin-1; tags before a line, as of a text that is wrapped to be shown as a web page, are left
    out, and so are blank lines.

    Args:
        path: of the file; one that ends in .parquet is such.
        needed: columns that must be there.
        known: columns that may be there.

    Raises:
        InputError: the file cannot be read, lacks a column, or has a line with another number of
            cells than the first.
    """
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path, needed, known)
    rows = _rows(path, read_text(path))
    _, header = next(rows, (0, []))
    columns = tuple(cell.lower() for cell in header)
    wanted = _wanted(path, columns, needed, known)
    places = [columns.index(name) for name in wanted]
    found = []
    for at, cells in rows:
        if len(cells) != len(columns):
            raise InputError(
                f"{path}: line {at} has {len(cells)} cells, and the first {len(columns)}"
            )
        found.append((*(cells[place] for place in places), at))
    schema = pl.Schema({**dict.fromkeys(wanted, pl.String()), "at": pl.Int64()})
    frame = pl.DataFrame(found, schema, orient="row")
    return Cells(path=path, unit="line", columns=columns, frame=frame)


def read_text(path: Path) -> str:
    """Return a text file's content: UTF-8, or else latin-1.

    Raises:
        InputError: it cannot be read, or is no text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    if b"\0" in data:
        raise InputError(f"{path} is no text in UTF-8: byte {data.index(0) + 1} is 0")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, which end in CR, LF or both."""
    return _LINE_END.split(text)


def _rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number, from 1, and the trimmed cells of each line that is not blank."""
    lines = [
        _TAGS.sub("", line) if line.lstrip().startswith("<") else line for line in lines_of(text)
    ]
    first = next((line for line in lines if line.strip()), "")
    separator = "\t" if "\t" in first else ","
    for at, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            (cells,) = csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True)
        except csv.Error as error:
            raise InputError(f"{path}: line {at} cannot be cut ({error})") from error
        yield at, [cell.strip() for cell in cells]


def _read_parquet(path: Path, needed: Sequence[str], known: Sequence[str]) -> Cells:
    try:
        frame = pl.read_parquet(path, hive_partitioning=False, glob=False)
        frame = frame.rename(str.lower)
        columns = tuple(frame.columns)
        wanted = _wanted(path, columns, needed, known)
        text = pl.col(wanted).cast(pl.String).fill_null("").str.strip_chars()
        at = pl.int_range(1, frame.height + 1, dtype=pl.Int64, eager=True).alias("at")
        frame = frame.select(text).with_columns(at)
    except (OSError, pl.exceptions.PolarsError) as error:
        said = str(error).strip().splitlines()
        raise InputError(f"{path} cannot be read ({said[0] if said else error!r})") from error
    return Cells(path=path, unit="row", columns=columns, frame=frame)


def _wanted(
    path: Path, columns: tuple[str, ...], needed: Sequence[str], known: Sequence[str]
) -> list[str]:
    """Return the columns to read; all that are needed must be there, and once."""
    for name in needed:
        if name not in columns:
            raise InputError(
                f"{path} has no column {name!r}; it needs {', '.join(needed)} and has "
                f"{', '.join(columns)[:_LONGEST_SHOWN] or 'none'}"
            )
    wanted = [*needed, *(name for name in known if name in columns)]
    for name in wanted:
        if columns.count(name) > 1:
            raise InputError(f"{path} has two columns {name!r}")
    return wanted
