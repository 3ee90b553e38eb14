"""The page of an annotator in a real browser: whole sittings, storage, export and import."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixtures.sittings import read
from fixtures.studies import (
    HOSTILE,
    PAIRS,
    STUDY_ID,
    answers_to,
    assignment_of,
    closed,
    entry_id,
    put,
    sheet,
    written_jsonl,
)

from medsim.studies import sheets
from medsim.studies.sheets import (
    DONT_KNOW,
    GRADED,
    JUDGEMENT,
    NOT_SAME,
    SAME,
    SHEET_LANGUAGES,
)
from medsim.studies.sheets.answers import StudyIdentity, read_answers

pytestmark = pytest.mark.slow

NO_TIME = "performance.now = () => 0"
NO_STORAGE = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError"); } })"""
FULL_STORAGE = """Storage.prototype.setItem = () => {
    throw new DOMException("full", "QuotaExceededError"); }"""


def test_whole_sitting_by_keyboard_exports_a_valid_file(sit, tmp_path: Path) -> None:
    data = sheet(annotator='Dr \u2028 "Zoë" </script> 7', notice="Keep it to yourself.")
    sitting = sit(data, script=NO_TIME)
    assert "Say what is the same." in sitting.text("instructions")
    assert sitting.text("notice") == "Keep it to yourself."

    sitting.press("Tab", "Enter")
    shown = []
    for key in ("s", "2", "d", "N", "1"):
        shown.append((sitting.text("left"), sitting.text("right")))
        sitting.press(key)
    assert shown == list(PAIRS)
    assert sitting.text("rest-heading") == "All answered"
    assert sitting.text("count") == "5 of 5 answered"
    sitting.page.keyboard.press("Tab")
    assert sitting.page.evaluate("document.activeElement.textContent") == "Export"
    with sitting.page.expect_download() as download:
        sitting.press("Enter")

    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == f"{STUDY_ID}-Dr_Zoë_script_7.jsonl"
    values = dict(zip(data.entries["entry_id"], (1, 0, 2, 0, 1), strict=True))
    assert path.read_text(encoding="utf-8") == written_jsonl(data, values)
    assert sitting.complaints == []
    assert sitting.requests == [sitting.page.url]


def test_a_german_page_has_german_texts_and_counts_seconds(sit, tmp_path: Path) -> None:
    scale = JUDGEMENT.worded(("ja", "nein", "unsicher"))
    sitting = sit(sheet(scale=scale), script="let now = 0; performance.now = () => now += 3000")
    known = SHEET_LANGUAGES["de"]["page"]
    texts = sitting.page.evaluate(
        """() => {
          const page = document.getElementById("page");
          const walker = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
          const texts = [];
          while (walker.nextNode()) texts.push(walker.currentNode.data.trim());
          return texts;
        }"""
    )
    assert not {*known} & {*texts}
    assert {"Beginnen", "Tasten", "Exportieren", "Nächstes offenes", "Paar"} <= {*texts}
    assert sitting.page.evaluate("document.documentElement.lang") == "de"

    sitting.page.locator("#begin").click()
    assert sitting.text("pair-heading") == "Paar 1 von 5"
    sitting.press("j", "n", "s", "1", "ArrowRight")
    assert sitting.text("message") == ""
    assert sitting.text("rest-words") == "1 Paar hat noch keine Antwort."
    assert sitting.text("count") == "4 von 5 beantwortet"

    path = sitting.export(tmp_path)
    study = StudyIdentity(study_id=STUDY_ID, scale=scale)
    entries = read_answers([path], assignment_of([sheet(scale=scale)]), study).entries
    assert entries["value"].to_list() == [SAME, NOT_SAME, DONT_KNOW, SAME, None]
    assert entries["seconds"].drop_nulls().min() >= 3
    assert entries["seconds"].null_count() == 1
    assert sitting.complaints == []


def test_the_texts_of_languages_are_those_of_the_page() -> None:
    folder = Path(sheets.__file__).parent
    names = ("annotate.html", "annotate.js", "annotate_view.js")
    page = "".join((folder / name).read_text("utf-8") for name in names)
    for english, german in SHEET_LANGUAGES["de"]["page"].items():
        if english not in {"pair has", "pairs have", "answers"}:  # made of a noun
            assert all(part in page for part in re.split(r"\{\d\}", english)), english
        assert sorted(re.findall(r"\{\d\}", german)) == sorted(re.findall(r"\{\d\}", english))


