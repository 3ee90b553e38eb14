"""Folders of sentence-transformers and of transformers, with a stand-in for the library."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from fixtures.encoders import asked, write_modules

from medsim.core.errors import InputError, OptionError
from medsim.embeddings.formats import FORMATS, files_fingerprint, find_format
from medsim.embeddings.formats.model_folder import read_settings
from medsim.embeddings.formats.sentence_transformers import FORMAT, SentenceEncoder
from medsim.embeddings.options import EmbeddingOptions

load = FORMAT.load


class StandIn:
    """Has the signature of SentenceTransformer 5; returns a text's length and number of spaces."""

    device = SimpleNamespace(type="cpu")
    made: dict[str, object]
    asked: list[dict[str, object]]

    def __init__(self, model_name_or_path: str, **options: object) -> None:
        if not (Path(model_name_or_path) / "model.safetensors").exists():
            raise OSError("no file named model.safetensors")
        StandIn.asked = []
        StandIn.made = options

    def float(self) -> StandIn:
        """Return the model itself."""
        return self

    def encode(
        self,
        sentences: Sequence[str],
        *,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
        normalize_embeddings: bool = False,
    ) -> np.ndarray:
        """Return vectors: float32[n_sentences, 2]."""
        assert isinstance(sentences, list)
        assert show_progress_bar is False
        assert convert_to_numpy
        StandIn.asked.append({"batch_size": batch_size, "prompt": prompt})
        texts = [(prompt or "") + text for text in sentences]
        vectors = np.array([(len(text) + 1, text.count(" ")) for text in texts], np.float32)
        if normalize_embeddings:
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """Return a folder of sentence-transformers, with a stand-in for the library."""
    modules = {name: ModuleType(name) for name in ("sentence_transformers", "torch")}
    for name, module in {**modules, "transformers": MagicMock()}.items():
        module.__version__ = "5.0"
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["sentence_transformers"].SentenceTransformer = StandIn
    sys.modules["torch"].set_num_threads = lambda n: setattr(sys.modules["torch"], "threads", n)
    path = tmp_path / "model"
    write_modules(path, ("Transformer", {}), ("Pooling", {"pooling_mode_cls_token": True}))
    (path / "model.safetensors").write_bytes(b"weights")
    return path


def test_vectors_are_those_of_the_library(folder: Path, tmp_path: Path) -> None:
    for _ in range(2):
        result = load(folder, asked(["a b", "", "c"], tmp_path / "cache", threads=3))

        assert result.vectors.dtype == np.float32
        assert result.vectors.tolist() == [[4, 1], [1, 0], [2, 0]]
        assert result.covered.all()
    assert sys.modules["torch"].threads == 3
    assert not StandIn.asked  # all was cached


def test_a_model_is_loaded_without_network_foreign_code_or_pickles(folder: Path) -> None:
    load(folder, asked(["a"]))

    assert StandIn.made == {
        "trust_remote_code": False,
        "local_files_only": True,
        "device": None,  # the one that the library finds
        "model_kwargs": {"use_safetensors": True},
    }
    load(folder, asked(["a"], device="cpu"))
    assert StandIn.made["device"] == "cpu"


def test_options_reach_the_library(folder: Path) -> None:
    assert load(folder, asked(["a"], prefix="q: ")).vectors.tolist() == [[5, 1]]
    scaled = load(folder, asked(["a b"], normalize="yes")).vectors
    assert np.allclose(scaled, np.array([[4, 1]]) / 17**0.5)
    assert {call["prompt"] for call in StandIn.asked} == {None}  # the model's prompt, if it has one


def test_scaling_in_the_model_cannot_be_turned_off(folder: Path) -> None:
    write_modules(folder, ("Transformer", {}), ("Pooling", {}), ("Normalize", {}))

    with pytest.raises(OptionError, match=r"normalize=no does not fit .*scales its vectors"):
        load(folder, asked(["a"], normalize="no"))
    with pytest.raises(OptionError, match="pooling=cls does not fit"):
        load(folder, asked(["a"], pooling="cls"))


@pytest.mark.parametrize("place", ["", "2_Dense"])
def test_pickled_weights_are_refused(folder: Path, place: str) -> None:
    (folder / place).mkdir(exist_ok=True)
    if not place:
        (folder / "model.safetensors").unlink()
    weights = folder / place / "pytorch_model.bin"
    weights.write_bytes(b"")

    with pytest.raises(InputError, match=r"pytorch_model\.bin is a pickle.*convert the folder"):
        load(folder, asked(["a"]))

    (folder / place / "model.safetensors").write_bytes(b"weights")
    assert load(folder, asked(["a"])).covered.all()


def test_modules_of_other_packages_are_refused(folder: Path) -> None:
    modules = (folder / "modules.json").read_text(encoding="utf-8")
    (folder / "modules.json").write_text(modules.replace("sentence_transformers.", "os."))

    with pytest.raises(InputError, match=r"needs os\.models\.Transformer, which is not in"):
        load(folder, asked(["a"]))


def test_its_folder_is_recognised(folder: Path) -> None:
    match = ("sentence-transformers", FORMATS.get("sentence-transformers"))
    assert find_format(folder, EmbeddingOptions()) == match

    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"")

    assert find_format(folder, EmbeddingOptions()) == ("onnx", FORMATS.get("onnx"))
    assert find_format(folder, EmbeddingOptions(format="sentence-transformers")) == match


