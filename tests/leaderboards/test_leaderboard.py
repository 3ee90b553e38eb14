"""Models of several evaluations, ranked by their headline scores."""

from __future__ import annotations

import json
import random
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats
from fixtures.browser import Watched
from numpy.typing import NDArray
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError
from medsim.evaluations.result_file import ROWS, SCHEMA, read_result, sample_of
from medsim.leaderboards.ranking import leaderboard_page, result_rows, with_ranks
from medsim.statistics.estimates import clustered_estimate, interval_of

SCORES = {"a": 0.9, "b": 0.85, "c": 0.6}
N_CLUSTERS = 40


def cluster_values(name: str, value: float) -> NDArray[np.float64]:
    """Return the scores of a model in clusters of one size, with this mean."""
    drawn = np.random.default_rng(zlib.crc32(name.encode())).normal(size=N_CLUSTERS)
    return value + 0.06 * (drawn - drawn.mean())


def write_result(
    path: Path,
    scores: dict[str, float] = SCORES,
    build: str = "hpo",
    trained_on: str | None = None,
    **about: str,
) -> Path:
    """Write a result of models whose scores are means of ``cluster_values``."""
    facts = {"kind": "encoder", "options": "", "trained_on": trained_on}
    named = {"name": build, "fingerprint": f"{build}1", "source": "hp.obo", "vocabulary": "HPO"}
    headlines = []
    for name, value in scores.items():
        values = cluster_values(name, value)
        changes = ((values.sum() - values) / (N_CLUSTERS - 1) - value) / 1e-9
        row = {"build": build, "model": name, "metric": "cos", "baseline": "length"}
        row |= {"value": value, "gain": value - 0.5, "n_pairs": 40_000, "n_covered": 40_000}
        row |= {"effective": N_CLUSTERS, "changes": np.rint(changes).astype(int).tolist()}
        left_out = value + np.array(row["changes"]) * 1e-9
        headlines.append(row | interval_of(clustered_estimate(value, left_out, 40_000, N_CLUSTERS)))
    lists = {
        "models": [{"name": name, "fingerprint": name, **facts} for name in scores],
        "builds": [named],
        "headlines": headlines,
        "scores": [],
    }
    rows = {
        name: [dict.fromkeys(ROWS[name].split()) | row for row in part]
        for name, part in lists.items()
    }
    head = {"schema": SCHEMA, "headline": {"statistic": "auc_beyond_spelling", "version": 2}}
    head |= {"medsim": "0.2.0", "libraries": {}, "options": {"seed": 0}, **about}
    path.write_text(json.dumps(head | rows), encoding="utf-8")
    return path


def edited(path: Path, change: Callable[[dict[str, Any]], object], to: Path | None = None) -> Path:
    """Change the content of a result, and return its path."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    to = to or path
    to.write_text(json.dumps(content), encoding="utf-8")
    return to


def ranks(*results: Path) -> dict[str, int | None]:
    return dict(medsim.leaderboard(results).select("model", "rank").iter_rows())


def is_better(name: str, value: float, other: str, value_of_other: float) -> bool:
    """Return whether a model is significantly better, by Student's test of cluster differences."""
    differences = cluster_values(name, value) - cluster_values(other, value_of_other)
    t = differences.mean() / (differences.std(ddof=1) / N_CLUSTERS**0.5)
    return bool(t > 0 and 2 * scipy.stats.t.sf(t, N_CLUSTERS / 2) < 0.05)


@pytest.mark.parametrize("seed", range(6))
def test_added_models_change_no_verdict_and_raise_a_rank_by_the_better_ones(
    tmp_path: Path, seed: int
) -> None:
    drawn = random.Random(seed)  # noqa: S311 — no secret
    scores = {name: round(drawn.uniform(0.55, 0.65), 3) for name in "abcdefghijklm"}
    few = {name: scores[name] for name in "abcde"}
    files = [write_result(tmp_path / "few.json", few)]
    before = ranks(*files)
    for at, names in enumerate(("fgh", "ijkl", "m")):  # of other evaluations
        added = {name: scores[name] for name in names}
        files.append(write_result(tmp_path / f"{at}.json", added))

    after = ranks(*files)

    def n_better(name: str, among: dict[str, float]) -> int:
        others = among.items() - {(name, scores[name])}
        return sum(is_better(*other, name, scores[name]) for other in others)

    assert before == {name: 1 + n_better(name, few) for name in few}
    assert after == {name: 1 + n_better(name, scores) for name in scores}
    added = {name: value for name, value in scores.items() if name not in few}
    assert {name: after[name] - before[name] for name in few} == {
        name: n_better(name, added) for name in few
    }
    assert after == ranks(*files[::-1])


