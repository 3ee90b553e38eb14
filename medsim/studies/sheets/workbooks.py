"""Reads sheets that annotators saved as workbooks."""

from __future__ import annotations

import csv
import io
import warnings
from typing import TYPE_CHECKING
from zipfile import ZipFile

from medsim.core.errors import InputError, OptionError
from medsim.core.tables import LARGEST_FILE, Text, bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

WORKBOOK_SUFFIX = ".xlsx"
"""The suffix of the workbooks that are read."""


def read_workbook(path: Path, column: str) -> Text:
    """Return the first sheet of a workbook with a given column as CSV, with one line per row.

    If no sheet has it, the first one is returned.

    White space in a cell becomes a single space, and a whole number has no decimal point.

    Raises:
        InputError: the file cannot be read or unpacks to more than the limit.
        OptionError: the extra ``xlsx`` is not installed.
    """
    try:
        from openpyxl import load_workbook  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise OptionError(
            f"{path} is a workbook; install medsim with its extra xlsx, or save the sheet as CSV"
        ) from error
    data, sha256 = bytes_of(path)
    with ZipFile(io.BytesIO(data)) as archive:
        _check_size(path, sum(part.file_size for part in archive.infolist()))
    content = io.StringIO()
    rows = csv.writer(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats of cells and the like
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = book.worksheets
        for sheet in sheets:
            sheet.reset_dimensions()  # programs may declare other dimensions than the sheet has
        sheet = next((sheet for sheet in sheets if _has(sheet.values, column)), sheets[0])
        for row in sheet.iter_rows(values_only=True):
            cells = [_text(cell) for cell in row]
            _check_size(path, content.tell() + sum(map(len, cells)))
            rows.writerow(cells)
    return Text(path=path, content=content.getvalue(), sha256=sha256, unit="row")


def _has(rows: Iterable[Iterable[object]], text: str) -> bool:
    """Return whether a row has a text as a cell, in any case."""
    return any(text in {_text(cell).lower() for cell in row} for row in rows)


def _check_size(path: Path, size: int) -> None:
    if size > LARGEST_FILE:
        raise InputError(f"{path} unpacks to more than the limit of {LARGEST_FILE >> 20} MiB")


def _text(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if cell is None else " ".join(str(cell).split())
