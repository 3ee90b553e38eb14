"""Opens files of users, with limits on their size and errors of one line."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from medsim.core import surroundings
from medsim.core.data import toml_of
from medsim.core.errors import InputError, MedsimError, OptionError

if TYPE_CHECKING:
    from typing_extensions import Buffer

MIB = 1 << 20

_PANIC = "PanicException"  # from libraries in Rust; not an Exception, and not importable
_LONGEST_REASON = 200
_OF_CODE = re.compile(  # in texts of errors that say nothing to users, as in f(name=…) or int()
    r"[a-z](Error|Exception|Forbidden)\b|\w\(\w+=|\w\(\)|<[\w.]+ (object|at) |NoneType|to unpack|"
    r"infer_schema|is not a zip file"
)
_HARMLESS = MIB  # content up to this size is harmless at any compression ratio
_MAGIC_BYTES = 10  # that identify a packed file
BEGINNING = 1 << 16
"""The number of first bytes that identify the kind of a file."""

LARGEST_FILE = 1 << 27
"""The maximum size of a file in bytes: some million lines; reading takes 20 times the memory."""

MAX_LINE_BYTES = 16 * MIB
"""The maximum size of a terminology's line or XML record, in bytes; also DuckDB's limit."""

GREATEST_RATIO = 200
"""The largest accepted compression ratio: text has about 10, XML about 20."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file, identified by its first bytes.

    Attributes:
        name: name of the kind for messages, as in "is a zip".
        pattern: pattern of the first bytes, after a byte order mark.
        advice: advice for the user, if there is any that always applies.
        is_read: whether any reader accepts it.
        is_binary: whether it is not text.
    """

    name: str
    pattern: re.Pattern[bytes]
    advice: str = ""
    is_read: bool = False
    is_binary: bool = True

    def __str__(self) -> str:
        return f"is {self.name}; {self.advice}" if self.advice else f"is {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The text of a file, and its provenance.

    Attributes:
        path: path of the file.
        content: text with the file's line ends, without a byte order mark.
        warnings: warnings for readers of results, a sentence each.
        sha256: SHA-256 of the file's bytes, in hex; empty if there is no file.
        unit: unit of the numbers of lines in messages, "row" if a line is the row of a workbook.
        encoding: encoding of the file.
        separator: separator of its cells, if the file says it; empty if not.
        sheet: name of the sheet of a workbook that the text is; empty for other files.
    """

    path: Path
    content: str
    warnings: tuple[str, ...] = ()
    unit: str = "line"
    sha256: str = field(default="", compare=False)
    encoding: str = field(default="UTF-8", compare=False)
    separator: str = ""
    sheet: str = ""


FILE_KINDS = {
    key: FileKind(**facts | {"pattern": re.compile(facts["pattern"].encode("latin-1"), re.DOTALL)})
    for key, facts in toml_of(__package__, "file_kinds.toml").items()
}
"""The kinds that are known, in the order in which a file is compared with them."""

LFS_POINTER = FILE_KINDS["lfs_pointer"]
HTML = FILE_KINDS["html"]
GZIP = FILE_KINDS["gzip"]
BZIP2 = FILE_KINDS["bzip2"]
XZ = FILE_KINDS["xz"]
ZSTD = FILE_KINDS["zstd"]
PACKED = frozenset({GZIP, BZIP2, XZ, ZSTD})
"""The kinds that ``unpacked`` unpacks."""

TAR = FILE_KINDS["tar"]
ZIP = FILE_KINDS["zip"]
PARQUET = FILE_KINDS["parquet"]
ARROW = FILE_KINDS["arrow"]
NPY = FILE_KINDS["npy"]
XML = FILE_KINDS["xml"]
JSON = FILE_KINDS["json"]
UTF_16 = FILE_KINDS["utf_16"]
RDF_XML = FILE_KINDS["rdf_xml"]
TURTLE = FILE_KINDS["turtle"]
WORKBOOK = FILE_KINDS["workbook"]
SQLITE = FILE_KINDS["sqlite"]
DUCKDB = FILE_KINDS["duckdb"]


def file_kind(beginning: bytes) -> FileKind | None:
    """Return the kind of a file by its first bytes; None if unknown."""
    text = beginning.removeprefix(b"\xef\xbb\xbf")
    return next((kind for kind in FILE_KINDS.values() if kind.pattern.match(text)), None)


def what_it_is(beginning: bytes) -> str:
    """Return the kind of a file by its first bytes for a message, or the bytes if unknown."""
    kind = file_kind(beginning) or (f"begins with {beginning[:40]!r}" if beginning else "is empty")
    return str(kind)


