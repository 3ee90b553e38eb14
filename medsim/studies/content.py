"""Files that annotators send back, as text: any file may be among them, so each is checked."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING

from medsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LARGEST_FILE = 1 << 27
"""The most bytes that a file may have: more than a dozen sheets of thousands of pairs in JSON."""

LONGEST_LINE = 1 << 17
"""The most characters that a line of a sheet or of a page's answers may have."""

_LONGEST_SHOWN = 40
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ARCHIVE = b"PK\x03\x04"  # a workbook of a spreadsheet is a zip


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with its mark, as spreadsheets write it.

    Line ends are those of the file; a byte order mark is left out.

    Raises:
        InputError: the file cannot be read, is too large or empty, or is no such text.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no file")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    if len(data) > LARGEST_FILE:
        raise InputError(f"{path} is larger than {LARGEST_FILE >> 20} MiB, too large for answers")
    if data.startswith(_ARCHIVE):
        raise InputError(f"{path} is a workbook or a zip; save the sheet as CSV in UTF-8")
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not in UTF-8: byte {error.start + 1} is 0x{data[error.start]:02x}; "
            "save it as UTF-8"
        ) from error
    if (at := text.find("\0")) >= 0:
        line = text.count("\n", 0, at) + 1
        raise InputError(f"{path} is no text: line {line} has a NUL character")
    if not text.strip():
        raise InputError(f"{path} is empty")
    return text


def checked_lines(path: Path, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as they are.

    Raises:
        InputError: one is too long.
    """
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise InputError(f"{path}: line {number} has more than {LONGEST_LINE:,} characters")
        yield line


def parsed_json(place: str, text: str) -> object:
    """Return what a JSON text says.

    Args:
        place: where the text stands, for messages.
        text: of one value.

    Raises:
        InputError: the text is no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"{error.msg}, at character {error.pos + 1}"
        raise InputError(f"{place} is no JSON ({what}); export the file again") from error
    except ValueError as error:
        raise InputError(f"{place} has a number with too many digits") from error
    except RecursionError as error:
        raise InputError(f"{place} is JSON nested too deeply; export the file again") from error


def shown(value: object) -> str:
    """Return a value from a file as a message can show it: short, and nothing in it acts."""
    if isinstance(value, str):
        return f"{value[:_LONGEST_SHOWN]!r}{'…' if len(value) > _LONGEST_SHOWN else ''}"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:_LONGEST_SHOWN]