def test_two_models_of_two_files_are_compared_as_in_one_evaluation(
    shared_evaluation: medsim.Evaluation,
) -> None:
    result = shared_evaluation.folder / "result.json"

    first, second = map(sample_of, read_result(result)["headlines"].to_dicts())

    tested = shared_evaluation.comparisons().filter(between="embeddings", of="auc_beyond_spelling")
    test = first.difference(second)
    assert [test.p, test.low, test.high] == pytest.approx(
        list(tested.select("p", "low", "high").row(0)), abs=1e-6
    )


def test_two_scores_of_a_model_on_one_build_have_no_rank(tmp_path: Path) -> None:
    files = [write_result(tmp_path / f"{at}.json", {"a": at / 10, "b": 0.7}) for at in (9, 5)]
    for given in (files, files[::-1]):
        board = medsim.leaderboard(given)
        assert board["model"].to_list() == ["b", "a", "a"]
        assert board["rank"].to_list() == [1, None, None]
        assert all("0.9 in " in text and "0.5 in " in text for text in board["check"][1:])
    near = [write_result(tmp_path / f"n{at}.json", {"a": 0.9 + at / 1e6}) for at in (0, 1)]
    assert len(ranks(*near)) == 1


def test_models_without_enough_clusters_share_the_first_rank(tmp_path: Path) -> None:
    def without_clusters(content: dict[str, Any]) -> None:
        for row in content["headlines"]:
            row |= {"low": None, "high": None, "effective": 4.5, "changes": []}

    result = edited(write_result(tmp_path / "r.json"), without_clusters)

    assert ranks(result) == {"a": 1, "b": 1, "c": 1}


def test_the_rank_does_not_depend_on_the_name_of_a_folder(tmp_path: Path) -> None:
    files = [write_result(tmp_path / f"{name}.json", {name: SCORES[name]}) for name in "abc"]
    edited(files[0], lambda content: content["builds"][0].update(name="z"))
    for row in (content := json.loads(files[0].read_text("utf-8")))["headlines"]:
        row["build"] = "z"
    files[0].write_text(json.dumps(content), "utf-8")

    board = medsim.leaderboard(files)

    assert {*board["build"]} == {"hpo"}
    assert board["value"].is_sorted(descending=True)
    assert board["rank"].to_list() == sorted(board["rank"])


def test_models_on_other_pairs_have_a_table_of_their_own(tmp_path: Path) -> None:
    files = [write_result(tmp_path / f"{name}.json", {name: SCORES[name]}) for name in "abc"]

    def with_fewer(content: dict[str, Any]) -> None:
        content["headlines"][0] |= {"n_pairs": 39_999, "n_covered": 1}

    edited(files[0], with_fewer)

    assert ranks(*files) == {"b": 1, "c": 2, "a": 1}
    pytest.importorskip("altair", reason="needs medsim[report]")
    titles = [part.title for part in leaderboard_page(medsim.leaderboard(files)).sections]
    assert len({*titles}) == 2
    assert all(title.endswith(" pairs") for title in titles)


def test_a_model_in_two_results_has_one_row_with_the_declaration_of_either(
    tmp_path: Path,
) -> None:
    write_result(tmp_path / "1.json", {"a": 0.9, "b": 0.89})
    write_result(tmp_path / "2.json", {"b": 0.89, "c": 0.6}, trained_on="news")

    board = medsim.leaderboard(tmp_path)

    declared = {"a": None, "b": "news", "c": "news"}
    assert dict(board.select("model", "trained_on").iter_rows()) == declared


