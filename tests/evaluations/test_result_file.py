"""The file result.json of an evaluation, compared with its tables."""

from __future__ import annotations

import datetime as dt
import json
import math
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import medsim
from medsim.core.errors import InputError
from medsim.evaluations.result_file import read_result


@pytest.fixture(scope="module")
def evaluation(
    tmp_path_factory: pytest.TempPathFactory, shared_evaluation: medsim.Evaluation
) -> medsim.Evaluation:
    inputs, out = shared_evaluation.folder.parent, tmp_path_factory.mktemp("result") / "results"
    models = {"one": f"{inputs / 'one.vec'},trained_on=news 2019", "two": inputs / "two.vec"}
    return medsim.evaluate(inputs / "build", models, out, coverage="any")


def test_the_file_has_headlines_gains_and_the_scores_of_covered_pairs(
    evaluation: medsim.Evaluation,
) -> None:
    result = read_result(evaluation.folder / "result.json")

    results, comparisons = evaluation.results(), evaluation.comparisons()
    headlines = results.filter(pl.col("embedding") != "baseline", statistic="auc_beyond_spelling")
    assert result["headlines"]["value"].to_list() == pytest.approx(headlines["value"].to_list())
    tests = comparisons.filter(of="auc_beyond_spelling", between="baseline").sort("embedding1")
    assert result["headlines"]["gain"].to_list() == pytest.approx(tests["difference"].to_list())
    at_metric = pl.col("metric") == "avg_cos"
    own = results.filter(at_metric, subset="own", statistic="auc").drop_nulls("value")
    scores = result["scores"].filter(at_metric, statistic="auc")["value"]
    assert scores.sort().to_list() == pytest.approx(own["value"].sort().to_list())
    assert {*result["scores"].filter(model="one")["metric"]} == {"avg_cos"}
    assert {*result["scores"].filter(model="baseline")["metric"]} > {"distance", "length"}
    assert result["builds"]["strata"].to_list() == ["edit distance"]  # too few positives


def test_the_file_says_what_a_model_is_and_what_it_was_trained_on(
    evaluation: medsim.Evaluation, shared_evaluation: medsim.Evaluation
) -> None:
    first, second = read_result(evaluation.folder / "result.json")["models"].to_dicts()

    assert first["kind"] == second["kind"] == "word vectors"
    assert (first["trained_on"], second["trained_on"]) == ("news 2019", None)
    assert first["size"] == (shared_evaluation.folder.parent / "one.vec").stat().st_size
    assert evaluation.manifest.embeddings["one"]["options"] == {}  # vectors do not depend on it


