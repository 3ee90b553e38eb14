"""Files of unknown origin as text, cut into lines and cells; cells that stay text in sheets."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.files import open_hashed
from medsim.core.reading import BEGINNING, HTML, UTF_16, check_gap, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LARGEST_FILE = 1 << 27
"""The most bytes that a file may have, some millions of lines; reading takes 20 times as much."""

LINE_END = re.compile(r"\r\n|\r|\n")

_NUL = re.compile("\0")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_WRAPPED = re.compile(
    # A page that begins with tags alone is a text file that somebody made to be looked at.
    r"(?P<tags>\s*(<[^<>]*>\s*){0,20}<pre>)(?P<text>.*?)(</pre>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The text of a file, and its provenance.

    Attributes:
        path: of the file.
        content: its characters, with the file's line ends and no byte order mark.
        warnings: what a reader of results should know, a sentence each.
        sha256: of the bytes that were read, in hex; empty for a text of no file.
    """

    path: Path
    content: str
    warnings: tuple[str, ...] = ()
    sha256: str = field(default="", compare=False)


def read_text(path: Path, *, guess: bool = True) -> Text:
    """Return the text of a file: UTF-8, or UTF-16 with its mark, as spreadsheets write it.

    A text that is wrapped in ``<pre>`` to be shown as a web page is unwrapped; what stood before it
    leaves blank lines, so that lines keep their numbers. With ``guess``, a file in neither encoding
    is taken for latin-1, with a warning, if nothing in it shows that it is no text.
    """
    data, sha256 = bytes_of(path)
    kind = kind_of(data[:BEGINNING])
    if kind is not None and kind.is_binary:
        raise InputError(f"{path} {kind}" + ("" if kind.advice else "; expected text"))
    encoding = "UTF-16" if kind is UTF_16 else "UTF-8"
    warnings: tuple[str, ...] = ()
    try:
        content = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if not guess or encoding == "UTF-16":
            raise InputError(
                f"{path} is not in {encoding}: byte {error.start + 1} is "
                f"0x{data[error.start]:02x}; save it as UTF-8"
            ) from error
        content = data.decode("latin-1")
        warnings = (f"{path.name} is not UTF-8 and was read as latin-1",)
    if (found := (_CONTROL if warnings else _NUL).search(content)) is not None:
        line = len(LINE_END.findall(content, 0, found.start())) + 1
        raise InputError(f"{path} is no text: line {line} has the character {found[0]!r}")
    if not content.strip():
        raise InputError(f"{path} is empty")
    if kind is HTML:
        content = _unwrapped(path, content)
    return Text(path=path, content=content, warnings=warnings, sha256=sha256)


def bytes_of(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a file and their SHA-256, in hex."""
    try:
        with open_hashed(path) as stream:
            data = stream.read(LARGEST_FILE + 1)
            is_larger = len(data) > LARGEST_FILE
            sha256 = "" if is_larger else stream.finish()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    if is_larger:
        raise InputError(f"{path} is larger than {LARGEST_FILE >> 20} MiB, more than is read")
    return data, sha256


def _unwrapped(path: Path, content: str) -> str:
    """Return a text without the web page around it."""
    if (page := _WRAPPED.match(content)) is None:
        raise InputError(f"{path} {HTML}")
    return "\n" * len(LINE_END.findall(page["tags"])) + page["text"]


LONGEST_LINE = 1 << 20
"""The most characters that a line may have."""

SEPARATORS = {"tab": "\t", "bar": "|", "semicolon": ";", "comma": ","}
"""The separators of cells, the one that is rarest in terms first."""


def lines_of(text: Text) -> Iterator[str]:
    """Yield the lines of a text with their ends, which are CR, LF or both."""
    # newline="" knows all three line ends and leaves them as they are.
    return checked_lines(text.path, io.StringIO(text.content, newline=""))


def checked_lines(path: Path, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as they are."""
    last = 0
    for number, line in enumerate(lines, start=1):
        if line.isspace():
            check_gap(path, last, number)
        else:
            last = number
        if len(line) > LONGEST_LINE:
            raise InputError(f"{path}: line {number} has more than {LONGEST_LINE:,} characters")
        yield line


def cells_of_lines(
    text: Text, separator: str, *, trimmed: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number, from 1, and the cells of each line that is not blank.

    A cell may be quoted; then it may hold line ends, and the number is that of its first line.
    """
    reader = csv.reader(lines_of(text), delimiter=separator, skipinitialspace=trimmed, strict=True)
    number = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield number, cells if trimmed else row
            number = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{text.path}: line {number} cannot be cut into cells ({error})"
        ) from error


def first_lines(
    text: Text, separators: Iterable[str] = tuple(SEPARATORS.values())
) -> dict[str, list[str]]:
    """Return the cells of the first line that is not blank, for each separator that can cut it."""
    first: dict[str, list[str]] = {}
    failures: list[InputError] = []
    for separator in separators:
        try:
            _, first[separator] = next(cells_of_lines(text, separator), (0, []))
        except InputError as error:
            failures.append(error)
    if not any(first.values()):
        raise failures[-1] if failures else InputError(f"{text.path} is empty")
    return first


_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_TAKEN_FOR_MORE_THAN_TEXT = re.compile(
    # Possessive, so that a hostile cell of nothing but apostrophes takes no longer than another.
    r"'*+("
    # A formula, in any of the forms that spreadsheets know; this could run what it names.
    "\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20].*|[\t\r\n].*|"
    # A number, a date or a truth value; MARCH1 would come back as 1-Mar, an id as 1.2E+15.
    rf"(?=.*[0-9])[\W\d_]*(({_MONTH}|[de]|[ap]m?)[\W\d_]*)?|true|false"
    r")",
    re.IGNORECASE | re.DOTALL,
)


def guarded(cell: str) -> str:
    """Return a cell that spreadsheets leave alone; one that would be taken for this gets more."""
    return f"'{cell}" if _TAKEN_FOR_MORE_THAN_TEXT.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """Return the cell that ``guarded`` was given, even if a spreadsheet dropped the apostrophe."""
    guarded = cell.startswith("'") and _TAKEN_FOR_MORE_THAN_TEXT.fullmatch(cell)
    return cell[1:] if guarded else cell
