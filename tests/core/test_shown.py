"""Summaries of results: a line at a prompt, a table in a notebook."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import medsim
from medsim.core.shown import Shown, html_table

NASTY = "</td><script>alert('x')</script>&amp;"


class _Cells(HTMLParser):
    """The tags of a page, and the texts of the cells of its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Keep a tag."""
        del attrs
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        """Keep a text that is not blank."""
        if data.strip():
            self.texts.append(data)


def parsed(html: str) -> _Cells:
    cells = _Cells()
    cells.feed(html)
    return cells


@pytest.fixture(params=["build", "evaluation", "study", "benchmark"])
def result(request: pytest.FixtureRequest) -> Shown:
    result: Shown = request.getfixturevalue(f"shared_{request.param}")
    return result


def test_result_shows_its_name_sizes_and_next_calls(result: Shown) -> None:
    *said, first, second = repr(result).split("\n")

    assert [" has the highest AUC beyond " in text for text in said] == (
        [True] if isinstance(result, medsim.Evaluation) else []
    )
    assert first.startswith(f"{type(result).__name__}('")
    assert any(character.isdigit() for character in first.partition("'): ")[2])
    assert second.startswith("  next: ")
    html = parsed(result._repr_html_())
    assert "table" in html.tags
    assert result._name in html.texts
    for call in result._summary().calls:
        assert call in second
        assert call in html.texts
        name = call.partition("(")[0]
        owner = medsim if name.startswith("medsim.") else result
        assert hasattr(owner, name.removeprefix("medsim").removeprefix("."))


def test_verification_shows_its_findings() -> None:
    row = {"check": "files", "guarantee": NASTY, "violations": 2, "example": "x"}

    result = medsim.Verification(findings=pl.DataFrame([row]))

    assert repr(result).startswith("Verification: broken: files, 1 check\n")
    html = parsed(result._repr_html_())
    assert NASTY in html.texts
    assert "script" not in html.tags


def test_text_is_escaped_numbers_are_short_and_long_tables_are_cut() -> None:
    frame = pl.DataFrame({NASTY: ["<b>", None], "a": [0.12345, 1e-9], "n": [1234567, -1]})

    html = parsed(html_table(frame))

    assert html.texts == [NASTY, "a", "n", "<b>", "0.1235", "1,234,567", "1e-09", "-1"]
    assert set(html.tags) == {"table", "thead", "tr", "th", "td"}
    *_, last, note = parsed(html_table(pl.DataFrame({"n": range(15)}))).texts
    assert (last, note) == ("11", "and 3 more rows")


def test_damaged_output_shows_its_error(shared_build: medsim.Build, tmp_path: Path) -> None:
    folder = tmp_path / "<i>build"
    shutil.copytree(shared_build.folder, folder)
    build = medsim.Build(folder)
    (folder / "stats.parquet").write_bytes(b"PAR1")

    html = parsed(build._repr_html_())

    assert "i" not in html.tags
    assert any("stats.parquet cannot be read" in text for text in html.texts)


def test_scores_and_pairs_show_their_tables() -> None:
    from medsim.studies.score import Scores

    scores = Scores(
        study_id="12", tables={"all": pl.DataFrame({"a": [NASTY]})}, methods="", warnings=()
    )
    assert repr(scores) == "Scores: study 12, tables all\n  next: .table(name)"
    assert NASTY in parsed(scores._repr_html_()).texts
