"""Models of words in context: the registered ones, and models that users name or pass."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fixtures.embeddings import write_words
from fixtures.encoders import write_encoder
from fixtures.wic import write_benchmark

import medsim
from medsim.core.errors import OptionError
from medsim.embeddings.options import EmbeddingOptions, EmbeddingSpec
from medsim.wic.models import (
    _OPTIONS,
    MODELS,
    QUOTED,
    SENTENCE,
    TARGET_WORD,
    CoinModel,
    EmbeddedModel,
    WicModel,
    model_of,
)
from medsim.wic.models.encoders import CosineModel
from medsim.wic.models.predicted import PredictedModel
from medsim.wic.models.word_vectors import PerceptronModel
from medsim.wic.output import WicScores

VECTORS = {"pain": [1.0, 0.0], "fever": [0.0, 1.0]}


def quoted_word(texts: Sequence[str]) -> np.ndarray:
    """Return a vector of the kind of the word in quotes: float64[n, 4]."""
    words = [text.split('"')[1].partition("-")[0] for text in texts]
    return np.array([[1 + len(word), ord(word[0]) - 96, word.count("e"), 1] for word in words])


@pytest.mark.parametrize("way", MODELS.all())
def test_every_registered_model_declares_its_needs(way: str) -> None:
    kind = MODELS.get(way)

    assert issubclass(kind, WicModel)
    assert kind.way == way
    assert kind.answers is not WicModel.answers
    assert kind.__doc__
    if issubclass(kind, EmbeddedModel):
        assert set(kind.inputs) <= {SENTENCE, TARGET_WORD, QUOTED}
        assert set(kind.accepts) <= set(_OPTIONS)


def test_a_text_names_a_model_and_its_options(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="medsim[onnx] is not installed")
    words, encoder = tmp_path / "words.vec", tmp_path / "encoder"
    write_words(words, ["fever", "zirel"], seed=1)
    write_encoder(encoder)

    def made_of(path: Path) -> EmbeddingSpec:
        return EmbeddingSpec(name="m", place=path, options=EmbeddingOptions())

    assert model_of("random") == CoinModel(name="random")
    assert model_of("m=random") == CoinModel(name="m")
    assert model_of(f"m={words}") == PerceptronModel(
        name="m", reads="target", embedding=made_of(words)
    )
    assert model_of(f"m={encoder},input=quoted") == CosineModel(
        name="m", reads="quoted", embedding=made_of(encoder)
    )
    service = model_of("m=api:http://localhost:1/v1,model=x,batch=8")
    assert isinstance(service, CosineModel)
    assert service.embedding.options.batch == 8  # per request; not the batch of training
    file = PredictedModel.parse("m=a.csv,dev=b.csv")
    assert file == PredictedModel(name="m", file=Path("a.csv"), dev=Path("b.csv"))
    assert PredictedModel.parse("m=a.csv").dev is None


def test_objects_become_models_by_the_kind_of_their_vectors() -> None:
    assert isinstance(model_of(VECTORS, "m"), PerceptronModel)
    model = model_of(quoted_word, "m")
    assert isinstance(model, CosineModel)
    assert model.reads == "quoted"
    embedding = medsim.Embedding(VECTORS, name="own", input="sentence")
    assert model_of(embedding).name == "own"
    assert model_of(embedding, "other").name == "other"
    assert model_of(embedding).reads == "sentence"  # type: ignore[attr-defined]  # of words
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

    shown = scores.results().filter(subset="all")
    accuracies = dict(shown.select("model", "accuracy").iter_rows())
    assert accuracies["named"] == accuracies["embedding"] > 0.7
    about = WicScores(tmp_path / "out").manifest.models
    assert about["embedding"]["identity"] == "hash of the vectors used"
    assert about["named"]["identity"] == "named, version 1, as given"
    assert len(about["embedding"]["fingerprint"]) == 64
    with pytest.raises(OptionError, match="two models are named 'embedding'"):
        medsim.evaluate_wic(tmp_path / "data", tmp_path / "x", models=[quoted_word, quoted_word])
