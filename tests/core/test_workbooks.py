"""Sheets of workbooks are read as the text that people see there, and written so that it stays."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime
from datetime import time as day_time
from pathlib import Path

import openpyxl
import pandas as pd
import polars as pl
import pytest

from medsim.core import workbooks
from medsim.core.errors import InputError
from medsim.core.tables import read_table, read_text
from medsim.core.workbooks import write_workbook

Sheets = dict[str, list[list[object]]]


def book_of(path: Path, sheets: Sheets, hidden: tuple[str, ...] = ()) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        sheet.sheet_state = "hidden" if title in hidden else "visible"
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def cell_as_text(folder: Path, value: object, form: str = "General") -> str:
    book = openpyxl.Workbook()
    book.active.append(["value"])
    book.active.append([value])
    book.active["A2"].number_format = form
    book.save(folder / "cell.xlsx")
    return read_table(folder / "cell.xlsx", ["value"]).frame["value"].to_list()[0]


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        ("Größe", "General", "Größe"),
        (" two\nlines_x000D_\n and  spaces ", "General", "two lines and  spaces"),
        ("0012", "@", "0012"),
        (12, "00000", "00012"),
        (123456, "000;-000", "123456"),
        (12, "0.00", "12"),
        (12.0, "General", "12"),
        (1e15, "General", "1000000000000000"),
        (0.1 + 0.2, "General", "0.3"),
        (True, "General", "TRUE"),
        (datetime(2024, 1, 5), "DD.MM.YYYY", "2024-01-05"),  # noqa: DTZ001 — sheets have no zones
        (datetime(2024, 1, 5, 12, 30), "D.M.YY HH:MM", "2024-01-05 12:30:00"),  # noqa: DTZ001
        (day_time(12, 30), "HH:MM", "12:30:00"),
        ("#N/A", "General", "#N/A"),
        ('"quoted", and comma', "General", '"quoted", and comma'),
    ],
)
def test_a_cell_has_the_text_that_is_shown(
    tmp_path: Path, value: object, form: str, text: str
) -> None:
    assert cell_as_text(tmp_path, value, form) == text


def test_titles_notes_and_empty_rows_are_left_out_and_rows_keep_their_numbers(
    tmp_path: Path,
) -> None:
    rows = [
        ["Catalogue of the clinic"],
        [],
        ["Code", "Name", "Note"],
        ["1", "fever", None, None, "ask Ada"],
        [],
        ["2", "ache"],
    ]
    path = book_of(tmp_path / "names.xlsx", {"Names": rows})

    table = read_table(path, ["name"], None)

    assert table.frame.rows() == [("fever", "1", ""), ("ache", "2", "")]
    assert [row for row, _ in table.rows()] == ["row 4", "row 6"]
    assert table.warnings == (
        "names.xlsx: rows above the header are left out",
        "names.xlsx: cells beside the table are left out in 1 row",
    )
    book = openpyxl.load_workbook(path)
    book.active.merge_cells("A1:C1")
    book.save(path)
    assert read_table(path, ["name"], None).frame.equals(table.frame)
    assert read_text(path).content == read_text(path, fits=lambda row: "Code" in row).content


def test_the_first_sheet_that_fits_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    cover, names = [["About"], ["by Ada"]], [["id", "name"], ["1", "fever"]]
    sheets: Sheets = {"Empty": [], "Old": names, "Cover": cover, "Names": names, "More": names}
    path = book_of(tmp_path / "n.xlsx", sheets, hidden=("Old",))

    fitting = read_text(path, fits=lambda row: "name" in row)

    assert (fitting.sheet, fitting.content) == ("Names", "id,name\n1,fever\n")
    assert fitting.warnings == ("n.xlsx: sheet 'Names' is read, not 'Cover', 'More' and 'Old'",)
    assert read_text(path).sheet == "Cover"
    assert read_text(path, fits=lambda row: "code" in row).sheet == "Cover"
    chosen = read_text(path, sheet="Old")
    assert (chosen.sheet, chosen.warnings) == ("Old", ())
    with pytest.raises(InputError, match=r"no sheet 'Empty'; it has 'Cover', 'Names', 'More' and"):
        read_text(path, sheet="Empty")


def test_formulas_have_their_last_values_and_those_without_one_are_counted(tmp_path: Path) -> None:
    path = book_of(tmp_path / "a.xlsx", {"a": [["id", "name"], [1, "=1+1"]]})
    assert read_text(path).warnings == (
        "a.xlsx: 1 formula has no calculated value; save the file with a spreadsheet program",
    )
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert b"<f>1+1</f><v></v>" in parts[sheet] or b"<f>1+1</f><v />" in parts[sheet]
    for empty in (b"<v></v>", b"<v />"):
        parts[sheet] = parts[sheet].replace(b"<f>1+1</f>" + empty, b"<f>1+1</f><v>2</v>")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)

    assert read_text(path).content == "id,name\n1,2\n"
    assert not read_text(path).warnings


def packed(name: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, b"<x/>")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xd0\xcf\x11\xe0 old", r"is an old Office file such as \.xls, or has a password; save"),
        (packed("mimetype"), r"is an OpenDocument file; save the sheet as \.xlsx"),
        (packed("[Content_Types].xml"), r"cannot be read as a workbook \(File contains no valid"),
        (
            packed("[Content_Types].xml")[:-9],
            r"its content is not as expected\); copy it again, or",
        ),
        (packed("word/document.xml"), r"cannot be read as a workbook \(its content is not as"),
    ],
    ids=["old", "ods", "not a workbook", "cut", "docx"],
)
def test_other_office_files_are_refused_in_one_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)

    with pytest.raises(InputError, match=message) as caught:
        read_table(path, ["name"])
    assert "\n" not in str(caught.value)


def test_empty_and_oversized_workbooks_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"a\.xlsx is empty"):
        read_text(book_of(tmp_path / "a.xlsx", {"a": [], "b": [[None, " "]]}))
    path = book_of(tmp_path / "b.xlsx", {"a": [["x" * 30_000]] * 100})
    for limit in (1000, 100_000):  # of its parts, and of its text, which repeats one string
        monkeypatch.setattr(workbooks, "LARGEST_FILE", limit)
        with pytest.raises(InputError, match="unpacks to more than the limit"):
            read_text(path)


FRAME = pl.DataFrame(
    {
        "code": ["007", "MARCH1", "=1+1", "1E5", None, "#N/A", "a\x00b"],
        "name": ["Größe", "@sum", "+1", "-1", "'quoted", "TRUE", "2024-01-05"],
        "n": [1, 2, 3, None, 5, 6, 7],
        "p": [0.5, float("nan"), float("inf"), None, 0.0, 1.0, 0.25],
        "day": [date(2024, 1, 5), *[None] * 6],
        "decision": ["exact", *[None] * 6],
    }
)


def test_what_is_written_stays_text_for_other_readers(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    offered = {"decision": ["exact", "broader"]}
    write_workbook(path, {"Candidates": FRAME, "Empty": FRAME.clear()}, offered)

    book = openpyxl.load_workbook(path)
    sheet = book["Candidates"]
    header, *rows = sheet.iter_rows(values_only=True)
    assert list(header) == FRAME.columns
    assert [row[:2] for row in rows] == [
        (code and code.replace("\0", ""), name)
        for code, name in FRAME.select("code", "name").rows()
    ]
    assert [row[2:4] for row in rows] == [
        (1, 0.5), (2, None), (3, None), (None, None), (5, 0), (6, 1), (7, 0.25)
    ]  # fmt: skip
    assert {cell.data_type for row in sheet["A2:B8"] for cell in row if cell.value} == {"s"}
    assert {cell.number_format for row in sheet["A2:B8"] for cell in row if cell.value} == {"@"}
    assert sheet["A1"].font.bold
    assert not sheet["A2"].font.bold
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:F8"
    (validation,) = sheet.data_validations.dataValidation
    assert (str(validation.sqref), validation.formula1) == ("F2:F8", '"exact,broader"')
    assert [*book["Empty"].iter_rows(values_only=True)] == [tuple(FRAME.columns)]
    as_pandas = pd.read_excel(path, dtype=str, keep_default_na=False)
    assert as_pandas["code"].tolist() == ["007", "MARCH1", "=1+1", "1E5", "", "#N/A", "ab"]
    assert read_table(path, ["code"], ["name"]).frame["name"].to_list() == FRAME["name"].to_list()


def test_columns_are_as_wide_as_their_texts_up_to_a_limit() -> None:
    content = io.BytesIO()
    write_workbook(content, {"a": pl.DataFrame({"short": ["x"], "long": ["x" * 500]})})

    sheet = openpyxl.load_workbook(content).active

    assert sheet.column_dimensions["A"].width < 12
    assert 50 < sheet.column_dimensions["B"].width < 80