@pytest.mark.parametrize("name", ["config.json", "modules.json", "other.txt"])
def test_other_folders_are_not_recognised(tmp_path: Path, name: str) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / name).write_text("damaged", encoding="utf-8")
    formats = ("model2vec", "onnx", "sentence-transformers")
    for path in (tmp_path, tmp_path / "inner" / name, tmp_path / "missing"):
        assert not any(FORMATS.get(name_).recognises(path) for name_ in formats)


def test_vectors_of_a_gpu_have_a_separate_cache(folder: Path, tmp_path: Path, monkeypatch) -> None:
    for device in ("cpu", "cuda", "cpu", "cuda"):
        monkeypatch.setattr(StandIn, "device", SimpleNamespace(type=device))
        load(folder, asked(["pain"], tmp_path / "cache"))

    assert len(list((tmp_path / "cache").iterdir())) == 2
    monkeypatch.setattr(StandIn, "device", SimpleNamespace(type="cpu"))
    here = SentenceEncoder(folder, EmbeddingOptions(), 1).identity
    monkeypatch.setattr(StandIn, "device", SimpleNamespace(type="cuda"))
    there = SentenceEncoder(folder, EmbeddingOptions(), 1).identity
    assert there == here | {"device": "cuda"}


WEIGHTS = struct.pack("<Q", 2) + b"{}"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Return a plain with all files of a model of transformers."""
    path = tmp_path / "model"
    path.mkdir()
    write_config(path, model_type="bert", architectures=["BertModel"])
    (path / "model.safetensors").write_bytes(WEIGHTS)
    (path / "tokenizer.json").write_text("{}")
    return path


def write_config(plain: Path, **settings: object) -> None:
    (plain / "config.json").write_text(json.dumps(settings))


def write_shards(plain: Path) -> None:
    (plain / "model.safetensors").unlink()
    index = {"weight_map": {"a": SHARDS[0], "b": SHARDS[1], "c": SHARDS[0]}}
    (plain / "model.safetensors.index.json").write_text(json.dumps(index))
    for name in SHARDS:
        (plain / name).write_bytes(WEIGHTS)


def with_weights(plain: Path, *names: str, content: bytes = WEIGHTS) -> None:
    (plain / "model.safetensors").unlink()
    for name in names:
        (plain / name).write_bytes(content)


def test_a_plain_folder_is_found_by_its_files(plain: Path) -> None:
    match = ("transformers", FORMATS.get("transformers"))
    assert find_format(plain, EmbeddingOptions()) == match
    write_shards(plain)
    assert find_format(plain, EmbeddingOptions()) == match
    (plain / "modules.json").write_text("[]")
    assert find_format(plain, EmbeddingOptions())[0] == "sentence-transformers"
    (plain / "model.onnx").write_bytes(b"")
    assert find_format(plain, EmbeddingOptions())[0] == "onnx"


def test_its_fingerprint_covers_all_that_decides_the_vectors(plain: Path) -> None:
    write_shards(plain)
    form, options = FORMATS.get("transformers"), EmbeddingOptions()
    digests = [files_fingerprint(plain, form, options)]
    for name in ("README.md", "pytorch_model.bin", "model.fp16.safetensors", "logs"):
        (plain / name).write_bytes(b"other")
    assert files_fingerprint(plain, form, options) == digests[0]
    for name in (SHARDS[1], "tokenizer.json", "vocab.txt"):
        (plain / name).write_bytes(b"other")
        digests.append(files_fingerprint(plain, form, options))

    assert len(set(digests)) == 4


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "no tokenizer": (lambda plain: (plain / "tokenizer.json").unlink(), "has no tokenizer"),
    "adapters": (lambda plain: (plain / "adapter_config.json").touch(), r"adapters \(PEFT\) only"),
    "pickle": (
        lambda plain: with_weights(plain, "pytorch_model.bin"),
        r"pytorch_model\.bin is a pickle.* convert the folder to safetensors in Python",
    ),
    "other weights": (lambda plain: with_weights(plain, "a.safetensors"), "has no weights; put"),
    "lfs": (
        lambda plain: with_weights(
            plain, "model.safetensors", content=b"version https://git-lfs.github.com/spec/v1\n"
        ),
        "is a Git LFS pointer",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_incomplete_folder_is_refused_in_one_line(plain: Path, case: str) -> None:
    change, expected = REFUSED[case]
    change(plain)

    name, form = find_format(plain, EmbeddingOptions())
    assert name == "transformers"
    with pytest.raises(InputError, match=expected) as caught:
        files_fingerprint(plain, form, EmbeddingOptions())

    assert "\n" not in str(caught.value)


def test_an_error_for_a_folder_says_what_it_lacks(plain: Path, tmp_path: Path) -> None:
    def says(folder: Path, message: str) -> None:
        with pytest.raises(InputError, match=message):
            find_format(folder, EmbeddingOptions())

    says(plain.parent, "a model is in its folder model")
    (plain / "config.json").unlink()
    says(plain, r"in no known format: it needs config\.json and model\.safe")
    (tmp_path / "cache" / "snapshots").mkdir(parents=True)
    says(tmp_path / "cache", "name the model as hf:NAME")


@pytest.mark.parametrize(
    ("settings", "n_positions"),
    [
        ({"model_type": "bert"}, 514),
        ({"model_type": "roberta", "pad_token_id": 1}, 512),
        ({"model_type": "roberta"}, 512),
        ({"model_type": "mpnet", "pad_token_id": 0}, 513),
    ],
)
def test_positions_that_a_model_keeps_for_padding_are_not_read(
    plain: Path, settings: dict[str, object], n_positions: int
) -> None:
    write_config(plain, max_position_embeddings=514, **settings)

    assert read_settings(plain).n_positions == n_positions
