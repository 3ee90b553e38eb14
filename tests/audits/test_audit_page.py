"""The page of an audit: findings are filtered, and decisions are kept and saved."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.browser import visits

import medsim
from medsim.audits.audit import write_mappings
from medsim.audits.output import FINDING
from medsim.audits.page import audit_page
from medsim.builds.options import Correction
from medsim.builds.positives import read_corrections
from medsim.core.tables import guarded
from medsim.decisions.files import read_decisions
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
        ).with_columns(
            severity=pl.when(kind="plural").then(pl.lit("warning")).otherwise(pl.lit("note")),
            distance=pl.lit(1, pl.Int32),
            family=pl.when(pl.col("concept1").is_in(["HP:11", "HP:12", "HP:13"])).then(
                pl.lit("=tumor #")
            ),
        )
        others = [
            {"kind": "brackets", "term1": NASTY, "concept1": "HP:3", "severity": "warning"},
            {"kind": "same_name", "term1": "P\u00e9n", "term2": "pe\u0301n", "severity": "error"}
            | {"concept1": "HP:5", "concept2": "HP:6"},
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
        "Rows 1 to 100 of 12,503",
    ]
    assert page.locator("img").count() == 0
    box = page.locator("table[data-rows]").locator("xpath=..")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0
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


def decide(page, *values: str) -> None:
    """Choose decisions in the first rows; an empty text leaves one undecided."""
    for at, value in enumerate(values):
        decisions(page).nth(at).select_option(value)


def saved(page, button: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def values_of(page, n_rows: int = 6) -> list[str]:
    return [decisions(page).nth(at).input_value() for at in range(n_rows)]


def status(page) -> str:
    return page.get_by_role("status").first.inner_text()


def test_the_page_opens_on_errors_and_warnings(visit) -> None:
    page = visit().page
    severity = page.get_by_label("severity:")

    assert severity.input_value() == "error or warning"
    severity.select_option("note")
    assert page.get_by_role("status").last.inner_text() == "Rows 1 to 100 of 37,497"
    severity.select_option(label="all")
    assert page.get_by_role("status").last.inner_text() == "Rows 1 to 100 of 50,000"


def test_decisions_are_made_by_keyboard_and_survive_a_reload(visit) -> None:
    page = visit().page
    decisions(page).nth(3).focus()
    page.keyboard.type("same")
    page.keyboard.press("Tab")
    page.keyboard.type("sure")
    for _ in range(3):
        page.keyboard.press("Tab")  # over the links of the next row
    page.keyboard.type("different")
    decisions(page).nth(0).select_option("fix")

    page.reload()
    page.wait_for_selector("html[data-drawn]")

    assert values_of(page) == ["fix", "", "", "exact", "different", ""]
    assert page.get_by_placeholder("comment").nth(3).input_value() == "sure"
    assert status(page) == "3 of 50,000 decided"
    page.get_by_label("decision:").select_option("different")
    assert page.get_by_role("status").last.inner_text() == "Rows 1 to 1 of 1"


def test_saved_corrections_are_those_that_a_build_takes(visit, tmp_path: Path) -> None:
    page = visit().page
    decide(page, "fix", "keep", "fix", "exact", "broader", "different")

    assert read_corrections(saved(page, "Save corrections", tmp_path)) == (
        Correction(term1="=tumor 0", term2="=tumors 0", same=True),
        Correction(term1="=tumor 4", term2="=tumors 4", same=False),
        Correction(term1="=tumor 8", term2="=tumors 8", same=False),
    )


def test_saved_decisions_are_those_that_an_audit_reads(visit, tmp_path: Path) -> None:
    page = visit().page
    page.get_by_label("Reviewer:").fill("Ada, M\u00fcller; Dr.")
    decide(page, "fix", "keep", "", "related")
    page.get_by_placeholder("comment").nth(3).fill('=HYPERLINK("x"), "so"')

    read = read_decisions([saved(page, "Save all decisions", tmp_path)])

    day, comment = page.evaluate("new Date().toLocaleDateString('sv')"), '=HYPERLINK("x"), "so"'
    last = ("Ada, M\u00fcller; Dr.", day)
    assert read.rows() == [
        ("HP:3", NASTY, "", "", "fix", "", *last),
        ("HP:5", "P\u00e9n", "HP:6", "pe\u0301n", "keep", "", *last),
        (
            "HP:10",
            "=tumor 0",
            "HP:20",
            "=tumors 0",
            "related",
            comment,
            "Ada, M\u00fcller; Dr.",
            day,
        ),
    ]


def test_saved_decisions_are_opened_in_another_browser(visit, browser, file, tmp_path) -> None:
    first = visit().page
    decide(first, "fix", "keep", "", "exact", "different")
    path = saved(first, "Save all decisions", tmp_path)
    other = browser.new_context().new_page()
    other.goto(file.as_uri())
    other.wait_for_selector("html[data-drawn]")

    other.locator("input[type=file]").set_input_files(path)

    # The file is read some time after it is chosen.
    other.get_by_text("Read 4 decisions; 4 of 50,000 decided", exact=True).wait_for()
    assert values_of(other) == ["fix", "keep", "", "exact", "different", ""]


SPREADSHEET = """Comment;Object_Label;Object_ID;Subject_Label;Subject_ID;Decision;Date
M\u00fcde;=tumors 0;HP:20;'=tumor 0;HP:10;exact;24.12.2025
;x;HP:7;y;HP:8;exact;
"""
EARLIER = """finding_id,kind,term1,term2,concept1,concept2,decision
0123,plural,'=tumor 0,'=tumors 0,HP:10,HP:20,same
1,x,y,,HP:8,,keep
"""


@pytest.mark.parametrize(
    ("text", "encoding", "comment"),
    [(SPREADSHEET, "windows-1252", "M\u00fcde"), (EARLIER, "utf-8", "")],
    ids=["of a spreadsheet", "of an earlier version"],
)
def test_other_files_of_decisions_are_opened(
    visit, tmp_path: Path, text: str, encoding: str, comment: str
) -> None:
    page = visit().page
    (tmp_path / "decided.csv").write_bytes(text.replace("\n", "\r\n").encode(encoding))

    page.locator("input[type=file]").set_input_files(tmp_path / "decided.csv")

    page.get_by_text("Read 1 decisions, 1 others are on no row of this page").wait_for()
    assert values_of(page) == ["", "", "", "exact", "", ""]
    assert page.get_by_placeholder("comment").nth(3).input_value() == comment


def test_a_family_is_called_different_at_once(visit) -> None:
    page = visit().page
    page.get_by_label("severity:").select_option("note")
    assert page.get_by_text("family of 3", exact=True).count() == 3

    decisions(page).nth(2).select_option("exact")
    decisions(page).nth(0).select_option("different")
    assert values_of(page, 4) == ["different", "different", "exact", ""]
    decisions(page).nth(1).select_option("")
    assert values_of(page, 4) == ["", "", "exact", ""]
    decisions(page).nth(1).select_option("related")
    assert values_of(page, 4) == ["", "related", "exact", ""]


def test_closing_warns_until_decisions_are_saved(visit, tmp_path: Path) -> None:
    seen = visit()
    seen.page.reload()
    assert seen.complaints == []

    decide(seen.page, "fix")
    seen.page.reload()
    assert seen.complaints == ["beforeunload: "]
    seen.page.wait_for_selector("html[data-drawn]")
    saved(seen.page, "Save all decisions", tmp_path)
    seen.page.reload()
    assert seen.complaints == ["beforeunload: "]


def test_a_full_store_is_reported_and_loses_nothing(visit, tmp_path: Path) -> None:
    page = visit().page
    page.evaluate(
        """for (let size = 1 << 22; size; size >>= 1)
            for (let at = 0; at < 9; at += 1)
                try { localStorage.setItem(`${size} ${at}`, "x".repeat(size)); } catch { break }"""
    )

    decide(page, "fix", "keep")

    assert status(page).startswith("The browser's store is full, or off. Save the decisions")
    rows = read_decisions([saved(page, "Save all decisions", tmp_path)])
    assert rows["decision"].to_list() == ["fix", "keep"]


def test_50000_decisions_with_comments_fit_into_the_store(visit, tmp_path: Path) -> None:
    page = visit().page
    numbers = pl.int_range(N_PAIRS, eager=True).cast(pl.String)
    rows = pl.DataFrame({"subject_id": "HP:1" + numbers, "subject_label": "=tumor " + numbers})
    rows = rows.with_columns(
        object_id="HP:2" + numbers,
        object_label="=tumors " + numbers,
        decision=pl.lit("different"),
        comment=pl.lit("not the same tumor"),
        reviewer=pl.lit("Dr. Anna Mustermann"),
        date=pl.lit("2026-01-31"),
    )
    rows.with_columns(pl.all().map_elements(guarded, pl.String)).write_csv(
        tmp_path / "decisions.csv"
    )

    page.locator("input[type=file]").set_input_files(tmp_path / "decisions.csv")
    page.get_by_text("Read 49,997 decisions; 49,997 of 50,000 decided", exact=True).wait_for()
    decisions(page).nth(0).select_option("fix")

    assert status(page) == "49,998 of 50,000 decided"
    assert page.evaluate("Object.values(localStorage).join('').length") < 2_500_000


def test_decisions_in_two_tabs_are_both_kept(visit, file: Path) -> None:
    first = visit()
    second = first.context.new_page()
    second.goto(file.as_uri())
    second.wait_for_selector("html[data-drawn]")

    decisions(first.page).nth(3).select_option("exact")
    decisions(second).nth(4).select_option("exact")
    first.page.reload()

    assert values_of(first.page) == ["", "", "", "exact", "exact", ""]


def test_mappings_name_a_known_vocabulary(tmp_path: Path) -> None:
    pair = {"kind": "plural", "term1": "a b", "term2": "a bs", "concept1": "1", "concept2": "2"}
    pair |= {"main_name1": "a b", "main_name2": "a bs", "distance": 1, "severity": "warning"}
    found = pl.DataFrame(pair | {"similarity": None})
    said = {"decision": "broader", "comment": "so", "reviewer": "Ada", "date": "2026-01-31"}
    decided = found.with_columns(
        pl.lit(value).alias(name) for name, value in said.items()
    ).with_columns(subject_id="concept1", object_id="concept2")
    path, source = tmp_path / "mappings.tsv", {"vocabulary": "SNOMEDCT_US"}

    write_mappings(found, decided, source, path)

    text = path.read_text(encoding="utf-8")
    assert "#  SCTID: http://snomed.info/id/\n" in text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    one, other = csv.DictReader(lines, delimiter="\t")
    assert one == {
        "subject_id": "SCTID:1",
        "subject_label": "a b",
        "predicate_id": "skos:broadMatch",
        "object_id": "SCTID:2",
        "object_label": "a bs",
        "author_label": "Ada",
        "mapping_justification": "semapv:ManualMappingCuration",
        "comment": "so",
        "mapping_date": "2026-01-31",
        "similarity_score": "",
    }
    assert (other["predicate_id"], other["similarity_score"]) == ("skos:closeMatch", "0.75")
    write_mappings(found.clear(), decided, source, path)
    assert path.read_text(encoding="utf-8").count("SCTID:1\t") == 1
