"""The page of an annotator in a real browser: whole sittings, and what it keeps and takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.sittings import read
from fixtures.studies import HOSTILE, PAIRS, STUDY_ID, answers_to, closed, put, sheet, written_jsonl

from medsim.studies.sheets import GRADED

pytestmark = pytest.mark.slow

NO_STORAGE = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError"); } })"""
FULL_STORAGE = """Storage.prototype.setItem = () => {
    throw new DOMException("full", "QuotaExceededError"); }"""


def test_a_whole_sitting_by_keyboard_alone_gives_a_file_in_the_format(sit, tmp_path: Path) -> None:
    one = sheet(annotator='Dr \u2028 "Zoë" </script> 7', notice="Keep it to yourself.")
    seen = sit(one)
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
    values = dict(zip((entry.entry_id for entry in one.entries), (1, 0, 2, 0, 1), strict=True))
    assert path.read_text(encoding="utf-8") == written_jsonl(one, values)
    assert seen.complaints == []
    assert seen.requests == [seen.page.url]


def test_an_answer_is_shown_again_and_can_be_changed(begun, tmp_path: Path) -> None:
    seen = begun(sheet(), "s", "n", "d")

    seen.press("ArrowLeft", "Backspace")
    assert seen.text("left") == "Fever"
    assert seen.chosen() == ["not_same"]
    seen.press("s")

    assert seen.text("pair-heading") == "Pair 4 of 5"
    assert seen.chosen() == []
    _, answers = read(seen.export(tmp_path))
    assert answers == answers_to("same", "same", "dont_know")
    seen.press("s", "s", *["ArrowLeft"] * 3, "n")
    assert seen.text("pair-heading") == "Pair 4 of 5"  # the next, though all are answered
    seen.press("n", "n")
    assert seen.text("rest-heading") == "All answered"


def test_what_is_left_out_is_listed_at_the_end_and_found_by_number_and_key(begun) -> None:
    seen = begun(sheet(), "ArrowRight", "s", "ArrowRight", "s", "s")

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
    begun, tmp_path: Path
) -> None:
    seen = begun(sheet(scale=GRADED, page_size=3), "Enter")
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
    header, answers = read(seen.export(tmp_path))
    assert header["scale"] == "graded"
    assert answers == answers_to(4, 0, 3, 6, 5)
    assert seen.complaints == []


def test_a_page_of_which_pairs_were_skipped_lists_them_before_the_next(begun) -> None:
    seen = begun(sheet(scale=GRADED, page_size=3), "1", "ArrowRight", "3")

    assert seen.text("rest-heading") == "End of page 1 of 2"
    assert seen.page.locator("#left-out button").all_inner_texts() == ["2"]
    seen.page.get_by_role("button", name="Go on to page 2").click()
    assert seen.text("pair-heading") == "Pair 4 of 5"
    seen.press("ArrowLeft", "ArrowRight", "ArrowRight")
    assert seen.text("pair-heading") == "Pair 4 of 5"


def test_ten_ratings_that_are_equal_or_take_turns_are_warned_of(begun) -> None:
    seen = begun(sheet(PAIRS * 10, scale=GRADED))

    def warned(keys: str) -> list[str]:
        found = []
        for key in keys:
            seen.press(key)
            found.append(seen.page.locator("#warning").text_content())
        return found

    texts = warned("2" * 21 + "34")
    assert texts[:9] == [""] * 9
    assert all("last 10 ratings are all 2" in text for text in texts[9:19])
    assert all("last 20 ratings" in text for text in texts[19:21])
    assert texts[21:] == ["", ""]
    assert seen.page.locator("#warning").get_attribute("role") == "alert"
    turns = warned("3" + "25" * 5 + "2" + "2" + "5")
    assert turns[:10] == [""] * 10
    assert turns[10].startswith("The last 10 ratings take turns between 2 and 5.")
    assert turns[11].startswith("The last 10 ratings take turns between 5 and 2.")
    assert turns[12:] == ["", ""]


def test_reloading_goes_on_where_it_was_and_other_sheets_start_anew(
    begun, sit, tmp_path: Path
) -> None:
    seen = begun(sheet(), "s", "n", "ArrowRight")
    before = seen.export(tmp_path).read_bytes()

    seen.page.reload()

    assert (seen.text("unkept"), seen.complaints) == ("", [])
    assert seen.text("pair-heading") == "Pair 4 of 5"
    assert seen.text("count") == "2 of 5 answered"
    assert seen.export(tmp_path).read_bytes() == before
    bob = sheet(annotator="bob")
    for other in (bob, sheet(study_id="0" * 16), sheet(entries=bob.entries)):
        fresh = sit(other, context=seen.context)
        assert fresh.text("count") == "0 of 5 answered"
        assert fresh.page.locator("#start").is_visible()


def test_a_file_is_imported_into_another_browser(begun, sit, tmp_path: Path) -> None:
    seen = begun(sheet(), "s", "n", "d")
    path = seen.export(tmp_path)
    content = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))  # as others save it

    other = sit(sheet())
    other.take(path)
    other.page.wait_for_selector("text=Imported 3 answers of the 3 in the file.")

    other.page.locator("#begin").click()
    assert other.text("pair-heading") == "Pair 4 of 5"
    assert other.export(tmp_path / "again").read_bytes() == content


