"""The evaluator of sentence-transformers: its scores are those of ``medsim eval``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

import medsim
from medsim.core.errors import OptionError

MODULE = "sentence_transformers.sentence_transformer"


class Library:
    """A stand-in for the base class of the library's evaluators."""

    primary_metric: str | None = "unset"


class Model:
    """A stand-in for a model of the library; also for its card, which notes what it is given."""

    def __init__(self) -> None:
        self.model_card_data = self
        self.noted: list[tuple[object, ...]] = []

    def encode(self, texts: Sequence[str], **_: object) -> np.ndarray:
        """Return float32[n_texts, 16]."""
        table = np.random.default_rng(0).normal(size=(128, 16)).astype(np.float32)
        return np.array([sum(table[ord(char) % 128] for char in text) for text in texts])

    def set_evaluation_metrics(self, *noted: object) -> None:
        """Note the evaluator, the scores, the epoch and the step."""
        self.noted.append(noted)


@pytest.fixture
def build(shared_evaluation: medsim.Evaluation, monkeypatch) -> Path:
    """Return the folder of a build, with a stand-in for the library."""
    module = ModuleType(MODULE)
    module.evaluation = ModuleType("evaluation")
    module.evaluation.SentenceEvaluator = Library
    monkeypatch.setitem(sys.modules, "sentence_transformers", ModuleType("sentence_transformers"))
    monkeypatch.setitem(sys.modules, MODULE, module)
    return shared_evaluation.folder.parent / "build"


def expected_scores(evaluation: medsim.Evaluation, name: str) -> dict[str, float]:
    results = evaluation.results().filter(pl.col("embedding") != "baseline")
    gains = evaluation.comparisons().filter(between="baseline", of="auc_beyond_spelling")
    of_sets = results.filter(statistic="auc", subset="common").drop_nulls("value")
    columns = ("dataset", "difficulty", "negatives", "value")
    return {
        f"{name}_auc_beyond_spelling": results.filter(statistic="auc_beyond_spelling")[
            "value"
        ].item(),
        f"{name}_auc_beyond_spelling_gain": gains["difference"].item(),
        **{
            f"{name}_auc_{dataset}_{difficulty}_{negatives}": value
            for dataset, difficulty, negatives, value in of_sets.select(columns).iter_rows()
        },
    }


@pytest.mark.parametrize("sample", [40, None])
def test_scores_are_those_of_an_evaluation(build: Path, tmp_path: Path, sample: int | None) -> None:
    model = Model()
    evaluator = medsim.TermSimilarityEvaluator(build, sample=sample, seed=2, name="val")

    scores = evaluator(model, None, 1, 20)

    options = {"sample": sample, "seed": 2, "metrics": ["cos"]}
    evaluation = medsim.evaluate(build, {"m": Model()}, tmp_path / "results", **options)
    assert scores == expected_scores(evaluation, "val")
    assert isinstance(evaluator, Library)
    assert evaluator.primary_metric in scores
    assert evaluator.greater_is_better
    assert model.noted == [(evaluator, scores, 1, 20)]
    assert evaluator.get_config_dict() == {"sample": sample, "seed": 2}


def test_without_the_library_the_error_names_the_extra(build: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setitem(sys.modules, MODULE, None)

    with pytest.raises(OptionError, match="with its extra sentence-transformers"):
        medsim.TermSimilarityEvaluator(build)


@pytest.mark.usefixtures("build")
def test_a_build_without_a_headline_score_is_refused(tmp_path: Path) -> None:
    medsim.synth(tmp_path / "x.zip", concepts=60, seed=1)
    other = medsim.build(tmp_path / "x.zip", tmp_path / "build", negatives=["random"])

    with pytest.raises(OptionError, match="build has no headline score; it needs pairs of syn_syn"):
        medsim.TermSimilarityEvaluator(other)
    with pytest.raises(OptionError, match="`build` must be one build"):
        medsim.TermSimilarityEvaluator([other, other])
