"""The page of an annotator in a real browser: what it says to whom, and what it never does."""

from __future__ import annotations

import pytest
from fixtures.annotators import HOSTILE, sheet_of
from fixtures.sittings import PHONE

from medsim.studies.sheets import GRADED

pytestmark = pytest.mark.slow


def test_keys_do_nothing_with_modifiers_in_fields_in_dialogs_or_where_they_are_off(sit) -> None:
    seen = sit(sheet_of())
    seen.press("s")
    seen.page.locator("#begin").click()

    seen.press("Control+s", "Alt+n", "Meta+d")
    seen.page.locator("#number").focus()
    seen.press("1", "Backspace")
    seen.page.locator("#restart").click()
    seen.press("s", "Escape")
    seen.page.locator("#instruct").click()
    seen.page.get_by_label("Use these keys").uncheck()
    seen.page.locator("#begin").click()
    seen.press("s")
    seen.page.reload()
    seen.press("s")

    assert seen.text("count") == "0 of 5 answered"
    assert seen.text("pair-heading") == "Pair 1 of 5"


def test_a_key_that_is_held_down_or_a_double_click_answers_one_pair(begun) -> None:
    seen = begun(sheet_of())

    seen.page.keyboard.down("s")
    seen.page.keyboard.down("s")
    assert seen.text("count") == "1 of 5 answered"
    seen.page.keyboard.up("s")
    seen.page.get_by_role("button", name="Not same").dblclick()

    assert seen.text("count") == "2 of 5 answered"


def test_hostile_terms_are_shown_as_they_are_and_do_nothing(sit) -> None:
    terms = list(HOSTILE)
    sheet = sheet_of([(one, one) for one in terms], title=HOSTILE[0], notice=HOSTILE[1])
    seen = sit(sheet, **PHONE)
    elements = seen.page.evaluate("document.querySelectorAll('*').length")
    assert seen.page.locator("#notice").text_content() == HOSTILE[1]
    seen.page.locator("#begin").click()

    for term in terms:
        for side in ("left", "right"):
            place = seen.page.locator(f"#{side}")
            assert place.text_content() == term
            assert place.evaluate("one => one.childElementCount") == 0
            assert place.get_attribute("dir") == "auto"
        assert seen.page.evaluate("document.documentElement.scrollWidth") == 360
        seen.press("ArrowRight")

    listed = seen.page.locator("#rest *").count() - 5
    assert seen.page.evaluate("document.querySelectorAll('*').length") - listed <= elements + 5
    assert seen.complaints == []
    assert len(seen.requests) == 1


def test_a_screen_reader_finds_landmarks_names_and_what_changed(sit) -> None:
    seen = sit(sheet_of())
    assert seen.page.locator("#page").aria_snapshot().splitlines()[0] == "- banner:"
    seen.page.locator("#begin").click()

    assert seen.page.evaluate("document.activeElement.id") == "pair-heading"
    seen.press("n")
    assert seen.text("spoken") == "Pair 2 of 5: Fever; Chill."
    assert seen.text("message") == "Pair 1: not same"
    snapshot = seen.page.locator("#page").aria_snapshot()
    for part in (
        "- banner:",
        '- heading "A study" [level=1]',
        '- progressbar "1 of 5 answered"',
        "- main:",
        '- region "Pair 2 of 5":',
        '- heading "Pair 2 of 5" [level=2]',
        '- group "Could these two be used interchangeably in consultation notes?":',
        '- button "Same"',
        '- button "Not same"',
        '- button "Don\N{RIGHT SINGLE QUOTATION MARK}t know"',
        "- contentinfo:",
        '- spinbutton "Pair"',
    ):
        assert part in snapshot
    seen.press("ArrowLeft")
    pressed = seen.page.get_by_role("button", name="Not same", pressed=True)
    assert pressed.get_attribute("aria-keyshortcuts") == "N 2"
    assert seen.text("spoken") == "Pair 1 of 5: Erythrocyte; Red cell. Your answer: not same."
    for button in seen.page.get_by_role("button").all():
        assert button.inner_text().strip()


def test_the_slider_is_named_by_both_terms_and_says_that_it_was_not_touched(begun) -> None:
    seen = begun(sheet_of(scale=GRADED))
    name = "How similar are these two? Erythrocyte Red cell"
    slider = seen.page.get_by_role("slider", name=name, exact=True)

    assert slider.get_attribute("aria-valuetext") == "not rated yet"
    slider.focus()
    seen.press("End")
    assert slider.get_attribute("aria-valuetext") == "6"
    seen.press("Enter")
    assert seen.page.get_by_role("slider").get_attribute("aria-valuetext") == "not rated yet"
    assert seen.page.evaluate("document.activeElement.id") == "slider"


def test_focus_is_seen_and_motion_is_left_out_where_it_is_unwanted(sit) -> None:
    seen = sit(sheet_of(), reduced_motion="reduce")
    seen.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineWidth"
    assert seen.page.evaluate(outline) == "3px"
    seen.press("Enter", "s")
    assert seen.page.evaluate("document.getAnimations().length") == 0


def test_texts_stand_out_from_what_is_behind_them_in_light_and_in_dark(sit) -> None:
    measure = """() => {
        const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
            .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
        const behind = (one) => { const color = getComputedStyle(one).backgroundColor;
            return color === "rgba(0, 0, 0, 0)" ? behind(one.parentElement) : color; };
        const texts = [...document.querySelectorAll("#page *")].filter((one) =>
            one.checkVisibility() && [...one.childNodes].some((node) => node.data?.trim()));
        return texts.map((one) => {
            const pair = [light(getComputedStyle(one).color), light(behind(one))];
            return [one.textContent, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)];
        });
    }"""
    for scheme in ("light", "dark"):
        for scale in ({}, {"scale": GRADED}):
            seen = sit(sheet_of(notice="Keep it.", **scale), color_scheme=scheme)
            ratios = seen.page.evaluate(measure)
            seen.page.locator("#begin").click()
            seen.page.keyboard.press("1")
            seen.page.keyboard.press("ArrowLeft")
            ratios += seen.page.evaluate(measure)
            assert len(ratios) > 30
            assert min(ratio for _, ratio in ratios) >= 4.5


def test_without_javascript_one_sentence_says_so(sit) -> None:
    seen = sit(sheet_of(), java_script_enabled=False)

    assert "needs JavaScript" in seen.page.locator("body").inner_text()
    assert seen.page.locator("#page").is_hidden()
