"""The page of an annotator in a real browser: fingers, mice, and screens with little room."""

from __future__ import annotations

import pytest
from fixtures.annotators import PAIRS, sheet_of
from fixtures.sittings import PHONE

from medsim.studies.sheets import GRADED

pytestmark = pytest.mark.slow

FOCUSED = "document.activeElement.id || document.activeElement.dataset.answer"
# Where an element begins and ends, in pixels from the top of the window.
EDGES = "one => { const box = one.getBoundingClientRect(); return [box.top, box.bottom]; }"


def test_a_tap_at_the_middle_of_an_untouched_slider_rates_the_middle(sit) -> None:
    seen = sit(sheet_of(scale=GRADED), **PHONE)
    seen.page.tap("#begin")
    slider = seen.page.locator("#slider")
    box = slider.bounding_box()

    seen.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    assert slider.get_attribute("aria-valuetext") == "3"
    seen.page.tap("#next")
    assert seen.text("message") == "Pair 1: 3"
    assert slider.get_attribute("aria-valuetext") == "not rated yet"


def test_a_mouse_that_is_let_go_over_the_slider_rates_nothing(begun) -> None:
    seen = begun(sheet_of(scale=GRADED))

    seen.page.locator("#left").hover()
    seen.page.mouse.down()
    seen.page.locator("#slider").hover()
    seen.page.mouse.up()

    assert seen.page.locator("#slider").get_attribute("aria-valuetext") == "not rated yet"


@pytest.mark.parametrize("scale", [{}, {"scale": GRADED}])
def test_a_pair_after_a_tap_looks_as_if_nothing_was_chosen(sit, scale: dict) -> None:
    seen = sit(sheet_of(**scale), **PHONE)
    seen.page.tap("#begin")
    looks = "all => all.map((one) => JSON.stringify([...getComputedStyle(one)].map((name) =>\
        getComputedStyle(one)[name])))"
    buttons = seen.page.locator("[data-answer]")
    before = buttons.evaluate_all(looks)

    buttons.nth(1).tap()

    assert seen.text("pair-heading") == "Pair 2 of 5"
    assert buttons.evaluate_all(looks) == before
    assert seen.page.evaluate(FOCUSED) == "pair-heading"


def test_the_focus_leaves_a_button_that_a_mouse_pressed_and_stays_where_a_key_did(begun) -> None:
    seen = begun(sheet_of(PAIRS[:4]))

    seen.page.get_by_role("button", name="Not same").dblclick()
    assert seen.page.evaluate(FOCUSED) == "pair-heading"
    seen.press("Tab", "Tab", "Enter")
    assert seen.page.evaluate(FOCUSED) == "not_same"
    seen.press("Space")
    assert seen.page.evaluate(FOCUSED) == "not_same"
    assert seen.text("pair-heading") == "Pair 4 of 4"
    seen.page.get_by_role("button", name="Not same").click()

    assert seen.page.evaluate(FOCUSED) == "rest-heading"


@pytest.mark.parametrize(
    ("width", "height", "is_phone"),
    [(360, 740, True), (320, 568, True), (568, 320, True), (1280, 720, False)],
)
def test_a_warning_of_equal_ratings_hides_nothing_and_moves_no_button_of_a_mouse(
    begun, *, width: int, height: int, is_phone: bool
) -> None:
    viewport = {"width": width, "height": height}
    seen = begun(sheet_of(PAIRS * 3, scale=GRADED), viewport=viewport, is_mobile=is_phone)
    numbers = seen.page.locator(".numbers")
    before = numbers.evaluate(EDGES)
    seen.press(*"2" * 10)

    assert "last 10 ratings" in seen.text("warning")
    top, bottom = seen.page.locator("#warning").evaluate(EDGES)
    assert seen.page.locator("header").evaluate(EDGES)[1] <= top
    assert bottom <= seen.page.locator("#pair-heading").evaluate(EDGES)[0]
    right, bar = (seen.page.locator(one).evaluate(EDGES) for one in ("#right", ".answering"))
    assert right[1] <= bar[0]
    assert is_phone or numbers.evaluate(EDGES) == before


def test_a_warning_goes_when_the_annotator_looks_back_or_answers_differently(begun) -> None:
    seen = begun(sheet_of(PAIRS * 3, scale=GRADED))
    for keys in ("ArrowLeft", "u", "ArrowRight"):
        seen.press(*"2" * 10)
        assert "last 10 ratings" in seen.text("warning")
        seen.press(keys)
        assert seen.page.locator("#warning").is_hidden()
        seen.page.locator("#restart").click()
        seen.page.get_by_role("button", name="Start over without").click()
        seen.page.locator("#begin").click()

    seen.press(*"2" * 10, "ArrowLeft", "2")
    assert "last 10 ratings" in seen.text("warning")
    seen.press("3")
    assert seen.page.locator("#warning").is_hidden()


@pytest.mark.parametrize("scale", [{}, {"scale": GRADED}])
@pytest.mark.parametrize(("width", "height"), [(568, 320), (320, 256)])
def test_on_a_low_screen_the_answers_never_cover_the_right_term(
    begun, width: int, height: int, scale: dict
) -> None:
    pairs = [("Erythrocyte", "Red cell"), ("Fever", "of unknown origin " * 20)]
    seen = begun(sheet_of(pairs, **scale), viewport={"width": width, "height": height})

    for _ in pairs:
        for depth in (0, 40, 10_000):
            seen.page.evaluate("depth => scrollTo(0, depth)", depth)
            right = seen.page.locator("#right").evaluate(EDGES)
            assert right[1] <= seen.page.locator(".answering").evaluate(EDGES)[0]
        seen.press("ArrowRight")
