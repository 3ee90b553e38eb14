"""Streams the text of RF2 files and finds the line at fault when it cannot be read."""

from __future__ import annotations

import codecs
import hashlib
import re
from datetime import datetime
from typing import IO, TYPE_CHECKING

from medsim.errors import InputError
from medsim.sources import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.sources.archive import ReleaseFile
    from medsim.sources.rf2_files import Table

_BOM = b"\xef\xbb\xbf"
_CHUNK_BYTES = 1 << 18
_MAX_LINE_BYTES = 1 << 20  # with its line feed; sql/rf2/rf2_*.sql has it too
_DAY = re.compile(r"[0-9]{8}")
_QUOTED_CHARACTERS = 60


class RowStream:
    """The rows of one table's files, one file after the other, without their header lines.

    Line ends become line feeds and a byte order mark is dropped. Each file is hashed on the way.

    Args:
        table: the kind of the files.
        files: in the order in which they are read.

    Attributes:
        read: what has been read to its end.
    """

    def __init__(self, table: Table, files: list[ReleaseFile]) -> None:
        self._table = table
        self._files = files
        self.read: list[SourceFile] = []

    def __iter__(self) -> Iterator[bytes]:
        """Yield chunks of text.

        Raises:
            InputError: a header is not RF2's, a file cannot be read, or its text is not UTF-8, has
                a lone carriage return or ends in the midst of a row.
        """
        for file in self._files:
            with file.open() as stream:
                yield from self._rows(file, stream)

    def _rows(self, file: ReleaseFile, stream: IO[bytes]) -> Iterator[bytes]:
        digest = hashlib.sha256()
        header = stream.readline(_MAX_LINE_BYTES)
        digest.update(header)
        size = len(header)
        check_header(self._table, file, header)
        decoder = codecs.getincrementaldecoder("utf-8")()
        carry, last_line = b"", b""
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            text = carry + chunk
            carry = b"\r" if text.endswith(b"\r") else b""
            text = text[: len(text) - len(carry)].replace(b"\r\n", b"\n")
            if b"\r" in text or not _decodes(decoder, text):
                raise self._fault(file)
            _, line_feed, tail = text.rpartition(b"\n")
            last_line = tail if line_feed else last_line + tail
            yield text
        if carry or not _decodes(decoder, b"", final=True) or _is_cut(self._table, last_line):
            raise self._fault(file)
        if last_line:
            yield b"\n"
        self.read.append(SourceFile(name=file.inner, size=size, sha256=digest.hexdigest()))

    def _fault(self, file: ReleaseFile) -> InputError:
        return find_fault(self._table, [file]) or InputError(f"{file.inner}: changed while read")


def check_header(table: Table, file: ReleaseFile, line: bytes) -> None:
    """Raise InputError unless ``line`` is the header of ``table``."""
    try:
        text = line.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file.inner}: line 1 is not UTF-8, so this is no RF2 file") from error
    found = text.rstrip("\r\n").split("\t")
    expected = [column.lower().split("|") for column in table.header]
    fits = len(found) == len(expected) and all(
        name.lower() in names for name, names in zip(found, expected, strict=True)
    )
    if not fits:
        wanted = " ".join(column.split("|")[0] for column in table.header)
        raise InputError(
            f"{file.inner}: line 1 is not the header of an RF2 {table.name} file; expected the "
            f"tab-separated columns {wanted}"
        )


def find_fault(table: Table, files: list[ReleaseFile]) -> InputError | None:
    """Return the error for the first line that is no row of ``table``, None if all are rows.

    It reads every file again, line by line, and is called only once something went wrong.
    """
    for file in files:
        with file.open() as stream:
            stream.readline(_MAX_LINE_BYTES)
            number = 1
            while line := stream.readline(_MAX_LINE_BYTES + len(b"\r\n")):
                number += 1
                if fault := _line_fault(table, line):
                    return InputError(f"{file.inner}: line {number} {fault}")
    return None


def locate_rows(
    files: list[ReleaseFile], keys: set[tuple[str, str]]
) -> dict[tuple[str, str], list[tuple[str, int, bytes]]]:
    """Return where the rows with some (id, effectiveTime) lie.

    Returns:
        By key: the file, line number and text of each row.
    """
    found: dict[tuple[str, str], list[tuple[str, int, bytes]]] = {}
    for file in files:
        with file.open() as stream:
            for number, line in enumerate(stream, start=1):
                head = line.split(b"\t", 2)
                key = (head[0].decode(), head[1].decode()) if len(head) > 1 else ("", "")
                if number > 1 and key in keys:
                    found.setdefault(key, []).append((file.inner, number, line.rstrip(b"\r\n")))
    return found


def _line_fault(table: Table, line: bytes) -> str:
    """Return what is wrong with a line, nothing if it is a row."""
    if len(line.rstrip(b"\r\n")) >= _MAX_LINE_BYTES:
        return f"is longer than {_MAX_LINE_BYTES:,} bytes"
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"is not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1}"
    row = text.removesuffix("\r\n").removesuffix("\n")
    if "\r" in row:
        return "has a carriage return that no line feed follows"
    if row == text and _is_cut(table, line):
        last_value = row.rpartition("\t")[2]
        return f"ends in {_quoted(last_value)} without a line end; is the file cut short?"
    return _row_fault(table, row) if row else ""


def _row_fault(table: Table, row: str) -> str:
    values = row.split("\t")
    if len(values) != len(table.header):
        return f"has {len(values)} columns; an RF2 {table.name} file has {len(table.header)}"
    return _value_fault(values)


def _decodes(decoder: codecs.IncrementalDecoder, text: bytes, *, final: bool = False) -> bool:
    """Return whether the text goes on as UTF-8."""
    try:
        decoder.decode(text, final)
    except UnicodeDecodeError:
        return False
    return True


def _is_cut(table: Table, last_line: bytes) -> bool:
    """Return whether what is left after the last line end is less than a row.

    A file may lack the last line end, but what was cut off with it shows in the last identifier.
    """
    return bool(last_line) and len(last_line.rpartition(b"\t")[2]) < table.last_digits


def _value_fault(values: list[str]) -> str:
    component, effective_time, active = values[:3]
    if not component:
        return "has no id"
    if not _is_day(effective_time):
        return f"has effectiveTime {_quoted(effective_time)}; a date such as 20260131 is expected"
    if active not in {"0", "1"}:
        return f"has active {_quoted(active)}; 0 or 1 is expected"
    return ""


def _is_day(text: str) -> bool:
    try:
        datetime.strptime(text, "%Y%m%d")  # noqa: DTZ007 — a day has no zone
    except ValueError:
        return False
    return _DAY.fullmatch(text) is not None


def _quoted(value: str) -> str:
    """Return a value for a message, not all of it if it is long."""
    if len(value) <= _QUOTED_CHARACTERS:
        return repr(value)
    return f"{value[:_QUOTED_CHARACTERS]!r}… ({len(value):,} characters)"
