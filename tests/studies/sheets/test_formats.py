"""Writing and reading the page's export, sheets for spreadsheets and tasks of Label Studio."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from fixtures.studies import (
    PAIRS,
    STUDY_ID,
    annotated_tasks,
    closed,
    entry_id,
    sheet,
    written_jsonl,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from medsim.core.errors import InputError
from medsim.core.reading import Text
from medsim.core.tables import guarded, unguarded
from medsim.studies.sheets import (
    ASSOCIATION,
    DONT_KNOW,
    GRADED,
    JUDGEMENT,
    NOT_SAME,
    SAME,
    Scale,
    label_studio_config,
    label_studio_tasks,
    written_csv,
)
from medsim.studies.sheets.answers import (
    GivenAnswer,
    StudyIdentity,
    read_csv,
    read_jsonl,
    read_label_studio,
)

IDS = [entry_id("ada", position) for position in (1, 2, 3)]


HEAD = {
    "medsim": "answers",
    "format": 1,
    "study": STUDY_ID,
    "annotator": "ada",
    "scale": "judgement",
    "entries": 3,
}


def read_page(text: str, scale: Scale = JUDGEMENT) -> list[GivenAnswer]:
    return list(read_jsonl(Path("ada.jsonl"), text, StudyIdentity(study_id=STUDY_ID, scale=scale)))


@given(
    scale=st.sampled_from((JUDGEMENT, GRADED)),
    annotator=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
    values=st.lists(st.none() | st.integers(0, 2), max_size=6),
)
def test_answers_round_trip(scale: Scale, annotator: str, values: list[int | None]) -> None:
    of_all = sheet([("a", "b")] * len(values), annotator=annotator, scale=scale)
    pairs = zip(of_all.entries["entry_id"], values, strict=True)
    expected = [(entry_id, value) for entry_id, value in pairs if value is not None]

    text = written_jsonl(of_all, dict(expected))
    result = read_page(text, scale)

    assert [(answer.entry_id, answer.value) for answer in result] == expected
    assert [answer.location for answer in result] == [
        f"ada.jsonl: line {number}" for number in range(2, len(result) + 2)
    ]
    assert {answer.annotator for answer in result} <= {annotator}
    assert read_page(text.replace("\n", "\r\n"), scale) == result  # as mail changes line ends


@settings(max_examples=60)
@given(st.data())
def test_truncated_or_changed_text_is_refused(data) -> None:
    text = written_jsonl(sheet(), {IDS[0]: SAME, IDS[1]: NOT_SAME})
    at = data.draw(st.integers(0, len(text) - 2))  # without its last line feed it is whole
    other = data.draw(st.sampled_from("0aZ\n ").filter(lambda character: character != text[at]))

    for wrong in (text[:at], text[:at] + other + text[at + 1 :]):
        with pytest.raises(InputError, match="export it again"):
            read_page(wrong)


@pytest.mark.parametrize("answer", [7, -1, 4.5, "", True, None])
def test_a_rating_is_a_whole_number_from_0_to_6_and_the_end_line_counts(answer: object) -> None:
    head = {**HEAD, "scale": "graded"}

    (result,) = read_page(closed(head, {"entry": IDS[0], "answer": answer}), GRADED)
    assert (result.said, result.value) == (str(answer), None)
    with pytest.raises(InputError, match="was edited, damaged or cut short; export it again"):
        read_page(closed(head, {"entry": IDS[0], "answer": 4}, n_answers=2), GRADED)


HOSTILE = [
    *('=HYPERLINK("http://x","y")', "'=1", "''@x", "+1", "-x", "@SUM(A1)", "\tx", "MARCH1", "1-2"),
    *("a\r\nb", 'say "a", b; c', "</script><b>", "\U0001f9e0 \u202e\u05d0\u05d1"),
]
SHEET_TERMS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1
) | st.sampled_from(HOSTILE)


def read_sheet(text: str, scale: Scale = JUDGEMENT) -> list[GivenAnswer]:
    study = StudyIdentity(study_id=STUDY_ID, scale=scale)
    return list(read_csv(Text(path=Path("sheet.csv"), content=text), study, []))


def cells_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def filled(text: str, answers: list[str], **form: Any) -> str:
    """Return a sheet with answers, as saved by a spreadsheet that keeps every cell."""
    head, *rows = cells_of(text)
    out = io.StringIO()
    writer = csv.writer(out, **form)
    writer.writerow(head)
    writer.writerows([*row[:3], answer] for row, answer in zip(rows, answers, strict=True))
    return out.getvalue()


def test_sheet_is_readable_by_spreadsheets():
    text = written_csv(sheet())

    assert text.startswith("\ufeffentry,left,right,answer,comment,allowed\r\n")
    allowed = "same, not same, don\u2019t know"
    assert [row[1:] for row in cells_of(text)] == [
        ["left", "right", "answer", "comment", "allowed"],
        *([*pair, "", "", allowed] for pair in PAIRS),
    ]
    assert read_sheet(text.removeprefix("\ufeff")) == []


@given(
    pairs=st.lists(st.tuples(SHEET_TERMS, SHEET_TERMS), min_size=1, max_size=4),
    separator=st.sampled_from(",;\t"),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_terms_and_answers_round_trip_through_any_spreadsheet(
    pairs: list[tuple[str, str]], separator: str, line_end: str
) -> None:
    sheet_of_all = sheet(pairs)
    answers = (["same", "not_same", "dont_know"] * 2)[: len(pairs)]

    form = {"delimiter": separator, "lineterminator": line_end, "quoting": csv.QUOTE_ALL}
    result = read_sheet(filled(written_csv(sheet_of_all), answers, **form))

    assert [row.texts for row in result] == pairs
    assert [row.entry_id for row in result] == sheet_of_all.entries["entry_id"].to_list()
    assert [row.value for row in result] == ([SAME, NOT_SAME, DONT_KNOW] * 2)[: len(pairs)]


@given(SHEET_TERMS)
@example("'" * 100_000 + "x")
def test_no_cell_is_a_formula_and_every_cell_is_recognised(term: str) -> None:
    cell = guarded(term)

    assert not cell.lstrip().startswith(
        ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
    )
    assert not cell.startswith(("\t", "\r", "\n"))
    assert unguarded(cell) == term
    assert cell in {term, f"'{term}"}


def test_only_cells_like_numbers_or_dates_get_an_apostrophe() -> None:
    dates = ("MARCH1", "sept2", "1-2", "10/12", "2 Mar 2020", "12:30 pm")
    for term in (*dates, "12345678901234567890", "007", "1e5", "12e45", ".5", "5 %", "TRUE", "'1"):
        assert guarded(term) == f"'{term}"
    for term in ("Fever", "HbA1c", "5-fluorouracil", "vitamin B12", "may", "'tis", "March fever"):
        assert guarded(term) == term


@pytest.mark.parametrize(
    ("answers", "scale", "value"),
    [
        (("same", " SAME ", "S", "The same."), JUDGEMENT, SAME),
        (("not same", "Not_Same", "not-same", "n", "notsame"), JUDGEMENT, NOT_SAME),
        (("NOT \u2013 same", "not\u2011same", "Not the same", "Different"), JUDGEMENT, NOT_SAME),
        (("don't know", "Don\u2019t know", "dont_know", "d"), JUDGEMENT, DONT_KNOW),
        (("don`t  know", "Do not know", "I don\u00b4t know.", "unknown"), JUDGEMENT, DONT_KNOW),
        (("not associated", "Not-Associated", "n"), ASSOCIATION, 0),
        (("4", " 4 ", "4.0", "4,00"), GRADED, 4),
    ],
)
def test_answers_are_accepted_as_people_and_spreadsheets_write_them(
    answers: tuple[str, ...], scale: Scale, value: int
) -> None:
    for answer in answers:
        (result,) = read_sheet(filled(written_csv(sheet(PAIRS[:1], scale=scale)), [answer]), scale)
        assert result.value == value


@pytest.mark.parametrize("answer", ["maybe", "samesame", "same?", "not", "2", "-", "s n"])
def test_other_judgements_have_no_value(answer: str) -> None:
    (result,) = read_sheet(filled(written_csv(sheet(PAIRS[:1])), [answer]))

    assert (result.said, result.value) == (answer, None)


@pytest.mark.parametrize("answer", ["7", "-1", "4.5", "04", "four", "\u0664", "same", "4.0.0"])
def test_other_ratings_have_no_value(answer: str) -> None:
    (result,) = read_sheet(filled(written_csv(sheet(PAIRS[:1], scale=GRADED)), [answer]), GRADED)

    assert (result.said, result.value) == (answer, None)


def test_columns_may_be_in_any_order_among_others_with_blank_rows():
    text = (
        "\n;;;;\nRemark; Answer ;RIGHT;left;Entry\n"
        f"sure;same;Red cell;Erythrocyte;{IDS[0]}\n;;;;\n;;Chill;Fever;{IDS[1]}\n"
        f'"two\nlines";n;Fracture of arm;Broken arm; {IDS[2]} \n;;;;\n\n'
    )

    result = read_sheet(text)

    assert [(answer.location, answer.entry_id, answer.value) for answer in result] == [
        ("sheet.csv: line 4", IDS[0], SAME),
        ("sheet.csv: line 7", IDS[2], NOT_SAME),
    ]


TASK_TERMS = st.text(st.characters(codec="utf-8"), min_size=1) | st.sampled_from(
    ['"', "a\nb", "=1", "\U0001f9e0", "\u202e\u05d0", "</script>", "<img src=x onerror=y>"]
)


def read_tasks(exported: object, scale: Scale = JUDGEMENT) -> list[GivenAnswer]:
    text = exported if isinstance(exported, str) else json.dumps(exported)
    return list(
        read_label_studio(
            Path("project-7.json"), text, StudyIdentity(study_id=STUDY_ID, scale=scale)
        )
    )


def data(at: int = 0, **changes: object) -> dict[str, object]:
    left, right = PAIRS[at]
    fields = {"study": STUDY_ID, "annotator": "ada", "entry": IDS[at], "left": left, "right": right}
    return {**fields, **changes}


def annotation(*answers: object, **changes: object) -> dict[str, object]:
    """Return an annotation as Label Studio 1.2x exports it."""
    value = {"value": {"choices": list(answers)}, "from_name": "answer", "to_name": "left"}
    result = [{**value, "id": "Yk0XvVbA1q", "type": "choices"}]
    return {"id": 31, "completed_by": 1, "result": result, "was_cancelled": False, **changes}


def task(*annotations: object, at: int = 0, **changes: object) -> dict[str, object]:
    fields = {"id": 1, "annotations": list(annotations), "drafts": [], "predictions": []}
    return {**fields, "data": data(at), "meta": {}, "project": 7, **changes}


def test_tasks_have_the_texts_and_the_annotator():
    assert json.loads(label_studio_tasks(sheet(PAIRS[:2]))) == [
        {"data": data(0)},
        {"data": data(1)},
    ]
    assert read_tasks(label_studio_tasks(sheet())) == []


@given(
    pairs=st.lists(st.tuples(TASK_TERMS, TASK_TERMS), max_size=4),
    scale=st.sampled_from((JUDGEMENT, GRADED)),
    values=st.lists(st.none() | st.integers(0, 2), min_size=4, max_size=4),
)
def test_annotated_tasks_are_read_as_the_same_answers(
    pairs: list[tuple[str, str]], scale: Scale, values: list[int | None]
) -> None:
    of_all = sheet(pairs, scale=scale)
    given_values = zip(of_all.entries.rows(), values[: len(pairs)], strict=True)
    expected = {entry: value for entry, value in given_values if value is not None}

    by_id = {entry_id: value for (entry_id, *_), value in expected.items()}
    result = read_tasks(annotated_tasks(of_all, by_id), scale)

    assert [(row.entry_id, row.texts, row.value, row.annotator) for row in result] == [
        (entry_id, (left, right), value, "ada")
        for (entry_id, left, right), value in expected.items()
    ]


def test_choices_match_the_page_and_instructions_are_escaped():
    hostile = 'Same "thing"?</View><Choices name="x"/> & more'
    view = ET.fromstring(label_studio_config(JUDGEMENT, [hostile]))  # noqa: S314 — medsim wrote it
    graded = ET.fromstring(label_studio_config(GRADED))  # noqa: S314 — as above

    assert [tag.attrib for tag in view.iter("Choice")] == [
        {"value": "Same", "alias": "same", "hotkey": "s"},
        {"value": "Not same", "alias": "not_same", "hotkey": "n"},
        {"value": "Don\u2019t know", "alias": "dont_know", "hotkey": "d"},
    ]
    assert [tag.get("value") for tag in view.iter("Text")] == ["$left", "$right"]
    (choices,) = view.findall("Choices")
    assert (choices.get("name"), choices.get("toName")) == ("answer", "left")
    ratings = [dict.fromkeys(("value", "alias", "hotkey"), str(tag)) for tag in range(7)]
    assert [tag.attrib for tag in graded.iter("Choice")] == ratings
    assert [tag.get("value") for tag in view.iter("Header")] == [hostile, JUDGEMENT.question]


def test_full_and_short_exports_are_read():
    other = {"from_name": "remark", "type": "textarea", "value": {"text": ["why?"]}}
    full = [
        task(annotation("same")),
        task(annotation("dont_know", was_cancelled=True), at=1),
        task(annotation("Not same"), annotation("not_same"), at=2),
        task(annotation(result=[other]), annotation(result=[]), at=1),
        task(annotations=None),
    ]
    short = {"id": 3, "annotator": 1, "annotation_id": 31, "lead_time": 4.2}

    assert [(answer.location, answer.entry_id, answer.value) for answer in read_tasks(full)] == [
        ("project-7.json: task 1", IDS[0], SAME),
        ("project-7.json: task 3", IDS[2], NOT_SAME),
        ("project-7.json: task 3", IDS[2], NOT_SAME),
    ]
    (result,) = read_tasks([{**data(0), **short, "answer": "same"}, {**data(1), **short}])
    assert (result.entry_id, result.value, result.annotator) == (IDS[0], SAME, None)
    assert result.texts == PAIRS[0]


REFUSED_LINES: list[tuple[list[object], str]] = [
    ([{**HEAD, "study": None}], "ada.jsonl is of study None, not of '5eed5eed5eed5eed'"),
    ([HEAD, "{]"], "ada.jsonl: line 2 is not JSON"),
    ([HEAD, "[" * 100_000], "ada.jsonl: line 2 is not JSON (it is nested too deeply"),
    ([HEAD, "9" * 5_000], "ada.jsonl: line 2 is not JSON (its content is not as"),
    ([HEAD, "x" * 1_200_000], "ada.jsonl: line 2 has more than 1,048,576 characters"),
]
REFUSED_SHEETS = [
    ("entry,left,answer\n", "sheet.csv has no column 'right'; it needs entry, left, right, a"),
    ('entry,left,right,answer\nx,"a,c,n\n', "sheet.csv: line 2 cannot be cut into cells ("),
    ('entry,left,right,answer\nx,"' + "long\n" * 40_000, "sheet.csv: line 2 cannot be cut in"),
]
NOT_AS_WRITTEN = "project-7.json: task 1 is not in Label Studio's format"
REFUSED_TASKS: list[tuple[object, str]] = [
    ("[{]", "project-7.json is not JSON (Expecting property name"),
    ({"data": data()}, "project-7.json is not a list of tasks; export it as JSON or JSON-MIN"),
    ([7], "project-7.json: task 1 names no entry; is it from a project with other tasks?"),
    ([{"data": {"image": "x.jpg"}}], "project-7.json: task 1 names no entry"),
    ([{"data": 7}], "project-7.json: task 1 names no entry"),
    ([task(), task(data=data(study="0123"))], "project-7.json: task 2 is of study '0123', not of"),
    ([task(data=data(left=None))], NOT_AS_WRITTEN),
    ([task(7)], NOT_AS_WRITTEN),
    ([task(annotation(result=7))], NOT_AS_WRITTEN),
    ([task(annotation("same", "not_same"))], NOT_AS_WRITTEN),
    ([{**data(), "answer": {"choices": []}}], NOT_AS_WRITTEN),
]


@pytest.mark.parametrize(
    ("reader", "content", "message"),
    [
        *((read_page, closed(*lines), message) for lines, message in REFUSED_LINES),
        *((read_sheet, text, message) for text, message in REFUSED_SHEETS),
        *((read_tasks, content, message) for content, message in REFUSED_TASKS),
    ],
)
def test_invalid_answers_are_named(reader: Any, content: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        reader(content)

    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()
