"""Tables of up to 50,000 rows, of which a page shows a hundred at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from fixtures.browser import visits
from fixtures.html import Outline
from fixtures.reports import NASTY

from medsim.pages.markup import rendered
from medsim.pages.page import MAX_LONG_ROWS, LongTable, Page, Section

N_ROWS = MAX_LONG_ROWS
NUMBERS = pl.int_range(N_ROWS, eager=True)
ROWS = pl.DataFrame(
    {
        "rule": (NUMBERS % 3).replace_strict({0: "twins", 1: NASTY, 2: ""}),
        "concept_id": pl.select(pl.format("X:{}", NUMBERS)).to_series(),
        "distance": pl.select(pl.when(NUMBERS % 7 > 0).then(NUMBERS * 7919 % 5000)).to_series(),
    }
)


def page_of(*frames: pl.DataFrame) -> str:
    tables = [
        LongTable(caption="Found", frame=frame, filters=("rule",), view="finding")
        for frame in frames
    ]
    section = Section(title="Findings", parts=tables)
    return rendered(Page(title="Long", lead="Long.", signature="s", sections=[section]), "")


def test_the_rows_of_a_page_are_those_of_the_table_and_no_markup() -> None:
    outline = Outline(page_of(ROWS.head(5)))
    text = page_of(ROWS.head(5)).split('id="rows-1-1">')[1].split("</script>")[0]

    assert json.loads(text)["concept_id"] == ["X:0", "X:1", "X:2", "X:3", "X:4"]
    assert not outline.all("img")
    assert "img" in NASTY
    assert "finding" not in "".join(outline.texts["p"])


def test_rows_over_the_limit_are_counted() -> None:
    page = page_of(pl.concat([ROWS, ROWS.head(1)]))

    assert "The first 50,000 of 50,001 rows; medsim sql FOLDER &#34;from finding&#34;" in page


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "page.html"
    path.write_text(page_of(ROWS, ROWS.clear()), encoding="utf-8")
    return path


@pytest.fixture
def visit(browser, file: Path) -> Iterator[object]:
    yield from visits(browser, file.as_uri())


def column(page, at: int) -> list[str]:
    return page.locator(f"table[data-rows] tr > :nth-child({at})").all_inner_texts()[1:101]


def status(page) -> str:
    return page.get_by_role("status").first.inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_with_many_rows_fits_and_requests_nothing(visit, width: int, scheme: str) -> None:
    seen = visit(width, scheme)

    assert seen.complaints == []
    assert len(seen.requests) == 1
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.page.locator("table[data-rows] tbody tr").count() == 100
    assert seen.page.get_by_role("status").all_inner_texts() == [
        "Rows 1 to 100 of 50,000",
        "No rows",
    ]
    assert seen.page.locator("img").count() == 0
    box = seen.page.get_by_role("searchbox").first.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


@pytest.mark.slow
def test_rows_are_searched_filtered_sorted_and_turned_by_keyboard(visit) -> None:
    page = visit().page
    page.keyboard.press("Tab")
    for _ in range(30):
        if page.evaluate("document.activeElement.type") == "search":
            break
        page.keyboard.press("Tab")
    page.keyboard.type("x:1")
    assert status(page) == "Rows 1 to 100 of 11,111"  # 1, 10 to 19, 100 to 199 and so on

    page.keyboard.press("Tab")
    page.keyboard.type("twins")
    chosen = ROWS.filter(pl.col("concept_id").str.starts_with("X:1"), rule="twins")
    assert {*column(page, 1)} == {"twins"}
    assert status(page) == f"Rows 1 to 100 of {chosen.height:,}"

    for _ in range(5):  # the box of the table, and three headings
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "distance":
            break
    page.keyboard.press("Enter")
    in_order = chosen.sort("distance", nulls_last=True, maintain_order=True)
    assert column(page, 2) == in_order["concept_id"].head(100).to_list()
    page.keyboard.press("Enter")
    falling = chosen.sort("distance", descending=True, nulls_last=True, maintain_order=True)
    assert column(page, 2) == falling["concept_id"].head(100).to_list()
    assert page.locator("th[aria-sort=descending]").inner_text() == "distance"

    button = page.get_by_role("button", name="Next").first
    button.focus()
    page.keyboard.press("Enter")
    assert status(page) == f"Rows 101 to 200 of {chosen.height:,}"
    assert column(page, 2) == falling["concept_id"].slice(100, 100).to_list()
    assert page.get_by_role("button", name="Previous").first.is_enabled()


@pytest.mark.slow
def test_missing_values_can_be_chosen(visit) -> None:
    page = visit().page

    page.get_by_label("rule:").first.select_option(label="none")

    assert {*column(page, 1)} == {""}
    assert status(page) == "Rows 1 to 100 of 16,666"