def test_a_model_under_two_names_has_one_row(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.json", {"a": 0.9, "c": 0.6})

    def with_twin(content: dict[str, Any]) -> None:
        content["models"].append({**content["models"][0], "name": "b"})
        content["headlines"].append({**content["headlines"][0], "model": "b"})

    assert ranks(edited(path, with_twin)) == {"a": 1, "c": 2}


def test_the_mean_over_a_benchmark_is_of_models_on_all_its_builds(tmp_path: Path) -> None:
    builds = {"hpo": "hpo1", "go": "go1", "mondo": "mondo1"}
    for build in builds:
        write_result(tmp_path / f"{build}.json", build=build)
    write_result(tmp_path / "incomplete.json", {"d": 0.99})
    read = [result_rows(read_result(path)) for path in sorted(tmp_path.glob("*.json"))]
    rows = pl.concat(read).with_columns(file=pl.lit(""))

    board = with_ranks(rows, builds)

    means = board.filter(build_fingerprint="medsim-benchmark 1.0")
    assert board.head(3).equals(means)
    assert means["model"].to_list() == ["a", "b", "c"]
    assert means["value"].to_list() == pytest.approx([0.9, 0.85, 0.6])
    of_a = cluster_values("a", 0.9)
    error = of_a.std(ddof=1) / N_CLUSTERS**0.5 / 3**0.5  # the same three times
    (row, *_) = means.to_dicts()
    reach = scipy.stats.t.ppf(0.975, N_CLUSTERS / 2)
    assert row["high"] - row["low"] == pytest.approx(2 * reach * error, rel=0.05)
    assert means["rank"].to_list() == [1, 2, 3]
    assert board.filter(build="hpo")["model"].to_list() == ["d", "a", "b", "c"]


def test_a_forged_an_old_an_incomplete_and_an_honest_result_are_on_one_page(
    tmp_path: Path, shared_evaluation: medsim.Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("altair", reason="needs medsim[report]")
    inputs, honest = shared_evaluation.folder.parent, shared_evaluation.folder / "result.json"
    fingerprint = read_result(honest)["builds"]["fingerprint"][0]
    benchmark = {"build": fingerprint, "hpo": "hpo1"}
    monkeypatch.setattr("medsim.leaderboards.ranking.benchmark_builds", lambda: benchmark)
    folder = tmp_path / "results"
    folder.mkdir()

    def forge(content: dict[str, Any]) -> None:
        content["headlines"][0]["value"] += 0.05

    def forge_changes(content: dict[str, Any]) -> None:
        row = content["headlines"][0]
        row["changes"] = [change // 10 for change in row["changes"]]

    def forge_all(content: dict[str, Any]) -> None:
        better, row = content["headlines"]
        row |= {name: better[name] for name in ("changes", "low", "high", "value")}
        content |= {"headlines": [row], "scores": []}

    edited(honest, lambda content: content["headlines"].pop(), folder / "honest.json")
    edited(honest, forge, folder / "forged.json")
    edited(honest, lambda content: content.update(schema=2), folder / "old.json")
    edited(honest, forge_all, folder / "consistent.json")
    write_result(folder / "incomplete.json", {"d": 0.9}, submitter="Ada", date="2026-01-02")
    edited(folder / "incomplete.json", forge_changes, folder / "changes.json")
    page = tmp_path / "page.html"
    given = {name: inputs / f"{name}.vec" for name in ("one", "two")}

    board = medsim.leaderboard(folder, page, checks=[inputs / "build"], embeddings=given)

    states = dict(board.select("model", "check").iter_rows())
    assert states == {"one": "checked", "two": "different: 0.500 found", "d": "unchecked"}
    assert dict(board.select("model", "rank").iter_rows()) == {"one": 1, "two": None, "d": 1}
    html = page.read_text(encoding="utf-8")
    for text in (
        "results/forged.json cannot be read as result.json of medsim eval (headlines: the changes",
        "results/changes.json cannot be read as result.json of medsim eval (headlines: the chan",
        "results/old.json was made by another version of medsim",
        "Unchecked rows are claims of their submitters.",
        "Ada",
    ):
        assert text in html, text


def test_models_of_hubs_are_evaluated_again_and_services_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    addresses = {name: f"hf:org/{name}@1a" for name in "abc"} | {"d": "api:http://127.0.0.1:9"}

    def with_addresses(content: dict[str, Any]) -> None:
        for model in content["models"]:
            model |= {"address": addresses[model["name"]], "options": "pooling=cls, prefix=x "}
        content["options"] = {"coverage": "all", "independent_pairs": False}

    def with_other_files(content: dict[str, Any]) -> None:
        content["models"][0]["fingerprint"] = "other"

    result = edited(write_result(tmp_path / "r.json", {**SCORES, "d": 0.7}), with_addresses)
    asked = {}

    def evaluate(_: object, models: dict[str, str], out: Path, **_options: object) -> None:
        asked.update(models)
        ((name, _),) = models.items()
        if name == "c":
            raise InputError("there is no network")
        out.mkdir()
        found = write_result(out / "result.json", {name: SCORES[name]})
        content = json.loads(result.read_text(encoding="utf-8"))
        edited(found, lambda new: new.update(options=content["options"]))
        if name == "b":
            edited(found, with_other_files)

    monkeypatch.setattr("medsim.evaluations.evaluate.evaluate", evaluate)

    board = medsim.leaderboard(result, checks=["hpo"], progress=medsim.Progress(sys.stderr))

    assert asked == {name: f"hf:org/{name}@1a,pooling=cls,prefix=x " for name in "abc"}
    states = dict(board.select("model", "check").iter_rows())
    assert states == {
        "a": "checked",
        "b": "different: 0.850 found",
        "c": "unchecked",
        "d": "unchecked",
    }
    assert "c stays unchecked: there is no network" in capsys.readouterr().err


def test_results_on_different_builds_are_ranked_apart(tmp_path: Path) -> None:
    write_result(tmp_path / "1.json", {"a": 0.6})
    write_result(tmp_path / "2.json", {"b": 0.9}, build="go")

    assert ranks(tmp_path) == {"a": 1, "b": 1}
    assert medsim.leaderboard(tmp_path)["build"].to_list() == ["go", "hpo"]


def test_a_split_is_named_after_its_terminology(tmp_path: Path) -> None:
    whole, split = (write_result(tmp_path / f"{name}.json", build="test") for name in ("a", "b"))
    content = json.loads(split.read_text(encoding="utf-8"))
    content["builds"][0] |= {"split": "test", "fingerprint": "other"}
    split.write_text(json.dumps(content), encoding="utf-8")

    boards = medsim.leaderboard([whole, split]).group_by("build_fingerprint").agg("build")

    names = {fingerprint: {*builds} for fingerprint, builds in boards.iter_rows()}
    assert names == {"test1": {"test"}, "other": {"hp.obo test split"}}


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (None, "not stated"),
        ("hpo-train", "yes"),
        ("UMLS+PubMed", "yes"),
        ("shpo+Wikipedia", "unknown"),
        ("PubMed+Wikipedia", "no"),
    ],
)
def test_a_row_says_whether_the_model_was_trained_on_the_terminology(
    tmp_path: Path, declared: str | None, expected: str
) -> None:
    result = write_result(tmp_path / "r.json", trained_on=declared)

    assert {*medsim.leaderboard(result)["trained_here"]} == {expected}


def test_the_command_ranks_an_evaluation_and_writes_a_page(
    shared_evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    pytest.importorskip("altair", reason="needs medsim[report]")
    page = tmp_path / "page.html"
    write_result(tmp_path / "other.json", {"<script>": 0.99})

    arguments = ["leaderboard", str(shared_evaluation.folder), str(tmp_path), "-o", str(page)]
    result = CliRunner().invoke(app, arguments)

    assert result.exit_code == 0, result.output
    assert "above baseline" in result.stdout
    assert "  avg_cos  " in result.stdout
    html = page.read_text(encoding="utf-8")
    assert "&lt;script&gt; <a href=" in html
    assert 'data-filters="6 14 8"' in html
    again = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert [row["model"] for row in json.loads(again.stdout)][-1] == "<script>"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (0.53, "a leads with an AUC"),
        (0.51, "No model is significantly better than chance (0.5); a has an AUC"),
        (0.4, "No model is significantly better than chance (0.5); a has an AUC"),
    ],
)
def test_no_model_leads_a_board_without_a_model_above_chance(
    tmp_path: Path, value: float, says: str
) -> None:
    pytest.importorskip("altair", reason="needs medsim[report]")
    board = medsim.leaderboard(write_result(tmp_path / "r.json", {"a": value, "b": 0.3}))

    (section,) = leaderboard_page(board).sections

    assert section.result[0].startswith(says)
    assert "among 1 pair of models, about 0.05 false verdicts are expected" in section.prose


