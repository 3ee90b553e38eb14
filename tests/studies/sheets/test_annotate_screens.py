"""The page of an annotator in a real browser: every kind of study, on every screen, for all."""

from __future__ import annotations

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
# The texts that are seen, each with its contrast to what is behind it (WCAG 2.2).
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
def test_answers_are_given_by_letter_by_number_and_by_button(begun, tmp_path, scale: Scale) -> None:
    n = len(scale)
    seen = begun(sheet([TEXTS.get(scale.name, ("a", "b"))] * 3 * n, scale=scale))

    assert seen.text("ask") == scale.question
    seen.press(*(one.key for one in scale.choices))
    seen.press(*(str(at) for at in range(1, n + 1)))
    for one in scale.choices:
        seen.page.get_by_role("button", name=one.label, exact=True).click()

    assert seen.text("rest-heading") == "All answered"
    header, answers = read(seen.export(tmp_path))
    assert header["scale"] == scale.name
    assert [one["answer"] for one in answers] == [one.name for one in scale.choices] * 3


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
        seen = begun(sheet([texts] * 3, scale=scale, annotator=scale.name), **options)
        options = {"context": seen.context}
        for width in widths:
            seen.page.set_viewport_size({"width": width, "height": 740})
            assert seen.page.evaluate("document.documentElement.scrollWidth") == width
            boxes = seen.page.locator("[data-answer]").evaluate_all(
                "all => all.map(one => [one.scrollWidth, one.clientWidth])"
            )
            assert boxes
            assert all(needed <= there for needed, there in boxes), (scale.name, width)
            for button in seen.page.locator("main button:visible").all():
                box = button.bounding_box()
                assert scale.graded or width != 360 or min(box["width"], box["height"]) >= 44


def test_the_target_of_a_sentence_is_marked_and_told_apart_when_it_is_read_aloud(begun) -> None:
    seen = begun(sheet([SENTENCES, SENTENCES], scale=CONTEXT))

    assert seen.page.locator("mark").all_inner_texts() == ["gene", "RANK"]
    assert seen.text("left") == "the gene maps to <b>18q</b>"
    assert seen.text("spoken") == (
        "Pair 1 of 2: the \u201cgene\u201d maps to <b>18q</b>; mutations of \u201cRANK\u201d."
    )


def test_marks_in_a_term_that_is_no_sentence_are_shown_and_keys_are_those_of_the_study(
    begun,
) -> None:
    seen = begun(sheet([("a \u27e6b\u27e7", "c")], scale=ASSOCIATION))

    assert seen.text("left") == "a \u27e6b\u27e7"
    assert seen.page.locator("mark").count() == 0
    keys = seen.page.locator("#key-list dt").all_text_contents()
    assert [key.split() for key in keys[:2]] == [["A", "1"], ["N", "2"]]
    assert not any("0" in key for key in keys)


def test_a_word_stands_alone_and_is_called_a_word(begun) -> None:
    seen = begun(sheet([("kinase", ""), ("table", "")], scale=DOMAIN))

    assert seen.page.locator("#right").is_hidden()
    assert seen.text("pair-heading") == "Word 1 of 2"
    assert seen.text("spoken") == "Word 1 of 2: kinase."
    assert seen.page.get_by_role("spinbutton", name="Word").count() == 1
    seen.press("b")
    assert seen.text("message") == "Word 1: biomedical"
    seen.press("ArrowRight")
    assert seen.text("rest-words") == "1 word has no answer yet."
    assert seen.page.locator("#key-list").text_content().count("next unanswered word") == 1


def test_a_tap_at_the_middle_of_an_untouched_slider_rates_the_middle(sit) -> None:
    seen = sit(sheet(scale=GRADED), **PHONE)
    seen.page.tap("#begin")
    slider = seen.page.locator("#slider")
    box = slider.bounding_box()

    seen.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    assert slider.get_attribute("aria-valuetext") == "3"
    seen.page.tap("#next")
    assert seen.text("message") == "Pair 1: 3"
    assert slider.get_attribute("aria-valuetext") == "not rated yet"


@pytest.mark.parametrize("scale", [{}, {"scale": GRADED}], ids=["judged", "graded"])
def test_a_pair_after_a_tap_looks_as_if_nothing_was_chosen(sit, scale: dict) -> None:
    seen = sit(sheet(**scale), **PHONE)
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
    seen = begun(sheet(PAIRS[:4]))

    seen.page.get_by_role("button", name="Not same").dblclick()
    assert seen.page.evaluate(FOCUSED) == "pair-heading"
    seen.press("Tab", "Tab", "Enter")
    assert seen.page.evaluate(FOCUSED) == "not_same"
    seen.press("Space")
    assert seen.page.evaluate(FOCUSED) == "not_same"
    assert seen.text("pair-heading") == "Pair 4 of 4"
    seen.page.get_by_role("button", name="Not same").click()

    assert seen.page.evaluate(FOCUSED) == "rest-heading"


