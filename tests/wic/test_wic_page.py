"""Reports of benchmarks of words in context and of models on them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.wic import invented_instances, write_instances, write_kinds

import medsim
from medsim import describe_wic, write_report
from medsim.pages.page import Chart, Folded, Page, PageTable
from medsim.wic.output import WicScores, read_instances
from medsim.wic.page import worst_errors

if TYPE_CHECKING:
    from medsim.wic.output import Benchmark


pytest.importorskip("altair", reason="medsim[report] is not installed")


@pytest.fixture(scope="module")
def page(shared_benchmark: Benchmark) -> Page:
    from medsim.wic.page import benchmark_page

    return benchmark_page(shared_benchmark)


def test_the_report_has_the_tables_and_charts_of_the_paper(
    shared_benchmark: Benchmark, page: Page
) -> None:
    titles = [section.title for section in page.sections]
    assert titles == ["Instances", "Repeats", "Provenance"]  # no types, as its source is OBO
    tables = [part for part in page.sections[0].parts if isinstance(part, PageTable)]
    for table, number in zip(tables, "1345", strict=True):
        assert table.caption.startswith(f"Table {number}: ")
        assert table.frame.equals(describe_wic(shared_benchmark, table=number))
    instances = shared_benchmark.instances()
    share, test = instances["label"].mean(), instances.filter(split="test").height
    sizes, same, unseen, *_ = page.sections[0].result
    assert sizes.startswith(
        f"The benchmark has {instances.height:,} instances (pairs of sentences): "
    )
    assert sizes.endswith(f" and {test:,} in test.")
    assert same == f"In {share:.1%} of the instances, the target terms have the same meaning."
    share = tables[3].frame["unseen"][-1] / test
    assert unseen == f"In {share:.1%} of the test instances, neither target term occurs in train."
    (chart,) = page.sections[1].parts
    assert isinstance(chart, Chart)
    curve = describe_wic(shared_benchmark, table="figure-3")
    for name in ("instances", "concepts"):
        points = chart.rows.filter(panel=name).select("x", "value").rows()
        assert points == curve.select("repeats", name).rows()


def test_the_report_is_one_file(
    shared_benchmark: Benchmark, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medsim.pages.markup._library", lambda *_: "")
    pages = {shared_benchmark.folder: page}
    monkeypatch.setattr("medsim.wic.page.benchmark_page", lambda opened: pages[opened.folder])
    text = write_report(shared_benchmark, tmp_path / "wic.html").read_text(encoding="utf-8")
    assert "Figure 3: size of train by the limit on repeats of a sentence" in text
    assert "Scientific Data" in text


pytestmark = pytest.mark.skipif(
    find_spec("sklearn") is None or find_spec("altair") is None,
    reason="medsim[wic] or medsim[report] is not installed",
)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> WicScores:
    """Return scores beside the file of their instances, one.json."""
    folder = tmp_path_factory.mktemp("scored")
    write_instances(folder / "one.json", invented_instances(9, 64, reuse=0.1, wrong=0.4))
    models = ["random", f"words={write_kinds(folder / 'kinds.txt')}"]
    medsim.evaluate_wic(folder / "one.json", folder / "scores", models=models, threads=1)
    return WicScores(folder / "scores")


def test_the_surest_wrong_answers_have_their_sentences(scored: WicScores) -> None:
    predictions = scored.read("predictions.parquet").filter(model="words", covered=True)
    instances = read_instances(scored.folder.parent / "one.json").to_dicts()

    section = worst_errors(scored, ["words", "random"])

    assert section is not None
    (folded,) = section.parts  # a coin has no scores
    assert isinstance(folded, Folded)
    assert folded.summary == "Wrong answers of words"
    for table, label in zip(folded.tables, (0, 1), strict=True):
        wrong = predictions.filter(label=label, prediction=1 - label).to_dicts()
        wrong.sort(key=lambda row: (row["score"] * (-1 if label == 0 else 1), row["instance"]))
        assert table.frame["score"].to_list() == [row["score"] for row in wrong[:5]]
        for row, answer in zip(table.frame.iter_rows(named=True), wrong, strict=False):
            instance = instances[answer["instance"] - 1]
            for side in "12":
                assert row[f"term {side}"] == instance[f"term{side}"]
                assert row[f"sentence {side}"] == instance[f"sentence{side}"]


def test_sentences_of_missing_or_changed_instances_are_not_shown(scored: WicScores) -> None:
    file = scored.folder.parent / "one.json"
    before = file.read_bytes()
    for change in (file.unlink, lambda: write_instances(file, invented_instances(8, 64))):
        change()

        section = worst_errors(scored, ["words"])

        assert section is not None
        assert not section.parts
        assert f"as {file} is missing or has changed" in section.prose
    file.write_bytes(before)