def test_an_answer_is_shown_again_and_can_be_changed(begun, tmp_path: Path) -> None:
    sitting = begun(sheet(), "s", "n", "d")

    sitting.press("ArrowLeft", "Backspace")
    assert sitting.text("left") == "Fever"
    assert sitting.chosen() == ["not_same"]
    sitting.press("s")

    assert sitting.text("pair-heading") == "Pair 4 of 5"
    assert sitting.chosen() == []
    _, answers = read(sitting.export(tmp_path))
    assert answers == answers_to("same", "same", "dont_know")
    sitting.press("s", "s", *["ArrowLeft"] * 3, "n")
    assert sitting.text("pair-heading") == "Pair 4 of 5"  # the next, though all are answered
    sitting.press("n", "n")
    assert sitting.text("rest-heading") == "All answered"


def test_skipped_pairs_are_listed_at_the_end_and_reached_by_number_and_key(begun) -> None:
    sitting = begun(sheet(), "ArrowRight", "s", "ArrowRight", "s", "s")

    assert sitting.text("rest-words") == "2 pairs have no answer yet."
    assert sitting.page.locator("#left-out button").all_inner_texts() == ["1", "3"]
    sitting.page.get_by_role("button", name="Pair 3", exact=True).click()
    sitting.press("u")
    assert sitting.text("pair-heading") == "Pair 1 of 5"
    sitting.page.locator("#number").fill("2")
    sitting.press("s", "Enter")
    assert sitting.text("pair-heading") == "Pair 2 of 5"
    assert sitting.text("count") == "3 of 5 answered"


def test_graded_sitting_by_slider_numbers_and_keys_pauses_after_each_page(
    begun, tmp_path: Path
) -> None:
    sitting = begun(sheet(scale=GRADED, page_size=3), "Enter")
    assert "Choose a number" in sitting.text("message")
    sitting.page.locator("#next").click(force=True)
    assert sitting.text("count") == "0 of 5 answered"

    sitting.page.locator("#slider").focus()
    sitting.press("ArrowRight")
    assert sitting.text("count") == "0 of 5 answered"
    sitting.press("Enter", "0")
    sitting.page.locator("#slider").click()
    sitting.page.locator("#next").click()

    assert sitting.text("rest-heading") == "Page 1 of 2 done"
    assert "2 pairs to go on the next" in sitting.text("rest-words")
    sitting.page.reload()
    assert sitting.text("rest-heading") == "Page 1 of 2 done"
    sitting.press("Enter")
    assert sitting.text("part") == "Page 2 of 2"
    sitting.page.get_by_role("button", name="6", exact=True).click()
    sitting.press("7", "5")
    assert sitting.text("rest-heading") == "All answered"
    sitting.press("ArrowLeft")
    assert sitting.page.locator("#slider").input_value() == "5"
    header, answers = read(sitting.export(tmp_path))
    assert header["scale"] == "graded"
    assert answers == answers_to(4, 0, 3, 6, 5)
    assert sitting.complaints == []


def test_page_with_skipped_pairs_lists_them_before_the_next(begun) -> None:
    sitting = begun(sheet(scale=GRADED, page_size=3), "1", "ArrowRight", "3")

    assert sitting.text("rest-heading") == "End of page 1 of 2"
    assert sitting.page.locator("#left-out button").all_inner_texts() == ["2"]
    sitting.page.get_by_role("button", name="Go on to page 2").click()
    assert sitting.text("pair-heading") == "Pair 4 of 5"
    sitting.press("ArrowLeft", "ArrowRight", "ArrowRight")
    assert sitting.text("pair-heading") == "Pair 4 of 5"


def test_ten_equal_or_alternating_ratings_cause_a_warning(begun) -> None:
    sitting = begun(sheet(PAIRS * 10, scale=GRADED))

    def warned(keys: str) -> list[str]:
        result = []
        for key in keys:
            sitting.press(key)
            result.append(sitting.page.locator("#warning").text_content())
        return result

    texts = warned("2" * 21 + "34")
    assert texts[:9] == [""] * 9
    assert all("last 10 ratings are all 2" in text for text in texts[9:19])
    assert all("last 20 ratings" in text for text in texts[19:21])
    assert texts[21:] == ["", ""]
    assert sitting.page.locator("#warning").get_attribute("role") == "alert"
    turns = warned("3" + "25" * 5 + "2" + "2" + "5")
    assert turns[:10] == [""] * 10
    assert turns[10].startswith("The last 10 ratings take turns between 2 and 5.")
    assert turns[11].startswith("The last 10 ratings take turns between 5 and 2.")
    assert turns[12:] == ["", ""]


