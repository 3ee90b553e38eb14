"""Plain folders of transformers, read by the libraries themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from fixtures.encoders import TERMS, VOCABULARY, asked, write_tokenizer

from medsim.core.errors import InputError, OptionError
from medsim.embeddings.formats import FORMATS

torch = pytest.importorskip("torch", reason="medsim[sentence-transformers] is not installed")
transformers = pytest.importorskip(
    "transformers", reason="medsim[sentence-transformers] is not installed"
)
pytest.importorskip(
    "sentence_transformers", reason="medsim[sentence-transformers] is not installed"
)

MOST_TOKENS = 12
LONG = "pain " * 40


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small BERT of random weights, which no test changes."""
    folder = tmp_path_factory.mktemp("bert") / "model"
    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=MOST_TOKENS,
        initializer_range=0.5,
    )
    transformers.BertModel(config).save_pretrained(folder)
    write_tokenizer(folder / "tokenizer.json")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the model's folder."""
    return shutil.copytree(made, tmp_path / "model")


def vectors(folder: Path, terms: tuple[str, ...] = TERMS, **options: str) -> np.ndarray:
    return FORMATS.get("transformers").read(folder, asked(terms, **options)).vectors


def by_hand(folder: Path, term: str) -> np.ndarray:
    """Return the vectors of a term's tokens, one text at a time: float32[n_tokens, 16]."""
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    ids = tokenizer(term, truncation=True, max_length=MOST_TOKENS, padding=False)["input_ids"]
    with torch.no_grad():
        return model(torch.tensor([ids])).last_hidden_state[0].numpy()


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_vectors_are_those_of_the_model_with_its_tokens_pooled(folder: Path, pooling: str) -> None:
    result = vectors(folder, (*TERMS, LONG), pooling=pooling)

    pool = {
        "mean": lambda rows: rows.mean(0),
        "cls": lambda rows: rows[0],
        "max": lambda rows: rows.max(0),
    }
    expected = [pool[pooling](by_hand(folder, term)) for term in (*TERMS, LONG)]
    assert result.dtype == np.float32
    assert np.allclose(result, expected, atol=1e-5)


def test_the_mean_is_the_default_and_options_take_effect(folder: Path) -> None:
    plain = vectors(folder)

    assert np.array_equal(plain, vectors(folder, pooling="mean"))
    scaled = plain / np.linalg.norm(plain, axis=1, keepdims=True)
    assert np.allclose(vectors(folder, normalize="yes"), scaled, atol=1e-6)
    assert np.allclose(
        vectors(folder, ("hand",), prefix="of the "), vectors(folder, ("of the hand",))
    )
    with pytest.raises(OptionError, match="option case=lower does not fit"):
        vectors(folder, case="lower")


def test_weights_of_half_precision_in_parts_give_vectors_of_single_precision(folder: Path) -> None:
    model = transformers.AutoModel.from_pretrained(folder).to(torch.bfloat16)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="5KB")
    assert not (folder / "model.safetensors").exists()

    result = vectors(folder)

    assert result.dtype == np.float32
    assert np.allclose(result, [by_hand(folder, term).mean(0) for term in TERMS], atol=1e-5)


def test_missing_weights_are_refused(folder: Path) -> None:
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**settings, "num_hidden_layers": 3}))

    with pytest.raises(InputError, match=r"lacks 16 of the weights .* such as encoder\.layer\.2\."):
        vectors(folder)


def test_code_of_the_folder_is_never_run(folder: Path) -> None:
    mark = folder / "ran"
    (folder / "own.py").write_text(f"open({str(mark)!r}, 'w')\n")
    settings = json.loads((folder / "config.json").read_text())
    custom = {"auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"}}
    (folder / "config.json").write_text(json.dumps({**settings, **custom}))
    expected = vectors(folder)
    assert np.isfinite(expected).all()

    (folder / "config.json").write_text(json.dumps({**settings, **custom, "model_type": "own"}))

    with pytest.raises(InputError, match="code that comes with a model is never run"):
        vectors(folder)
    assert not mark.exists()


def test_pickled_weights_become_readable_as_the_message_says(folder: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    expected = vectors(folder)
    state = transformers.AutoModel.from_pretrained(folder).state_dict()
    torch.save(state, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match="is a pickle") as caught:
        vectors(folder)

    line = str(caught.value).partition("in Python: ")[2]
    assert line == f"SentenceTransformer({str(folder)!r}).save({f'{folder}-safe'!r})"
    SentenceTransformer(str(folder)).save(f"{folder}-safe")

    result = FORMATS.get("sentence-transformers").read(tmp_path / "model-safe", asked(TERMS))
    assert np.allclose(result.vectors, expected, atol=1e-6)
