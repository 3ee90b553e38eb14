"""Folders of model2vec against the mean of token vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fixtures.encoders import TABLE, TERMS, VOCABULARY, asked, tokens_of, write_tokenizer

from medsim.core.errors import InputError
from medsim.embeddings.embedded_terms import open_source
from medsim.embeddings.formats import FORMATS, TermVectors, find_format
from medsim.embeddings.formats.model2vec import FORMAT
from medsim.embeddings.options import EmbeddingOptions, embedding_spec

load = FORMAT.load

model2vec = pytest.importorskip("model2vec", reason="medsim[model2vec] is not installed")


def saved(path: Path, *, normalize: bool = False) -> Path:
    """Return a folder that model2vec saved."""
    from tokenizers import Tokenizer

    path.mkdir()
    write_tokenizer(path / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    config = {"model_type": "model2vec", "normalize": normalize}
    model2vec.StaticModel(TABLE, tokenizer, config, normalize=normalize).save_pretrained(path)
    return path


def means_of(terms: tuple[str, ...]) -> np.ndarray:
    """Return the mean vector of each term's known tokens, zeros without one."""
    known = [[t for t in tokens_of(term)[1:-1] if t != VOCABULARY["[UNK]"]] for term in terms]
    return np.array([TABLE[ids].mean(axis=0) if ids else np.zeros(6) for ids in known])


def test_a_vector_is_the_mean_of_its_tokens_and_of_those_of_a_prefix(tmp_path: Path) -> None:
    folder = saved(tmp_path / "model")
    result = load(folder, asked(TERMS))

    assert result.vectors.dtype == np.float32
    assert np.allclose(result.vectors, means_of(TERMS), atol=1e-6)
    assert result.vectors.any(axis=1).tolist() == [term not in {"", "凝視"} for term in TERMS]
    assert result.n_vocabulary is None
    prefixed = load(folder, asked(["pain"], prefix="acute ")).vectors
    assert np.allclose(prefixed, TABLE[[VOCABULARY["acute"], VOCABULARY["pain"]]].mean(axis=0))


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("given", ["yes", "no", None])
def test_vectors_are_scaled_by_the_option_or_the_models_settings(
    tmp_path: Path, declared, given: str | None
) -> None:
    path = saved(tmp_path / "model", normalize=declared)

    result = load(path, asked(TERMS[1:-1], **({"normalize": given} if given else {})))

    expected = means_of(TERMS[1:-1])
    if given == "yes" or (given is None and declared):
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(result.vectors, expected, atol=1e-6)


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"nonsense"])
def test_a_damaged_folder_is_an_input_error_or_not_used(
    tmp_path: Path, file: str, content: bytes | None
) -> None:
    folder = saved(tmp_path / "model")
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    if (file, content) == ("config.json", b"{}"):
        return  # a model without settings is one

    with pytest.raises(InputError, match=str(folder)):
        load(folder, asked(TERMS))


def test_its_folder_is_recognised(tmp_path: Path) -> None:
    folder = saved(tmp_path / "model")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"")

    assert find_format(folder, EmbeddingOptions()) == ("model2vec", FORMATS.get("model2vec"))


def test_a_loaded_model_gives_the_vectors_of_its_folder(tmp_path: Path) -> None:
    folder = saved(tmp_path / "model")
    model = model2vec.StaticModel.from_pretrained(folder)

    result = open_source(embedding_spec(model, "loaded")).read(asked(TERMS))

    assert isinstance(result, TermVectors)
    expected = load(folder, asked(TERMS))
    assert np.array_equal(result.vectors, expected.vectors)
    assert np.array_equal(result.covered, expected.covered)
