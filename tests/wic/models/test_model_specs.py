"""Models of words in context as a user names them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from fixtures.embeddings import write_words
from fixtures.encoders import write_encoder
from fixtures.wic import invented_instances, write_instances

from medsim.core.errors import OptionError
from medsim.core.progress import Progress
from medsim.embeddings.options import EmbeddingOptions, EmbeddingSpec
from medsim.wic.dataset import read_dataset
from medsim.wic.models import encoder_answers
from medsim.wic.models.answers import Setting
from medsim.wic.models.encoder_answers import cosine_answers
from medsim.wic.models.model_specs import (
    CoinModel,
    CosineModel,
    FileModel,
    WordModel,
    parse_model,
    parse_predictions,
)


def test_each_kind_of_model_has_what_it_needs_and_no_more(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="medsim[onnx] is not installed")
    words, encoder = tmp_path / "words.vec", tmp_path / "encoder"
    write_words(words, ["fever", "zirel"], seed=1)
    write_encoder(encoder)

    def made_of(path: Path) -> EmbeddingSpec:
        return EmbeddingSpec(name="m", place=path, options=EmbeddingOptions())

    assert parse_model("random") == CoinModel(name="random")
    assert parse_model(f"m={words}") == WordModel(
        name="m", reads="target", embedding=made_of(words)
    )
    assert parse_model(f"m={encoder},input=quoted") == CosineModel(
        name="m", reads="quoted", embedding=made_of(encoder)
    )
    assert parse_predictions("m=a.csv") == FileModel(name="m", file=Path("a.csv"), dev=None)
    assert parse_predictions("m=a.csv,dev=b.csv").dev == Path("b.csv")


def test_a_format_that_says_terms_and_gives_words_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_instances(tmp_path / "one.json", invented_instances(9, 64, reuse=0.1, wrong=0.15))
    dataset = read_dataset(tmp_path / "one.json", seed=0)
    spec = EmbeddingSpec(name="m", place=tmp_path / "words.vec", options=EmbeddingOptions())
    model = CosineModel(name="m", reads="quoted", embedding=spec)
    setting = Setting(seed=0, threads=1, cache=None, progress=Progress())
    found = SimpleNamespace(embedded="no TermPoints")
    monkeypatch.setattr(encoder_answers, "embed_terms", lambda *_args, **_options: found)

    with pytest.raises(OptionError, match="m has vectors of words; a sentence"):
        cosine_answers(dataset, model, None, setting)
