"""The page of an audit: findings are filtered, and decisions are kept and saved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.browser import visits

import medsim
from medsim.audits.files import write_mappings
from medsim.audits.output import FINDING
from medsim.audits.page import audit_page
from medsim.builds.options import Correction
from medsim.builds.positives import read_corrections
from medsim.pages.markup import rendered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

N_PAIRS = 49_997
NASTY = "<img src=x onerror=alert(1)> & \u202e"


class Many(medsim.Audit):
    """An audit whose findings are 50,000 invented ones."""

    def findings(self) -> pl.DataFrame:
        """Return the invented findings."""
        numbers = pl.int_range(N_PAIRS, eager=True).cast(pl.String)
        pairs = pl.DataFrame(
            {
                "kind": pl.select(
                    pl.when(pl.Series(range(N_PAIRS)) % 4 == 0)
                    .then(pl.lit("plural"))
                    .otherwise(pl.lit("number"))
                ).to_series(),
                "term1": "=tumor " + numbers,
                "term2": "=tumors " + numbers,
                "concept1": "HP:1" + numbers,
                "concept2": "HP:2" + numbers,
            }
        ).with_columns(severity=pl.lit("warning"), distance=pl.lit(1, pl.Int32))
        others = [
            {"kind": "brackets", "term1": NASTY, "concept1": "HP:3", "severity": "warning"},
            {"kind": "same_name", "term1": "P\u00e9n", "term2": "pe\u0301n", "severity": "error"},
            {"kind": "no_main_name", "concept1": "HP:4", "severity": "error"},
        ]
        found = pl.concat([pl.DataFrame(others), pairs], how="diagonal_relaxed")
        ids = pl.int_range(pl.len()).cast(pl.String)
        missing = [name for name in FINDING.dtypes if name not in {*found.columns, "finding_id"}]
        found = found.with_columns(finding_id=ids, **dict.fromkeys(missing))
        return found.select(pl.col(name).cast(kind) for name, kind in FINDING.dtypes.items())


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    names = folder / "hp.obo"
    names.write_text("format-version: 1.2\n\n[Term]\nid: HP:1\nname: Pain\n", encoding="utf-8")
    audit = Many(medsim.audit(names, folder / "audit").folder)
    path = folder / "audit.html"
    path.write_text(rendered(audit_page(audit), ""), encoding="utf-8")
    return path


@pytest.fixture
def visit(browser, file: Path) -> Iterator[object]:
    yield from visits(browser, file.as_uri())


def decisions(page) -> object:
    return page.locator("td.decision select")


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_50000_findings_fits_and_requests_nothing(visit, width: int, scheme: str):
    seen = visit(width, scheme)
    page = seen.page

    assert seen.complaints == []
    assert len(seen.requests) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.get_by_role("status").all_inner_texts() == [
        "0 of 50,000 decided",
        "Rows 1 to 100 of 50,000",
    ]
    assert page.locator("img").count() == 0
    for select in (decisions(page).first, decisions(page).nth(50)):
        box = select.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_findings_are_filtered_linked_and_marked(visit) -> None:
    page = visit().page

    page.get_by_label("kind:").select_option("plural")

    assert page.get_by_role("status").last.inner_text() == "Rows 1 to 100 of 12,500"
    assert page.locator("mark").first.inner_text() == "s"
    address = "http://purl.obolibrary.org/obo/HP_10"
    assert page.get_by_role("link", name="HP:10", exact=True).get_attribute("href") == address


def test_a_search_ignores_case_and_the_form_of_unicode(visit) -> None:
    page = visit().page

    page.get_by_role("searchbox").fill("PE\u0301N")

    assert page.get_by_role("status").last.inner_text() == "Rows 1 to 1 of 1"


def test_decisions_are_made_by_keyboard_and_survive_a_reload(visit) -> None:
    page = visit().page
    decisions(page).nth(3).focus()
    page.keyboard.type("same")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # over the links of the next row
    page.keyboard.type("different")
    decisions(page).nth(0).select_option("fix")

    page.reload()
    page.wait_for_selector("html[data-drawn]")

    values = [decisions(page).nth(at).input_value() for at in range(6)]
    assert values == ["fix", "", "", "same", "not_same", ""]
    assert page.get_by_role("status").first.inner_text() == "3 of 50,000 decided"
    page.get_by_label("decision:").select_option("not_same")
    assert page.get_by_role("status").last.inner_text() == "Rows 1 to 1 of 1"


def test_saved_corrections_are_those_that_a_build_takes(visit, tmp_path: Path) -> None:
    page = visit().page
    for at, value in enumerate(["fix", "keep", "fix", "same", "not_same"]):
        decisions(page).nth(at).select_option(value)

    def saved(button: str) -> Path:
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path

    assert read_corrections(saved("Save corrections")) == (
        Correction(term1="=tumor 0", term2="=tumors 0", same=True),
        Correction(term1="=tumor 1", term2="=tumors 1", same=False),
    )
    rows = pl.read_csv(saved("Save all decisions"))
    assert rows["decision"].to_list() == ["fix", "keep", "fix", "same", "not_same"]
    assert rows["term1"].to_list()[:4] == [NASTY, "P\u00e9n", None, "'=tumor 0"]


def test_saved_decisions_are_opened_in_another_browser(visit, browser, file, tmp_path) -> None:
    first = visit().page
    for at, value in enumerate(["fix", "keep", "", "same", "not_same"]):
        decisions(first).nth(at).select_option(value)
    with first.expect_download() as download:
        first.get_by_role("button", name="Save all decisions").click()
    download.value.save_as(tmp_path / "decisions.csv")
    other = browser.new_context().new_page()
    other.goto(file.as_uri())
    other.wait_for_selector("html[data-drawn]")

    other.locator("input[type=file]").set_input_files(tmp_path / "decisions.csv")

    # The file is read some time after it is chosen.
    other.get_by_text("Read 4 decisions; 4 of 50,000 decided", exact=True).wait_for()
    values = [decisions(other).nth(at).input_value() for at in range(6)]
    assert values == ["fix", "keep", "", "same", "not_same", ""]


def test_decisions_in_two_tabs_are_both_kept(visit, file: Path) -> None:
    first = visit()
    second = first.context.new_page()
    second.goto(file.as_uri())
    second.wait_for_selector("html[data-drawn]")

    decisions(first.page).nth(3).select_option("same")
    decisions(second).nth(4).select_option("same")

    kept = second.evaluate("Object.values(localStorage)")
    assert [json.loads(text) for text in kept] == [{"3": "same", "4": "same"}]


def test_mappings_name_a_known_vocabulary(tmp_path: Path) -> None:
    pair = {"kind": "plural", "term1": "a b", "term2": "a bs", "concept1": "1", "concept2": "2"}
    found = pl.DataFrame(
        pair
        | {
            "main_name1": "a b",
            "main_name2": "a bs",
            "distance": 1,
            "severity": "warning",
            "similarity": None,
        }
    )

    write_mappings(found, {"vocabulary": "SNOMEDCT_US"}, tmp_path / "mappings.tsv")

    text = (tmp_path / "mappings.tsv").read_text(encoding="utf-8")
    assert "#  SCTID: http://snomed.info/id/\n" in text
    assert "\nSCTID:1\ta b\tskos:closeMatch\tSCTID:2\ta bs\t" in text
