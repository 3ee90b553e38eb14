"""Tests of tasks for Label Studio, and of its exports."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from fixtures.studies import PAIRS, STUDY_ID, entry_id, sheet
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.errors import InputError
from medsim.studies.sheets import GRADED, JUDGEMENT, NOT_SAME, SAME, Scale
from medsim.studies.sheets.label_studio import (
    annotated_tasks,
    labelling_config,
    read_label_studio,
    tasks,
)
from medsim.studies.sheets.returned import Given, StudyIdentity

PATH = Path("project-7.json")
IDS = [entry_id("ada", position) for position in (1, 2, 3)]
TERMS = st.text(st.characters(codec="utf-8"), min_size=1) | st.sampled_from(
    ['"', "a\nb", "=1", "\U0001f9e0", "\u202e\u05d0", "</script>", "<img src=x onerror=y>"]
)


def read(found: object, scale: Scale = JUDGEMENT) -> list[Given]:
    text = found if isinstance(found, str) else json.dumps(found)
    return list(read_label_studio(PATH, text, StudyIdentity(study_id=STUDY_ID, scale=scale)))


def data(at: int = 0, **changes: object) -> dict[str, object]:
    left, right = PAIRS[at]
    own = {"study": STUDY_ID, "annotator": "ada", "entry": IDS[at], "left": left, "right": right}
    return {**own, **changes}


def annotation(*answers: object, **changes: object) -> dict[str, object]:
    """Return an annotation as Label Studio 1.2x exports it."""
    return {
        "id": 31,
        "completed_by": 1,
        "result": [
            {
                "value": {"choices": list(answers)},
                "id": "Yk0XvVbA1q",
                "from_name": "answer",
                "to_name": "left",
                "type": "choices",
            }
        ],
        "was_cancelled": False,
        "created_at": "2026-03-09T22:16:08.728353Z",
        **changes,
    }


def task(*annotations: object, at: int = 0, **changes: object) -> dict[str, object]:
    own = {"id": 1, "annotations": list(annotations), "drafts": [], "predictions": []}
    return {**own, "data": data(at), "meta": {}, "project": 7, **changes}


def test_tasks_hold_what_is_shown_and_whose_it_is():
    assert json.loads(tasks(sheet(PAIRS[:2]))) == [{"data": data(0)}, {"data": data(1)}]
    assert read(tasks(sheet())) == []


@given(
    pairs=st.lists(st.tuples(TERMS, TERMS), max_size=4),
    scale=st.sampled_from((JUDGEMENT, GRADED)),
    values=st.lists(st.none() | st.integers(0, 2), min_size=4, max_size=4),
)
def test_annotated_tasks_are_read_as_the_same_answers(
    pairs: list[tuple[str, str]], scale: Scale, values: list[int | None]
) -> None:
    of_all = sheet(pairs, scale=scale)
    given_values = zip(of_all.entries, values[: len(pairs)], strict=True)
    expected = {entry: value for entry, value in given_values if value is not None}

    by_id = {entry.entry_id: value for entry, value in expected.items()}
    found = read(annotated_tasks(of_all, by_id), scale)

    assert [(one.entry_id, one.terms, one.value, one.annotator) for one in found] == [
        (entry.entry_id, (entry.left, entry.right), value, "ada")
        for entry, value in expected.items()
    ]


def test_choices_have_the_answers_and_keys_of_the_page():
    view = ET.fromstring(labelling_config(JUDGEMENT))  # noqa: S314 — medsim wrote it

    assert [one.attrib for one in view.iter("Choice")] == [
        {"value": "Same", "alias": "same", "hotkey": "s"},
        {"value": "Not same", "alias": "not_same", "hotkey": "n"},
        {"value": "Don't know", "alias": "dont_know", "hotkey": "d"},
    ]
    assert [one.get("value") for one in view.iter("Text")] == ["$left", "$right"]
    choices = view.find("Choices")
    assert choices is not None
    assert (choices.get("name"), choices.get("toName")) == ("answer", "left")
    graded = ET.fromstring(labelling_config(GRADED))  # noqa: S314 — as above
    ratings = [dict.fromkeys(("value", "alias", "hotkey"), str(one)) for one in range(7)]
    assert [one.attrib for one in graded.iter("Choice")] == ratings


def test_instructions_are_escaped_in_the_labelling_configuration():
    hostile = 'Same "thing"?</View><Choices name="x"/> & more'

    view = ET.fromstring(labelling_config(JUDGEMENT, [hostile]))  # noqa: S314 — medsim wrote it

    assert [one.get("value") for one in view.iter("Header")] == [hostile]
    assert len(view.findall("Choices")) == 1


def test_the_full_export_is_read():
    found = read(
        [
            task(annotation("same")),
            task(annotation("dont_know", was_cancelled=True), at=1),
            task(annotation("Not same"), annotation("not_same"), at=2),
        ]
    )

    assert [(one.location, one.entry_id, one.value) for one in found] == [
        ("project-7.json: task 1", IDS[0], SAME),
        ("project-7.json: task 3", IDS[2], NOT_SAME),
        ("project-7.json: task 3", IDS[2], NOT_SAME),
    ]


def test_the_short_export_is_read_though_it_numbers_annotators():
    short = {"id": 3, "annotator": 1, "annotation_id": 31, "lead_time": 4.2}

    found = read([{**data(0), **short, "answer": "same"}, {**data(1), **short}])

    assert [(one.entry_id, one.value, one.annotator) for one in found] == [(IDS[0], SAME, None)]
    assert found[0].terms == PAIRS[0]


def test_other_controls_and_annotations_without_a_choice_are_passed_over():
    other = {"from_name": "remark", "type": "textarea", "value": {"text": ["why?"]}}

    assert read([task(annotation(result=[other])), task(annotation(result=[]))]) == []
    assert read([task(annotations=None)]) == []


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("[{]", "project-7.json is no JSON (Expecting property name"),
        ("[" * 100_000, "project-7.json is JSON nested too deeply"),
        ({"data": data()}, "project-7.json is no list of tasks; export it as JSON or JSON-MIN"),
        ([7], "project-7.json: task 1 names no entry; is it of a project with other tasks?"),
        ([{"data": {"image": "x.jpg"}}], "project-7.json: task 1 names no entry"),
        ([{"data": 7}], "project-7.json: task 1 names no entry"),
        (
            [task(), task(data=data(study="0123"))],
            "project-7.json: task 2 is of study '0123', and not of '5eed5eed5eed5eed'",
        ),
        (
            [task(data=data(left=None))],
            "project-7.json: task 1 has null for 'left', which should be text",
        ),
        ([task(7)], "project-7.json: task 1 has annotations that Label Studio would not write"),
        ([task(annotation(result=7))], "project-7.json: task 1 has annotations that Label Stud"),
        (
            [task(annotation("same", "not_same"))],
            "project-7.json: task 1 has a list where one answer should be",
        ),
        ([{**data(), "answer": {"choices": []}}], "project-7.json: task 1 has an object where one"),
        (
            [task(annotation("perhaps"))],
            "project-7.json: task 1: answer 'perhaps' is none of not_s",
        ),
    ],
)
def test_a_task_that_is_no_answer_is_named(found: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(found)

    assert str(caught.value).startswith(message)
