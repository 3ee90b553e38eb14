"""Streams the rows of delimited text, without quotes or as CSV with quotes."""

from __future__ import annotations

import codecs
import csv
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO

from medsim.core.errors import InputError, counted, listed
from medsim.core.reading import MAX_LINE_BYTES, Text, decoded, too_long
from medsim.core.store import Parameter, QueryError, Store
from medsim.core.tables import TextTable, table_of
from medsim.terminologies.sources.archive import ReleaseFile, SourceFile

_CHUNK_BYTES = 1 << 18
_CHUNK_ROWS = 1_000
_SPACES = str.maketrans("\t\r\n", "   ")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFormat:
    """The form of the rows of a kind of file.

    Attributes:
        separator: separator of its values, a bar or a tab; in CSV also a comma.
        n_separators: number of separators in a row.
        last_digits: least length of the last value of a row.
        check_header: raises InputError if a file's first line is not its header; None if files have
            no header.
        is_csv: whether values may be in quotes; such files have a header.
    """

    separator: bytes
    n_separators: int
    last_digits: int = 0
    check_header: Callable[[ReleaseFile, bytes], None] | None = None
    is_csv: bool = False

    def is_cut(self, row: bytes) -> bool:
        """Return whether the text after the last line end is an incomplete row."""
        n_separators, last = row.count(self.separator), row.rpartition(self.separator)[2]
        return n_separators < self.n_separators or len(last) < self.last_digits


def load_rows(
    query: str, row_format: RowFormat, files: list[ReleaseFile], store: Store, **params: Parameter
) -> list[SourceFile]:
    """Run a query that fills a table from the rows of files, and return the files.

    Args:
        query: name of the query, which reads the rows from ``$stream``.
        row_format: form of the rows.
        files: files to read, in order.
        store: store of the table.
        params: other parameters of the query.

    Raises:
        InputError: a line is not a valid row; the message names it.
    """
    records: list[SourceFile] = []
    try:
        store.run_on_stream(query, _text_of(row_format, files, records), **params)
    except QueryError as error:
        if not row_format.is_csv:  # rows of CSV were checked
            _raise_fault(row_format, files)
        _raise_refused(row_format, files, partial(_refusal, store, query, params))
        raise InputError(f"{listed([file.inner for file in files])}: {error}") from error
    return records


def _refusal(store: Store, query: str, params: Mapping[str, Parameter], rows: list[bytes]) -> str:
    """Return DuckDB's message if a query fails on rows, else an empty text."""
    try:
        store.run_on_stream(query, [b"\n".join([*rows, b""])], **params)
    except QueryError as error:
        return str(error).rpartition("Error: ")[2]
    return ""


def _text_of(
    row_format: RowFormat, files: list[ReleaseFile], records: list[SourceFile]
) -> Iterator[bytes]:
    """Yield the text of files in chunks, without their header lines, and record the files.

    Line ends become line feeds and a byte order mark is dropped.
    """
    for file in files:
        with file.open_recorded(records) as stream:
            if row_format.is_csv:
                yield from _csv_rows(row_format, file, stream)
                continue
            if row_format.check_header is not None:
                row_format.check_header(file, stream.readline(MAX_LINE_BYTES))
            try:
                yield from _rows(row_format, stream)
            except ValueError:
                _raise_fault(row_format, [file])
                raise


def _rows(row_format: RowFormat, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of one file.

    Raises:
        ValueError: it is not UTF-8, has a lone carriage return or a line that is too long, or ends
            within a row.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    carry, last_line = b"", b""
    mark = b"" if row_format.check_header else codecs.BOM_UTF8
    while chunk := stream.read(_CHUNK_BYTES):
        text = carry + chunk.removeprefix(mark)
        mark = b""
        carry = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(carry)].replace(b"\r\n", b"\n")
        decoder.decode(text)
        _, line_feed, tail = text.rpartition(b"\n")
        last_line = tail if line_feed else last_line + tail
        if b"\r" in text or len(last_line) > MAX_LINE_BYTES:
            raise ValueError
        yield text
    decoder.decode(b"", final=True)
    if carry or (last_line and row_format.is_cut(last_line)):
        raise ValueError
    if last_line:
        yield b"\n"


