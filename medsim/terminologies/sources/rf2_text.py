"""What the rows of RF2 files are, and where rows of a key lie."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.terminologies.sources.text_rows import RowFormat, quoted

if TYPE_CHECKING:
    from medsim.terminologies.sources.archive import ReleaseFile
    from medsim.terminologies.sources.rf2_files import Table

_BOM = b"\xef\xbb\xbf"
_DAY = re.compile(r"[0-9]{8}")


def row_format(table: Table) -> RowFormat:
    """Return what tells that a line is a row of ``table``."""
    return RowFormat(
        separator="\t",
        is_cut=partial(_is_cut, table),
        row_fault=partial(_row_fault, table),
        check_header=partial(check_header, table),
    )


def check_header(table: Table, file: ReleaseFile, line: bytes) -> None:
    """Raise InputError unless ``line`` is the header of ``table``."""
    try:
        text = line.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file.inner}: line 1 is not UTF-8, so this is no RF2 file") from error
    found = text.rstrip("\r\n").split("\t")
    expected = [column.lower().split("|") for column in table.header]
    fits = len(found) == len(expected) and all(
        name.lower() in names for name, names in zip(found, expected, strict=True)
    )
    if not fits:
        wanted = " ".join(column.split("|")[0] for column in table.header)
        raise InputError(
            f"{file.inner}: line 1 is not the header of an RF2 {table.name} file; expected the "
            f"tab-separated columns {wanted}"
        )


def locate_rows(
    files: list[ReleaseFile], keys: set[tuple[str, str]]
) -> dict[tuple[str, str], list[tuple[str, int, bytes]]]:
    """Return where the rows with some (id, effectiveTime) lie.

    Returns:
        By key: the file, line number and text of each row.
    """
    found: dict[tuple[str, str], list[tuple[str, int, bytes]]] = {}
    for file in files:
        with file.open() as stream:
            for number, line in enumerate(stream, start=1):
                head = line.split(b"\t", 2)
                key = (head[0].decode(), head[1].decode()) if len(head) > 1 else ("", "")
                if number > 1 and key in keys:
                    found.setdefault(key, []).append((file.inner, number, line.rstrip(b"\r\n")))
    return found


def _row_fault(table: Table, row: str) -> str:
    values = row.split("\t")
    if len(values) != len(table.header):
        return f"has {len(values)} columns; an RF2 {table.name} file has {len(table.header)}"
    return _value_fault(values)


def _is_cut(table: Table, last_line: bytes) -> bool:
    """Return whether what is left after the last line end is less than a row.

    A file may lack the last line end, but what was cut off with it shows in the last identifier.
    """
    return bool(last_line) and len(last_line.rpartition(b"\t")[2]) < table.last_digits


def _value_fault(values: list[str]) -> str:
    component, effective_time, active = values[:3]
    if not component:
        return "has no id"
    if not _is_day(effective_time):
        return f"has effectiveTime {quoted(effective_time)}; a date such as 20260131 is expected"
    if active not in {"0", "1"}:
        return f"has active {quoted(active)}; 0 or 1 is expected"
    return ""


def _is_day(text: str) -> bool:
    try:
        datetime.strptime(text, "%Y%m%d")  # noqa: DTZ007 — a day has no zone
    except ValueError:
        return False
    return _DAY.fullmatch(text) is not None
