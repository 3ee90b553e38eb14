"""Streams the rows of text with commas and quotes, by their columns."""

from __future__ import annotations

import csv
from functools import partial
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.files import HashedReader
from medsim.core.reading import LONGEST_LINE, decoded, too_long
from medsim.terminologies.sources import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    from medsim.terminologies.sources.archive import ReleaseFile


def csv_rows(
    file: ReleaseFile,
    columns: Sequence[str],
    read: list[SourceFile],
    *,
    optional: Sequence[str] = (),
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file, each with the number of its first line, and note what was read.

    Args:
        file: with a header line; values may be quoted, and have line ends in quotes.
        columns: whose values are wanted, in any case.
        read: gets the file once all its rows are read.
        optional: columns that follow; where there is none, its values are empty.

    Raises:
        InputError: a column is not there, a row has another number of values than the header, or
            the text is not CSV in UTF-8.
    """
    with file.open() as stream:
        hashed = HashedReader(stream)
        rows = csv.reader(_lines(file, hashed), strict=True)
        line = 1
        try:
            header = [name.strip().lower() for name in next(rows, [])]
            places = _places(file, header, columns, optional)
            line = rows.line_num + 1
            for row in rows:
                if len(row) != len(header) and row:
                    raise InputError(
                        f"{file.inner}: line {line} has {len(row)} columns; its header has "
                        f"{len(header)}"
                    )
                if row:
                    yield line, [row[place] if place is not None else "" for place in places]
                line = rows.line_num + 1
        except csv.Error as error:
            raise InputError(f"{file.inner}: line {line}: not CSV ({error})") from error
        read.append(SourceFile.read_by(hashed, file.inner))


def check_column(file: ReleaseFile, header: Sequence[str], column: str) -> None:
    """Raise InputError unless a header has a column once."""
    times = header.count(column)
    if times != 1:
        fault = f"has the column {column!r} {times} times" if times else f"has no column {column!r}"
        raise InputError(f"{file.inner}: line 1 {fault}")


def _places(
    file: ReleaseFile, header: list[str], columns: Sequence[str], optional: Sequence[str]
) -> list[int | None]:
    """Return at which places a header has columns."""
    places: list[int | None] = []
    for column in (*columns, *optional):
        name = column.lower()
        if name in header or column in columns:
            check_column(file, header, name)
            places.append(header.index(name))
        else:
            places.append(None)
    return places


def _lines(file: ReleaseFile, stream: IO[bytes]) -> Iterator[str]:
    lines = iter(partial(stream.readline, LONGEST_LINE + 1), b"")
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise too_long(f"{file.inner}: line {number:,}")
        yield decoded(line, file.inner, number)
