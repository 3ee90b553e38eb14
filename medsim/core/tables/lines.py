"""Text cut into lines, and lines into cells; cells that a spreadsheet takes for text."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from medsim.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from medsim.core.tables.text import Text

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
    for number, line in enumerate(lines, start=1):
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
