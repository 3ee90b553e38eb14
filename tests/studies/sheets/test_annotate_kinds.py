"""The page in each kind of study: what it shows, asks and takes."""

from __future__ import annotations

import pytest
from fixtures.annotators import sheet_of
from fixtures.sittings import PHONE, read

from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, JUDGEMENT, SCALES, Scale

pytestmark = pytest.mark.slow

SENTENCES = ("the \u27e6gene\u27e7 maps to <b>18q</b>", "mutations of \u27e6RANK\u27e7")
TEXTS = {CONTEXT.name: SENTENCES, DOMAIN.name: ("kinase", "")}
NARROW = PHONE | {"viewport": {"width": 320, "height": 568}}
WIDE = {"viewport": {"width": 1280, "height": 800}}


@pytest.mark.parametrize("scale", [s for s in SCALES.values() if not s.graded], ids=str)
def test_answers_are_given_by_letter_by_number_and_by_button(sit, tmp_path, scale: Scale) -> None:
    n = len(scale)
    seen = sit(sheet_of([TEXTS.get(scale.name, ("a", "b"))] * 3 * n, scale=scale))
    seen.page.locator("#begin").click()

    assert seen.text("ask") == scale.question
    seen.press(*(one.key for one in scale.choices))
    seen.press(*(str(at) for at in range(1, n + 1)))
    for one in scale.choices:
        seen.page.get_by_role("button", name=one.label, exact=True).click()

    assert seen.text("rest-heading") == "All answered"
    header, answers, _ = read(seen.export(tmp_path))
    assert header["scale"] == scale.name
    assert [one["answer"] for one in answers] == [one.name for one in scale.choices] * 3


@pytest.mark.parametrize("size", [WIDE, PHONE, NARROW])
@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_nothing_is_wider_than_the_screen_and_no_answer_is_broken(
    sit, scale: Scale, size: dict
) -> None:
    seen = sit(sheet_of([TEXTS.get(scale.name, ("a", "b"))] * 3, scale=scale), **size)
    seen.page.locator("#begin").click()

    width = size["viewport"]["width"]
    assert seen.page.evaluate("document.documentElement.scrollWidth") == width
    boxes = seen.page.locator("[data-answer]").evaluate_all(
        "all => all.map(one => [one.scrollWidth, one.clientWidth])"
    )
    assert boxes
    assert all(needed <= there for needed, there in boxes)


def test_the_target_of_a_sentence_is_marked_and_told_apart_when_it_is_read_aloud(sit) -> None:
    seen = sit(sheet_of([SENTENCES, SENTENCES], scale=CONTEXT))
    seen.page.locator("#begin").click()

    assert seen.page.locator("mark").all_inner_texts() == ["gene", "RANK"]
    assert seen.text("left") == "the gene maps to <b>18q</b>"
    assert seen.text("spoken") == (
        "Pair 1 of 2: the \u201cgene\u201d maps to <b>18q</b>; mutations of \u201cRANK\u201d."
    )


def test_marks_in_a_term_that_is_no_sentence_are_shown_as_they_are(sit) -> None:
    seen = sit(sheet_of([("a \u27e6b\u27e7", "c")], scale=JUDGEMENT))
    seen.page.locator("#begin").click()

    assert seen.text("left") == "a \u27e6b\u27e7"
    assert seen.page.locator("mark").count() == 0


def test_a_word_stands_alone_and_is_called_a_word(sit) -> None:
    seen = sit(sheet_of([("kinase", ""), ("table", "")], scale=DOMAIN))
    seen.page.locator("#begin").click()

    assert seen.page.locator("#right").is_hidden()
    assert seen.text("pair-heading") == "Word 1 of 2"
    assert seen.text("spoken") == "Word 1 of 2: kinase."
    assert seen.page.get_by_role("spinbutton", name="Word").count() == 1
    seen.press("b")
    assert seen.text("message") == "Word 1: biomedical"
    seen.press("ArrowRight")
    assert seen.text("rest-words") == "1 word has no answer yet."
    assert seen.page.locator("#key-list").text_content().count("next unanswered word") == 1


def test_keys_are_those_of_the_study(sit) -> None:
    seen = sit(sheet_of([("a", "b")], scale=ASSOCIATION))

    keys = seen.page.locator("#key-list dt").all_inner_texts()
    assert [key.split() for key in keys[:2]] == [["A", "1"], ["N", "2"]]
    assert not any("0" in key for key in keys)
