"""The report of a benchmark shows its tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from medsim import describe_wic, write_report
from medsim.pages.page import Chart, Page, PageTable

if TYPE_CHECKING:
    from medsim.wic.benchmark import Benchmark

pytest.importorskip("altair", reason="medsim[report] is not installed")


@pytest.fixture(scope="module")
def page(shared_benchmark: Benchmark) -> Page:
    from medsim.wic.page import benchmark_page

    return benchmark_page(shared_benchmark)


def test_its_tables_and_charts_are_those_of_the_paper(
    shared_benchmark: Benchmark, page: Page
) -> None:
    titles = [section.title for section in page.sections]
    assert titles == ["Instances", "Repeats", "Provenance"]  # no types, as its source is OBO
    tables = [part for part in page.sections[0].parts if isinstance(part, PageTable)]
    for table, number in zip(tables, "1345", strict=True):
        assert table.caption.startswith(f"Table {number}: ")
        assert table.frame.equals(describe_wic(shared_benchmark, table=number))
    (chart,) = page.sections[1].parts
    assert isinstance(chart, Chart)
    curve = describe_wic(shared_benchmark, table="figure-3")
    for name in ("instances", "concepts"):
        drawn = chart.rows.filter(panel=name).select("x", "value").rows()
        assert drawn == curve.select("repeats", name).rows()


def test_the_report_is_one_file(
    shared_benchmark: Benchmark, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medsim.cli.report._library", lambda *_: "")
    made = {shared_benchmark.folder: page}
    monkeypatch.setattr("medsim.wic.page.benchmark_page", lambda opened: made[opened.folder])
    text = write_report(shared_benchmark, tmp_path / "wic.html").read_text(encoding="utf-8")
    assert "Figure 3: train by how often a sentence may be repeated" in text
    assert "Scientific Data" in text
