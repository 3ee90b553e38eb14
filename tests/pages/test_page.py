"""A report as HTML: what it promises without a browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from fixtures.html import Outline, script_hashes
from fixtures.reports import NASTY, invented_manifest, invented_profile
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

pytest.importorskip("altair", reason="needs medsim[report]")

from medsim.evaluations.output import SET_COMPARISONS
from medsim.evaluations.page import evaluation_page
from medsim.pages import charts
from medsim.pages.markup import packed_columns, rendered
from medsim.pages.page import (
    MEANINGS,
    Chart,
    Code,
    Folded,
    Page,
    PageTable,
    Section,
    SectionPart,
    license_notice,
)

DOCS = Path(__file__).parents[2] / "docs"
LIBRARY = "window.vegaEmbed = null;"
NONE = pl.DataFrame(schema=SET_COMPARISONS.dtypes)


def page_of(*parts: SectionPart, **values) -> Page:
    section = Section(title="A section", prose="Says what it shows.", parts=parts)
    given = {"title": "A page", "lead": "Of tests.", "notice": None, "signature": "signed"}
    return Page(**{**given, **values}, sections=[section])


def chart_of(rows: pl.DataFrame) -> Chart:
    return Chart(
        title="A chart",
        says="How.",
        spec={"mark": "point"},
        rows=rows,
        table=PageTable(caption="Its numbers", frame=rows),
    )


def whole_page() -> str:
    names = ("one", NASTY)
    manifest = invented_manifest(names, redistributable=False)
    return rendered(evaluation_page(manifest, invented_profile(names, n_datasets=2)), LIBRARY)


@pytest.fixture(scope="module")
def whole() -> str:
    return whole_page()


@pytest.fixture(scope="module")
def outline(whole: str) -> Outline:
    return Outline(whole)


def test_nothing_of_the_data_is_taken_for_markup(outline: Outline) -> None:
    assert not outline.all("img")
    assert len(outline.all("script")) == 2 + len(outline.all("figure"))
    assert not [at for _, attributes in outline.elements for at in attributes if at[:2] == "on"]
    assert NASTY in {text.removesuffix(" 0") for text in outline.texts["th"]}


def test_every_text_of_a_page_is_escaped() -> None:
    frame = pl.DataFrame({NASTY: [NASTY]})
    table = PageTable(caption=NASTY, frame=frame)
    parts = (NASTY, Code(text=NASTY), table, Folded(summary=NASTY, tables=[table]), chart_of(frame))

    page = page_of(*parts, title=NASTY, lead=NASTY, notice=NASTY, signature=NASTY)
    outline = Outline(rendered(page, LIBRARY))
    assert not outline.all("img")
    assert outline.texts["title"] == outline.texts["h1"] == outline.texts["code"] == [NASTY]


def test_the_first_use_of_a_term_in_a_result_links_to_its_meaning_in_the_glossary() -> None:
    result = ["a leads & b lead.", f"It leads: 95% CI, {NASTY}"]
    page = replace(
        page_of(words={"a": "1."}), sections=[Section(title="", parts=[], result=result)]
    )

    text = rendered(page, LIBRARY)
    meanings = dict(re.findall(r'<div id="(.*?)"><dt>.*?</dt><dd>(.*?)</dd>', text))
    links = re.findall(r'<a href="#(word-.*?)">(.*?)</a>', text)
    assert [term for _, term in links] == ["a", "leads", "95% CI"]
    assert [meanings[place] for place, _ in links] == ["1.", MEANINGS["leads"], MEANINGS["95% CI"]]
    said = re.findall('<p class="result">(.*?)</p>', text)
    assert [re.sub("<.*?>", "", one) for one in said] == [str(escape(one)) for one in result]
    glossary = re.sub(r"\]\(.*?\)", "", (DOCS / "reference" / "glossary.md").read_text("utf-8"))
    words = [" ".join(re.findall(r"\w+", one)) for one in (glossary, *MEANINGS.values())]
    assert [one for one in words if one not in words[0]] == []


def test_a_chart_gets_its_rows_whatever_they_hold() -> None:
    rows = pl.DataFrame({"term": [NASTY, "a\u2028b", None], "x": [1 / 3, float("nan"), None]})

    text = rendered(page_of(chart_of(rows)), LIBRARY)

    written = re.search(r'<script type="application/json" id="chart-1-1">(.*?)</script>', text)
    assert written is not None
    assert "\u2028" not in written[1]
    content = json.loads(written[1])
    assert content["columns"] == {"term": [NASTY, "a\u2028b", None], "x": [0.3333, None, None]}
    assert content["spec"]["description"] == "A chart. How."


def unpacked(column: list | dict) -> list:
    """Return the values of a column, as the page's script does."""
    if isinstance(column, list):
        return column
    runs = column.get("runs", [])
    at = column.get("at") or [
        place for place, n in zip(runs[::2], runs[1::2], strict=True) for _ in range(n)
    ]
    return [column["of"][place] for place in at]


