"""Reports in a real browser: they draw, sort, print and ask for nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fixtures.browser import Watched
from fixtures.reports import NASTY, add_tables, invented_manifest, invented_profile

import medsim

pytest.importorskip("altair", reason="needs medsim[report]")

from medsim.evaluations.page import evaluation_page
from medsim.pages.markup import _library, rendered

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reports(shared_evaluation: medsim.Evaluation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report of a build, of an evaluation, and one with hostile texts."""
    folder = tmp_path_factory.mktemp("browser")
    for name in ("build", "results"):
        shutil.copytree(shared_evaluation.folder.parent / name, folder / name)
    add_tables(folder / "results")
    for name in ("build", "results"):
        medsim.write_report(folder / name, folder / f"{name}.html")
    names = (*"abcdefg", NASTY)
    profile = invented_profile(names, n_datasets=1)
    page = evaluation_page(invented_manifest(names, redistributable=False), profile)
    (folder / "nasty.html").write_text(rendered(page, _library()), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def look(browser, reports: Path) -> Iterator[Callable[..., Watched]]:
    """Opens a page that other tests look at, too; whoever changes it must ``visit`` it."""
    opened: dict[tuple[str, int], Watched] = {}

    def _look(report: str, width: int = 1280) -> Watched:
        if (report, width) not in opened:
            opened[report, width] = watched(browser, reports, report, width)
        return opened[report, width]

    yield _look
    for one in opened.values():
        one.context.close()


@pytest.fixture
def visit(browser, reports: Path) -> Iterator[Callable[..., Watched]]:
    visited: list[Watched] = []

    def _visit(report: str, width: int = 1280, **context) -> Watched:
        visited.append(watched(browser, reports, report, width, **context))
        return visited[-1]

    yield _visit
    for one in visited:
        one.context.close()


def watched(browser, reports: Path, report: str, width: int, **context) -> Watched:
    opened = browser.new_context(viewport={"width": width, "height": 900}, **context)
    seen = Watched(opened, (reports / f"{report}.html").as_uri())
    if context.get("java_script_enabled", True):
        seen.page.wait_for_selector("html[data-drawn]", timeout=30_000)
    return seen


@pytest.mark.parametrize(
    ("report", "width"),
    [*((name, width) for name in ("build", "results") for width in (1280, 390)), ("nasty", 390)],
)
def test_a_report_draws_all_charts_within_the_page_and_asks_for_nothing(
    look, report: str, width: int
) -> None:
    seen = look(report, width)

    assert seen.complaints == []
    assert len(seen.requests) == 1
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    charts = seen.page.locator(".chart").all()
    assert len(charts) >= 2
    for chart in charts:
        drawing = chart.locator("svg.marks")
        assert drawing.count() == 1
        marks = "path, line, rect, text"
        assert drawing.locator(f".role-mark :is({marks})").count() > 0
        least = float(chart.get_attribute("data-least"))
        room = max(chart.bounding_box()["width"], least)
        assert room - 12 <= drawing.bounding_box()["width"] <= room + 2
        assert chart.get_attribute("aria-label") or drawing.get_attribute("aria-label")


def test_a_chart_that_needs_room_scrolls_in_its_own_box_and_hostile_texts_stay_texts(look) -> None:
    page = look("nasty", 390).page
    chart = page.locator("figure", has_text="Differences between embeddings").locator(".chart")

    assert chart.evaluate("chart => chart.scrollWidth > chart.clientWidth")
    assert chart.get_attribute("tabindex") == "0"
    assert page.locator("img").count() == 0
    assert page.get_by_role("rowheader", name=NASTY, exact=True).count() > 0
    point = page.locator(".chart .mark-symbol path").first
    point.scroll_into_view_if_needed()
    point.hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert page.locator("#vg-tooltip-element img").count() == 0


def test_a_table_sorts_by_click_and_by_keyboard_missing_values_last(visit) -> None:
    page = visit("build").page
    table = page.locator("table", has_text="Sizes and mean Levenshtein distances")
    heading = table.locator("th", has_text="positives")
    button = heading.get_by_role("button")
    cell = heading.evaluate("heading => heading.cellIndex")

    def column() -> list[int]:
        texts = table.locator(f"tbody tr > :nth-child({cell + 1})").all_text_contents()
        return [int(text.replace(",", "")) for text in texts if text]  # the last row has none

    unsorted = column()
    assert unsorted != sorted(unsorted)
    button.click()
    assert column() == sorted(unsorted)
    assert heading.get_attribute("aria-sort") == "ascending"
    button.focus()
    page.keyboard.press("Enter")
    assert column() == sorted(unsorted, reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"
    table.locator("th", has_text="dataset").get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "none"
    rows = page.evaluate(
        """() => {
            const table = document.querySelector("main table:has(thead)");
            const body = table.tBodies[0];
            body.innerHTML = ["2", "", "10"].map((text) =>
                `<tr><th ${text && `data-value="${text}"`}>${text}</th></tr>`).join("");
            const button = table.querySelector("th button");
            return [0, 1].map(() => { button.click();
                return [...body.rows].map((row) => row.cells[0].textContent); });
        }"""
    )
    assert rows == [["2", "10", ""], ["10", "2", ""]]


def test_what_a_reader_chose_stays_when_the_width_changes_and_print_fits_the_paper(visit) -> None:
    page = visit("results").page
    figure = page.locator("figure", has=page.locator("select")).first
    chosen = figure.locator("select")
    before = figure.locator("svg.marks").inner_html()
    other = chosen.locator("option").all_text_contents()[-1]

    chosen.select_option(other)
    page.wait_for_function(
        "([figure, before]) => figure.querySelector('svg.marks').innerHTML !== before",
        arg=[figure.element_handle(), before],
    )
    page.set_viewport_size({"width": 700, "height": 900})
    page.wait_for_function(
        "figure => Number(figure.querySelector('.chart').dataset.width) < 700",
        arg=figure.element_handle(),
    )

    assert chosen.input_value() == other
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    page.emulate_media(media="print")
    assert page.locator("details[open] table").first.is_visible()
    assert page.locator("figure details").first.is_hidden()
    assert page.locator("nav").is_hidden()
    page.set_viewport_size({"width": 680, "height": 1000})  # A4 between its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert page.pdf()[:4] == b"%PDF"


def test_dark_and_light_differ_down_into_the_charts_and_print_is_light(look) -> None:
    ink = (
        "() => [getComputedStyle(document.body).backgroundColor, "
        "getComputedStyle(document.querySelector('.chart svg .role-axis-label text')).fill]"
    )
    page = look("build").page
    light = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(ink)
    page.emulate_media(color_scheme="dark", media="print")
    printed = page.evaluate(ink)
    page.emulate_media(color_scheme="light", media="screen")

    assert light == printed == ["rgb(255, 255, 255)", "rgb(27, 33, 39)"]
    assert dark == ["rgb(20, 24, 29)", "rgb(231, 235, 239)"]


@pytest.mark.parametrize("width", [390, 1280])
def test_contents_stay_in_sight_and_say_which_section_is_read(look, width: int) -> None:
    page = look("results", width).page
    page.evaluate("document.querySelector('#heading-5').scrollIntoView()")
    page.wait_for_selector("nav a[aria-current]")
    assert 0 <= page.locator("nav").bounding_box()["y"] < 900


def test_words_are_explained_where_they_stand_and_buttons_and_lists_have_names(look) -> None:
    page = look("results").page
    meaning = page.locator("#words div", has_text="avg_cos").locator("dd").text_content()

    assert "cosine" in meaning
    cell = page.locator("td, th").filter(has_text="avg_cos").first
    assert cell.get_attribute("title") == f"avg_cos: {meaning}"
    drawn = page.locator(".chart svg text.word title", has_text="avg_cos").first
    assert meaning in drawn.text_content()
    assert page.get_by_role("button").count() > 20
    assert page.locator("button:empty").count() == 0
    for choice in page.locator("select").all():
        assert choice.evaluate("select => select.labels.length") == 1


def test_without_javascript_all_text_and_tables_are_there(visit) -> None:
    seen = visit("results", java_script_enabled=False)

    assert seen.complaints == []
    assert seen.page.locator("table").count() > 10
    assert seen.page.get_by_text("The chart needs JavaScript").first.is_visible()
    seen.page.locator("summary").first.click()
    assert seen.page.locator("details[open] table").first.is_visible()
