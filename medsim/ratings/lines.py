"""Text files of unknown origin, cut into the cells of their lines."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LARGEST_FILE = 1 << 27
"""The most bytes that a file may have, some millions of pairs; reading takes 20 times as much."""

LONGEST_LINE = 1 << 20
"""The most characters that a line may have."""

_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_WEB_PAGE = re.compile(rb"\s*<(!doctype\s+html|html|head)\b", re.IGNORECASE)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a file holds.

    Attributes:
        path: of the file.
        data: its bytes.
        encoding: Python's name of their encoding.
    """

    path: Path
    data: bytes
    encoding: str


def read_content(path: Path) -> Content:
    """Return the bytes of a text file, and whether they are UTF-8 or else latin-1.

    Raises:
        InputError: the file is missing, too large or empty, or is no plain text.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no file")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    if len(data) > LARGEST_FILE:
        raise InputError(f"{path} is larger than {LARGEST_FILE >> 20} MiB, more than is read")
    if not data.strip():
        raise InputError(f"{path} is empty")
    if data.startswith(_UTF_16):
        raise InputError(f"{path} is in UTF-16; save it as UTF-8")
    if (found := _BINARY.search(data)) is not None:
        raise InputError(f"{path} is no text: byte {found.start() + 1} is 0x{found[0].hex()}")
    if _WEB_PAGE.match(data.removeprefix(b"\xef\xbb\xbf")):
        raise InputError(f"{path} is a web page; was it saved from the address of the raw file?")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return Content(path=path, data=data, encoding="latin-1")
    return Content(path=path, data=data, encoding="utf-8-sig")


def cells_of_lines(content: Content, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number, from 1, and the trimmed cells of each line that is not blank.

    Lines end in CR, LF or both. A cell may be quoted; then it may hold line ends, and the number is
    that of its first line.

    Raises:
        InputError: a line is too long, or its quotes do not match.
    """
    reader = csv.reader(_lines(content), delimiter=separator, strict=True)
    number = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield number, cells
            number = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{content.path}: line {number} cannot be cut ({error})") from error


def _lines(content: Content) -> Iterator[str]:
    # newline="" knows all three line ends and leaves them for the reader.
    with io.TextIOWrapper(io.BytesIO(content.data), content.encoding, newline="") as stream:
        number = 1
        while line := stream.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise InputError(
                    f"{content.path}: line {number} has more than {LONGEST_LINE:,} characters"
                )
            yield line
            number += 1
