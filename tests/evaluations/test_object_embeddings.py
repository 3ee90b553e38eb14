"""Evaluations of objects: their provenance, runs that add to them, and their charts and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import write_text

import medsim
from medsim.core.errors import InputError, OptionError, OutputError

WORDS = {"hand": [0.9, 0.1], "foot": [0.8, 0.3], "heart": [0.1, 0.9], "eye": [0.3, 0.7]}


def lengths(texts: Sequence[str]) -> np.ndarray:
    return np.array([[len(text), sum(map(ord, text)) % 97, 1.0] for text in texts])


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    path = tmp_path / "rated.csv"
    path.write_text("term1,term2,rating\nhand,foot,4\nhand,heart,1\nfoot,eye,2\nheart,eye,3\n")
    return path


def evaluate(inputs: Any, embeddings: dict[str, Any], tmp_path: Path) -> medsim.Evaluation:
    return medsim.evaluate(
        inputs, embeddings, tmp_path / "out", resamples=200, cache=tmp_path / "cache", threads=1
    )


def test_objects_and_files_of_equal_vectors_score_equally(rated: Path, tmp_path: Path) -> None:
    file = write_text(tmp_path / "words.txt", WORDS, header=False)

    evaluation = evaluate(rated, {"file": file, "object": WORDS, "model": lengths}, tmp_path)

    results = evaluation.results().drop("signature")
    rows = {
        name: results.filter(embedding=name).drop("embedding").sort(pl.all())
        for name in ("file", "object")
    }
    assert rows["file"].height > 0
    assert rows["file"].equals(rows["object"])
    about = evaluation.manifest.embeddings
    assert about["object"]["path"] == "Python object dict"
    assert about["model"]["path"] == "Python function lengths"
    for name in ("object", "model"):
        assert about[name]["identity"] == "hash of the vectors used"
    assert "identity" not in about["file"]
    assert str(tmp_path) not in json.dumps([about["object"], about["model"]])
    signature = evaluation.results().filter(embedding="model")["signature"][0]
    assert f"model@{str(about['model']['fingerprint'])[:12]}" in signature


def test_the_same_objects_are_evaluated_once_and_others_are_added(
    rated: Path, tmp_path: Path
) -> None:
    first = evaluate(rated, {"model": lengths, "words": WORDS}, tmp_path)
    before = first.results().filter(embedding="model", subset="own").drop("signature")

    both = evaluate(rated, {"model": lambda texts: lengths(texts), "new": WORDS}, tmp_path)  # noqa: PLW0108 — another function with the same vectors

    assert set(both.results()["embedding"]) == {"model", "words", "new", "baseline"}
    again = both.results().filter(embedding="model", subset="own").drop("signature")
    assert again.equals(before)
    with pytest.raises(OutputError, match="another embedding named words"):
        evaluate(rated, {"words": {**WORDS, "hand": [1.0, 1.0]}}, tmp_path)


def test_metrics_that_do_not_fit_are_refused_for_existing_results(
    rated: Path, tmp_path: Path
) -> None:
    evaluate(rated, {"model": lengths}, tmp_path)
    with pytest.raises(OptionError, match="none of `metrics` fits model; add one of cos"):
        medsim.evaluate(rated, {"model": lengths}, tmp_path / "out", metrics=["avg_cos"])


def test_a_model_needs_a_version_to_add_inputs(rated: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("term1,term2,rating\nknee,foot,4\nknee,toe,1\ntoe,eye,2\n")
    versioned = medsim.Embedding(lengths, version="1")
    evaluate(rated, {"model": lengths, "versioned": versioned}, tmp_path)

    with pytest.raises(OutputError, match=r"give models a version: medsim.Embedding\(model, vers"):
        evaluate([rated, other], {"model": lengths}, tmp_path)
    evaluation = evaluate([rated, other], {"versioned": versioned}, tmp_path)

    assert set(evaluation.results().filter(embedding="versioned")["input"]) == {"rated", "other"}
    about = evaluation.manifest.embeddings["versioned"]
    assert about["identity"] == "versioned, version 1, as given"


def test_a_chart_has_the_best_value_of_each_embedding(shared_evaluation: medsim.Evaluation) -> None:
    altair = pytest.importorskip("altair", reason="medsim[report] is not installed")

    for statistic in ("auc", "spearman"):
        chart = shared_evaluation.chart(statistic)
        assert isinstance(chart, altair.TopLevelMixin)
        spec = chart.to_dict()
        assert "var(--" not in json.dumps(spec)
        assert "contender" not in json.dumps(spec)
        (rows,) = spec["datasets"].values()
        best = medsim.compare(shared_evaluation, statistic).drop_nulls("value")
        points = sorted((row["embedding"], row["value"]) for row in rows)
        assert points == sorted(best.select("embedding", "value").iter_rows())


def test_a_chart_of_a_missing_statistic_is_refused(
    shared_evaluation: medsim.Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="has no mean reciprocal rank"):
        shared_evaluation.chart("mrr")
    with pytest.raises(OptionError, match="unknown statistic 'acu'; did you mean auc"):
        shared_evaluation.chart("acu")  # type: ignore[arg-type]  # a slip
    with pytest.raises(OptionError, match="unknown statistic None; known: auc_beyond_spelling"):
        shared_evaluation.chart(None)  # type: ignore[arg-type]  # a slip
    with pytest.raises(OptionError, match="unknown subset 'all'"):
        shared_evaluation.chart("auc", subset="all")  # type: ignore[arg-type]  # a slip
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    monkeypatch.delitem(__import__("sys").modules, "medsim.evaluations.chart", raising=False)
    with pytest.raises(OptionError, match="a chart needs Altair; install medsim with its extra"):
        shared_evaluation.chart("auc")


def test_an_evaluation_shows_its_values_first(shared_evaluation: medsim.Evaluation) -> None:
    table = shared_evaluation._best()

    assert table.columns[:4] == ["input", "embedding", "statistic", "value"]
    assert table["statistic"][0] == "auc_beyond_spelling"
    expected = medsim.compare(shared_evaluation).select(table.columns)
    assert table.sort(pl.all()).equals(expected.sort(pl.all()))
