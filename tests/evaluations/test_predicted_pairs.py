"""Evaluations of systems without vectors, beside embeddings and alone."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.evaluations.page import meanings_of
from medsim.evaluations.result_file import read_result

SYN = {"dataset": "syn_syn", "difficulty": "hard", "negatives": "random"}


@pytest.fixture(scope="module")
def folder(shared_evaluation: medsim.Evaluation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the similarities of one embedding of the shared evaluation as a table."""
    folder = tmp_path_factory.mktemp("predicted")
    scores = shared_evaluation.scores().filter(embedding="one", metric="avg_cos")
    pairs = shared_evaluation.pairs().join(scores, on=["input", "pair_id"])
    pairs.select("term1", "term2", "similarity").collect().write_csv(folder / "one.csv")
    return folder


def evaluated(shared: medsim.Evaluation, folder: Path, **options) -> medsim.Evaluation:
    inputs = [shared.folder.parent / name for name in ("build", "rated.csv")]
    standard = {"predictions": {"ranker": folder / "one.csv"}, "embeddings": {}}
    standard |= {"out": folder / "out", "resamples": 200, "coverage": "any", "threads": 1}
    return medsim.evaluate(inputs, **(standard | options))


@pytest.fixture(scope="module")
def alone(shared_evaluation: medsim.Evaluation, folder: Path) -> medsim.Evaluation:
    vectors = {"one": shared_evaluation.folder.parent / "one.vec"}
    return evaluated(shared_evaluation, folder, embeddings=vectors, metrics=["avg_cos"])


def test_exported_cosines_score_like_their_embedding(alone: medsim.Evaluation) -> None:
    results = alone.results().drop("signature", "embedding", "metric")
    ranker, one = (
        results.filter(alone.results()["embedding"] == name).sort(pl.all())
        for name in ("ranker", "one")
    )
    assert ranker.filter(statistic="auc_beyond_spelling")["value"].count() == 1
    assert ranker.equals(one)
    pairs = alone.coverage().select("embedding", "dataset", "n_pairs", "n_pairs_uncovered")
    uncovered = pairs.partition_by("embedding", as_dict=True, include_key=False)
    assert uncovered[("ranker",)].equals(uncovered[("one",)])
    assert set(alone.results().filter(embedding="ranker")["metric"]) == {"predicted"}
    assert any("ranker has no similarity for" in text for text in alone.manifest.warnings)


def test_the_auc_is_that_of_scikit_learn(alone: medsim.Evaluation, folder: Path) -> None:
    from sklearn.metrics import roc_auc_score

    table = pl.read_csv(folder / "one.csv").drop_nulls().unique()
    of_set = alone.pairs().filter(**SYN).collect().join(table, on=["term1", "term2"])
    found = alone.results().filter(embedding="ranker", statistic="auc", subset="own", **SYN)
    expected = roc_auc_score(of_set["label"], of_set["similarity"].cast(pl.Float32))
    assert found["value"].to_list() == [pytest.approx(expected, abs=1e-12)]


def test_a_system_is_in_the_outputs(alone: medsim.Evaluation) -> None:
    about = alone.manifest.embeddings["ranker"]
    assert (about["format"], about["options"]) == ("predictions", {})
    models = read_result(alone.folder / "result.json")["models"].filter(name="ranker")
    assert models.row(0, named=True)["kind"] == "system"
    assert models["fingerprint"][0] == about["fingerprint"]
    assert "itself gives" in meanings_of(alone.results())["predicted"]
    assert "ranker" in alone.summary()
    fixed = medsim.compare(alone, "auc", metrics=["avg_cos"])
    assert set(fixed["metric"]) == {"avg_cos", "predicted"}
    tests = alone.comparisons().filter(between="embeddings")
    assert {*tests["metric1"], *tests["metric2"]} == {"avg_cos", "predicted"}


def test_the_same_table_is_not_read_into_results_again(
    alone: medsim.Evaluation, shared_evaluation: medsim.Evaluation, folder: Path, tmp_path: Path
) -> None:
    scores = alone.folder / "scores/input=build/embedding=ranker/metric=predicted/data.parquet"
    before = scores.stat().st_ino
    other = (folder / "one.csv").read_text().replace("0.", "0.1")
    (tmp_path / "one.csv").write_text(other)

    again = evaluated(shared_evaluation, folder)

    assert scores.stat().st_ino == before
    assert set(again.manifest.embeddings) == {"one", "ranker"}
    with pytest.raises(OutputError, match=r"another embedding named ranker \(other content\)"):
        evaluated(shared_evaluation, tmp_path, out=folder / "out")


