"""The page of an annotator in a real browser: all studies, screen sizes and accessibility."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.sittings import PHONE, read
from fixtures.studies import HOSTILE, PAIRS, sheet

from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, GRADED, SCALES, Scale

pytestmark = pytest.mark.slow

SENTENCES = ("the \u27e6gene\u27e7 maps to <b>18q</b>", "mutations of \u27e6RANK\u27e7")
TEXTS = {CONTEXT.name: SENTENCES, DOMAIN.name: ("kinase", "")}
FOCUSED = "document.activeElement.id || document.activeElement.dataset.answer"
# Where an element begins and ends, in pixels from the top of the window.
EDGES = "one => { const box = one.getBoundingClientRect(); return [box.top, box.bottom]; }"
# The visible texts, each with its contrast to the background (WCAG 2.2).
CONTRASTS = """() => {
    const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = (one) => { const color = getComputedStyle(one).backgroundColor;
        return color === "rgba(0, 0, 0, 0)" ? behind(one.parentElement) : color; };
    const texts = [...document.querySelectorAll("#page *")].filter((one) =>
        one.checkVisibility() && [...one.childNodes].some((node) => node.data?.trim()));
    return texts.map((one) => {
        const pair = [light(getComputedStyle(one).color), light(behind(one))];
        return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    });
}"""


@pytest.mark.parametrize(
    "scale", [s for s in SCALES.values() if not s.graded], ids=lambda s: s.name
)
def test_answers_by_letter_number_and_button(begun, tmp_path, scale: Scale) -> None:
    n = len(scale)
    sitting = begun(sheet([TEXTS.get(scale.name, ("a", "b"))] * 3 * n, scale=scale))

    assert sitting.text("ask") == scale.question
    sitting.press(*(choice.key for choice in scale.choices))
    sitting.press(*(str(at) for at in range(1, n + 1)))
    for choice in scale.choices:
        sitting.page.get_by_role("button", name=choice.label, exact=True).click()

    assert sitting.text("rest-heading") == "All answered"
    header, answers = read(sitting.export(tmp_path))
    assert header["scale"] == scale.name
    assert [answer["answer"] for answer in answers] == [choice.name for choice in scale.choices] * 3


@pytest.mark.parametrize(
    ("options", "widths"),
    [(PHONE, (360, 320)), ({"viewport": {"width": 1280, "height": 800}}, (1280,))],
    ids=["phone", "desk"],
)
def test_nothing_is_wider_than_the_screen_and_no_answer_is_broken(
    begun, options: dict, widths: tuple[int, ...]
) -> None:
    for scale in SCALES.values():
        texts = TEXTS.get(scale.name, ("a", "b"))
        sitting = begun(sheet([texts] * 3, scale=scale, annotator=scale.name), **options)
        options = {"context": sitting.context}
        for width in widths:
            sitting.page.set_viewport_size({"width": width, "height": 740})
            assert sitting.page.evaluate("document.documentElement.scrollWidth") == width
            boxes = sitting.page.locator("[data-answer]").evaluate_all(
                "all => all.map(one => [one.scrollWidth, one.clientWidth])"
            )
            assert boxes
            assert all(needed <= there for needed, there in boxes), (scale.name, width)
            sides = sitting.page.locator("main button:visible").evaluate_all(
                "all => all.map(one => one.getBoundingClientRect()).map(b => [b.width, b.height])"
            )
            assert scale.graded or width != 360 or np.min(sides) >= 44


def test_target_of_a_sentence_is_marked_and_quoted_for_screen_readers(begun) -> None:
    sitting = begun(sheet([SENTENCES, SENTENCES], scale=CONTEXT))

    assert sitting.page.locator("mark").all_inner_texts() == ["gene", "RANK"]
    assert sitting.text("left") == "the gene maps to <b>18q</b>"
    assert sitting.text("spoken") == (
        "Pair 1 of 2: the \u201cgene\u201d maps to <b>18q</b>; mutations of \u201cRANK\u201d."
    )


def test_marks_in_a_plain_term_are_shown_and_keys_match_the_study(
    begun,
) -> None:
    sitting = begun(sheet([("a \u27e6b\u27e7", "c")], scale=ASSOCIATION))

    assert sitting.text("left") == "a \u27e6b\u27e7"
    assert sitting.page.locator("mark").count() == 0
    keys = sitting.page.locator("#key-list dt").all_text_contents()
    assert [key.split() for key in keys[:2]] == [["A", "1"], ["N", "2"]]
    assert not any("0" in key for key in keys)


def test_single_word_is_called_a_word(begun) -> None:
    sitting = begun(sheet([("kinase", ""), ("table", "")], scale=DOMAIN))

    assert sitting.page.locator("#right").is_hidden()
    assert sitting.text("pair-heading") == "Word 1 of 2"
    assert sitting.text("spoken") == "Word 1 of 2: kinase."
    assert sitting.page.get_by_role("spinbutton", name="Word").count() == 1
    sitting.press("b")
    assert sitting.text("message") == "Word 1: biomedical"
    sitting.press("ArrowRight")
    assert sitting.text("rest-words") == "1 word has no answer yet."
    assert sitting.page.locator("#key-list").text_content().count("next unanswered word") == 1


def test_a_tap_at_the_middle_of_an_untouched_slider_rates_the_middle(sit) -> None:
    sitting = sit(sheet(scale=GRADED), **PHONE)
    sitting.page.tap("#begin")
    slider = sitting.page.locator("#slider")
    box = slider.bounding_box()

    sitting.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    assert slider.get_attribute("aria-valuetext") == "3"
    sitting.page.tap("#next")
    assert sitting.text("message") == "Pair 1: 3"
    assert slider.get_attribute("aria-valuetext") == "not rated yet"


@pytest.mark.parametrize("scale", [{}, {"scale": GRADED}], ids=["judged", "graded"])
def test_next_pair_after_a_tap_has_nothing_selected(sit, scale: dict) -> None:
    sitting = sit(sheet(**scale), **PHONE)
    sitting.page.tap("#begin")
    looks = "all => all.map((one) => JSON.stringify([...getComputedStyle(one)].map((name) =>\
        getComputedStyle(one)[name])))"
    buttons = sitting.page.locator("[data-answer]")
    before = buttons.evaluate_all(looks)

    buttons.nth(1).tap()

    assert sitting.text("pair-heading") == "Pair 2 of 5"
    assert buttons.evaluate_all(looks) == before
    assert sitting.page.evaluate(FOCUSED) == "pair-heading"


def test_focus_leaves_a_button_after_a_click_and_stays_after_a_key(begun) -> None:
    sitting = begun(sheet(PAIRS[:4]))

    sitting.page.get_by_role("button", name="Not same").dblclick()
    assert sitting.page.evaluate(FOCUSED) == "pair-heading"
    sitting.press("Tab", "Tab", "Enter")
    assert sitting.page.evaluate(FOCUSED) == "not_same"
    sitting.press("Space")
    assert sitting.page.evaluate(FOCUSED) == "not_same"
    assert sitting.text("pair-heading") == "Pair 4 of 4"
    sitting.page.get_by_role("button", name="Not same").click()

    assert sitting.page.evaluate(FOCUSED) == "rest-heading"


@pytest.mark.parametrize("is_phone", [True, False], ids=["phone", "desk"])
def test_warning_of_equal_ratings_hides_nothing_and_moves_no_button(
    begun, *, is_phone: bool
) -> None:
    sizes = [(360, 740), (320, 568), (568, 320)] if is_phone else [(1280, 720)]
    viewport = dict(zip(("width", "height"), sizes[0], strict=True))
    sitting = begun(sheet(PAIRS * 3, scale=GRADED), viewport=viewport, is_mobile=is_phone)
    numbers = sitting.page.locator(".numbers")
    before = numbers.evaluate(EDGES)
    sitting.press(*"2" * 10)

    assert "last 10 ratings" in sitting.text("warning")
    assert is_phone or numbers.evaluate(EDGES) == before
    for width, height in sizes:
        sitting.page.set_viewport_size({"width": width, "height": height})
        top, bottom = sitting.page.locator("#warning").evaluate(EDGES)
        assert sitting.page.locator("header").evaluate(EDGES)[1] <= top
        assert bottom <= sitting.page.locator("#pair-heading").evaluate(EDGES)[0]
        right, bar = (sitting.page.locator(id_).evaluate(EDGES) for id_ in ("#right", ".answering"))
        assert right[1] <= bar[0]


def test_warning_disappears_after_looking_back_or_another_answer(begun) -> None:
    sitting = begun(sheet(PAIRS * 3, scale=GRADED))
    for keys in ("ArrowLeft", "u", "ArrowRight"):
        sitting.press(*"2" * 10)
        assert "last 10 ratings" in sitting.text("warning")
        sitting.press(keys)
        assert sitting.page.locator("#warning").is_hidden()
        sitting.page.locator("#restart").click()
        sitting.page.get_by_role("button", name="Start over without").click()
        sitting.page.locator("#begin").click()

    sitting.press(*"2" * 10, "ArrowLeft", "2")
    assert "last 10 ratings" in sitting.text("warning")
    sitting.press("3")
    assert sitting.page.locator("#warning").is_hidden()


@pytest.mark.parametrize("scale", [{}, {"scale": GRADED}], ids=["judged", "graded"])
def test_on_a_low_screen_the_answers_never_cover_the_right_term(begun, scale: dict) -> None:
    pairs = [("Erythrocyte", "Red cell"), ("Fever", "of unknown origin " * 20)]
    sitting = begun(sheet(pairs, **scale), viewport={"width": 568, "height": 320})

    for _ in pairs:
        for width, height in ((568, 320), (320, 256)):
            sitting.page.set_viewport_size({"width": width, "height": height})
            for depth in (0, 40, 10_000):
                sitting.page.evaluate("depth => scrollTo(0, depth)", depth)
                right = sitting.page.locator("#right").evaluate(EDGES)
                assert right[1] <= sitting.page.locator(".answering").evaluate(EDGES)[0]
        sitting.press("ArrowRight")


def test_keys_do_nothing_with_modifiers_in_fields_in_dialogs_or_if_disabled(sit) -> None:
    sitting = sit(sheet())
    sitting.press("s")
    sitting.page.locator("#begin").click()

    sitting.press("Control+s", "Alt+n", "Meta+d")
    sitting.page.locator("#number").focus()
    sitting.press("1", "Backspace")
    sitting.page.locator("#restart").click()
    sitting.press("s", "Escape")
    sitting.page.locator("#instruct").click()
    sitting.page.get_by_label("Use these keys").uncheck()
    sitting.page.locator("#begin").click()
    sitting.press("s")
    sitting.page.reload()
    sitting.press("s")

    assert sitting.text("count") == "0 of 5 answered"
    assert sitting.text("pair-heading") == "Pair 1 of 5"


def test_held_key_or_double_click_answers_one_pair(begun) -> None:
    sitting = begun(sheet())

    sitting.page.keyboard.down("s")
    sitting.page.keyboard.down("s")
    assert sitting.text("count") == "1 of 5 answered"
    sitting.page.keyboard.up("s")
    sitting.page.get_by_role("button", name="Not same").dblclick()

    assert sitting.text("count") == "2 of 5 answered"


def test_hostile_terms_are_shown_as_they_are_and_do_nothing(sit) -> None:
    terms = list(HOSTILE)
    shown_sheet = sheet([(term, term) for term in terms], title=HOSTILE[0], notice=HOSTILE[1])
    sitting = sit(shown_sheet, **PHONE)
    elements = sitting.page.evaluate("document.querySelectorAll('*').length")
    assert sitting.page.locator("#notice").text_content() == HOSTILE[1]
    sitting.page.locator("#begin").click()

    for term in terms:
        for side in ("left", "right"):
            place = sitting.page.locator(f"#{side}")
            assert place.text_content() == term
            assert place.evaluate("one => one.childElementCount") == 0
            assert place.get_attribute("dir") == "auto"
        assert sitting.page.evaluate("document.documentElement.scrollWidth") == 360
        sitting.press("ArrowRight")

    listed = sitting.page.locator("#rest *").count() - 5
    assert sitting.page.evaluate("document.querySelectorAll('*').length") - listed <= elements + 5
    assert sitting.complaints == []
    assert len(sitting.requests) == 1


def test_a_screen_reader_finds_landmarks_names_and_what_changed(sit) -> None:
    sitting = sit(sheet())
    assert sitting.page.locator("#page").aria_snapshot().splitlines()[0] == "- banner:"
    sitting.page.locator("#begin").click()

    assert sitting.page.evaluate("document.activeElement.id") == "pair-heading"
    sitting.press("n")
    assert sitting.text("spoken") == "Pair 2 of 5: Fever; Chill."
    assert sitting.text("message") == "Pair 1: not same"
    snapshot = sitting.page.locator("#page").aria_snapshot()
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
    sitting.press("ArrowLeft")
    pressed = sitting.page.get_by_role("button", name="Not same", pressed=True)
    assert pressed.get_attribute("aria-keyshortcuts") == "N 2"
    assert sitting.text("spoken") == "Pair 1 of 5: Erythrocyte; Red cell. Your answer: not same."
    for button in sitting.page.get_by_role("button").all():
        assert button.inner_text().strip()


def test_the_slider_is_named_by_both_terms_and_says_that_it_was_not_touched(begun) -> None:
    sitting = begun(sheet(scale=GRADED))
    sitting.page.locator("#left").hover()
    sitting.page.mouse.down()
    sitting.page.locator("#slider").hover()
    sitting.page.mouse.up()  # releasing a mouse over it rates nothing
    name = "How similar are these two? Erythrocyte Red cell"
    slider = sitting.page.get_by_role("slider", name=name, exact=True)

    assert slider.get_attribute("aria-valuetext") == "not rated yet"
    slider.focus()
    sitting.press("End")
    assert slider.get_attribute("aria-valuetext") == "6"
    sitting.press("Enter")
    assert sitting.page.get_by_role("slider").get_attribute("aria-valuetext") == "not rated yet"
    assert sitting.page.evaluate("document.activeElement.id") == "slider"


def test_focus_is_visible_and_reduced_motion_is_respected(sit) -> None:
    sitting = sit(sheet(), reduced_motion="reduce")
    sitting.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineWidth"
    assert sitting.page.evaluate(outline) == "3px"
    sitting.press("Enter", "s")
    assert sitting.page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("scale", [{}, {"scale": GRADED}], ids=["judged", "graded"])
def test_text_has_enough_contrast_in_light_and_dark(sit, scale: dict) -> None:
    sitting = sit(sheet(notice="Keep it.", **scale), reduced_motion="reduce")
    ratios: list[float] = []

    def measure() -> None:
        for scheme in ("light", "dark"):
            sitting.page.emulate_media(color_scheme=scheme)
            ratios.extend(sitting.page.evaluate(CONTRASTS))

    measure()
    sitting.page.locator("#begin").click()
    sitting.press("1", "ArrowLeft")
    measure()
    assert len(ratios) > 60
    assert min(ratios) >= 4.5


def test_page_without_javascript_says_so(sit) -> None:
    sitting = sit(sheet(), java_script_enabled=False)

    assert "needs JavaScript" in sitting.page.locator("body").inner_text()
    assert sitting.page.locator("#page").is_hidden()