@pytest.mark.parametrize("is_phone", [True, False], ids=["phone", "desk"])
def test_a_warning_of_equal_ratings_hides_nothing_and_moves_no_button_of_a_mouse(
    begun, *, is_phone: bool
) -> None:
    sizes = [(360, 740), (320, 568), (568, 320)] if is_phone else [(1280, 720)]
    viewport = dict(zip(("width", "height"), sizes[0], strict=True))
    seen = begun(sheet(PAIRS * 3, scale=GRADED), viewport=viewport, is_mobile=is_phone)
    numbers = seen.page.locator(".numbers")
    before = numbers.evaluate(EDGES)
    seen.press(*"2" * 10)

    assert "last 10 ratings" in seen.text("warning")
    assert is_phone or numbers.evaluate(EDGES) == before
    for width, height in sizes:
        seen.page.set_viewport_size({"width": width, "height": height})
        top, bottom = seen.page.locator("#warning").evaluate(EDGES)
        assert seen.page.locator("header").evaluate(EDGES)[1] <= top
        assert bottom <= seen.page.locator("#pair-heading").evaluate(EDGES)[0]
        right, bar = (seen.page.locator(one).evaluate(EDGES) for one in ("#right", ".answering"))
        assert right[1] <= bar[0]


def test_a_warning_goes_when_the_annotator_looks_back_or_answers_differently(begun) -> None:
    seen = begun(sheet(PAIRS * 3, scale=GRADED))
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


@pytest.mark.parametrize("scale", [{}, {"scale": GRADED}], ids=["judged", "graded"])
def test_on_a_low_screen_the_answers_never_cover_the_right_term(begun, scale: dict) -> None:
    pairs = [("Erythrocyte", "Red cell"), ("Fever", "of unknown origin " * 20)]
    seen = begun(sheet(pairs, **scale), viewport={"width": 568, "height": 320})

    for _ in pairs:
        for width, height in ((568, 320), (320, 256)):
            seen.page.set_viewport_size({"width": width, "height": height})
            for depth in (0, 40, 10_000):
                seen.page.evaluate("depth => scrollTo(0, depth)", depth)
                right = seen.page.locator("#right").evaluate(EDGES)
                assert right[1] <= seen.page.locator(".answering").evaluate(EDGES)[0]
        seen.press("ArrowRight")


def test_keys_do_nothing_with_modifiers_in_fields_in_dialogs_or_where_they_are_off(sit) -> None:
    seen = sit(sheet())
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
    seen = begun(sheet())

    seen.page.keyboard.down("s")
    seen.page.keyboard.down("s")
    assert seen.text("count") == "1 of 5 answered"
    seen.page.keyboard.up("s")
    seen.page.get_by_role("button", name="Not same").dblclick()

    assert seen.text("count") == "2 of 5 answered"


def test_hostile_terms_are_shown_as_they_are_and_do_nothing(sit) -> None:
    terms = list(HOSTILE)
    one = sheet([(term, term) for term in terms], title=HOSTILE[0], notice=HOSTILE[1])
    seen = sit(one, **PHONE)
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
    seen = sit(sheet())
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
    seen = begun(sheet(scale=GRADED))
    seen.page.locator("#left").hover()
    seen.page.mouse.down()
    seen.page.locator("#slider").hover()
    seen.page.mouse.up()  # a mouse that is let go over it rates nothing
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
    seen = sit(sheet(), reduced_motion="reduce")
    seen.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineWidth"
    assert seen.page.evaluate(outline) == "3px"
    seen.press("Enter", "s")
    assert seen.page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("scale", [{}, {"scale": GRADED}], ids=["judged", "graded"])
def test_texts_stand_out_from_what_is_behind_them_in_light_and_in_dark(sit, scale: dict) -> None:
    seen = sit(sheet(notice="Keep it.", **scale), reduced_motion="reduce")
    ratios: list[float] = []

    def measure() -> None:
        for scheme in ("light", "dark"):
            seen.page.emulate_media(color_scheme=scheme)
            ratios.extend(seen.page.evaluate(CONTRASTS))

    measure()
    seen.page.locator("#begin").click()
    seen.press("1", "ArrowLeft")
    measure()
    assert len(ratios) > 60
    assert min(ratios) >= 4.5


def test_without_javascript_one_sentence_says_so(sit) -> None:
    seen = sit(sheet(), java_script_enabled=False)

    assert "needs JavaScript" in seen.page.locator("body").inner_text()
    assert seen.page.locator("#page").is_hidden()