def test_python_systems_and_frames_are_scored(
    shared_evaluation: medsim.Evaluation, folder: Path, tmp_path: Path
) -> None:
    frame = pl.read_csv(folder / "one.csv").unique()
    asked = list[tuple[str, str]]()

    def same_length(first: str, second: str) -> float | None:
        asked.append((first, second))
        return None if " " in first else -abs(len(first) - len(second))

    given = {"frame": frame, "lengths": same_length}
    evaluation = evaluated(
        shared_evaluation, tmp_path, predictions=given, retrieval=True, out=tmp_path / "out"
    )

    about = evaluation.manifest.embeddings
    assert {each["format"] for each in about.values()} == {"python"}
    assert about["lengths"]["path"] == "Python function same_length"
    assert "retrieval needs vectors, so it leaves out frame and lengths" in (
        evaluation.manifest.warnings
    )
    lengths = evaluation.scores().filter(embedding="lengths", input="build").collect()
    pairs = evaluation.pairs().filter(input="build").collect().unique("pair_id")
    both = lengths.join(pairs, on="pair_id")
    has_space = both["term1"].str.contains(" ")
    assert both["similarity"].is_null().equals(has_space)
    distance = both["term1"].str.len_chars().cast(int) - both["term2"].str.len_chars().cast(int)
    assert (both["similarity"] + distance.abs() == 0).all()
    assert len(asked) == len({*asked}) + 3


def test_pairs_of_no_input_are_refused_unless_sets_are_left_out(
    shared_evaluation: medsim.Evaluation, folder: Path, tmp_path: Path
) -> None:
    text = (folder / "one.csv").read_text()
    (tmp_path / "one.csv").write_text(text + "velp,quone,0.5\n")

    with pytest.raises(InputError, match=r"pair 'velp \| quone' is not a pair of any input"):
        evaluated(shared_evaluation, tmp_path)
    evaluation = evaluated(shared_evaluation, tmp_path, datasets=["fsn_syn"])

    assert "ranker" in set(evaluation.results()["embedding"])


def test_names_are_unique_and_one_model_is_needed(folder: Path, tmp_path: Path) -> None:
    table = folder / "one.csv"
    for embeddings, name, message in (
        ({"glove": "x.vec"}, "glove", "two models are named 'glove'"),
        ({}, "baseline", "'baseline' is the name of scores without a model"),
    ):
        with pytest.raises(OptionError, match=message):
            medsim.evaluate("in", embeddings, tmp_path / "o", predictions={name: table})
    with pytest.raises(OptionError, match=r"of `predictions`, such as ranker=scores.csv, or of"):
        medsim.evaluate("in", {}, tmp_path / "o")


def test_the_command_scores_a_table(shared_evaluation: medsim.Evaluation, tmp_path: Path) -> None:
    rated = shared_evaluation.folder.parent / "rated.csv"
    pairs = pl.read_csv(rated).with_columns(guess=pl.col("rating") * 2)
    pairs.drop("rating").write_csv(tmp_path / "guess.csv")
    given = f"ranker={tmp_path / 'guess.csv'},similarity=guess"
    arguments = ["eval", str(rated), "--predictions", given, "-o", str(tmp_path / "out")]

    result = CliRunner().invoke(app, [*arguments, "--format", "csv"])

    assert result.exit_code == 0, result.output
    rows = pl.read_csv(result.stdout.encode()).filter(embedding="ranker", statistic="spearman")
    assert rows["value"].to_list() == [1.0]


def test_a_system_is_scored_on_inputs_that_other_models_had_before(
    shared_evaluation: medsim.Evaluation, folder: Path, tmp_path: Path
) -> None:
    build, rated = (shared_evaluation.folder.parent / name for name in ("build", "rated.csv"))
    out, vectors = tmp_path / "out", {"one": shared_evaluation.folder.parent / "one.vec"}
    options = {"resamples": 200, "coverage": "any", "metrics": ["avg_cos"]}
    medsim.evaluate([build, rated], vectors, out, **options)
    for inputs in ([build], [rated]):
        done = medsim.evaluate(
            inputs, {}, out, predictions={"ranker": folder / "one.csv"}, **options
        )
    assert set(done.scores().filter(embedding="ranker").collect()["input"]) == {"build", "rated"}
