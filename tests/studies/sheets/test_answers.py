"""Answers in files of every format, checked against the entries shown to annotators."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from fixtures.studies import (
    PAIRS,
    STUDY_ID,
    annotated_tasks,
    assignment_of,
    closed,
    entry_id,
    put,
    sheet,
    written_jsonl,
)

from medsim.core.errors import InputError
from medsim.studies.output import ASSIGNED
from medsim.studies.sheets import DONT_KNOW, GRADED, JUDGEMENT, NOT_SAME, SAME, Sheet, written_csv
from medsim.studies.sheets.answers import StudyAnswers, StudyIdentity, read_answers

STUDY = StudyIdentity(study_id=STUDY_ID, scale=JUDGEMENT)
SHEETS = [sheet(PAIRS[:3], annotator=name) for name in ("cy", "ada", "ben")]
CY, ADA, BEN = SHEETS
ASSIGNMENT = assignment_of(SHEETS)


def answers_in(*paths: Path, assignment: pl.DataFrame = ASSIGNMENT) -> StudyAnswers:
    return read_answers(paths, assignment, STUDY)


def answered(answers: StudyAnswers) -> pl.DataFrame:
    return answers.entries.drop_nulls("value")


def refused(*paths: Path) -> str:
    with pytest.raises(InputError) as caught:
        answers_in(*paths)
    message = str(caught.value)
    assert message.isprintable()  # so it is one line
    return message


def values_of(of_sheet: Sheet, *values: int | None) -> dict[str, int]:
    pairs = zip(of_sheet.entries["entry_id"], values, strict=False)
    return {entry: value for entry, value in pairs if value is not None}


def put_jsonl(folder: Path, name: str, of_sheet: Sheet, *values: int | None) -> Path:
    return put(folder, name, written_jsonl(of_sheet, values_of(of_sheet, *values)))


def put_csv(folder: Path, name: str, *rows: str) -> Path:
    return put(folder, name, "\n".join(["entry,left,right,answer", *rows, ""]))


def row(of_sheet: Sheet, at: int, answer: str) -> str:
    return ",".join([*of_sheet.entries.row(at), answer])


def test_answers_of_all_formats_are_in_order_of_annotator_and_position(tmp_path):
    filled = written_csv(ADA).replace("Red cell,", "Red cell,s").replace("of arm,", "of arm,n")
    (tmp_path / "returned").mkdir()
    put_jsonl(tmp_path / "returned", "z.JSONL", CY, SAME, NOT_SAME, DONT_KNOW)
    put(tmp_path / "returned", "a.TSV", filled)
    put(tmp_path / "returned", "readme.txt", "not for medsim")
    put(tmp_path / "returned", "._a.csv", b"\x00\x05")
    export = annotated_tasks(BEN, values_of(BEN, None, DONT_KNOW))

    answers = answers_in(tmp_path / "returned", put(tmp_path, "answers.txt", export))

    added = {"value": pl.Int8, "comment": pl.String, "seconds": pl.Float64}
    assert answers.entries.schema == pl.Schema({**ASSIGNED.dtypes, **added})
    assert answers.entries.height == ASSIGNMENT.height
    assert answered(answers).select("annotator", "position", "value").rows() == [
        ("ada", 1, SAME),
        ("ada", 3, NOT_SAME),
        ("ben", 2, DONT_KNOW),
        ("cy", 1, SAME),
        ("cy", 2, NOT_SAME),
        ("cy", 3, DONT_KNOW),
    ]
    key = ASSIGNMENT.select("entry_id", "annotator", "position", "item_id", "showing")
    assert answered(answers).join(key, on=key.columns).height == 6


def test_repeated_answer_counts_once(tmp_path):
    first = put_jsonl(tmp_path, "one.jsonl", ADA, SAME, NOT_SAME)
    second = put_csv(tmp_path, "two.csv", *[row(ADA, 0, "same")] * 2, row(ADA, 2, "d"))

    answers = answers_in(first, second)

    assert answered(answers)["value"].to_list() == [SAME, NOT_SAME, DONT_KNOW]
    assert answers.warnings == (
        "1 answers of 'ada' are kept although two.csv has none",
        "2 answers of 'ada' are repeated; each counts once",
    )


def test_contradictory_answers_in_a_file_are_named_with_their_terms(tmp_path):
    path = put_csv(tmp_path, "a.csv", row(ADA, 1, "n"), row(ADA, 1, "same"))

    assert refused(path) == (
        f"contradictory answers of 'ada' to 'Fever' and 'Chill': 'n' at {path}: line 2 and 'same' "
        f"at {path}: line 3; leave one out"
    )


def test_a_later_file_of_an_annotator_replaces_the_earlier_answers(tmp_path):
    early = put_jsonl(tmp_path, "z.jsonl", ADA, SAME, NOT_SAME, DONT_KNOW)
    late = put_csv(tmp_path, "a.csv", row(ADA, 0, "n"), row(ADA, 1, "n"), row(ADA, 2, ""))
    os.utime(early, (1_000, 1_000))

    for paths, values, changed in (
        ((tmp_path,), [NOT_SAME, NOT_SAME, DONT_KNOW], "a.csv replaces z.jsonl"),
        ((late, early), [SAME, NOT_SAME, DONT_KNOW], "z.jsonl replaces a.csv"),
    ):
        answers = answers_in(*paths)
        assert answered(answers)["value"].to_list() == values
        assert answers.warnings[-1] == f"1 answers of 'ada' changed: {changed}"


def test_an_entry_that_is_unknown_or_of_another_annotator_is_named(tmp_path):
    path = put_csv(tmp_path, "a.csv", row(ADA, 0, "n"), "\x1b[2Jx,a,b,same")
    forged = replace(BEN, entries=pl.concat([BEN.entries.head(1), ADA.entries.head(1)]))

    assert refused(path) == rf"{path}: line 3: entry '\x1b[2Jx' is not of this study"
    assert refused(put_jsonl(tmp_path, "b.jsonl", forged, SAME, SAME)).endswith(
        f"b.jsonl: line 3: entry '{entry_id('ada', 1)}' is of 'ada', and the file says 'ben'"
    )


def test_all_wrong_cells_of_a_file_are_named_at_once(tmp_path):
    path = put_csv(
        tmp_path,
        "a.csv",
        row(ADA, 0, "maybe\x1b[31m"),
        row(ADA, 1, "n").replace("Chill", "Cold"),
        ",Nail,Claw,same",
        "x,a,b,same",
        row(ADA, 2, "2"),
    )
    page = put(tmp_path, "p.jsonl", written_jsonl(ADA, {}).splitlines()[0] + "\n")

    allowed = "is not one of same, not same, don\u2019t know"
    assert refused(path) == (
        rf"{path}: line 2: answer 'maybe\x1b[31m' {allowed}; line 3: entry "
        f"'{entry_id('ada', 2)}' was edited: it shows 'Chill', and the file has 'Cold'; line 4: it "
        f"has 'same' and no entry; line 5: entry 'x' is not of this study; line 6: answer '2' "
        f"{allowed}"
    )
    assert "was edited, damaged or cut short" in refused(page)


def test_answers_to_another_study_and_edited_terms_are_refused(tmp_path):
    page = put_jsonl(tmp_path, "p.jsonl", sheet(annotator="ada", study_id="00000000000000aa"), SAME)
    cells = put_csv(tmp_path, "c.csv", row(sheet(annotator="zoe"), 0, "same"))
    edit = put_csv(tmp_path, "e.csv", row(ADA, 1, "n").replace("Chill", "Chills\u202e"))
    swap = put_csv(tmp_path, "s.csv", f"{entry_id('ada', 2)},Chill,Fever,same")

    assert refused(page) == f"{page} is of study '00000000000000aa', not of '{STUDY_ID}'"
    assert refused(cells) == (
        f"{cells} is of another study: none of its entries, such as '{entry_id('zoe', 1)}', is of "
        f"study '{STUDY_ID}'"
    )
    assert refused(edit) == (
        f"{edit}: line 2: entry '{entry_id('ada', 2)}' was edited: it shows 'Chill', and the file "
        r"has 'Chills\u202e'"
    )
    assert "shows 'Fever', and the file has 'Chill'" in refused(swap)


def test_white_space_changed_by_a_spreadsheet_is_not_an_edit(tmp_path):
    shown_sheet = sheet([("a\r\nb  c", "d")])
    path = put_csv(tmp_path, "a.csv", f'{entry_id("ada", 1)},"a\nb c ",d,same')

    assert answered(answers_in(path, assignment=assignment_of([shown_sheet]))).height == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        ("entry,left\nMénière".encode("latin-1"), "has no column 'right'; it needs entry"),
        (b"{}", "was edited, damaged or cut short; export it again from the page"),
        (b"[" * 100_000, "is not JSON (it is nested too deeply"),
        (b'[{"data":', "is not JSON (Expecting value"),
        *(
            (blank, "has no answers")
            for blank in (written_csv(ADA), written_jsonl(ADA, {}), annotated_tasks(ADA, {}), "[]")
        ),
    ],
)
def test_file_without_answers_is_refused_in_one_line(tmp_path, data, message):
    path = put(tmp_path, "file", data)

    assert refused(path).startswith(f"{path} {message}")


def test_empty_sheets_in_a_folder_are_left_out(tmp_path):
    (tmp_path / "ada").mkdir()
    put_jsonl(tmp_path / "ada", "ada.jsonl", ADA, 1, 0, 2)
    put(tmp_path / "ada", "sheet-ada.csv", written_csv(ADA))
    put(tmp_path, "sheet-ben.csv", written_csv(BEN))

    result = answers_in(tmp_path)

    assert [file["name"] for file in result.files] == ["ada.jsonl"]
    assert result.warnings[0] == "no answers in sheet-ada.csv, sheet-ben.csv; left out"


def test_folder_must_have_files_of_answers(tmp_path):
    assert refused(tmp_path).startswith(f"{tmp_path} has no file; answers are read from .csv, .tsv")
    put(tmp_path, "notes.txt", "hello")
    put(tmp_path, "ada.numbers", b"PK\x03\x04")
    assert refused(tmp_path) == (
        f"{tmp_path} has only ada.numbers and notes.txt; answers are read from .csv, .tsv, "
        ".xlsx, .json and .jsonl files, so save another spreadsheet as CSV and unpack an archive"
    )
    put(tmp_path, "sheet.csv", written_csv(ADA))
    assert refused(tmp_path).startswith(
        f"{tmp_path}: no file there has an answer; not read: ada.numbers and notes.txt; answers"
    )


def put_workbook(folder: Path, name: str, rows: list[list[object]]) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["nothing to read"])
    sheet = book.create_sheet("answers")
    for cells in rows:
        sheet.append(cells)
    book.save(folder / name)
    return folder / name


def test_a_workbook_is_read_like_the_sheet_that_was_saved_in_it(tmp_path):
    filled = [[*row(ADA, at, answer).split(",")] for at, answer in ((0, "Same"), (2, "Not same"))]
    header, other = ["Entry", "left", "right", "ANSWER"], ["kept", None, 2.5]
    rows = [[], header, filled[0], [], [*row(ADA, 1, "").split(",")[:3], None], filled[1] + other]
    from_workbook = answers_in(put_workbook(tmp_path, "ada.XLSX", rows))

    from_sheet = answers_in(put_csv(tmp_path, "ada.csv", *(",".join(cells) for cells in filled)))
    assert from_workbook.entries.equals(from_sheet.entries)
    assert answered(from_workbook)["value"].to_list() == [SAME, NOT_SAME]
    ratings = [["entry", "left", "right", "answer"], *([*row(ADA, 0, "").split(",")[:3], 4.0],)]
    graded = StudyIdentity(study_id=STUDY_ID, scale=GRADED)
    rated = read_answers([put_workbook(tmp_path, "r.xlsx", ratings)], ASSIGNMENT, graded)
    assert answered(rated)["value"].to_list() == [4]


def test_comments_in_sheets_are_kept_and_may_be_left_out(tmp_path):
    lines = written_csv(ADA).splitlines()
    assert lines[0].endswith(",answer,comment,allowed")
    first, second = (line.partition(",,")[0] for line in lines[1:3])
    filled = [lines[0], f'{first},same,"a  sign,\nnot a disease"', f"{second},n"]

    result = answers_in(put(tmp_path, "ada.csv", "\n".join(filled)))

    assert [*comments_of(result).values()] == ["a sign, not a disease"]


def comments_of(answers: StudyAnswers) -> dict[str, str]:
    return dict(answers.entries.select("entry_id", "comment").drop_nulls().iter_rows())


def test_a_comment_without_an_answer_is_kept(tmp_path):
    ids = ADA.entries["entry_id"].to_list()
    header = "entry,left,right,answer,comment"
    rows = [row(ADA, 0, "same") + ",", row(ADA, 1, "") + ",which chill?", row(ADA, 2, " ,  ")]
    sheet_file = put(tmp_path, "ada.csv", "\n".join([header, *rows]))
    lines = written_jsonl(ADA, {ids[0]: SAME}).splitlines()[:-1]
    page = put(
        tmp_path, "ada.jsonl", closed(*lines, {"entry": ids[1], "comment": " which\tchill? "})
    )

    for path in (sheet_file, page):
        answers = answers_in(path)
        assert answered(answers)["entry_id"].to_list() == [ids[0]]
        assert comments_of(answers) == {ids[1]: "which chill?"}
    both = answers_in(sheet_file, page)
    assert comments_of(both) == {ids[1]: "which chill?"}
    assert both.warnings == ("1 answers of 'ada' are repeated; each counts once",)


def test_a_later_comment_replaces_the_earlier_one_and_an_answer_joins_a_comment(tmp_path):
    ids = ADA.entries["entry_id"].to_list()
    header = "entry,left,right,answer,comment"
    first = [row(ADA, 0, "same") + ",", row(ADA, 1, "") + ",unsure", row(ADA, 2, "n") + ",one"]
    second = [row(ADA, 0, "same") + ",a sign", row(ADA, 1, "d") + ",", row(ADA, 2, "n") + ",two"]
    paths = [
        put(tmp_path, f"{name}.csv", "\n".join([header, *rows]))
        for name, rows in (("1", first), ("2", second))
    ]

    for one, other, last in ((*paths, "two"), (*paths[::-1], "one")):
        answers = answers_in(one, other)
        assert answered(answers)["value"].to_list() == [SAME, DONT_KNOW, NOT_SAME]
        assert comments_of(answers) == dict(zip(ids, ("a sign", "unsure", last), strict=True))


def test_comments_alone_are_no_answers_and_a_comment_needs_an_entry(tmp_path):
    header = "entry,left,right,answer,comment"
    alone = put(tmp_path, "a.csv", f"{header}\n{row(ADA, 0, '')},which fever?\n")
    lost = put(tmp_path, "b.csv", f"{header}\n,,,,which fever?\n")

    assert refused(alone) == f"{alone}: no file there has an answer"
    assert refused(lost) == f"{lost} has no answers"


def test_errors_in_workbooks_name_the_row(tmp_path, monkeypatch):
    header = ["entry", "left", "right", "answer"]
    rows = [header, [*row(ADA, 0, "same").split(",")], [], [*row(ADA, 1, "perhaps").split(",")]]
    path = put_workbook(tmp_path, "ada.xlsx", rows)

    message = f"{path}: row 4: answer 'perhaps' is not one of same, not same, don\u2019t know"
    assert refused(path) == message
    for damaged in (b"PK\x03\x04", path.read_bytes()[:-300]):
        part = put(tmp_path, "part.xlsx", damaged)
        assert refused(part) == (
            f"{part} cannot be read as a workbook (its content is not as expected); copy it again, "
            "or save it as .xlsx or CSV again"
        )
    monkeypatch.setattr("medsim.core.workbooks.LARGEST_FILE", 1000)
    assert refused(path).startswith(f"{path} unpacks to more than the limit of")


def test_a_sign_that_windows_1252_lacks_may_be_a_question_mark(tmp_path):
    shown = sheet([("TNF-\u03b1 \u2265 5 \u00b5g", "d")])
    begin = f"entry;left;right;answer\n{entry_id('ada', 1)};"
    reduced, edited = (
        put(tmp_path, f"{at}.csv", f"{begin}{term};d;same".encode("cp1252"))
        for at, term in enumerate(("TNF-? ? 5 \u00b5g", "TNF-? ? 5 ?g"))
    )

    assert answered(answers_in(reduced, assignment=assignment_of([shown]))).height == 1
    with pytest.raises(InputError, match="was edited"):
        answers_in(edited, assignment=assignment_of([shown]))


def test_a_sheet_without_headings_loses_no_answer(tmp_path):
    rows = [row(ADA, at, answer) for at, answer in enumerate(("same", "n", "d"))]
    bare = put(tmp_path, "a.csv", "\n".join(rows))

    assert answered(answers_in(bare))["value"].to_list() == [SAME, NOT_SAME, DONT_KNOW]
    wrong = put(tmp_path, "b.csv", "\n".join([*rows[:2], row(ADA, 2, "perhaps")]))
    assert refused(wrong).startswith(f"{wrong}: line 3: answer 'perhaps'")


def test_a_workbook_that_repeats_a_long_text_is_refused(tmp_path, monkeypatch):
    rows = [["entry", "left", "right", "answer"], *([["x" * 30_000]] * 100)]
    path = put_workbook(tmp_path, "ada.xlsx", rows)
    monkeypatch.setattr("medsim.core.workbooks.LARGEST_FILE", 100_000)

    assert refused(path).startswith(f"{path} unpacks to more than the limit of")


def test_unread_files_are_named_except_system_files(tmp_path):
    for folder in ("inner.csv", ".ipynb_checkpoints"):
        (tmp_path / folder).mkdir()
    for name in ("~$sheet-ada.csv", ".~lock.sheet-ada.csv#", ".DS_Store", "._sheet-ada.csv"):
        put(tmp_path, name, b"\x05ada\x00\xff")
    for name in ("Thumbs.db", "desktop.ini", ".ipynb_checkpoints/sheet-ada.csv"):
        put(tmp_path, name, b"\x05ada\x00\xff")
    put_jsonl(tmp_path, "ada.jsonl", ADA, 1, 0, 2)
    for name in ("sheet-ben.xls", "sheet-cy.ods", "answers.json.zip"):
        put(tmp_path / "inner.csv", name, b"PK\x03\x04")

    result = answers_in(tmp_path)

    assert [file["name"] for file in result.files] == ["ada.jsonl"]
    (warning,) = result.warnings
    assert warning.startswith("not read: answers.json.zip, sheet-ben.xls and sheet-cy.ods; answ")
