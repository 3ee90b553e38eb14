"""Objects of Python as models of words in context."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fixtures.wic import write_benchmark

import medsim
from medsim.core.errors import OptionError
from medsim.wic.models.model_specs import CosineModel, WordModel, model_of
from medsim.wic.output import WicEvaluation

VECTORS = {"pain": [1.0, 0.0], "fever": [0.0, 1.0]}


def quoted_word(texts: Sequence[str]) -> np.ndarray:
    """Return a vector of the kind of the word in quotes: float64[n, 4]."""
    words = [text.split('"')[1].partition("-")[0] for text in texts]
    return np.array([[1 + len(word), ord(word[0]) - 96, word.count("e"), 1] for word in words])


def test_objects_are_models_by_what_they_give() -> None:
    assert isinstance(model_of(VECTORS, "m"), WordModel)
    model = model_of(quoted_word, "m")
    assert isinstance(model, CosineModel)
    assert model.reads == "quoted"
    given = medsim.Embedding(VECTORS, name="own", input="sentence")
    assert model_of(given).name == "own"
    assert model_of(given, "other").name == "other"
    assert model_of(given).reads == "sentence"  # type: ignore[union-attr]  # of words
    with pytest.raises(OptionError, match=r"medsim.Embedding\(Python function .*input=sentence"):
        model_of(medsim.Embedding(quoted_word, input="sentence"))


def test_an_object_answers_words_in_context(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="medsim[wic] is not installed")
    write_benchmark(tmp_path / "data")
    versioned = medsim.Embedding(quoted_word, name="named", version="1")

    scores = medsim.evaluate_wic(
        tmp_path / "data",
        tmp_path / "out",
        models=["random", versioned, quoted_word],
        cache=tmp_path / "cache",
    )

    found = scores.results.filter(subset="all", statistic="accuracy")
    accuracies = dict(found.select("model", "value").iter_rows())
    assert accuracies["named"] == accuracies["embedding"] > 0.7
    about = WicEvaluation(tmp_path / "out").manifest.models
    assert about["embedding"]["identity"] == "hash of the vectors used"
    assert about["named"]["identity"] == "named, version 1, as given"
    assert len(about["embedding"]["fingerprint"]) == 64
    with pytest.raises(OptionError, match="two models are named 'embedding'"):
        medsim.evaluate_wic(tmp_path / "data", tmp_path / "x", models=[quoted_word, quoted_word])
