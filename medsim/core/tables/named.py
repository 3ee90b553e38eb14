"""Tables whose columns are found by their names, with the places that cells come from."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.parquet import checked_frame
from medsim.core.reading import reading
from medsim.core.tables.text import bytes_of, cells_of_lines, first_lines, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from medsim.core.tables.text import Text

_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as text.

    Attributes:
        path: of its file.
        unit: what ``at`` counts from 1, "line" or "row".
        at: where each row of the frame stands.
        frame: the columns that were asked for, trimmed, empty where nothing stands there.
        warnings: what a reader of results should know, a sentence each.
        sha256: of the file's bytes that were read, in hex.
    """

    path: Path
    unit: str
    at: pl.Series
    frame: pl.DataFrame
    warnings: tuple[str, ...] = ()
    sha256: str = ""

    def rows(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield where each row stands, such as "line 12", and its cells."""
        for at, cells in zip(self.at, self.frame.iter_rows(), strict=True):
            yield f"{self.unit} {at}", cells

    def refuse(self, wrong: pl.Series, column: str, expected: str) -> None:
        """Raise InputError for the first row where ``wrong`` is true, quoting a cell of it."""
        if wrong.any():
            first = wrong.arg_true()[0]
            value = self.frame[column][first]
            at = f"{self.unit} {self.at[first]}"
            raise InputError(f"{self.path}: {at}: {column} {value!r} {expected}")


def read_table(path: Path, needed: Sequence[str] = (), known: Sequence[str] | None = ()) -> Table:
    """Return columns of a Parquet file, or of a text file that is cut into cells.

    Columns are found by their names, where letter case does not matter. What separates cells is
    told by the header: it cuts out most of the names that are needed, and most names.

    Args:
        path: of the file; one that ends in .parquet is such, and lists in it are joined by ";".
        needed: columns that must be there.
        known: columns that may be there; None takes all others under the names that they have.

    Raises:
        InputError: the file cannot be read, lacks a column or has one twice, or has a line with
            another number of cells than the first.
    """
    if not is_parquet(path):
        with reading(path, "a table"):
            return table_of(read_text(path), needed, known)
    frame, sha256 = _hashed_parquet(path)
    places = _places(path, frame.columns, needed, known)
    with reading(path, "a table"):
        cells = pl.DataFrame([_as_text(frame.to_series(places[name]), name) for name in places])
    at = pl.int_range(1, frame.height + 1, dtype=pl.Int64, eager=True)
    return Table(path=path, unit="row", at=at, frame=cells, sha256=sha256)


def table_of(
    text: Text,
    needed: Sequence[str] = (),
    known: Sequence[str] | None = (),
    *,
    filled_in: bool = False,
) -> Table:
    """Return columns of a text, see ``read_table``.

    In one that a spreadsheet filled in a row may lack empty cells at its end, and cells are not
    trimmed.
    """
    first = first_lines(text)
    separator = max(first, key=lambda one: _fit(first[one], needed))
    lines = cells_of_lines(text, separator, trimmed=not filled_in)
    _, header = next(lines)
    places = _places(text.path, header, needed, known)
    at, rows = [], []
    for number, cells in lines:
        if filled_in:
            cells.extend([""] * (len(header) - len(cells)))
        elif len(cells) != len(header):
            raise InputError(
                f"{text.path}: line {number} has {len(cells)} cells, and the first {len(header)}"
            )
        at.append(number)
        rows.append([cells[place] for place in places.values()])
    return Table(
        path=text.path,
        unit="line",
        at=pl.Series(at, dtype=pl.Int64),
        frame=pl.DataFrame(rows, dict.fromkeys(places, pl.String), orient="row"),
        warnings=text.warnings,
        sha256=text.sha256,
    )


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, by its name."""
    return path.suffix.lower() == ".parquet"


def _hashed_parquet(path: Path) -> tuple[pl.DataFrame, str]:
    """Return a Parquet file's table, and the SHA-256 of the bytes that it was read from.

    Arrow reads it, since Polars ends the process at some damaged pages.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 — few tables are Parquet

    with reading(path, "Parquet"):
        data, sha256 = bytes_of(path)
        file = ParquetFile(io.BytesIO(data))
        n_rows = file.metadata.num_rows
        if n_rows > len(data):  # as few bytes hold as many rows of nothing as one likes
            raise InputError(
                f"{path} claims {n_rows:,} rows in {len(data):,} bytes, which no table of terms has"
            )
        return checked_frame(file.read()), sha256


def _as_text(column: pl.Series, name: str) -> pl.Series:
    if column.dtype == pl.List:
        column = column.cast(pl.List(pl.String)).list.join(";")
    return column.cast(pl.String).fill_null("").str.strip_chars().alias(name)


def _fit(header: Sequence[str], needed: Sequence[str]) -> tuple[int, int]:
    return len({*needed} & {*map(_plain, header)}), len(header)


def _plain(name: str) -> str:
    return name.strip().lower()


def _places(
    path: Path, header: Sequence[str], needed: Sequence[str], known: Sequence[str] | None
) -> dict[str, int]:
    """Return the columns to read, by name; all that are needed must be there, and none twice."""
    plain = [_plain(name) for name in header]
    for name in needed:
        if name not in plain:
            raise InputError(
                f"{path} has no column {name!r}; it needs {', '.join(needed)} and has "
                f"{', '.join(plain)[:_LONGEST_SHOWN]!r}"
            )
    places: dict[str, int] = {}
    for name in [*needed, *(name for name in known or () if name in plain)]:
        if plain.count(name) > 1:
            raise InputError(f"{path} has two columns {name!r}; each needs a name of its own")
        places[name] = plain.index(name)
    taken = {*places.values()}
    for at, name in enumerate(header if known is None else ()):
        own = name.strip() or f"column{at + 1}"
        if own in places and at not in taken:
            raise InputError(f"{path} has two columns {own!r}; each needs a name of its own")
        if at not in taken:
            places[own] = at
    return places
