"""Cells that a spreadsheet takes for text, whatever they hold."""

from __future__ import annotations

import re

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
