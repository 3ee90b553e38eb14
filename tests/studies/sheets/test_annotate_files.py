"""The page of an annotator in a real browser: what it keeps, exports and imports."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.annotators import HOSTILE, sheet_of
from fixtures.sittings import answers_to, read, written

pytestmark = pytest.mark.slow

NO_STORAGE = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError"); } })"""
FULL_STORAGE = """Storage.prototype.setItem = () => {
    throw new DOMException("full", "QuotaExceededError"); }"""


def test_reloading_goes_on_where_it_was_and_other_sheets_start_anew(
    begun, sit, tmp_path: Path
) -> None:
    seen = begun(sheet_of(), "s", "n", "ArrowRight")
    before = seen.export(tmp_path).read_bytes()

    seen.page.reload()

    assert (seen.text("unkept"), seen.complaints) == ("", [])
    assert seen.text("pair-heading") == "Pair 4 of 5"
    assert seen.text("count") == "2 of 5 answered"
    assert seen.export(tmp_path).read_bytes() == before
    for other in (
        sheet_of(annotator="bob"),
        sheet_of(study_id="0" * 16),
        sheet_of(first_entry=7),
    ):
        fresh = sit(other, context=seen.context)
        assert fresh.text("count") == "0 of 5 answered"
        assert fresh.page.locator("#start").is_visible()


def test_a_file_is_imported_into_another_browser(begun, sit, tmp_path: Path) -> None:
    seen = begun(sheet_of(), "s", "n", "d")
    path = seen.export(tmp_path)
    content = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))  # as others save it

    other = sit(sheet_of())
    other.take(path)
    other.page.wait_for_selector("text=Imported 3 answers of the 3 in the file.")

    other.page.locator("#begin").click()
    assert other.text("pair-heading") == "Pair 4 of 5"
    assert other.export(tmp_path / "again").read_bytes() == content


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("Keep the answers on this page", ("same", "same", "same", "not_same")),
        ("Take the answers of the file", ("same", "not_same", "dont_know", "not_same")),
        ("Cancel", ("same", "same", "same")),
    ],
)
def test_where_a_file_and_the_page_differ_the_annotator_decides(
    begun, tmp_path: Path, choice: str, expected: tuple[str, ...]
) -> None:
    seen = begun(sheet_of(), "s", "s", "s")
    header, _, _ = read(seen.export(tmp_path))
    answers = answers_to("same", "not_same", "dont_know", "not_same")

    seen.take(written(tmp_path / "file.jsonl", header, answers))
    seen.page.wait_for_selector("dialog[open]")
    assert seen.text("question-words").startswith("2 pairs have another answer in the file")
    seen.page.get_by_role("button", name=choice).click()

    assert read(seen.export(tmp_path))[1] == answers_to(*expected)


def test_files_that_are_not_of_this_sheet_whole_and_unchanged_are_refused(
    begun, tmp_path: Path
) -> None:
    seen = begun(sheet_of(), "s", "n")
    good = seen.export(tmp_path)
    header, answers, _ = read(good)
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
        path = tmp_path / "case.jsonl"
        if isinstance(case, bytes):
            path.write_bytes(case)
        else:
            written(path, *case)
        seen.take(path)
        seen.page.locator("dialog[open] #question-words", has_text=message).wait_for()
        seen.press("Escape")
        seen.page.locator("dialog").wait_for(state="hidden")

    assert seen.export(tmp_path).read_bytes() == content
    assert seen.page.locator("img").count() == 0
    assert seen.complaints == []


def test_starting_over_offers_an_export_and_erases_only_then(begun, tmp_path: Path) -> None:
    seen = begun(sheet_of(), "s", "n")

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
    one = sit(sheet_of())
    other = sit(sheet_of(), context=one.context)
    one.press("Tab", "Enter", "s")
    other.page.locator("#begin").click()
    other.page.locator("#number").fill("4")
    other.page.get_by_role("button", name="Go", exact=True).click()
    other.press("n")

    one.page.locator("#count", has_text="2 of 5").wait_for()
    one.press("d")
    other.page.locator("#count", has_text="3 of 5").wait_for()

    expected = [answers_to("same", "dont_know")[at] for at in (0, 1)]
    expected.append({"entry": f"{3:016x}", "answer": "not_same"})
    assert read(one.export(tmp_path))[1] == expected
    assert read(other.export(tmp_path))[1] == expected


@pytest.mark.parametrize("script", [NO_STORAGE, FULL_STORAGE])
def test_a_browser_that_keeps_nothing_is_told_of_and_warns_before_answers_are_lost(
    sit, tmp_path: Path, script: str
) -> None:
    seen = sit(sheet_of(), script=script)
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
    seen = begun(sheet_of([(f"left {at}", f"right {at}") for at in range(5000)]), "s")

    assert seen.text("count") == "1 of 5,000 answered"
    kept = seen.page.evaluate("Object.values(localStorage).map((text) => text.length)")
    assert sorted(kept) == [1, 5000]
    assert seen.page.evaluate("document.querySelectorAll('*').length") < 150
