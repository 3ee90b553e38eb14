"""Streams the rows of delimited text and finds the line at fault when it cannot be read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import numpy as np

from medsim.core.errors import InputError
from medsim.core.files import HashedReader
from medsim.core.reading import LONGEST_LINE, decoded, too_long
from medsim.core.store import QueryError
from medsim.terminologies.sources import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medsim.core.store import Parameter, Store
    from medsim.terminologies.sources.archive import ReleaseFile

_CHUNK_BYTES = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFormat:
    """The form of the rows of a kind of file.

    Attributes:
        separator: of its values.
        is_cut: whether the text after the last line end is less than a row.
        row_fault: the fault of a row in words, empty where it has none.
        check_header: raises InputError unless a file's first line is its header; None where files
            have no header.
    """

    separator: str
    is_cut: Callable[[bytes], bool]
    row_fault: Callable[[str], str]
    check_header: Callable[[ReleaseFile, bytes], None] | None = None


def load_rows(
    query: str,
    row_format: RowFormat,
    files: list[ReleaseFile],
    store: Store,
    **params: Parameter,
) -> list[SourceFile]:
    """Run a query that fills a table from the rows of files, and return what was read.

    Args:
        query: by its name; it reads the rows from ``$stream``.
        row_format: of the rows.
        files: one after the other.
        store: that has the table.
        params: of the query beside its stream.

    Raises:
        InputError: a line is no row; the message names it.
    """
    read: list[SourceFile] = []
    try:
        store.run_on_stream(query, _text_of(row_format, files, read), **params)
    except QueryError as error:
        _raise_fault(row_format, files)
        raise error from error.__cause__
    return read


def _text_of(
    row_format: RowFormat, files: list[ReleaseFile], read: list[SourceFile]
) -> Iterator[bytes]:
    """Yield the text of files in chunks, without their header lines, and note what was read.

    Line ends become line feeds and a byte order mark is dropped.
    """
    for file in files:
        with file.open() as stream:
            hashed = HashedReader(stream)
            yield from _rows(row_format, file, hashed)
            read.append(SourceFile.read_by(hashed, file.inner))


def _rows(row_format: RowFormat, file: ReleaseFile, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of one file.

    Raises:
        InputError: the header is another, or the text is not UTF-8, has a lone carriage return or
            ends in the midst of a row.
    """
    mark = codecs.BOM_UTF8
    if row_format.check_header is not None:
        row_format.check_header(file, stream.readline(LONGEST_LINE))
        mark = b""
    decoder = codecs.getincrementaldecoder("utf-8")()
    carry, last_line = b"", b""
    while chunk := stream.read(_CHUNK_BYTES):
        text = carry + chunk.removeprefix(mark)
        mark = b""
        carry = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(carry)]
        if _has_lone_return(text) or not _decodes(decoder, text := text.translate(None, b"\r")):
            _raise_fault(row_format, [file])
        _, line_feed, tail = text.rpartition(b"\n")
        last_line = tail if line_feed else last_line + tail
        yield text
        if len(last_line) > LONGEST_LINE:
            _raise_fault(row_format, [file])
    is_cut = bool(last_line) and row_format.is_cut(last_line)
    if carry or is_cut or not _decodes(decoder, b"", final=True):
        _raise_fault(row_format, [file])
    if last_line:
        yield b"\n"


def _raise_fault(row_format: RowFormat, files: list[ReleaseFile]) -> None:
    """Raise InputError for the first line that is not a row, if there is one.

    It reads every file again, line by line, and is called only once something went wrong.
    """
    for file in files:
        with file.open() as stream:
            number = 0
            if row_format.check_header is not None:
                stream.readline(LONGEST_LINE)
                number = 1
            while line := stream.readline(LONGEST_LINE + len(b"\r\n")):
                number += 1
                if len(line.rstrip(b"\r\n")) > LONGEST_LINE:
                    raise too_long(f"{file.inner}: line {number:,}")
                text = decoded(line, file.inner, number)
                if fault := _line_fault(row_format, text):
                    raise InputError(f"{file.inner}: line {number} {fault}")


def _line_fault(row_format: RowFormat, text: str) -> str:
    """Return the fault of a line in words, empty where it is a row."""
    row = text.removesuffix("\r\n").removesuffix("\n")
    if "\r" in row:
        return "has a carriage return that no line feed follows"
    if row == text and row_format.is_cut(text.encode()):
        last_value = row.rpartition(row_format.separator)[2]
        return f"ends in {last_value!r} without a line end; is the file cut short?"
    return row_format.row_fault(row) if row else ""


def _has_lone_return(text: bytes) -> bool:
    """Return whether a text, which ends in no carriage return, has one without a line feed."""
    if b"\r" not in text:
        return False
    values = np.frombuffer(text, np.uint8)
    before_feed = values[1:] == ord("\n")
    return bool(np.any((values[:-1] == ord("\r")) > before_feed))


def _decodes(decoder: codecs.IncrementalDecoder, text: bytes, *, final: bool = False) -> bool:
    """Return whether the text goes on as UTF-8."""
    try:
        decoder.decode(text, final)
    except UnicodeDecodeError:
        return False
    return True
