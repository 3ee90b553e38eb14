"""Sheets to fill in with a spreadsheet, and what comes back from one."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from medsim.errors import InputError
from medsim.studies.content import checked_lines, shown
from medsim.studies.returned import Given, StudyIdentity, read_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.studies import Sheet

COLUMNS = ("entry", "left", "right", "answer")

_BYTE_ORDER_MARK = "\ufeff"  # without it Excel reads UTF-8 as something else
_SEPARATORS = ",;\t"
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


def written_csv(sheet: Sheet) -> str:
    """Return a sheet as CSV with a column of answers to fill in.

    It begins with a byte order mark, lines end in CR LF (RFC 4180). A cell that a spreadsheet would
    take for a formula, a number or a date stands behind an apostrophe.
    """
    text = io.StringIO()
    text.write(_BYTE_ORDER_MARK)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for entry in sheet.entries:
        writer.writerow([*map(_as_text, (entry.entry_id, entry.left, entry.right)), ""])
    return text.getvalue()


def read_csv(path: Path, text: str, study: StudyIdentity) -> Iterator[Given]:
    """Yield the answers of a sheet that was filled in, whatever a spreadsheet made of it.

    Cells are separated by commas, semicolons or tabs; columns may stand in any order, among others.

    Raises:
        InputError: a column is missing, a line is too long or cannot be cut into cells, or a cell
            holds what is no answer.
    """
    rows = _rows(path, text)
    number, head = next(rows, (1, []))
    names = [cell.strip().lower() for cell in head]
    for column in COLUMNS:
        if names.count(column) != 1:
            raise InputError(
                f"{path}: line {number} has {names.count(column)} columns {column!r}, and must "
                f"have one each of {', '.join(COLUMNS)}; or is it no file of answers?"
            )
    places = [names.index(column) for column in COLUMNS]
    for number, row in rows:
        cells = [row[at] if at < len(row) else "" for at in places]
        entry_id, left, right, answer = map(_from_text, cells)
        if not answer.strip():
            continue
        place = f"{path}: line {number}"
        if not entry_id.strip():
            raise InputError(f"{place} has the answer {shown(answer)} and no entry")
        yield Given(
            place=place,
            entry_id=entry_id.strip(),
            value=read_value(place, answer, study.scale),
            terms=(left, right),
        )


def _as_text(cell: str) -> str:
    """Return a cell that spreadsheets leave alone; one that would be taken for this gets more."""
    return f"'{cell}" if _TAKEN_FOR_MORE_THAN_TEXT.fullmatch(cell) else cell


def _from_text(cell: str) -> str:
    """Return what ``_as_text`` was given, also where a spreadsheet took the apostrophe away."""
    guarded = cell.startswith("'") and _TAKEN_FOR_MORE_THAN_TEXT.fullmatch(cell)
    return cell[1:] if guarded else cell


def _rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line, and the cells, of each row that is not blank.

    A cell may be quoted; then it may hold line ends.
    """
    # newline="" knows all line ends and leaves them for the reader.
    lines = checked_lines(path, io.StringIO(text, newline=""))
    reader = csv.reader(lines, delimiter=_separator(text), strict=True)
    number = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield number, row
            number = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: line {number} cannot be cut into cells ({error})") from error


def _separator(text: str) -> str:
    """Return what separates the names of columns; they hold none of the characters themselves."""
    head = re.split(r"[\r\n]", text.lstrip(), maxsplit=1)[0]
    return max(_SEPARATORS, key=head.count)