def test_where_a_file_and_the_page_differ_the_annotator_decides(begun, tmp_path: Path) -> None:
    seen = begun(sheet(), "s", "s", "s")
    header, _ = read(seen.export(tmp_path))
    answers = answers_to("same", "not_same", "dont_know", "not_same")
    file = put(tmp_path, "file.jsonl", closed(header, *answers))

    for choice, expected in {
        "Cancel": ("same", "same", "same"),
        "Keep the answers on this page": ("same", "same", "same", "not_same"),
        "Take the answers of the file": ("same", "not_same", "dont_know", "not_same"),
    }.items():
        seen.take(file)
        seen.page.wait_for_selector("dialog[open]")
        assert seen.text("question-words").startswith("2 pairs have another answer in the file")
        seen.page.get_by_role("button", name=choice).click()
        assert read(seen.export(tmp_path))[1] == answers_to(*expected)


def test_files_that_are_not_of_this_sheet_whole_and_unchanged_are_refused(
    begun, tmp_path: Path
) -> None:
    seen = begun(sheet(), "s", "n")
    good = seen.export(tmp_path)
    header, answers = read(good)
    content = good.read_bytes()
    twice = [answers[0], answers[0]]
    hostile = {**header, "annotator": HOSTILE[0]}
    cases = {
        "answers of “bob”; this": ({**header, "annotator": "bob"}, answers),
        f"answers of “{HOSTILE[0]}”": (hostile, answers),
        "another study": ({**header, "study": "0" * 16}, answers),
        "another version": ({**header, "format": 2}, answers),
        "another sheet": ({**header, "entries": 6}, answers),
        "that this page does not know": (header, answers_to("maybe")),
        "a pair twice": (header, twice),
        "its end is missing": content[: content.index(b'{"medsim":"end"')],
        "not whole": content[:-1],
        "its end is": content + b"{}",
        "The file was changed": content.replace(b'"answers":2', b'"answers":3'),
        "was changed": content.replace(b"not_same", b"same"),
        "was changed after": content.replace(b"\n{", b"\n {", 1),
        "not a file of answers": b"\x89PNG\r\n\x00\xff",
        "is not a file of": b"null\n",
        "too large": content * 50,
    }
    for message, case in cases.items():
        text = case if isinstance(case, bytes) else closed(case[0], *case[1])
        seen.take(put(tmp_path, "case.jsonl", text))
        seen.page.locator("dialog[open] #question-words", has_text=message).wait_for()
        seen.press("Escape")
        seen.page.locator("dialog").wait_for(state="hidden")

    assert seen.export(tmp_path).read_bytes() == content
    assert seen.page.locator("img").count() == 0
    assert seen.complaints == []


def test_starting_over_offers_an_export_and_erases_only_then(begun, tmp_path: Path) -> None:
    seen = begun(sheet(), "s", "n")

    seen.page.locator("#restart").click()
    seen.press("Enter")
    assert seen.text("count") == "2 of 5 answered"
    seen.page.locator("#restart").click()
    with seen.page.expect_download() as download:
        seen.page.get_by_role("button", name="Export and start over").click()

    download.value.save_as(tmp_path / "kept.jsonl")
    assert read(tmp_path / "kept.jsonl")[1] == answers_to("same", "not_same")
    assert seen.text("count") == "0 of 5 answered"
    seen.page.reload()
    assert seen.text("count") == "0 of 5 answered"


def test_two_tabs_of_one_page_lose_no_answers(sit, tmp_path: Path) -> None:
    one = sit(sheet())
    other = sit(sheet(), context=one.context)
    one.press("Tab", "Enter", "s")
    other.page.locator("#begin").click()
    other.page.locator("#number").fill("4")
    other.page.get_by_role("button", name="Go", exact=True).click()
    other.press("n")

    one.page.locator("#count", has_text="2 of 5").wait_for()
    one.press("d")
    other.page.locator("#count", has_text="3 of 5").wait_for()

    expected = answers_to("same", "dont_know", None, "not_same")
    assert read(one.export(tmp_path))[1] == expected
    assert read(other.export(tmp_path))[1] == expected


@pytest.mark.parametrize("script", [NO_STORAGE, FULL_STORAGE], ids=["none", "full"])
def test_a_browser_that_keeps_nothing_is_told_of_and_warns_before_answers_are_lost(
    sit, tmp_path: Path, script: str
) -> None:
    seen = sit(sheet(), script=script)
    assert "does not keep your answers" in seen.text("unkept")
    seen.page.reload()
    seen.page.locator("#begin").click()
    seen.press("s", "n")
    assert read(seen.export(tmp_path))[1] == answers_to("same", "not_same")
    seen.page.reload()
    assert seen.complaints == []
    seen.page.locator("#begin").click()
    seen.press("s")
    seen.page.reload()

    assert [one.split(":")[0] for one in seen.complaints] == ["beforeunload"]


def test_five_thousand_pairs_are_kept_in_five_thousand_characters(begun) -> None:
    seen = begun(sheet([(f"left {at}", f"right {at}") for at in range(5000)]), "s")

    assert seen.text("count") == "1 of 5,000 answered"
    kept = seen.page.evaluate("Object.values(localStorage).map((text) => text.length)")
    assert sorted(kept) == [1, 5000]
    assert seen.page.evaluate("document.querySelectorAll('*').length") < 150