def _csv_rows(row_format: RowFormat, file: ReleaseFile, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of a CSV file with tabs and without quotes; line ends in values become spaces.

    Raises:
        InputError: a row has another number of values, or quotes are wrong.
    """
    lines = iter(partial(stream.readline, MAX_LINE_BYTES), b"")
    texts = (decoded(line, file.inner, number) for number, line in enumerate(lines, start=1))
    rows = csv.reader(texts, delimiter=row_format.separator.decode(), strict=True)
    expected, chunk = row_format.n_separators + 1, []
    try:
        for row in filter(None, islice(rows, 1, None)):  # without the header
            if len(row) != expected:
                n_found = counted(len(row), "value")
                raise InputError(
                    f"{file.inner}: line {rows.line_num} has {n_found}; expected {expected}"
                )
            chunk.append("\t".join(value.translate(_SPACES) for value in row))
            if len(chunk) > _CHUNK_ROWS:
                yield "\n".join([*chunk, ""]).encode()
                chunk.clear()
    except csv.Error as error:
        raise InputError(f"{file.inner}: line {rows.line_num}: {error}") from error
    yield "\n".join([*chunk, ""]).encode()


def _raise_fault(row_format: RowFormat, files: list[ReleaseFile]) -> None:
    """Raise InputError for the first line that is not a row, if there is one.

    This reads every file again, line by line, and is only called after an error.
    """
    has_header = row_format.check_header is not None
    noun = "bar" if row_format.separator == b"|" else "tab"
    for file in files:
        with file.open() as stream:
            lines = iter(partial(stream.readline, MAX_LINE_BYTES + len(b"\r\n") + 1), b"")
            for number, line in enumerate(lines, start=1):
                at = f"{file.inner}: line {number}"
                row = line.removesuffix(b"\n").removesuffix(b"\r")
                if len(row) > MAX_LINE_BYTES:
                    raise too_long(at)
                decoded(line, file.inner, number)
                if b"\r" in row:
                    raise InputError(f"{at} has a carriage return that no line feed follows")
                if row == line and row_format.is_cut(row):
                    raise InputError(f"{at} has no line end; is the file cut short?")
                n_separators = row.count(row_format.separator)
                if row and n_separators != row_format.n_separators and number > has_header:
                    n_found = counted(n_separators, noun)
                    raise InputError(f"{at} has {n_found}; expected {row_format.n_separators}")


def _raise_refused(
    row_format: RowFormat, files: list[ReleaseFile], refusal: Callable[[list[bytes]], str]
) -> None:
    """Raise InputError for the first row that a query refuses, if there is one.

    This reads every file again, and is only called after an error.
    """
    for file in files:
        number, rest = 1 + bool(row_format.check_header), b""
        for chunk in _text_of(row_format, [file], []):
            *rows, rest = (rest + chunk).split(b"\n")
            if refusal(rows):
                n = _first_refused(rows, refusal)
                at = f"{file.inner}: {'row' if row_format.is_csv else 'line'} {number + n}"
                raise InputError(f"{at} has a wrong value ({refusal(rows[n : n + 1])})")
            number += len(rows)


def _first_refused(rows: list[bytes], refusal: Callable[[list[bytes]], str]) -> int:
    """Return the position of the first row that is refused."""
    return bisect_left(range(len(rows)), x=True, key=lambda n: bool(refusal(rows[: n + 1])))


def csv_table(
    file: ReleaseFile, needed: Sequence[str], records: list[SourceFile], extra: Sequence[str] = ()
) -> TextTable:
    """Return columns of a file as text, without spaces around values, and record the file.

    Args:
        file: with a header, whose names are found ignoring case.
        needed: names of columns in lower case.
        records: list that the file is added to.
        extra: names of columns in lower case that are read if they exist.

    Raises:
        InputError: the file is damaged, or lacks a column.
    """
    with file.open_recorded(records) as stream:
        content = decoded(stream.read(), file.inner)
    return table_of(Text(path=Path(file.inner), content=content), needed, extra)
