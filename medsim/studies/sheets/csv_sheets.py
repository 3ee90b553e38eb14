"""Sheets to fill in with a spreadsheet, before and after."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.tables.guard import guarded, unguarded
from medsim.core.tables.named import table_of
from medsim.studies.sheets.returned import Given, StudyIdentity, quoted, read_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.core.tables.text import Text
    from medsim.studies.sheets import Sheet

COLUMNS = ("entry", "left", "right", "answer")

_BYTE_ORDER_MARK = "\ufeff"  # without it Excel reads UTF-8 as something else


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
    """
    table = table_of(text, COLUMNS, filled_in=True)
    for at, row in table.rows():
        entry_id, left, right, answer = map(unguarded, row)
        if not answer.strip():
            continue
        location = f"{text.path}: {at}"
        if not entry_id.strip():
            raise InputError(f"{location} has the answer {quoted(answer)} and no entry")
        yield Given(
            location=location,
            entry_id=entry_id.strip(),
            value=read_value(location, answer, study.scale),
            terms=(left, right),
        )