@pytest.mark.full
def test_the_file_names_the_split_of_a_build(
    evaluation: medsim.Evaluation, shared_evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    inputs = shared_evaluation.folder.parent
    splits = medsim.split(inputs / "build", tmp_path / "splits", ratios="50/50")

    of_split = medsim.evaluate(splits["test"], {"one": inputs / "one.vec"}, tmp_path / "out")

    names = [
        read_result(each.folder / "result.json")["builds"]["split"].to_list()
        for each in (evaluation, of_split)
    ]
    assert names == [[None], ["test"]]


def test_a_sample_has_no_file(shared_evaluation: medsim.Evaluation, tmp_path: Path) -> None:
    inputs = shared_evaluation.folder.parent

    medsim.evaluate(inputs / "build", {"one": inputs / "one.vec"}, tmp_path / "out", sample=50)

    assert not (tmp_path / "out" / "result.json").exists()


def test_the_file_has_no_term_and_no_path(evaluation: medsim.Evaluation) -> None:
    text = (evaluation.folder / "result.json").read_text(encoding="utf-8")

    terms = evaluation.pairs().select("term1").unique().collect()["term1"]
    assert not [term for term in terms if f'"{term}"' in text]
    assert str(evaluation.folder.parent) not in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": 1}, "another version of medsim, with another headline .*run medsim eval again"),
        ({"headline": {"statistic": "auc_matched"}}, "another version of medsim"),
        ({"headline": 1}, "cannot be read"),
        ({"builds": [{"name": "build"}]}, "a value is missing in builds"),
        (
            {
                "headlines": [
                    {"build": "b", "model": "m", "metric": "cos", "value": 0.5, "changes": []}
                    | dict.fromkeys(("n_pairs", "n_covered", "effective"), 1)
                ]
            },
            "model is not listed: build 'b', model 'm'",
        ),
        ({"scores": [{"value": "much"}]}, "cannot be read"),
        ({"headlines": 1}, "cannot be read"),
        ({"models": []}, "headlines: model is not listed: build 'build', model 'one'"),
        ({"builds": []}, "headlines: build is not listed: build 'build'"),
    ],
)
def test_a_changed_file_is_refused_in_one_line(
    evaluation: medsim.Evaluation, tmp_path: Path, change: dict[str, object], says: str
) -> None:
    content = json.loads((evaluation.folder / "result.json").read_text(encoding="utf-8"))
    path = tmp_path / "result.json"
    path.write_text(json.dumps(content | change), encoding="utf-8")

    with pytest.raises(InputError, match=says) as error:
        read_result(path)

    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("part", "key", "by", "says"),
    [
        (
            "headlines",
            "low",
            0.5,
            "headlines: not from 0 to value: low .*, build 'build', model 'one'",
        ),
        ("headlines", "high", -0.4, "not from value to 1: high .*, build 'build', model 'one'"),
        ("scores", "low", 0.9, "scores: not from 0 to value: low .*"),
        ("headlines", "value", 0.05, "headlines: the changes give another interval: value 0.6"),
        ("headlines", "effective", -3, "headlines: the changes give another interval: value 0.5"),
    ],
)
def test_a_changed_number_is_refused(
    evaluation: medsim.Evaluation, tmp_path: Path, part: str, key: str, by: float, says: str
) -> None:
    content = json.loads((evaluation.folder / "result.json").read_text(encoding="utf-8"))
    row = next(row for row in content[part] if row["low"] is not None)
    row[key] += by
    path = tmp_path / "result.json"
    path.write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(InputError, match=f"cannot be read .*{says}.*damaged or was edited"):
        read_result(path)


@pytest.mark.parametrize(
    ("part", "change", "says"),
    [
        ("headlines", {"low": None}, "headlines: the changes give another interval: value 0.5"),
        ("headlines", {"changes": []}, "headlines: changes are missing: build 'build', model 'on"),
        ("headlines", {"changes": [None] * 99}, "headlines: the changes give another interval"),
        ("headlines", {"changes": [0.5] * 99}, ""),
        ("headlines", {"effective": 63}, "headlines: not from 0 to n_pairs: effective 63.0, "),
        (
            "headlines",
            {"value": 2},
            "headlines: not from 0 to 1: value 2.0, build 'build', model 'one'",
        ),
        (
            "headlines",
            {"gain": 5},
            "headlines: not from -1 to 1: gain 5.0, build 'build', model 'one'",
        ),
        ("headlines", {"gain_high": -1}, "headlines: not from gain to inf: gain_high -1.0, "),
        (
            "scores",
            {"n_covered": 10**6},
            "scores: not from 0 to n_pairs: n_covered 1000000, .* 'one', ",
        ),
        ("scores", {"n_pairs": -4}, "scores: not from 0 to inf: n_pairs -4, build 'build', "),
        ("scores", {"value": math.nan}, "scores: not from 0 to 1: value nan, build 'build', "),
    ],
)
def test_an_impossible_value_is_refused_in_one_line_that_names_file_model_and_value(
    evaluation: medsim.Evaluation, tmp_path: Path, part: str, change: dict[str, object], says: str
) -> None:
    content = json.loads((evaluation.folder / "result.json").read_text(encoding="utf-8"))
    content[part][0] |= change
    path = tmp_path / "result.json"
    path.write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(InputError, match=rf"^{path} cannot be read as .*\({says}") as error:
        read_result(path)

    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("part", "change", "says"),
    [
        ("models", {"fingerprint": "other"}, "models: listed twice: name 'one', fingerprint '"),
        ("builds", {"fingerprint": "other"}, "builds: listed twice: name 'build', fingerprint '"),
        (
            "headlines",
            {"value": 0.1, "low": 0},
            "headlines: listed twice: build 'build', model 'one', ",
        ),
        ("scores", {"value": 0.1}, "scores: listed twice: build 'build', "),
    ],
)
def test_contradicting_rows_are_refused(
    evaluation: medsim.Evaluation, tmp_path: Path, part: str, change: dict[str, object], says: str
) -> None:
    content = json.loads((evaluation.folder / "result.json").read_text(encoding="utf-8"))
    content[part].append(content[part][0] | change)
    path = tmp_path / "result.json"
    path.write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(InputError, match=rf"^{path} cannot be read as .*\({says}") as error:
        read_result(path)

    assert "\n" not in str(error.value)


