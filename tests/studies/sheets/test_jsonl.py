"""Tests of the answers that the offline page exports."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest
from fixtures.exports import written_jsonl
from fixtures.studies import STUDY_ID, entry_id, sheet
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.errors import InputError
from medsim.studies.sheets import DONT_KNOW, GRADED, JUDGEMENT, NOT_SAME, SAME, Scale
from medsim.studies.sheets.jsonl import read_jsonl
from medsim.studies.sheets.returned import Given, StudyIdentity

PATH = Path("ada.jsonl")
IDS = [entry_id("ada", position) for position in (1, 2, 3)]
HEAD = {
    "medsim": "answers",
    "format": 1,
    "study": STUDY_ID,
    "annotator": "ada",
    "scale": "judgement",
    "entries": 3,
}


def read(text: str, scale: Scale = JUDGEMENT) -> list[Given]:
    return list(read_jsonl(PATH, text, StudyIdentity(study_id=STUDY_ID, scale=scale)))


def sealed(*lines: object, n_answers: int | None = None) -> str:
    """Return lines with an end line that vouches for them, whatever they say."""
    content = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    count = len(lines) - 1 if n_answers is None else n_answers
    checksum = f"{zlib.crc32(content.encode()):08x}"
    return f'{content}{{"medsim":"end","answers":{count},"checksum":"{checksum}"}}\n'


def test_judgements_are_written_as_the_page_writes_them():
    text = written_jsonl(sheet(), {IDS[2]: DONT_KNOW, IDS[0]: SAME})

    assert text == (
        '{"medsim":"answers","format":1,"study":"5eed5eed5eed5eed","annotator":"ada",'
        '"scale":"judgement","entries":3}\n'
        f'{{"entry":"{IDS[0]}","answer":"same"}}\n'
        f'{{"entry":"{IDS[2]}","answer":"dont_know"}}\n'
        '{"medsim":"end","answers":2,"checksum":"8be5589e"}\n'
    )


@given(
    scale=st.sampled_from((JUDGEMENT, GRADED)),
    annotator=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
    values=st.lists(st.none() | st.integers(0, 2), max_size=6),
)
def test_what_is_written_is_read(scale: Scale, annotator: str, values: list[int | None]) -> None:
    of_all = sheet([("a", "b")] * len(values), annotator=annotator, scale=scale)
    pairs = zip((entry.entry_id for entry in of_all.entries), values, strict=True)
    expected = [(entry_id, value) for entry_id, value in pairs if value is not None]

    text = written_jsonl(of_all, dict(expected))
    found = read(text, scale)

    assert [(one.entry_id, one.value) for one in found] == expected
    assert [one.location for one in found] == [
        f"ada.jsonl: line {number}" for number in range(2, len(found) + 2)
    ]
    assert {one.annotator for one in found} <= {annotator}
    assert read(text.replace("\n", "\r\n"), scale) == found  # as mail changes line ends


@given(st.data())
def test_a_text_that_is_cut_short_is_refused(data: st.DataObject) -> None:
    text = written_jsonl(sheet(), {IDS[0]: SAME, IDS[1]: NOT_SAME})
    end = data.draw(st.integers(0, len(text) - 2))  # without its last line feed it is whole

    with pytest.raises(InputError, match=r"no end line: it is cut short.*export it again"):
        read(text[:end])


@given(st.data())
def test_a_text_of_which_one_character_was_changed_is_refused(data: st.DataObject) -> None:
    text = written_jsonl(sheet(), {IDS[0]: SAME, IDS[1]: NOT_SAME})
    at = data.draw(st.integers(0, len(text) - 2))
    other = data.draw(st.sampled_from("0aZ\n ").filter(lambda one: one != text[at]))

    with pytest.raises(InputError, match="export it again"):
        read(text[:at] + other + text[at + 1 :])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{**HEAD, "study": None}], "ada.jsonl is of study null, and not of '5eed5eed5eed5eed'"),
        (
            [{**HEAD, "scale": "graded"}],
            "ada.jsonl has answers of scale 'graded', and the study's scale is 'judgement'",
        ),
        ([{**HEAD, "format": 2}], "ada.jsonl: line 1 has format 2, and this medsim reads 1"),
        ([{**HEAD, "annotator": 7}], "ada.jsonl: line 1 says 7 for the annotator"),
        ([{**HEAD, "medsim": "end"}], "ada.jsonl: line 1 is not the first line of answers"),
        (["[1]"], "ada.jsonl: line 1 is not the first line of answers"),
        (["{"], "ada.jsonl: line 1 is no JSON"),
        ([HEAD, "{]"], "ada.jsonl: line 2 is no JSON"),
        ([HEAD, "[" * 100_000], "ada.jsonl: line 2 is JSON nested too deeply"),
        ([HEAD, "9" * 5_000], "ada.jsonl: line 2 has a number with too many digits"),
        ([HEAD, "x" * 1_200_000], "ada.jsonl: line 2 has more than 1,048,576 characters"),
        ([HEAD, "7"], "ada.jsonl: line 2 is no answer to an entry"),
        ([HEAD, {"entry": 7, "answer": "same"}], "ada.jsonl: line 2 is no answer to an entry"),
        (
            [HEAD, {"entry": IDS[0], "answer": "maybe\x1b[31m"}],
            r"ada.jsonl: line 2: answer 'maybe\x1b[31m' is none of not_same, same, dont_know",
        ),
        ([HEAD, {"entry": IDS[0], "answer": ["same"]}], "ada.jsonl: line 2: answer a list is none"),
        ([HEAD, {"entry": IDS[0], "answer": 1}], "ada.jsonl: line 2: answer 1 is none of"),
        ([HEAD, {"entry": IDS[0]}], "ada.jsonl: line 2: answer null is none of not_same"),
    ],
)
def test_a_line_that_is_no_answer_is_named(lines: list[object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(sealed(*lines))

    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("answer", [7, -1, 4.0, "4", True, None])
def test_a_rating_is_a_whole_number_from_0_to_6(answer: object) -> None:
    head = {**HEAD, "scale": "graded"}

    with pytest.raises(InputError, match=r"line 2: answer .* is none of 0, 1, 2, 3, 4, 5, 6"):
        read(sealed(head, {"entry": IDS[0], "answer": answer}), GRADED)


def test_an_end_line_that_counts_otherwise_is_refused():
    text = sealed(HEAD, {"entry": IDS[0], "answer": "same"}, n_answers=2)

    with pytest.raises(InputError, match="it has 1 answers, and its end line says 2"):
        read(text)
