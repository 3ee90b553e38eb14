"""The ways in which a table can be printed."""

from enum import StrEnum


class TableFormat(StrEnum):
    """A name for each, as the option --format has it."""

    table = "table"
    json = "json"
    csv = "csv"
    md = "md"
    latex = "latex"
