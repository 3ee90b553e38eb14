"""Models of several evaluations, ranked by their headline scores."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest
from fixtures.browser import Watched
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.evaluations.result_file import ROWS, SCHEMA
from medsim.leaderboards.ranking import leaderboard_page

SCORES = {"a": 0.9, "b": 0.85, "c": 0.6}


def write_result(
    path: Path,
    scores: dict[str, float] = SCORES,
    p_values: dict[str, float] | None = None,
    build: str = "hpo",
    trained_on: str | None = None,
) -> Path:
    """Write a result of models whose intervals are 0.02 to either side; p-values are of "a b"."""
    facts = {"kind": "encoder", "options": "", "trained_on": trained_on}
    named = {"name": build, "fingerprint": f"{build}1", "source": "hp.obo", "vocabulary": "HPO"}
    lists = {
        "models": [{"name": name, "fingerprint": name, **facts} for name in scores],
        "builds": [named],
        "headlines": [
            {"build": build, "model": name, "metric": "cos", "value": value}
            | {"low": value - 0.02, "high": min(1, value + 0.02)}
            | {"baseline": "length", "gain": value - 0.5}
            for name, value in scores.items()
        ],
        "tests": [
            {"build": build, "model1": names[0], "model2": names[-1], "p": p}
            for names, p in (p_values or {}).items()
        ],
        "scores": [],
    }
    rows = {
        name: [dict.fromkeys(ROWS[name].split()) | row for row in part]
        for name, part in lists.items()
    }
    head = {"schema": SCHEMA, "headline": {"statistic": "auc_beyond_spelling", "version": 1}}
    head |= {"medsim": "0.2.0", "libraries": {}, "options": {"seed": 0}}
    path.write_text(json.dumps(head | rows), encoding="utf-8")
    return path


def ranks(*results: Path) -> dict[str, tuple[int, str | None]]:
    board = medsim.leaderboard(results)
    return {row["model"]: (row["rank"], row["ranked_by"]) for row in board.to_dicts()}


def test_models_of_different_evaluations_are_ranked_by_intervals(tmp_path: Path) -> None:
    files = [
        write_result(tmp_path / f"{name}.json", {name: value})
        for name, value in {**SCORES, "near": 0.88}.items()
    ]

    assert ranks(*files) == {
        "a": (1, "intervals"),
        "near": (1, "intervals"),
        "b": (2, "intervals"),
        "c": (4, "intervals"),
    }
    assert ranks(files[0]) == {"a": (1, None)}


def test_a_model_with_two_scores_on_one_build_is_refused(tmp_path: Path) -> None:
    files = [write_result(tmp_path / f"{at}.json", {"a": at / 10}) for at in (9, 5)]
    for given in (files, files[::-1]):
        with pytest.raises(InputError, match=r"a has the scores 0\.500 and 0\.900 on hpo"):
            medsim.leaderboard(given)
    near = [write_result(tmp_path / f"n{at}.json", {"a": 0.9 + at / 1e6}) for at in (0, 1)]
    assert len(ranks(*near)) == 1


def test_a_model_without_an_interval_does_not_share_the_first_rank(tmp_path: Path) -> None:
    files = [write_result(tmp_path / f"{name}.json", {name: SCORES[name]}) for name in "abc"]
    content = json.loads(files[2].read_text(encoding="utf-8"))
    content["headlines"][0] |= {"low": None, "high": None}
    files[2].write_text(json.dumps(content), encoding="utf-8")

    assert ranks(*files)["c"] == (3, "intervals")


def test_the_best_model_without_an_interval_is_ranked_by_its_value(tmp_path: Path) -> None:
    scores = {**SCORES, "near": 0.89}
    files = [write_result(tmp_path / f"{name}.json", {name: scores[name]}) for name in scores]
    content = json.loads(files[0].read_text(encoding="utf-8"))
    content["headlines"][0] |= {"low": None, "high": None}
    files[0].write_text(json.dumps(content), encoding="utf-8")

    found = {name: rank for name, (rank, _) in ranks(*files).items()}

    assert found == {"a": 1, "near": 1, "b": 2, "c": 4}


def ranks_of_pairs(
    scores: dict[str, tuple[float, float, float]], tests: dict[tuple[str, str], float]
) -> dict[str, int]:
    """Rank models by looking at every pair, from value, low and high; the oracle."""
    n_comparisons = len(scores) * (len(scores) - 1) / 2

    def is_below(one: str, other: str) -> bool:
        (value, _, high), (value_of_other, low_of_other, _) = scores[one], scores[other]
        p = max((p for pair, p in tests.items() if {*pair} == {one, other}), default=None)
        if p is None:
            return high < low_of_other
        return p * n_comparisons < 0.05 and value < value_of_other

    return {
        one: 1 + sum(is_below(one, other) for other in scores if other != one) for one in scores
    }


@pytest.mark.parametrize("seed", range(8))
def test_ranks_are_those_of_comparing_every_pair(tmp_path: Path, seed: int) -> None:
    drawn = random.Random(seed)  # noqa: S311 — no secret
    names = list("abcdefghijkl")
    scores = {name: drawn.choice([0.6, 0.61, 0.63, 0.66, 0.8]) for name in names}
    p_values, files = {}, []
    for at in range(4):  # some models and pairs are in several results
        chosen = sorted(drawn.sample(names, 5))
        pairs = [pair for pair in itertools.combinations(chosen, 2) if drawn.random() < 0.7]
        of_file = {pair: drawn.choice([1e-9, 0.5]) for pair in pairs}
        for pair, p in of_file.items():
            p_values[pair] = max(p, p_values.get(pair, 0))
        of_chosen = {name: scores[name] for name in chosen}
        tests = {" ".join(pair): p for pair, p in of_file.items()}
        files.append(write_result(tmp_path / f"{at}.json", of_chosen, tests))
    listed = {name for file in files for name in scores_in(file)}

    found = {name: rank for name, (rank, _) in ranks(*files).items()}

    ends = {name: (scores[name], scores[name] - 0.02, scores[name] + 0.02) for name in listed}
    assert found == ranks_of_pairs(ends, p_values)
    assert found == {name: rank for name, (rank, _) in ranks(*files[::-1]).items()}


def scores_in(file: Path) -> list[str]:
    return [row["model"] for row in json.loads(file.read_text(encoding="utf-8"))["headlines"]]


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks need Linux's /proc")
def test_memory_grows_with_the_models_and_not_with_their_pairs(tmp_path: Path) -> None:
    progress = Progress()
    for n_models in (10, 1500):
        scores = {f"model {at}": 0.5 + at / 5000 for at in range(n_models)}
        result = write_result(tmp_path / f"{n_models}.json", scores)
        with progress.stage("rank"):
            board = medsim.leaderboard(result)
        assert board.height == n_models

    small, large = (record.peak_mib for record in progress.records)
    assert large < small + 300  # a table of all pairs has over 1,000


@pytest.mark.parametrize(("p", "rank"), [(0.016, 2), (0.017, 1)])
def test_models_of_one_evaluation_are_ranked_by_tests_corrected_for_all_comparisons(
    tmp_path: Path, p: float, rank: int
) -> None:
    tests = {"a b": p, "a c": 1e-9, "c b": 1e-9}

    found = ranks(write_result(tmp_path / "r.json", p_values=tests))

    way = "paired tests"
    assert found == {"a": (1, way), "b": (rank, way), "c": (3, way)}


def test_a_model_in_two_results_has_one_row_with_the_tests_and_declarations_of_both(
    tmp_path: Path,
) -> None:
    first = write_result(tmp_path / "1.json", {"a": 0.9, "b": 0.89}, {"a b": 1e-9})
    second = write_result(tmp_path / "2.json", {"b": 0.89, "c": 0.6}, {"b c": 1}, trained_on="news")

    assert ranks(first, second) == {
        "a": (1, "paired tests and intervals"),
        "b": (2, "paired tests"),
        "c": (2, "paired tests and intervals"),
    }
    board = medsim.leaderboard(tmp_path)
    assert dict(board.select("model", "trained_on").iter_rows())["b"] == "news"


def test_a_model_under_two_names_has_one_row_and_is_not_compared_with_itself(
    tmp_path: Path,
) -> None:
    path = write_result(tmp_path / "r.json", {"a": 0.9, "b": 0.9, "c": 0.6}, {"a b": 1})
    content = json.loads(path.read_text(encoding="utf-8"))
    content["models"][1]["fingerprint"] = "a"
    path.write_text(json.dumps(content), encoding="utf-8")

    assert ranks(path) == {"a": (1, "intervals"), "c": (2, "intervals")}


def test_results_on_different_builds_are_ranked_apart(tmp_path: Path) -> None:
    write_result(tmp_path / "1.json", {"a": 0.6})
    write_result(tmp_path / "2.json", {"b": 0.9}, build="go")

    assert ranks(tmp_path) == {"a": (1, None), "b": (1, None)}
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
    assert 'data-filters="6 13 7"' in html
    again = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert [row["model"] for row in json.loads(again.stdout)][-1] == "<script>"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (0.53, "a leads with an AUC"),
        (0.52, "No model is significantly better than chance (0.5); a has an AUC"),
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


def test_missing_results_are_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"has no result\.json; evaluate a build, not a sample of it"
    ):
        medsim.leaderboard(tmp_path)
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

    board = medsim.leaderboard(tmp_path, progress=medsim.Progress.to_stderr())

    assert set(board["model"]) == {*SCORES}
    (warning,) = capsys.readouterr().err.splitlines()
    assert "7 JSON files left out, not a result.json: folder.json, notes/cut.json" in warning
    assert warning.endswith("and 2 more")
    (tmp_path / "published.json").unlink()
    with pytest.raises(InputError, match=r"has no result\.json"):
        medsim.leaderboard(tmp_path)


@pytest.mark.parametrize("name", ["result.json", "deep/result.json", "published.json"])
def test_a_damaged_result_in_a_folder_is_an_error(tmp_path: Path, name: str) -> None:
    write_result(tmp_path / "whole.json")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    damaged = write_result(tmp_path / name)
    damaged.write_bytes(damaged.read_bytes()[:300])

    with pytest.raises(InputError, match=f"{name} is not JSON"):
        medsim.leaderboard(tmp_path)


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