def beginning_of(path: Path) -> bytes:
    """Return the first 64 KiB of a file, packed or not."""
    with open_file(path) as stream:
        return stream.read(BEGINNING)


def other_kind(
    name: Path | str, beginning: bytes, form: str = "", reads: Collection[FileKind] | None = None
) -> InputError | None:
    """Return the error for a file of the wrong kind; None if the kind is right or unknown.

    Args:
        name: name or path of the file.
        beginning: first bytes of the file.
        form: the expected format.
        reads: the accepted kinds; None for all that any reader accepts.
    """
    kind = file_kind(beginning)
    if kind is None or (kind.is_read if reads is None else kind in reads):
        return None
    return InputError(f"{name} {kind}" + (f"; expected {form}" if form and not kind.advice else ""))


def _other_kind_at(
    path: Path | str, form: str, reads: Collection[FileKind] | None
) -> InputError | None:
    try:
        return other_kind(path, beginning_of(Path(path)), form, reads)
    except (OSError, InputError):  # a folder, or not a path
        return None


@contextmanager
def reading(
    path: Path | str, form: str = "", hint: str = "", reads: Collection[FileKind] | None = None
) -> Iterator[None]:
    """Turn any error that the body raises about a file into an InputError of one line.

    Libraries raise many types of errors for damaged files, and new versions add more. Errors of
    medsim and interrupts pass unchanged. If the file is of the wrong kind, the error says so.

    Args:
        path: path or name of the file.
        form: the expected format.
        hint: end of the message, which says what to do.
        reads: accepted kinds, see ``other_kind``.
    """
    try:
        yield
    except InputError as error:
        raise _other_kind_at(path, form, reads) or error from error.__cause__
    except MedsimError:
        raise
    except BaseException as error:
        is_exit = not isinstance(error, Exception) and type(error).__name__ != _PANIC
        if surroundings.interrupted() or is_exit:
            raise
        if other := _other_kind_at(path, form, reads):
            raise other from error
        as_form = f" as {form}" if form else ""
        end = f"; {hint}" if hint else ""
        raise InputError(f"{path} cannot be read{as_form} ({reason(error)}){end}") from error


def reason(error: BaseException) -> str:
    """Return the reason of an error in one short line."""
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split())
    is_of_code = isinstance(error, (KeyError, IndexError, TypeError, AttributeError))
    if is_of_code or not text or not isinstance(error, Exception) or _OF_CODE.search(text):
        return "its content is not as expected"
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


def is_left_behind(name: str) -> bool:
    """Return whether a name is of a file that systems or spreadsheets leave in folders.

    These are hidden files, lock files of open workbooks, and Windows's files about folders.
    """
    return name.startswith((".", "~$")) or name.lower() in {"thumbs.db", "desktop.ini"}


def check_file(path: Path) -> None:
    """Raise InputError if a path is not a file or a link to one; OSError if it does not exist.

    A pipe or a device may never end, and opening it may block forever.
    """
    mode = stat.S_IFMT(path.stat().st_mode)
    if mode == stat.S_IFDIR:
        raise InputError(f"{path} is a folder; give a file in it")
    if mode != stat.S_IFREG:
        raise InputError(f"{path} is a pipe, socket or device; save its output to a file")


def open_file(path: Path) -> io.BufferedReader:
    """Return the open bytes of a file; see ``check_file``."""
    check_file(path)
    nonblocking = getattr(os, "O_NONBLOCK", 0)  # it may have become a pipe since the check
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | nonblocking))