@given(
    st.lists(
        st.sampled_from([None, True, 1, 0, 0.0, 0.5, 1 / 3, -1e-9, 2.0, "", "1", "a long text"]),
        max_size=30,
    ),
    st.integers(1, 9),
)
def test_columns_of_charts_are_packed_without_loss_what_is_repeated_once(
    values: list, times: int
) -> None:
    repeated = [value for value in values for _ in range(times)]
    texts = pl.Series("x", [None if one is None else str(one) for one in repeated], pl.String)
    numbers = [None if one is None or isinstance(one, str) else float(one) for one in repeated]

    packed = packed_columns(pl.DataFrame([texts, pl.Series("y", numbers, pl.Float64)]))

    packed = json.loads(json.dumps(packed))
    assert unpacked(packed["x"]) == texts.to_list()
    expected = [None if one is None else float(f"{one:.4g}") for one in numbers]
    assert unpacked(packed["y"]) == expected

    rows = pl.DataFrame(
        {"run": ["one"] * 50 + ["other"] * 50, "turns": ["this one", "that one"] * 50}
    )

    packed = packed_columns(rows)

    assert packed["run"] == {"of": ["one", "other"], "runs": [0, 50, 1, 50]}
    assert packed["turns"] == {"of": ["this one", "that one"], "at": [0, 1] * 50}


def test_of_a_long_table_the_first_rows_are_shown_and_it_says_where_all_are() -> None:
    frame = pl.DataFrame({"x": range(10_000, 10_501)})
    table = PageTable(caption="c", frame=frame, view="results")

    text = rendered(page_of(table), LIBRARY)

    assert re.findall(r"(10,\d+)</th>", text)[-1] == "10,499"
    assert table.left_out == 'The first 500 of 501 rows; medsim sql FOLDER "from results" has all.'
    assert "The first 500 of 501 rows; medsim sql FOLDER" in text
    assert not PageTable(caption="c", frame=frame.head(500)).left_out


def test_the_notice_names_licensed_terminologies_and_their_terms_of_use() -> None:
    a, b = {"redistributable": False}, {"redistributable": False, "terms_of_use": "Ask."}
    free = {"redistributable": True, "terms_of_use": "None."}
    assert license_notice({"a": a, "free": free, "b": b}) == (
        "This page contains terms of a licensed terminology (a and b). Do not pass it on unless "
        "the licence allows it. Ask."
    )
    assert license_notice({"free": free, "unknown": {}}) is None


def test_only_the_scripts_of_the_page_may_run_and_nothing_may_be_loaded(outline: Outline) -> None:
    policies = {one.get("http-equiv"): one.get("content") for one in outline.all("meta")}
    policy = policies["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    assert rules["script-src"].split() == script_hashes(outline)
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    for _, attributes in outline.elements:
        for name in attributes.keys() & {"src", "href"}:
            assert attributes[name].startswith(("#", "data:"))


def test_a_screen_reader_finds_its_way(outline: Outline) -> None:
    headings = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]

    assert len(ids) == len(set(ids))
    assert outline.all("html")[0]["lang"] == "en"
    assert headings.count(1) == 1
    assert headings[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(headings))
    assert len(outline.all("main")) == len(outline.all("nav")) == 1
    for tag in ("figure", "section"):
        assert all(attributes["aria-labelledby"] in ids for attributes in outline.all(tag)), tag
    assert len(outline.all("caption")) == len(outline.all("table")) > len(outline.all("figure"))
    assert all(attributes["scope"] in {"col", "row"} for attributes in outline.all("th"))
    for link in outline.all("a"):
        assert link["href"].removeprefix("#") in ids


def test_every_chart_says_how_it_was_computed_and_the_same_page_is_the_same(whole: str) -> None:
    assert whole_page() == whole
    figures = re.findall("<figure.*?</figure>", whole, re.DOTALL)

    assert len(figures) > 8
    for figure in figures:
        assert re.search("<figcaption>\n<h3 .*?</h3>\n<p>.{40,}</p>", figure, re.DOTALL)
        assert "medsim 0.1.0, results@" in figure
        assert "<table>" in figure


def test_numbers_are_written_for_people_and_sort_as_numbers() -> None:
    frame = pl.DataFrame(
        {"n": [1234567], "x": [-0.12345], "p": [0.0000123], "few": [12], "b": [True], "e": [None]}
    )

    text = rendered(page_of(PageTable(caption="c", frame=frame, formats={"p": ".2g"})), LIBRARY)

    assert '<th scope="row" class="number" data-value="1234567">1,234,567</th>' in text
    assert '<td class="number">12</td>' in text
    assert '<td class="number" data-value="-0.12345">\N{MINUS SIGN}0.123</td>' in text
    assert ">1.2e\N{MINUS SIGN}05</td>" in text
    assert "<td>yes</td>" in text
    assert "<td></td>" in text


@pytest.mark.full
@pytest.mark.slow
def test_twenty_sets_and_many_embeddings_fit_into_few_megabytes() -> None:
    names = tuple(f"embedding-{number}" for number in range(23))
    manifest = invented_manifest(names, redistributable=True)

    text = rendered(evaluation_page(manifest, invented_profile(names)), LIBRARY)

    assert len(text.encode()) < 3_500_000  # beside the library, of less than a megabyte


def colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", css))


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_have_the_contrast_that_wcag_asks_for(whole: str, scheme: int) -> None:
    found = colours(re.findall(r":root \{(.*?)\}", whole, re.DOTALL)[scheme])

    for text in ("ink", "quiet", "link"):
        assert contrast(found[text], found["paper"]) >= 4.5, text
        assert contrast(found[text], found["panel"]) >= 4.5, text
    assert contrast(found["ink"], found["notice"]) >= 4.5
    for at in range(1, 9):
        assert contrast(found[f"c{at}"], found["paper"]) >= 3, at
    cells = [charts._LOW, charts._MIDDLE, charts._HIGH, charts._NEGATIVE]
    assert min(contrast(charts._CELL_TEXT, cell) for cell in cells) >= 7
