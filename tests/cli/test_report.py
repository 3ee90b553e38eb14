"""Reports of builds and evaluations: the files, and their content compared with the outputs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.builds import selected
from fixtures.embeddings import write_words
from fixtures.reports import add_tables
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError, OutputError

pytest.importorskip("altair", reason="needs medsim[report]")

from medsim.builds.page import distances_and_examples
from medsim.builds.stats import table_2
from medsim.evaluations.detail_sections import EvaluationReportData, evaluation_data
from medsim.pages import markup
from medsim.pages.markup import _library

pytestmark = pytest.mark.slow

SET = ["input", "dataset", "difficulty", "negatives"]


@pytest.fixture(scope="module")
def outputs(shared_evaluation: medsim.Evaluation) -> Path:
    return shared_evaluation.folder.parent


@cache
def covered_by_all(evaluation: medsim.Evaluation, metric: str, embedding: str) -> pl.DataFrame:
    """Return the labelled pairs of every set with their similarities, if all models have one."""
    wide = (
        evaluation.scores()
        .filter(pl.col("metric") == "avg_cos")
        .collect()
        .group_by("input", "pair_id")
        .agg(pl.col("similarity").is_not_null().all().alias("all"))
        .filter("all")
    )
    scores = evaluation.scores().filter(metric=metric, embedding=embedding).collect()
    return (
        evaluation.pairs()
        .collect()
        .filter(input="build")
        .join(wide, on=["input", "pair_id"])
        .join(scores, on=["input", "pair_id"])
    )


def test_same_output_gives_the_same_report(outputs: Path, tmp_path: Path) -> None:
    for output in ("build", "results"):
        first = medsim.write_report(outputs / output, tmp_path / "report.html")
        shutil.copytree(outputs / output, tmp_path / "elsewhere" / output)
        second = medsim.write_report(tmp_path / "elsewhere" / output, tmp_path / f"{output}.html")

        assert first.read_bytes() == second.read_bytes()
        assert b"vegaEmbed" in first.read_bytes()
        assert first.stat().st_size < 3_000_000
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"report.html", "build.html", "results.html", "elsewhere"}


def test_unwritable_report_is_an_error_and_leaves_nothing(outputs: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder"):
        medsim.write_report(outputs / "build", tmp_path / "missing" / "report.html")
    with pytest.raises(OutputError, match="it is a folder; give a file"):
        medsim.write_report(outputs / "build", tmp_path)
    with pytest.raises(InputError, match="not a finished build"):
        medsim.write_report(tmp_path, tmp_path / "report.html")
    (link := tmp_path / "link.html").symlink_to(tmp_path / "missing.html")
    with pytest.raises(OutputError, match="not a file and cannot be replaced"):
        medsim.write_report(outputs / "build", link)
    (mine := tmp_path / "mine.html").write_text("<!doctype html><title>mine</title>")
    with pytest.raises(OutputError, match=r"mine\.html was not written by medsim"):
        medsim.write_report(outputs / "build", mine)
    assert "mine" in mine.read_text()
    assert {*tmp_path.iterdir()} == {link, mine}


SCORES = "scores/input=build/embedding=one/metric=avg_cos/data.parquet"


def cut_short(path: Path) -> None:
    pl.read_parquet(path, hive_partitioning=False).tail(-1).write_parquet(path)


def altered(path: Path) -> None:
    pl.read_parquet(path).with_columns(value=pl.lit(0.999)).write_parquet(path)


def damaged(path: Path) -> None:
    path.write_bytes(b"no parquet")


@pytest.mark.parametrize(
    ("file", "damage", "message"),
    [
        (f"results/{SCORES}", damaged, r"embedding=one/.*/data\.parquet cannot be read"),
        (f"results/{SCORES}", cut_short, "does not hold the pairs of its input"),
        ("results/results.parquet", altered, "was changed; run"),
        ("build/stats.parquet", damaged, r"stats\.parquet cannot be read .*rebuild"),
    ],
)
def test_damaged_and_altered_files_are_named(
    outputs: Path, tmp_path: Path, file: str, damage: Callable[[Path], None], message: str
) -> None:
    folder = tmp_path / file.split("/", maxsplit=1)[0]
    shutil.copytree(outputs / folder.name, folder)
    damage(tmp_path / file)

    with pytest.raises(InputError, match=message):
        medsim.write_report(folder, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_missing_extra_is_named(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markup, "_library", _library.__wrapped__)  # a cache would need no import
    monkeypatch.setitem(sys.modules, "altair", None)

    with pytest.raises(OptionError, match="install medsim with its extra report"):
        medsim.write_report(outputs / "build", tmp_path / "report.html")


def test_a_single_chart_is_written_as_an_image(outputs: Path, tmp_path: Path) -> None:
    svg, png = tmp_path / "chart.svg", tmp_path / "chart.png"
    for out, statistic in [(svg, None), (svg, "auc"), (png, "auc")]:  # the second replaces one
        medsim.write_report(outputs / "results", out, statistic=statistic)

    assert svg.read_text(encoding="utf-8").startswith("<svg")
    assert ">AUC</text>" in svg.read_text(encoding="utf-8")
    assert png.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OptionError, match=r"name `out` \.svg or \.png"):
        medsim.write_report(outputs / "results", tmp_path / "page.html", statistic="auc")
    with pytest.raises(InputError, match="is a build, not an evaluation"):
        medsim.write_report(outputs / "build", tmp_path / "build.svg")
    capital = tmp_path / "Chart.SVG"
    medsim.write_report(outputs / "results", capital, statistic="auc")
    assert capital.read_bytes() == svg.read_bytes()
    for name in ("report.pdf", "report.jpg"):
        with pytest.raises(OptionError, match=r"report\.\w+ must end in \.html"):
            medsim.write_report(outputs / "results", tmp_path / name)
    svg.write_text("mine")
    with pytest.raises(OutputError, match=r"chart\.svg was not written by medsim"):
        medsim.write_report(outputs / "results", svg)


SIMILARITY = '<th scope="col" class="number">similarity</th>'


def test_command_writes_the_page_and_prints_its_path(outputs: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"

    result = CliRunner().invoke(app, ["report", str(outputs / "build"), "-o", str(out)])

    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"write {out}: " in result.stderr
    assert result.stderr.endswith(f"next: open {out} in a browser; it works offline\n")
    assert SIMILARITY not in out.read_text(encoding="utf-8")  # as it has no embedding negatives


@pytest.fixture(scope="module")
def shown(shared_evaluation: medsim.Evaluation) -> EvaluationReportData:
    return evaluation_data(shared_evaluation)


def test_histograms_and_quartiles_use_pairs_covered_by_all_embeddings(
    shared_evaluation: medsim.Evaluation, shown: EvaluationReportData
) -> None:
    n_seen = 0
    for key, group in shown.distributions.group_by(*SET, "embedding", "metric", "kind"):
        *of_set, embedding, metric, kind = key
        pairs = covered_by_all(shared_evaluation, metric, embedding).filter(
            **dict(zip(SET, of_set, strict=True))
        )
        low, high = pairs["similarity"].min(), pairs["similarity"].max()
        similarities = pairs.filter(pl.col("label") == int(kind == "positives"))[
            "similarity"
        ].to_numpy()
        expected, ends = np.histogram(
            similarities, 40, (low, high) if low < high else (low - 0.5, low + 0.5)
        )
        assert group["share"].to_numpy() == pytest.approx(100 * expected / len(similarities))
        assert group["x"].to_numpy() == pytest.approx((ends[:-1] + ends[1:]) / 2)
        named = dict(zip([*SET, "embedding", "metric", "kind"], key, strict=True))
        quartiles = shown.quartiles.filter(**named).row(0, named=True)
        assert quartiles["n"] == len(similarities)
        assert quartiles["median"] == pytest.approx(np.median(similarities))
        n_seen += 1
    assert n_seen > 20


def test_area_under_a_curve_is_the_auc_of_the_results(
    shared_evaluation: medsim.Evaluation, shown: EvaluationReportData
) -> None:
    results = shared_evaluation.results().filter(subset="common", statistic="auc")
    for key, group in shown.curves.group_by(*SET, "embedding", "metric"):
        named = dict(zip([*SET, "embedding", "metric"], key, strict=True))
        ordered = group.sort("at")
        area = np.trapezoid(ordered["true_positives"], ordered["false_positives"])
        assert area == pytest.approx(results.filter(**named)["value"].item(), abs=2e-3)
        best = results.filter(**{c: named[c] for c in (*SET, "embedding")})["value"].max()
        assert results.filter(**named)["value"].item() == best


def test_worst_errors_are_of_all_pairs(
    shared_evaluation: medsim.Evaluation, shown: EvaluationReportData
) -> None:
    errors = shown.errors
    assert set(errors["difficulty"]) == {"hard"}
    assert set(errors["negatives"]) == {"levenshtein"}
    for key, group in errors.group_by("dataset", "embedding", "metric", "label"):
        dataset, embedding, metric, label = key
        pairs = covered_by_all(shared_evaluation, metric, embedding).filter(
            dataset=dataset, difficulty="hard", negatives="levenshtein", label=label
        )
        worst = pairs.sort("similarity", "pair_id", descending=[not label, False]).head(5)
        columns = ["term1", "term2", "similarity"]
        assert group.select(columns).rows() == worst.select(columns).rows()


def test_optional_tables_are_shown_if_present(
    outputs: Path, shown: EvaluationReportData, tmp_path: Path
) -> None:
    shutil.copytree(outputs / "results", tmp_path / "results")
    add_tables(tmp_path / "results")

    profile = evaluation_data(medsim.Evaluation(tmp_path / "results"))

    assert profile.separation.height > 0
    assert profile.retrieval.height > 0
    assert shown.retrieval.is_empty()
    for (_, embedding), group in profile.retrieved.group_by("input", "embedding"):
        assert group["nearest_linked"].to_list() == [False] * 10, embedding
        similarities = group["nearest_similarity"]
        assert similarities.to_list() == similarities.sort(descending=True).to_list()
        assert similarities[0] == pytest.approx(0.929)


def test_a_build_shows_the_distances_of_its_pairs(outputs: Path) -> None:
    build = medsim.open(outputs / "build")
    pairs = build.pairs()

    distances, _ = distances_and_examples(build)

    for (dataset, difficulty, kind), group in distances.group_by("dataset", "difficulty", "kind"):
        of_set = pairs.filter(dataset=dataset, difficulty=difficulty)
        if kind == "positives":
            values = of_set.filter(negatives="random", label=1)["distance"]
        else:
            values = of_set.filter(negatives=kind.split()[0], label=0)["distance"]
        expected = values.value_counts().sort("distance")
        assert group.sort("distance").select("distance", "n").rows() == expected.rows()


def test_errors_are_of_pairs_with_known_words(outputs: Path, tmp_path: Path) -> None:
    build = medsim.open(outputs / "build")
    hard = build.pairs(difficulty="hard", negatives="levenshtein")
    words = sorted({word for side in ("term1", "term2") for t in hard[side] for word in t.split()})
    covered_words = {word for at, word in enumerate(words) if at % 5}
    write_words(tmp_path / "most.vec", sorted(covered_words), 3)
    out = medsim.evaluate(
        outputs / "build",
        {"most": f"{tmp_path / 'most.vec'},case=keep,parts=never"},
        tmp_path / "results",
        metrics=["avg_cos"],
        resamples=100,
    )

    errors = evaluation_data(out).errors

    terms = selected(out, "select term from term where n_unknown_words = 0")["term"].implode()
    whole = hard.filter(pl.all_horizontal(pl.col("term1", "term2").is_in(terms)))
    assert 0 < whole.height < hard.height
    large = [name for name, group in whole.group_by("dataset") if group["label"].n_unique() == 2]
    shown = errors.filter(pl.col("dataset").is_in([name for (name,) in large]))
    assert shown.height > 5
    pairs = set(whole.select("term1", "term2").iter_rows())
    assert {(a, b) for a, b in shown.select("term1", "term2").iter_rows()} <= pairs


def test_embedding_negatives_are_shown_with_their_similarity(outputs: Path, tmp_path: Path) -> None:
    build = medsim.build(
        outputs / "release.zip",
        tmp_path / "build",
        negatives=("random", "embedding"),
        embedding=f"one={outputs / 'one.vec'}",
    )

    distances, examples = distances_and_examples(build)

    kinds = distances.filter(dataset="syn_syn", difficulty="hard")["kind"]
    assert set(kinds) == {"positives", "random negatives", "embedding negatives"}
    assert "embedding" in table_2(build).columns
    hard = build.pairs(dataset="syn_syn", difficulty="hard", negatives="embedding")
    first = hard.filter(label=0).head(3).select("term1", "term2", "distance", "similarity")
    of_set = examples.filter(dataset="syn_syn", difficulty="hard")
    shown = of_set.filter(kind="embedding negatives")
    assert shown.select(first.columns).equals(first)
    assert first["similarity"].null_count() == 0
    assert of_set.filter(kind="random negatives")["similarity"].null_count() == 3
    page = medsim.write_report(build, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "options=<" not in page
    assert SIMILARITY in page