def expanded(path: str | Path) -> Path:
    """Return a path with a leading tilde replaced by the home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise OptionError(
            f"{str(path)!r} begins with the home folder of an unknown user; write ./ before it if "
            "the tilde is part of a name"
        ) from error


def unpacked(stream: io.BufferedReader, path: Path | str, size: int) -> io.BufferedReader:
    """Return the content of a stream, unpacked if its first bytes are those of a packed file.

    The packed kinds are in ``PACKED``; several packed parts in a row are one content.

    Args:
        stream: bytes of the file.
        path: path or name of the file, for messages.
        size: number of bytes, for the limit on the unpacked size, which also holds while reading.
    """
    kind = file_kind(stream.peek(_MAGIC_BYTES)[:_MAGIC_BYTES])
    if kind is None or kind not in PACKED:
        return stream
    n_packed = n_bytes = 0

    def count_packed(part: bytes) -> None:
        nonlocal n_packed
        n_packed += len(part)

    def count(part: bytes) -> None:
        nonlocal n_bytes
        n_bytes += len(part)
        check_ratio(path, min(size, n_packed), n_bytes)

    packed: io.BufferedReader = io.BufferedReader(Watched(stream, count_packed, closes=False))
    return io.BufferedReader(Watched(_unpacker(kind, packed), count))


def _unpacker(kind: FileKind, stream: io.BufferedReader) -> IO[bytes]:
    if kind is GZIP:
        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
    if kind is XZ:
        from lzma import LZMAFile  # noqa: PLC0415 — some builds of Python lack it

        return LZMAFile(stream)
    import pyarrow as pa  # noqa: PLC0415 — few files need it

    codec = "bz2" if kind is BZIP2 else "zstd"
    packed = pa.PythonFile(stream, mode="r")
    return cast("IO[bytes]", pa.CompressedInputStream(packed, codec))


def check_ratio(path: Path | str, n_packed: int, n_bytes: int) -> None:
    """Raise InputError if a file unpacks to suspiciously many times its size."""
    if n_bytes > _HARMLESS and n_bytes > GREATEST_RATIO * max(1, n_packed):
        raise InputError(
            f"{path} unpacks to more than {GREATEST_RATIO:,} times its size, like a zip bomb; "
            "if you trust it, unpack it yourself"
        )


class Watched(io.RawIOBase):
    """The bytes of a stream; a function sees each part before the reader gets it.

    With ``closes``, closing it closes the stream.
    """

    def __init__(
        self, stream: IO[bytes], see: Callable[[bytes], object], *, closes: bool = True
    ) -> None:
        super().__init__()
        self._stream, self._see, self._closes = stream, see, closes

    def readable(self) -> bool:
        """Return True: the stream is readable."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Read bytes into a buffer, and return their number."""
        room = memoryview(buffer)
        part = self._stream.read(len(room))
        self._see(part)
        room[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the stream, unless it stays open for others."""
        if self._closes:
            self._stream.close()
        super().close()


def too_long(where: str, most: int = MAX_LINE_BYTES) -> InputError:
    """Return the error for a line or a record that is too long."""
    return InputError(f"{where} has more than {most >> 20:,} MiB; is the file damaged?")


def decoded(
    data: bytes | bytearray, name: Path | str, line: int | None = None, hint: str = ""
) -> str:
    """Return the text of bytes in UTF-8.

    Args:
        data: the bytes; a byte order mark at the beginning of the file is dropped.
        name: name or path of the file.
        line: line number, if the bytes are one line; None if they are the whole file.
        hint: end of the message, which says what to do.

    Raises:
        InputError: the bytes are not UTF-8; the message has the line and the first invalid byte.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        number = before.count(b"\n") + 1 if line is None else line
        position = len(before) - before.rfind(b"\n")
        end = f"; {hint}" if hint else ""
        raise InputError(
            f"{name}: line {number:,} is not UTF-8: byte 0x{data[error.start]:02x} at position "
            f"{position:,}{end}"
        ) from error
    return text.removeprefix("\ufeff") if line in {None, 1} else text


def parsed_json(location: object, text: str | bytes, hint: str = "") -> Any:
    """Return the value of a JSON text.

    Raises:
        InputError: the text is not JSON, or nested too deeply; the message begins with
            ``location`` and ends with ``hint``.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        end = f"; {hint}" if hint else ""
        raise InputError(f"{location} is not JSON ({reason(error)}){end}") from error


def json_lines(name: object, data: bytes) -> list[Any]:
    """Return the values of JSON lines in UTF-8; blank lines are skipped.

    Raises:
        InputError: a line is not JSON; the message begins with ``name`` and the line's number.
    """
    lines = enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
    hint = "write one object per line, without brackets and commas around them"
    return [parsed_json(f"{name}: line {at:,}", line, hint) for at, line in lines if line.strip()]


def json_columns(source: object, data: bytes) -> dict[str, list[Any]]:
    """Return the values of JSON lines, an object each, by name; None where an object has none.

    Raises:
        InputError: a line is not a JSON object.
    """
    rows = json_lines(source, data)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f'{source}: row {number:,} is not an object, as in {{"id": 1}}')
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def read_json(path: Path) -> Any:
    """Return the value of a JSON file in UTF-8, with or without a byte order mark.

    Raises:
        InputError: the file cannot be read, or is not JSON.
        FileNotFoundError: the file does not exist.
    """
    path.stat()
    with reading(path, "JSON", reads={JSON}):
        with open_file(path) as stream:
            data = stream.read()
        return parsed_json(path, data.removeprefix(b"\xef\xbb\xbf"))