def test_missing_results_are_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no result\.json; evaluate a whole build"):
        medsim.leaderboard(tmp_path)
    with pytest.raises(InputError, match=r"absent\.json does not exist"):
        medsim.leaderboard([write_result(tmp_path / "r.json"), tmp_path / "absent.json"])
    with pytest.raises(OptionError, match="`embeddings` needs `checks`"):
        medsim.leaderboard(tmp_path / "r.json", embeddings={"a": "a.vec"})
    with pytest.raises(OptionError, match="name at least one result"):
        medsim.leaderboard([])
    for name in ("board.svg", "board"):
        with pytest.raises(OptionError, match=r"board.* must end in \.html"):
            medsim.leaderboard(write_result(tmp_path / "r.json"), tmp_path / name)
    with pytest.raises(InputError, match="no result has a headline score"):
        medsim.leaderboard(write_result(tmp_path / "none.json", {}))


def test_other_files_in_a_folder_are_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = {
        "package.json": '{"name": "velps", "dependencies": {}}',
        "notes/empty.json": "",
        "notes/rows.json": "[1, 2]",
        "notes/cut.json": '{"answers": [{"ite',
        "notes/naïve.json": '{"$schema": "https://json.example/schema"}',
        "wic/test.json": '{"label": true}',
    }
    write_result(tmp_path / "published.json")
    for name, text in others.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "folder.json").mkdir()

    board = medsim.leaderboard(tmp_path, progress=medsim.Progress(sys.stderr))

    assert set(board["model"]) == {*SCORES}
    (warning,) = capsys.readouterr().err.splitlines()
    assert "7 JSON files left out, not a result.json: folder.json, notes/cut.json" in warning
    assert warning.endswith("and 2 more")
    (tmp_path / "published.json").unlink()
    with pytest.raises(InputError, match=r"has no result\.json"):
        medsim.leaderboard(tmp_path)