def test_the_file_says_who_submitted_it_when_and_how_large_the_model_is(
    evaluation: medsim.Evaluation, shared_evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    shutil.copytree(evaluation.folder, tmp_path / "results")
    inputs = shared_evaluation.folder.parent
    one = {"one": f"{inputs / 'one.vec'},trained_on=news 2019"}

    medsim.evaluate(
        inputs / "build",
        one,
        tmp_path / "results",
        coverage="any",
        submitter="Ada",
        date=dt.date(2026, 1, 2),
    )

    (row, _) = read_result(tmp_path / "results" / "result.json")["models"].to_dicts()
    n_words = len((inputs / "one.vec").read_text(encoding="utf-8").splitlines()) - 1
    assert row["n_parameters"] == n_words * 6
    assert (row["submitter"], row["date"], row["address"]) == ("Ada", "2026-01-02", None)
    before = json.loads((evaluation.folder / "result.json").read_text(encoding="utf-8"))
    assert not {"submitter", "date"} & {*before}
    more = {"three": f"{inputs / 'one.vec'},trained_on=news 2020"}
    medsim.evaluate(inputs / "build", more, tmp_path / "results", coverage="any", submitter="Ben")
    models = read_result(tmp_path / "results" / "result.json")["models"]
    assert {*models.select("submitter", "date").rows()} == {("Ben", "2026-01-02")}
    assert models.height == 3


def test_large_changes_are_in_a_file_beside(
    evaluation: medsim.Evaluation,
    shared_evaluation: medsim.Evaluation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "results"
    shutil.copytree(evaluation.folder, out)
    inputs = shared_evaluation.folder.parent
    again = partial(medsim.evaluate, inputs / "build", {"two": inputs / "two.vec"}, out)
    with monkeypatch.context() as patched:
        patched.setattr("medsim.evaluations.result_file._MAX_TEXT", 1000)
        again(coverage="any", date=dt.date(2026, 1, 2))
    arrays = out / "result.npz"

    for path in (out, tmp_path):  # also under another name
        read = read_result(path / ("result.json" if path is out else "two.json"))["headlines"]
        assert read.equals(read_result(evaluation.folder / "result.json")["headlines"])
        shutil.copy(out / "result.json", tmp_path / "two.json")
        shutil.copy(arrays, tmp_path / "two.npz")
    content = dict(np.load(arrays))
    for change, says in (
        (content | {"0": content["0"] * 2}, "the changes give another interval"),
        (content | {"0": content["0"].astype(float)}, "not rows of whole numbers"),
        (content | {"0": np.array([{}], object)}, "Object arrays cannot be loaded"),
        ({"0": content["0"]}, "two.npz cannot be read as result.npz"),
    ):
        np.savez(tmp_path / "two.npz", **change)
        with pytest.raises(InputError, match=says):
            read_result(tmp_path / "two.json")
    (tmp_path / "two.npz").unlink()
    with pytest.raises(InputError, match=r"two\.npz cannot be read .*No such file"):
        read_result(tmp_path / "two.json")
    again(coverage="any", date=dt.date(2026, 1, 3))
    assert not arrays.exists()


def test_the_published_results_can_be_read() -> None:
    paths = [*(Path(__file__).parents[2] / "benchmarks" / "leaderboard").glob("*.json")]

    assert paths
    assert all(read_result(path)["headlines"].height for path in paths)