def test_reloading_continues_and_other_sheets_start_empty(begun, sit, tmp_path: Path) -> None:
    sitting = begun(sheet(), "s", "n", "ArrowRight")
    before = sitting.export(tmp_path).read_bytes()

    sitting.page.reload()

    assert (sitting.text("unkept"), sitting.complaints) == ("", [])
    assert sitting.text("pair-heading") == "Pair 4 of 5"
    assert sitting.text("count") == "2 of 5 answered"
    assert sitting.export(tmp_path).read_bytes() == before
    bob = sheet(annotator="bob")
    for other in (bob, sheet(study_id="0" * 16), sheet(entries=bob.entries)):
        fresh = sit(other, context=sitting.context)
        assert fresh.text("count") == "0 of 5 answered"
        assert fresh.page.locator("#start").is_visible()


def test_a_file_is_imported_into_another_browser(begun, sit, tmp_path: Path) -> None:
    sitting = begun(sheet(), "s", "n", "d")
    path = sitting.export(tmp_path)
    content = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))  # as other programs save it

    other = sit(sheet())
    other.take(path)
    other.page.wait_for_selector("text=Imported 3 answers of the 3 in the file.")

    other.page.locator("#begin").click()
    assert other.text("pair-heading") == "Pair 4 of 5"
    assert other.export(tmp_path / "again").read_bytes() == content


def test_comments_are_kept_exported_and_imported(begun, sit, tmp_path: Path) -> None:
    sitting = begun(sheet())
    field = sitting.page.locator("#comment")
    field.fill(" one is <b>a sign</b>, \u201cn\u201d ")
    sitting.press("s", "d")  # letters of the comment
    assert sitting.text("count") == "0 of 5 answered"
    sitting.press("Enter", "n")
    assert field.input_value() == ""
    sitting.press("s")
    sitting.page.locator("#comment").fill("of a pair without an answer")
    sitting.page.reload()
    sitting.page.wait_for_selector("text=2 of 5 answered")

    path = sitting.export(tmp_path)
    first, second = answers_to("not_same", "same")
    study = StudyIdentity(study_id=STUDY_ID, scale=JUDGEMENT)
    comment = "one is <b>a sign</b>, \u201cn\u201d sd"
    unanswered = {"entry": entry_id("ada", 3), "comment": "of a pair without an answer"}
    assert read(path)[1] == [{**first, "comment": comment}, second, unanswered]
    answers = read_answers([path], assignment_of([sheet()]), study)
    kept = answers.entries.drop_nulls("comment")
    assert kept["comment"].to_list() == [comment, unanswered["comment"]]
    assert answers.entries["value"].count() == 2
    other = sit(sheet(), viewport={"width": 700, "height": 700})
    other.take(path)
    other.page.wait_for_selector("text=Imported 2 answers of the 2 in the file.")
    other.page.locator("#begin").click()
    other.press("ArrowLeft", "ArrowLeft")
    assert other.page.locator("#comment").input_value() == comment
    other.press("ArrowRight", "ArrowRight")
    assert other.page.locator("#comment").input_value() == unanswered["comment"]
    assert other.text("count") == "2 of 5 answered"
    assert read(other.export(tmp_path / "again")) == read(path)
    other.page.locator("#restart").click()
    other.page.get_by_role("button", name="Start over without export").click()
    other.page.locator("#begin").click()
    assert other.page.locator("#comment").input_value() == ""
    assert begun(sheet(scale=GRADED)).page.locator("#comment").is_hidden()


def test_annotator_decides_if_file_and_page_differ(begun, tmp_path: Path) -> None:
    sitting = begun(sheet(), "s", "s", "s")
    header, _ = read(sitting.export(tmp_path))
    answers = answers_to("same", "not_same", "dont_know", "not_same")
    file = put(tmp_path, "file.jsonl", closed(header, *answers))

    for choice, expected in {
        "Cancel": ("same", "same", "same"),
        "Keep the answers on this page": ("same", "same", "same", "not_same"),
        "Take the answers of the file": ("same", "not_same", "dont_know", "not_same"),
    }.items():
        sitting.take(file)
        sitting.page.wait_for_selector("dialog[open]")
        assert sitting.text("question-words").startswith("2 pairs have another answer in the file")
        sitting.page.get_by_role("button", name=choice).click()
        assert read(sitting.export(tmp_path))[1] == answers_to(*expected)