def test_damaged_results_are_left_out_with_a_warning_and_an_error_if_no_other_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep").mkdir()
    names = ["deep/result.json", "published.json"]
    for name in names:
        damaged = write_result(tmp_path / name)
        damaged.write_bytes(damaged.read_bytes()[:300])
    with pytest.raises(InputError, match=r"deep/result\.json is not JSON"):
        medsim.leaderboard(tmp_path)
    write_result(tmp_path / "whole.json")

    board = medsim.leaderboard(tmp_path, progress=medsim.Progress(sys.stderr))

    assert set(board["model"]) == {*SCORES}
    lines = capsys.readouterr().err.splitlines()
    assert all(f"{name} is not JSON" in line for name, line in zip(names, lines, strict=True))


def test_a_file_that_is_named_must_be_a_result(tmp_path: Path) -> None:
    other = tmp_path / "package.json"
    other.write_text("{}", encoding="utf-8")

    with pytest.raises(InputError, match=r"cannot be read as result\.json of medsim eval"):
        medsim.leaderboard(other)


@pytest.mark.slow
def test_tables_are_filtered_by_kind_and_training_data_and_nothing_is_requested(
    browser, tmp_path: Path
) -> None:
    pytest.importorskip("altair", reason="needs medsim[report]")
    write_result(tmp_path / "1.json", {"a": 0.9, "b": 0.8}, trained_on="hpo")
    write_result(tmp_path / "2.json", {"c": 0.7})
    medsim.leaderboard(tmp_path, tmp_path / "page.html")

    watched = Watched(browser.new_context(), (tmp_path / "page.html").as_uri())
    watched.page.wait_for_selector("html[data-drawn=yes]")
    watched.page.get_by_label("trained on this terminology").select_option("not stated")

    rows = watched.page.locator("table[data-filters] tbody tr:visible")
    assert [row.locator("td").first.inner_text() for row in rows.all()] == ["c"]
    watched.page.get_by_label("trained on this terminology").select_option("all")
    assert rows.count() == 3
    watched.page.get_by_label("size").select_option("not known")
    assert rows.count() == 3
    assert watched.complaints == []
    assert len(watched.requests) == 1
    watched.context.close()
