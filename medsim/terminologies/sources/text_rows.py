"""Streams the rows of delimited text and finds the line at fault when it cannot be read."""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.store import QueryError
from medsim.terminologies.sources import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medsim.core.store import Store
    from medsim.terminologies.sources.archive import ReleaseFile

MAX_LINE_BYTES = 1 << 20
"""Of a line with its line feed; the SQL files that read streams have it too."""

_CHUNK_BYTES = 1 << 18
_QUOTED_CHARACTERS = 60


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


class RowStream:
    """The rows of files of one format, one file after the other, without their header lines.

    Line ends become line feeds and a byte order mark is dropped. Each file is hashed on the way.

    Attributes:
        read: the files that have been read to their end.
    """

    def __init__(self, row_format: RowFormat, files: list[ReleaseFile]) -> None:
        self._format = row_format
        self._files = files
        self.read: list[SourceFile] = []

    def __iter__(self) -> Iterator[bytes]:
        """Yield chunks of text.

        Raises:
            InputError: a header is another, a file cannot be read, or its text is not UTF-8, has a
                lone carriage return or ends in the midst of a row.
        """
        for file in self._files:
            with file.open() as stream:
                yield from self._rows(file, stream)

    def _rows(self, file: ReleaseFile, stream: IO[bytes]) -> Iterator[bytes]:
        digest = hashlib.sha256()
        size = 0
        if self._format.check_header is not None:
            header = stream.readline(MAX_LINE_BYTES)
            digest.update(header)
            size = len(header)
            self._format.check_header(file, header)
        decoder = codecs.getincrementaldecoder("utf-8")()
        carry, last_line = b"", b""
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
            text = carry + (chunk if size else chunk.removeprefix(codecs.BOM_UTF8))
            size += len(chunk)
            carry = b"\r" if text.endswith(b"\r") else b""
            text = text[: len(text) - len(carry)].replace(b"\r\n", b"\n")
            if b"\r" in text or not _decodes(decoder, text):
                raise self._fault(file)
            _, line_feed, tail = text.rpartition(b"\n")
            last_line = tail if line_feed else last_line + tail
            yield text
        if carry or not _decodes(decoder, b"", final=True) or self._is_cut(last_line):
            raise self._fault(file)
        if last_line:
            yield b"\n"
        self.read.append(SourceFile(name=file.inner, size=size, sha256=digest.hexdigest()))

    def _is_cut(self, last_line: bytes) -> bool:
        return bool(last_line) and self._format.is_cut(last_line)

    def _fault(self, file: ReleaseFile) -> InputError:
        return _find_fault(self._format, [file]) or InputError(f"{file.inner}: changed while read")


def load_rows(
    query: str, row_format: RowFormat, files: list[ReleaseFile], store: Store
) -> list[SourceFile]:
    """Run a query that fills a table from the rows of files, and return what was read.

    Raises:
        InputError: a line is no row; the message names it.
    """
    stream = RowStream(row_format, files)
    try:
        store.run_on_stream(query, stream)
    except QueryError as error:
        raise _find_fault(row_format, files) or error from error
    return stream.read


def _find_fault(row_format: RowFormat, files: list[ReleaseFile]) -> InputError | None:
    """Return the error for the first line that is no row, None if all are rows.

    It reads every file again, line by line, and is called only once something went wrong.
    """
    for file in files:
        with file.open() as stream:
            number = 0
            if row_format.check_header is not None:
                stream.readline(MAX_LINE_BYTES)
                number = 1
            while line := stream.readline(MAX_LINE_BYTES + len(b"\r\n")):
                number += 1
                if fault := _line_fault(row_format, line):
                    return InputError(f"{file.inner}: line {number} {fault}")
    return None


def quoted(value: str) -> str:
    """Return a value for a message, not all of it if it is long."""
    if len(value) <= _QUOTED_CHARACTERS:
        return repr(value)
    return f"{value[:_QUOTED_CHARACTERS]!r}… ({len(value):,} characters)"


def _line_fault(row_format: RowFormat, line: bytes) -> str:
    """Return the fault of a line in words, empty where it is a row."""
    if len(line.rstrip(b"\r\n")) >= MAX_LINE_BYTES:
        return f"is longer than {MAX_LINE_BYTES:,} bytes"
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"is not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1}"
    row = text.removesuffix("\r\n").removesuffix("\n")
    if "\r" in row:
        return "has a carriage return that no line feed follows"
    if row == text and row_format.is_cut(line):
        last_value = row.rpartition(row_format.separator)[2]
        return f"ends in {quoted(last_value)} without a line end; is the file cut short?"
    return row_format.row_fault(row) if row else ""


def _decodes(decoder: codecs.IncrementalDecoder, text: bytes, *, final: bool = False) -> bool:
    """Return whether the text goes on as UTF-8."""
    try:
        decoder.decode(text, final)
    except UnicodeDecodeError:
        return False
    return True
