"""Reads sheets of workbooks (.xlsx) as text, and writes frames as sheets."""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import polars as pl

from medsim.core.errors import EmptyFileError, InputError, counted, listed
from medsim.core.reading import LARGEST_FILE, Text

Fits = Callable[[Sequence[str]], int]
"""How well the cells of a row are the header that a reader needs; 0 or False if they are not."""

_HEAD_ROWS = 50  # with cells, in which the header is
_LINE_END = re.compile(r"[\r\n]|_x000[AD]_", re.IGNORECASE)  # as Excel may write them
_ZEROS = re.compile(r"(?P<zeros>0+)(;.*)?", re.DOTALL)  # a format such as 00000
_THREAD = "fwlink/?linkid=870924"  # in the notes that Excel writes beside its threaded comments
_MERGED = re.compile(rb'<mergeCell ref="[A-Z]+([0-9]+):[A-Z]+([0-9]+)"')
_UNCALCULATED = re.compile(  # a formula without a value, which is not a text, as that may be empty
    rb'<c\b(?![^<>]*t="str")[^<>]*>(<f\b[^<>]*/>|<f\b[^<>]*>[^<]*</f>)(<v */>|<v></v>)?</c>'
)
_MAX_WIDTH = 60  # of a column, in characters
_WIDTH_ROWS = 1_000  # whose texts decide the width of a column


