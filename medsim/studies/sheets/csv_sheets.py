"""Sheets to fill in with a spreadsheet, and what comes back from one."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from medsim.errors import InputError
from medsim.studies.content import shown
from medsim.studies.returned import Given, StudyIdentity, read_value
from medsim.tables.named import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.studies import Sheet
    from medsim.tables.text import Text

COLUMNS = ("entry", "left", "right", "answer")

_BYTE_ORDER_MARK = "\ufeff"  # without it Excel reads UTF-8 as something else
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
        writer.writerow([*map(guarded, (entry.entry_id, entry.left, entry.right)), ""])
    return text.getvalue()


def read_csv(text: Text, study: StudyIdentity) -> Iterator[Given]:
    """Yield the answers of a sheet that was filled in, whatever a spreadsheet made of it.

    Columns may stand in any order, among others.

    Raises:
        InputError: a column is missing, a line is too long or cannot be cut into cells, or a cell
            holds what is no answer.
    """
    table = table_of(text, COLUMNS, filled_in=True)
    for at, row in table.rows():
        entry_id, left, right, answer = map(unguarded, row)
        if not answer.strip():
            continue
        place = f"{text.path}: {at}"
        if not entry_id.strip():
            raise InputError(f"{place} has the answer {shown(answer)} and no entry")
        yield Given(
            place=place,
            entry_id=entry_id.strip(),
            value=read_value(place, answer, study.scale),
            terms=(left, right),
        )


def guarded(cell: str) -> str:
    """Return a cell that spreadsheets leave alone; one that would be taken for this gets more."""
    return f"'{cell}" if _TAKEN_FOR_MORE_THAN_TEXT.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """Return what ``guarded`` was given, also where a spreadsheet took the apostrophe away."""
    guarded = cell.startswith("'") and _TAKEN_FOR_MORE_THAN_TEXT.fullmatch(cell)
    return cell[1:] if guarded else cell
