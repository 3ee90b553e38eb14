"""The page of a mapping: candidates are chosen by keyboard and mouse, and decisions are saved."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.browser import visits

from medsim.core.manifest import Output
from medsim.core.tables import guarded
from medsim.decisions.files import read_decisions
from medsim.mapping import page as module
from medsim.mapping.output import (
    CANDIDATE,
    LOCAL,
    OPEN_DECISION,
    STANDARD_NAME,
    MappingManifest,
    NameMapping,
)
from medsim.mapping.page import mapping_page
from medsim.pages.markup import rendered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.core.kinds import Table

N_CODES = 50_000
NASTY = "<img src=x onerror=alert(1)> & \u202e"
NAMES = {
    "HP:0001": ["Pain", "Ache", "Dolor"],
    "HP:0002": ["Fever of unknown origin", "Pyrexia of unknown origin"],
    "HP:0003": ["M\u00fcde Augen", NASTY],
    "HP:0004": ["Painful fever"],
    "HP:0005": ["Chronic pain"],
}


def rows_of(table: Table, rows: list[dict[str, object]]) -> pl.DataFrame:
    blank = dict.fromkeys(table.dtypes)
    return pl.DataFrame([blank | row for row in rows], table.dtypes)


class Invented(NameMapping):
    """A mapping of invented local codes, the first few of which have conflicts or changes."""

    manifest = MappingManifest(
        medsim="0.1.0",
        local={"name": "wards.csv", "redistributable": True},
        standard={"name": "hp", "vocabulary": "HPO"},
        embeddings={},
        decisions=[],
        gold=None,
        systems={},
        libraries={},
        options={},
        threads=1,
        warnings=[],
        outputs={"local.parquet": Output(rows=1, fingerprint="2" * 64)},
        stages=[],
    )

    def __init__(self, n_codes: int) -> None:
        self.n_codes = n_codes

    def local(self) -> pl.DataFrame:
        """Return the codes, one of which is decided."""
        first = [
            {"code": "=1", "name": "PAIN", "names": "PAIN | ache, dull", "probability": 0.99},
            {"code": "007", "name": NASTY, "names": NASTY, "kept": '{"ward": "=w3", "x": ""}'}
            | {"status": "conflict", "probability": 0.4},
            {"code": "c", "name": "old fever", "names": "old fever", "status": "changed"}
            | {"probability": 0.7},
            {"code": "d", "name": "gone", "names": "gone", "status": "decided"},
            {"code": "e", "name": "nothing", "names": "nothing"},
        ]
        usual = {"status": "undecided", "category": "x"}
        first = [usual | {"frequency": 9 - at} | row for at, row in enumerate(first)]
        at = pl.int_range(self.n_codes - 4, eager=True).cast(pl.String)
        more = pl.DataFrame({"code": "C" + at, "name": "local pain " + at}).with_columns(
            names="name",
            category=pl.lit(""),
            frequency=1,
            status=pl.lit("undecided"),
            probability=0.6,
        )
        found = pl.concat([rows_of(LOCAL, first), more], how="diagonal_relaxed")
        return found.select(pl.col(name).cast(kind) for name, kind in LOCAL.dtypes.items())

    def candidates(self) -> pl.DataFrame:
        """Return up to four candidates of each code."""
        codes = self.local().filter(pl.col("code") != "e").select("code", "probability", "name")
        ids = [*NAMES][:4]
        parts = [
            codes.select(
                "code",
                rank=pl.lit(at + 1),
                concept_id=pl.lit(concept),
                main_name=pl.lit(NAMES[concept][0]),
                local_name="name",
                matched_name=pl.lit(NAMES[concept][-1]),
                difference=pl.lit("other"),
                distance=5,
                probability=pl.col("probability") / 2**at,
            )
            for at, concept in enumerate(ids)
        ]
        return pl.concat(parts).select(
            pl.col(name).cast(kind) for name, kind in CANDIDATE.dtypes.items()
        )

    def open_decisions(self) -> pl.DataFrame:
        """Return two that disagree, and one whose concept is retired."""
        said = {"reviewer": "Ada", "date": "2026-01-31", "decision": "exact", "comment": ""}
        found = [
            {"code": "007", "concept_id": "HP:0005", "concept_name": "Chronic pain"}
            | {"why": "conflict"},
            {"code": "007", "decision": "no_match", "reviewer": "", "date": "", "why": "conflict"},
            {"code": "c", "concept_id": "HP:9", "concept_name": "Old", "why": "retired"}
            | {"replacement_id": "HP:0002", "replacement_name": NAMES["HP:0002"][0]},
        ]
        return rows_of(OPEN_DECISION, [said | row for row in found])

    def standard_names(self) -> pl.DataFrame:
        """Return the names of the standard."""
        names = [
            {"concept_id": concept, "term": name, "is_main": not at}
            for concept, own in NAMES.items()
            for at, name in enumerate(own)
        ]
        return rows_of(STANDARD_NAME, names).sort("concept_id", "term")


def page_of(n_codes: int) -> str:
    return rendered(mapping_page(Invented(n_codes)), "")


def concepts_in(page: str) -> list[list[str]]:
    packed = page.split('id="concepts-2-1">')[1].split("<", maxsplit=1)[0]
    return json.loads(gzip.decompress(b64decode(packed)))


def test_a_page_has_all_names_of_the_standard(monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(10)
    assert concepts_in(page) == [[concept, *own] for concept, own in NAMES.items()]
    assert " and 8 undecided." in page

    monkeypatch.setattr(module, "MAX_CONCEPTS", 128)
    page = page_of(10)
    assert concepts_in(page) == [[concept, own[0]] for concept, own in NAMES.items()]
    assert "The page has only 5 of 9 names of the standard." in page


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mapping") / "decide.html"
    path.write_text(page_of(N_CODES), encoding="utf-8")
    return path


@pytest.fixture
def visit(browser, file: Path) -> Iterator[object]:
    yield from visits(browser, file.as_uri())


def text_of(page, row: int) -> str:
    return page.locator("td.decision").nth(row).locator("xpath=..").inner_text()


def pressed(page, row: int) -> list[str]:
    """Return what is chosen in a row."""
    place = page.locator("td.decision").nth(row)
    return place.locator("button[aria-pressed=true]").all_inner_texts()


def keys(page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"), [(360, "dark"), (1000, "light"), (1280, "light"), (1280, "dark")]
)
def test_the_page_of_50000_codes_fits_and_requests_nothing(visit, width: int, scheme: str) -> None:
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
    box = page.locator("table[data-rows]").locator("xpath=..")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    assert page.locator("td.decision button:empty").count() == 0


@pytest.mark.slow
def test_rows_say_what_was_decided_and_offer_replacements_first(visit) -> None:
    page = visit().page

    conflict, changed = text_of(page, 1), text_of(page, 2)
    assert "Ada 2026-01-31: exact HP:0005 Chronic pain" in conflict
    assert "unknown reviewer: no match" in conflict
    assert "ward: =w3" in conflict
    assert "Ada 2026-01-31: exact HP:9 Old (retired)" in changed
    first = page.locator("td.decision").nth(2).locator("li a").first
    assert first.inner_text() == "HP:0002"
    assert first.get_attribute("href") == "http://purl.obolibrary.org/obo/HP_0002"
    assert "PAIN | ache, dull" in text_of(page, 0)
    assert page.locator("td.decision").nth(3).locator("li").count() == 0
    page.get_by_label("status:").select_option("conflict")
    assert page.get_by_role("status").last.inner_text() == "Rows 1 to 1 of 1"
    page.get_by_label("status:").select_option(label="all")
    page.get_by_label("probability band:").select_option("at least 0.95")
    assert page.get_by_role("status").last.inner_text() == "Rows 1 to 1 of 1"


@pytest.mark.slow
def test_decisions_are_made_by_keyboard_saved_and_restored(visit, tmp_path: Path) -> None:
    seen = visit()
    page = seen.page
    page.get_by_label("Reviewer:").fill("Bea")
    page.locator("h1").click()

    keys(page, "j", "Enter")  # the first candidate
    keys(page, "2", "b", "c")  # the second one, broader
    page.keyboard.type("=so")
    keys(page, "Enter", "ArrowDown", "n", "j")  # no match
    keys(page, "/")
    page.get_by_text("Nothing found").wait_for()
    page.keyboard.type("PAIN chron")
    keys(page, "Enter", "r", "j", "1", "u", "k")  # a concept that is found; one is undone
    assert page.locator("tr:focus").inner_text().startswith("e")
    keys(page, "?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    keys(page, "Escape")

    def choices() -> list[list[str]]:
        return [pressed(page, row) for row in range(5)]

    second = "2 Pain"  # after a concept of the conflict
    chosen = [["1 Pain"], [second], ["0 no match"], ["Chronic pain"], []]
    assert choices() == chosen
    with page.expect_download() as download:
        page.get_by_role("button", name="Save all decisions").click()
    path = tmp_path / "decisions.csv"
    download.value.save_as(path)
    day = page.evaluate("new Date().toLocaleDateString('sv')")
    last = ("Bea", day)
    assert read_decisions([path]).rows() == [
        ("=1", "PAIN", "HP:0001", "Pain", "exact", "", *last),
        ("007", NASTY, "HP:0001", "Pain", "broader", "=so", *last),
        ("c", "old fever", "", "", "no_match", "", *last),
        ("e", "nothing", "HP:0005", "Chronic pain", "related", "", *last),
    ]
    page.reload()
    page.wait_for_selector("html[data-drawn]")
    assert choices() == chosen
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines, lines[1].replace("HP:0001", "HP:0002")]), encoding="utf-8")
    for row in range(4):
        page.locator("td.decision").nth(row).locator("[aria-pressed=true]").click()
    assert choices() == [[]] * 5
    page.locator("input[type=file]").set_input_files(path)
    said = "Read 4 decisions, not 1 more on the same rows, so keep the file; 4 of 50,000 decided"
    page.get_by_text(said, exact=True).wait_for()
    assert choices() == [["2 Fever of unknown origin"], *chosen[1:]]
    assert set(seen.complaints) <= {"beforeunload: "}


@pytest.mark.slow
def test_a_search_finds_words_in_any_order_form_and_as_beginnings(visit) -> None:
    page = visit().page
    page.get_by_role("button", name="search").first.click()
    page.get_by_text("3 found.").wait_for()  # for PAIN

    def found(query: str) -> list[str]:
        page.get_by_role("searchbox", name="Words of a name, in any order").fill(query)
        return page.locator("dialog[open] li a").all_inner_texts()

    assert found("pain") == ["HP:0001", "HP:0005", "HP:0004"]
    assert found("unk pyr") == ["HP:0002"]
    assert found("AUGEN mude") == ["HP:0003"]
    assert found("mu\u0308de-augen") == ["HP:0003"]
    assert found("onerror") == ["HP:0003"]
    assert found("dolor xyz") == ["HP:0001"]  # as no name has both
    assert found("xyz \u0001 \n") == []
    assert page.locator("img").count() == 0
    found("chronic")
    page.get_by_role("button", name="Chronic pain", exact=True).click()
    assert pressed(page, 0) == ["Chronic pain"]


@pytest.mark.slow
def test_candidates_of_sure_rows_are_folded(visit) -> None:
    page = visit().page
    cell = page.locator("td.decision").first
    assert cell.locator("li:visible").count() == 1
    assert page.locator("td.decision").nth(1).locator("li:visible").count() == 5

    keys(page, "j", "2")
    assert pressed(page, 0) == []
    assert cell.locator("li:visible").count() == 4
    keys(page, "2")
    assert pressed(page, 0) == ["2 Fever of unknown origin"]


@pytest.mark.slow
def test_cells_are_guarded_as_in_other_files(visit) -> None:
    texts = "=1|'=1|@x| +x|\uff1dx|\tx|x\n|007|1,5|1e5|MARCH1|1-mar-2|5am|5 pm|true|False|x1|"
    texts += "\u00e91|'|''1|1\u00b2|\u0660|1.5.2020|a=1|2d|d2|1 kg|-|\u2212 1|_1|\u65e5\u672c1|"
    texts += "1\u0301|dec|x"
    cells = texts.split("|")

    page = visit().page

    assert page.evaluate("cells => cells.map(guarded)", cells) == [*map(guarded, cells)]
    assert page.evaluate("cells => cells.map(guarded).map(unguarded)", cells) == cells