def read_sheet(path: Path, data: bytes, fits: Fits | None = None, name: str = "") -> Text:
    """Return a sheet of a workbook as CSV, with one line per row and no line ends in cells.

    It is the first sheet with the header that fits best, visible sheets before hidden ones. If none
    fits, it is the first with a cell, and its header is the first row with more than half as many
    filled cells as the fullest row. Rows above the header and cells beside it are left out, with a
    warning.

    Cells have the text that spreadsheets show, as far as that is their content: leading zeros of
    formats such as 00000, whole numbers without a decimal point, dates in ISO format, and the last
    calculated values of formulas.

    Args:
        path: path of the file, for messages.
        data: its bytes.
        fits: how well a row fits as the header; None if any may be.
        name: name of the sheet to read; empty for any.

    Raises:
        InputError: it is another Office file, has no such sheet, or unpacks to more than the limit.
    """
    # Expat limits entities itself; openpyxl's safe parser takes four times as long.
    os.environ.setdefault("OPENPYXL_DEFUSEDXML", "False")
    from openpyxl import load_workbook  # noqa: PLC0415 — few files are workbooks

    with ZipFile(io.BytesIO(data)) as archive:
        _check_size(path, sum(member.file_size for member in archive.infolist()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats of cells and the like
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        heads: dict[Any, list[list[str]]] = {}
        for sheet in sorted(book.worksheets, key=lambda each: each.sheet_state != "visible"):
            sheet.reset_dimensions()  # programs may declare other dimensions than the sheet has
            texts = (list(map(_text, row)) for row in sheet.iter_rows())
            if rows := list(islice(filter(any, texts), _HEAD_ROWS)):
                heads[sheet] = rows
        titles = {sheet.title: sheet for sheet in heads}
        if not heads or (name and name not in titles):
            fault = f"has no sheet {name!r}; it has {listed(list(map(repr, titles)), most=40)}"
            raise InputError(f"{path} {fault}") if heads else EmptyFileError(f"{path} is empty")
        searched = [titles[name]] if name else [*heads]
        rows_of = ((each, row) for each in searched for row in heads[each])
        sheet, header = max(rows_of, key=lambda each: fits(each[1]) if fits else 0)
        header = header if fits and fits(header) else _header_of(heads[sheet])
        content, n_beside = _content(path, sheet, header)
    n_merged, n_empty = _lost_cells(data, sheet._worksheet_path)  # noqa: SLF001 — it has no other
    others = [repr(title) for title, each in titles.items() if each is not sheet and not name]
    notes = {
        f"sheet {sheet.title!r} is read, not {listed(others, most=12)}": others,
        "rows above the header are left out": heads[sheet].index(header),
        f"cells beside the table are left out in {counted(n_beside, 'row')}": n_beside,
        f"{counted(n_merged, 'cell is', 'cells are')} merged over rows; the first has it": n_merged,
        f"{counted(n_empty, 'formula has', 'formulas have')} no calculated value; save the file "
        "with a spreadsheet program": n_empty,
    }
    faults = tuple(f"{path.name}: {note}" for note, applies in notes.items() if applies)
    return Text(
        path=path, content=content, warnings=faults, unit="row", separator=",", sheet=sheet.title
    )


def _lost_cells(data: bytes, part: str) -> tuple[int, int]:
    """Return how many cells of a sheet are merged over rows, and how many formulas lack a value."""
    with ZipFile(io.BytesIO(data)) as archive:
        xml = archive.read(part)
    n_merged = sum(first != last for first, last in _MERGED.findall(xml))
    return n_merged, len(_UNCALCULATED.findall(xml))


def notes_by_row(path: Path, name: str) -> dict[int, str]:
    """Return the notes on the cells of a sheet of a workbook, by row from 1.

    Notes of a row are joined, without the name of their author, which programs write before them.
    """
    from openpyxl import load_workbook  # noqa: PLC0415 — few files are workbooks

    with ZipFile(path) as archive:
        if not any("comments" in member.lower() for member in archive.namelist()):
            return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        sheet = load_workbook(path)[name]
    notes: dict[int, list[str]] = {}
    for cell in (cell for row in sheet.iter_rows() for cell in row if cell.comment):
        text = cell.comment.text.removeprefix(f"{cell.comment.author}:")
        if _THREAD in text:  # below it, "Comment:" in the language of the program
            text = text.partition(_THREAD)[2].partition(":")[2]
        notes.setdefault(cell.row, []).append(" ".join(text.split()))
    return {row: "; ".join(filter(None, texts)) for row, texts in notes.items()}


def _header_of(rows: Sequence[list[str]]) -> list[str]:
    fullest = max(sum(map(bool, cells)) for cells in rows)
    return next(cells for cells in rows if 2 * sum(map(bool, cells)) > fullest)


def _content(path: Path, sheet: Any, header: Sequence[str]) -> tuple[str, int]:
    """Return the rows of a sheet as CSV, and the number of rows with cells beside the header.

    Rows above the header and empty rows are blank lines, so that numbers of lines are those of
    rows.
    """
    content, n_beside, is_below = io.StringIO(), 0, False
    lines = csv.writer(content, lineterminator="\n")
    width = max(number for number, cell in enumerate(header, start=1) if cell)
    for row in sheet.iter_rows():
        cells = list(map(_text, row))
        is_below = is_below or cells == header
        n_beside += is_below and any(cells[width:])
        is_row = is_below and any(cells)
        lines.writerow([*cells, *[""] * width][:width] if is_row else [])
        _check_size(path, content.tell())
    return content.getvalue(), n_beside


def _check_size(path: Path, size: int) -> None:
    if size > LARGEST_FILE:
        raise InputError(f"{path} unpacks to more than the limit of {LARGEST_FILE >> 20} MiB")


def _text(cell: Any) -> str:
    """Return the content of a cell as spreadsheets show it."""
    value = cell.value
    if isinstance(value, str):
        return " ".join(filter(None, map(str.strip, _LINE_END.split(value))))
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).upper()
    if isinstance(value, datetime) and value.time() == time():
        return str(value.date())
    if isinstance(value, float):  # with 15 digits, as spreadsheets calculate
        return f"{value:.0f}" if value.is_integer() else f"{value:.15g}"
    if isinstance(value, int) and (form := _ZEROS.fullmatch(cell.number_format)):
        return str(value).zfill(len(form["zeros"]))
    return str(value)


def write_workbook(
    out: Path | IO[bytes],
    sheets: Mapping[str, pl.DataFrame],
    allowed: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write frames as the sheets of a workbook, each with a frozen header and a filter.

    Text stays text in spreadsheets, also numbers, dates and formulas, and after a cell was edited.

    Args:
        out: path of the file, or the open file.
        sheets: frames by name of the sheet, which has at most 31 characters.
        allowed: values by column that spreadsheets offer and accept there, without commas, together
            at most 255 characters.
    """
    import openpyxl  # noqa: PLC0415 — few commands write workbooks
    from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415 — as above

    def cell_of(value: object, *, is_bold: bool) -> object:
        if not isinstance(value, str):
            return value
        cell = openpyxl.cell.WriteOnlyCell(sheet, illegal.sub("", value))
        cell.data_type, cell.number_format = "s", "@"  # openpyxl takes =1 for a formula
        if is_bold:
            cell.font = bold
        return cell

    illegal, bold = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE, openpyxl.styles.Font(bold=True)
    book, numbers = openpyxl.Workbook(write_only=True), pl.selectors.float()
    for title, given in sheets.items():
        frame = given.with_columns(pl.when(numbers.is_finite()).then(numbers))
        sheet, last = book.create_sheet(title), max(2, frame.height + 1)
        sheet.freeze_panes = "A2"
        for number, column in enumerate(frame, start=1):
            letter = openpyxl.utils.get_column_letter(number)
            sheet.auto_filter.ref = f"A1:{letter}{last}"
            lengths = column.head(_WIDTH_ROWS).cast(pl.String).str.len_chars().drop_nulls()
            offered = (allowed or {}).get(column.name, ())
            widest = max(0, len(column.name), *lengths, *map(len, offered))
            sheet.column_dimensions[letter].width = min(_MAX_WIDTH, widest + 4)
            if offered:
                cells = f"{letter}2:{letter}{last}"
                listed_values = DataValidation("list", f'"{",".join(offered)}"', sqref=cells)
                sheet.data_validations.append(listed_values)
        for row, values in enumerate([frame.columns, *frame.iter_rows()]):
            sheet.append([cell_of(value, is_bold=row == 0) for value in values])
    book.save(out)