def test_foreign_truncated_or_changed_files_are_refused(begun, tmp_path: Path) -> None:
    sitting = begun(sheet(), "s", "n")
    good = sitting.export(tmp_path)
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
        "answers a pair twice": (header, [answers[0], {**answers[0], "comment": "a"}]),
        "pair or an answer that": (header, [{"entry": answers[0]["entry"]}]),
        "an answer that this page": (header, [{"entry": "x", "comment": "a"}]),
        "its end is missing": content[: content.index(b'{"medsim":"end"')],
        "not whole": content[:-1],
        "its end is": content + b"{}",
        "The file was changed": content.replace(b'"answers":2', b'"answers":3'),
        "was changed": content.replace(b"not_same", b"same"),
        "was changed after": content.replace(b"\n{", b"\n {", 1),
        "not a file of answers": b"\x89PNG\r\n\x00\xff",
        "is not a file of": b"null\n",
        "too large": content * 500,
    }
    for message, case in cases.items():
        text = case if isinstance(case, bytes) else closed(case[0], *case[1])
        sitting.take(put(tmp_path, "case.jsonl", text))
        sitting.page.locator("dialog[open] #question-words", has_text=message).wait_for()
        sitting.press("Escape")
        sitting.page.locator("dialog").wait_for(state="hidden")

    assert sitting.export(tmp_path).read_bytes() == content
    assert sitting.page.locator("img").count() == 0
    assert sitting.complaints == []


def test_starting_over_first_offers_an_export(begun, tmp_path: Path) -> None:
    sitting = begun(sheet(), "s", "n")

    sitting.page.locator("#restart").click()
    sitting.press("Enter")
    assert sitting.text("count") == "2 of 5 answered"
    sitting.page.locator("#restart").click()
    with sitting.page.expect_download() as download:
        sitting.page.get_by_role("button", name="Export and start over").click()

    download.value.save_as(tmp_path / "kept.jsonl")
    assert read(tmp_path / "kept.jsonl")[1] == answers_to("same", "not_same")
    assert sitting.text("count") == "0 of 5 answered"
    sitting.page.reload()
    assert sitting.text("count") == "0 of 5 answered"


def test_two_tabs_of_one_page_lose_no_answers(sit, tmp_path: Path) -> None:
    first = sit(sheet())
    other = sit(sheet(), context=first.context)
    first.press("Tab", "Enter", "s")
    other.page.locator("#begin").click()
    other.page.locator("#number").fill("4")
    other.page.get_by_role("button", name="Go", exact=True).click()
    other.press("n")

    first.page.locator("#count", has_text="2 of 5").wait_for()
    first.press("d")
    other.page.locator("#count", has_text="3 of 5").wait_for()

    expected = answers_to("same", "dont_know", None, "not_same")
    assert read(first.export(tmp_path))[1] == expected
    assert read(other.export(tmp_path))[1] == expected


@pytest.mark.parametrize("script", [NO_STORAGE, FULL_STORAGE], ids=["none", "full"])
def test_browser_without_storage_warns_before_answers_are_lost(
    sit, tmp_path: Path, script: str
) -> None:
    sitting = sit(sheet(), script=script)
    assert "does not keep your answers" in sitting.text("unkept")
    sitting.page.reload()
    sitting.page.locator("#begin").click()
    sitting.press("s", "n")
    assert read(sitting.export(tmp_path))[1] == answers_to("same", "not_same")
    sitting.page.reload()
    assert sitting.complaints == []
    sitting.page.locator("#begin").click()
    sitting.press("s")
    sitting.page.reload()

    assert [complaint.split(":")[0] for complaint in sitting.complaints] == ["beforeunload"]


def test_five_thousand_pairs_need_five_thousand_characters_of_storage(begun) -> None:
    pairs = [(f"left {at}", f"right {at}") for at in range(5000)]
    sitting = begun(sheet(pairs), "s", script=NO_TIME)

    assert sitting.text("count") == "1 of 5,000 answered"
    lengths = sitting.page.evaluate("Object.values(localStorage).map((text) => text.length)")
    assert sorted(lengths) == [1, 5000]
    assert sitting.page.evaluate("document.querySelectorAll('*').length") < 150
