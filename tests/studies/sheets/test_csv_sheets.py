"""Tests of sheets for spreadsheets, and of what comes back from them."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fixtures.studies import PAIRS, STUDY_ID, entry_id, sheet
from hypothesis import example, given
from hypothesis import strategies as st

from medsim.core.errors import InputError
from medsim.core.tables.guard import guarded, unguarded
from medsim.core.tables.text import Text
from medsim.studies.sheets import DONT_KNOW, GRADED, JUDGEMENT, NOT_SAME, SAME, Entry, Scale
from medsim.studies.sheets.csv_sheets import read_csv, written_csv
from medsim.studies.sheets.returned import Given, StudyIdentity

PATH = Path("sheet.csv")
IDS = [entry_id("ada", position) for position in (1, 2, 3)]
HOSTILE = [
    *('=HYPERLINK("http://x","y")', "'=1", "''@x", "+1", "-x", "@SUM(A1)", "\tx", "MARCH1", "1-2"),
    *("a\r\nb", 'say "a", b; c', "</script><b>", "\U0001f9e0 \u202e\u05d0\u05d1"),
]
TERMS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1
) | st.sampled_from(HOSTILE)


def read(text: str, scale: Scale = JUDGEMENT) -> list[Given]:
    study = StudyIdentity(study_id=STUDY_ID, scale=scale)
    return list(read_csv(Text(path=PATH, content=text), study))


def cells_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def filled(text: str, answers: list[str], **form: Any) -> str:
    """Return a sheet with answers, as a spreadsheet writes it that keeps every cell."""
    head, *rows = cells_of(text)
    out = io.StringIO()
    writer = csv.writer(out, **form)
    writer.writerow(head)
    writer.writerows([*row[:3], answer] for row, answer in zip(rows, answers, strict=True))
    return out.getvalue()


def test_a_sheet_is_what_spreadsheets_read():
    text = written_csv(sheet())

    assert text.startswith("\ufeffentry,left,right,answer\r\n")
    assert [row[1:] for row in cells_of(text)] == [
        ["left", "right", "answer"],
        *([*pair, ""] for pair in PAIRS),
    ]
    assert read(text.removeprefix("\ufeff")) == []


@given(
    pairs=st.lists(st.tuples(TERMS, TERMS), min_size=1, max_size=4),
    separator=st.sampled_from(",;\t"),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_terms_and_answers_come_back_from_any_spreadsheet(
    pairs: list[tuple[str, str]], separator: str, line_end: str
) -> None:
    sheet_of_all = sheet(pairs)
    answers = (["same", "not_same", "dont_know"] * 2)[: len(pairs)]

    form = {"delimiter": separator, "lineterminator": line_end, "quoting": csv.QUOTE_ALL}
    found = read(filled(written_csv(sheet_of_all), answers, **form))

    assert [one.terms for one in found] == pairs
    assert [one.entry_id for one in found] == [one.entry_id for one in sheet_of_all.entries]
    assert [one.value for one in found] == ([SAME, NOT_SAME, DONT_KNOW] * 2)[: len(pairs)]


@given(TERMS)
@example("'" * 100_000 + "x")
def test_no_cell_is_a_formula_and_every_cell_is_recognised(term: str) -> None:
    cell = guarded(term)

    assert not cell.lstrip().startswith(
        ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
    )
    assert not cell.startswith(("\t", "\r", "\n"))
    assert unguarded(cell) == term
    assert cell in {term, f"'{term}"}


def test_a_cell_that_would_become_a_number_or_a_date_gets_an_apostrophe_and_no_other() -> None:
    dates = ("MARCH1", "sept2", "1-2", "10/12", "2 Mar 2020", "12:30 pm")
    for term in (*dates, "12345678901234567890", "007", "1e5", "12e45", ".5", "5 %", "TRUE", "'1"):
        assert guarded(term) == f"'{term}"
    for term in ("Fever", "HbA1c", "5-fluorouracil", "vitamin B12", "may", "'tis", "March fever"):
        assert guarded(term) == term


def test_what_looks_like_a_number_comes_back_with_or_without_its_apostrophe():
    entry = Entry(entry_id="12345678e1234567", left="=1+1", right="MARCH1")

    text = filled(written_csv(replace(sheet(), entries=[entry])), ["same"])

    assert "'12345678e1234567" in text
    for one in (text, text.replace("'", "")):
        (found,) = read(one)
        assert (found.entry_id, found.terms) == (entry.entry_id, (entry.left, entry.right))


@pytest.mark.parametrize(
    ("answers", "scale", "value"),
    [
        (("same", " SAME ", "S"), JUDGEMENT, SAME),
        (("not same", "Not_Same", "not-same", "n"), JUDGEMENT, NOT_SAME),
        (("don't know", "Don\u2019t know", "dont_know", "d"), JUDGEMENT, DONT_KNOW),
        (("4", " 4 ", "4.0", "4,00"), GRADED, 4),
    ],
)
def test_answers_are_taken_as_people_and_spreadsheets_write_them(
    answers: tuple[str, ...], scale: Scale, value: int
) -> None:
    for answer in answers:
        (found,) = read(filled(written_csv(sheet(PAIRS[:1], scale=scale)), [answer]), scale)
        assert found.value == value


@pytest.mark.parametrize("answer", ["7", "-1", "4.5", "04", "four", "\u0664", "same", "4.0.0"])
def test_no_other_rating_is_taken(answer: str) -> None:
    with pytest.raises(InputError, match=r"sheet\.csv: line 2: answer .* is none of 0, 1, 2, 3, 4"):
        read(filled(written_csv(sheet(PAIRS[:1], scale=GRADED)), [answer]), GRADED)


def test_columns_may_stand_in_any_order_among_others_with_blank_rows():
    text = (
        "\n;;;;\nRemark; Answer ;RIGHT;left;Entry\n"
        f"sure;same;Red cell;Erythrocyte;{IDS[0]}\n;;;;\n;;Chill;Fever;{IDS[1]}\n"
        f'"two\nlines";n;Fracture of arm;Broken arm; {IDS[2]} \n;;;;\n\n'
    )

    found = read(text)

    assert [(one.location, one.entry_id, one.value) for one in found] == [
        ("sheet.csv: line 4", IDS[0], SAME),
        ("sheet.csv: line 7", IDS[2], NOT_SAME),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("entry,left,answer\n", "sheet.csv has no column 'right'; it needs entry, left, right, a"),
        ("entry,left,right,answer\n,a,b,same\n", "sheet.csv: line 2 has the answer 'same' and no "),
        (
            "entry,left,right,answer\n\nx,a,b,\x1b]0;maybe",
            r"sheet.csv: line 3: answer '\x1b]0;maybe' is none of not_same, same, dont_know",
        ),
        ('entry,left,right,answer\nx,"a,c,n\n', "sheet.csv: line 2 cannot be cut into cells ("),
        ('entry,left,right,answer\nx,"' + "long\n" * 40_000, "sheet.csv: line 2 cannot be cut in"),
    ],
)
def test_a_row_that_is_no_answer_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)

    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()
