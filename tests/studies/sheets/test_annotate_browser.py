"""The page of an annotator in a real browser: whole sittings, as people work through them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.annotators import HOSTILE, PAIRS, STUDY_ID, sheet_of
from fixtures.exports import written_jsonl
from fixtures.sittings import PHONE, answers_to, read

from medsim.studies.sheets import GRADED

pytestmark = pytest.mark.slow


def test_a_whole_sitting_by_keyboard_alone_gives_a_file_in_the_format(sit, tmp_path: Path) -> None:
    sheet = sheet_of(annotator='Dr \u2028 "Zoë" </script> 7', notice="Keep it to yourself.")
    seen = sit(sheet)
    assert "Say what is the same." in seen.text("instructions")
    assert seen.text("notice") == "Keep it to yourself."

    seen.press("Tab", "Enter")
    shown = []
    for key in ("s", "2", "d", "N", "1"):
        shown.append((seen.text("left"), seen.text("right")))
        seen.press(key)
    assert shown == list(PAIRS)
    assert seen.text("rest-heading") == "All answered"
    assert seen.text("count") == "5 of 5 answered"
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.textContent") == "Export"
    with seen.page.expect_download() as download:
        seen.press("Enter")

    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == f"{STUDY_ID}-Dr_Zoë_script_7.jsonl"
    values = dict(zip((one.entry_id for one in sheet.entries), (1, 0, 2, 0, 1), strict=True))
    assert path.read_text(encoding="utf-8") == written_jsonl(sheet, values)
    assert seen.complaints == []
    assert seen.requests == [seen.page.url]


def test_a_sitting_by_touch_on_a_phone(sit, tmp_path: Path) -> None:
    seen = sit(sheet_of([*PAIRS, (HOSTILE[-2], "long")]), **PHONE)
    seen.page.tap("#begin")

    # Two taps on one place in no time are a double tap, which answers once.
    dont_know = "Don\N{RIGHT SINGLE QUOTATION MARK}t know"
    for name in ("Same", "Not same", dont_know, "Same", "Not same", "Same"):
        assert seen.page.evaluate("document.documentElement.scrollWidth") == 360
        for button in seen.page.locator("main button:visible").all():
            box = button.bounding_box()
            assert min(box["width"], box["height"]) >= 44
        seen.page.get_by_role("button", name=name, exact=True).tap()

    assert seen.text("rest-heading") == "All answered"
    _, answers, _ = read(seen.export(tmp_path))
    assert [one["answer"] for one in answers] == [
        *("same", "not_same", "dont_know", "same", "not_same", "same")
    ]


def test_an_answer_is_shown_again_and_can_be_changed(begun, tmp_path: Path) -> None:
    seen = begun(sheet_of(), "s", "n", "d")

    seen.press("ArrowLeft", "Backspace")
    assert seen.text("left") == "Fever"
    assert seen.chosen() == ["not_same"]
    seen.press("s")

    assert seen.text("pair-heading") == "Pair 4 of 5"
    assert seen.chosen() == []
    _, answers, _ = read(seen.export(tmp_path))
    assert answers == answers_to("same", "same", "dont_know")
    seen.press("s", "s", *["ArrowLeft"] * 3, "n")
    assert seen.text("pair-heading") == "Pair 4 of 5"  # the next, though all are answered
    seen.press("n", "n")
    assert seen.text("rest-heading") == "All answered"


def test_what_is_left_out_is_listed_at_the_end_and_found_by_number_and_key(begun) -> None:
    seen = begun(sheet_of(), "ArrowRight", "s", "ArrowRight", "s", "s")

    assert seen.text("rest-words") == "2 pairs have no answer yet."
    assert seen.page.locator("#left-out button").all_inner_texts() == ["1", "3"]
    seen.page.get_by_role("button", name="Pair 3", exact=True).click()
    seen.press("u")
    assert seen.text("pair-heading") == "Pair 1 of 5"
    seen.page.locator("#number").fill("2")
    seen.press("s", "Enter")
    assert seen.text("pair-heading") == "Pair 2 of 5"
    assert seen.text("count") == "3 of 5 answered"


def test_a_graded_sitting_by_slider_numbers_and_keys_with_a_pause_after_each_page(
    begun, sit, tmp_path: Path
) -> None:
    seen = begun(sheet_of(scale=GRADED, page_size=3), "Enter")
    assert "Choose a number" in seen.text("message")
    seen.page.locator("#next").click(force=True)
    assert seen.text("count") == "0 of 5 answered"

    seen.page.locator("#slider").focus()
    seen.press("ArrowRight")
    assert seen.text("count") == "0 of 5 answered"
    seen.press("Enter", "0")
    seen.page.locator("#slider").click()
    seen.page.locator("#next").click()

    assert seen.text("rest-heading") == "Page 1 of 2 done"
    assert "2 pairs to go on the next" in seen.text("rest-words")
    seen.page.reload()
    assert seen.text("rest-heading") == "Page 1 of 2 done"
    seen.press("Enter")
    assert seen.text("part") == "Page 2 of 2"
    seen.page.get_by_role("button", name="6", exact=True).click()
    seen.press("7", "5")
    assert seen.text("rest-heading") == "All answered"
    seen.press("ArrowLeft")
    assert seen.page.locator("#slider").input_value() == "5"
    header, answers, _ = read(seen.export(tmp_path))
    assert header["scale"] == "graded"
    assert answers == answers_to(4, 0, 3, 6, 5)
    assert seen.complaints == []

    other = sit(sheet_of(scale=GRADED, page_size=3))
    other.take(seen.export(tmp_path))
    other.page.wait_for_selector("text=Imported 5 answers")
    assert read(other.export(tmp_path))[1] == answers


def test_a_page_of_which_pairs_were_skipped_lists_them_before_the_next(begun) -> None:
    seen = begun(sheet_of(scale=GRADED, page_size=3), "1", "ArrowRight", "3")

    assert seen.text("rest-heading") == "End of page 1 of 2"
    assert seen.page.locator("#left-out button").all_inner_texts() == ["2"]
    seen.page.get_by_role("button", name="Go on to page 2").click()
    assert seen.text("pair-heading") == "Pair 4 of 5"
    seen.press("ArrowLeft", "ArrowRight", "ArrowRight")
    assert seen.text("pair-heading") == "Pair 4 of 5"


def test_ten_equal_ratings_in_a_row_are_warned_of_and_then_twenty(begun) -> None:
    seen = begun(sheet_of(PAIRS * 5, scale=GRADED))
    warned = []
    for at, key in enumerate("2" * 21 + "34"):
        seen.press(key)
        warned.append((at + 1, seen.page.locator("#warning").text_content()))

    texts = [text for _, text in warned]
    assert texts[:9] == [""] * 9
    assert all("last 10 ratings are all 2" in text for text in texts[9:19])
    assert all("last 20 ratings" in text for text in texts[19:21])
    assert texts[21:] == ["", ""]
    assert seen.page.locator("#warning").get_attribute("role") == "alert"


def test_two_ratings_that_take_turns_are_warned_of_from_ten_in_a_row(sit) -> None:
    seen = sit(sheet_of(PAIRS * 5, scale=GRADED))
    seen.page.locator("#begin").click()
    warned = []
    for key in "3" + "25" * 5 + "2" + "2" + "5":
        seen.press(key)
        warned.append(seen.text("warning"))

    assert warned[:10] == [""] * 10
    assert warned[10].startswith("The last 10 ratings take turns between 2 and 5.")
    assert warned[11].startswith("The last 10 ratings take turns between 5 and 2.")
    assert warned[12:] == ["", ""]
