"""Folders of sentence-transformers, with a stand-in for the library."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from fixtures.encoders import asked, write_modules

from medsim.core.errors import InputError, OptionError
from medsim.embeddings import FORMATS, find_format
from medsim.embeddings.formats.sentence_transformers import FORMAT, SentenceEncoder
from medsim.embeddings.options import EmbeddingOptions

load = FORMAT.load


class StandIn:
    """Takes what SentenceTransformer 5 takes, and gives a text's length and number of spaces."""

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
        found = load(folder, asked(["a b", "", "c"], tmp_path / "cache", threads=3))

        assert found.vectors.dtype == np.float32
        assert found.vectors.tolist() == [[4, 1], [1, 0], [2, 0]]
        assert found.covered.all()
    assert sys.modules["torch"].threads == 3
    assert len(StandIn.asked) == 1  # the probe for the dimensions; the rest was kept


def test_a_model_is_loaded_without_network_foreign_code_or_pickles(folder: Path) -> None:
    load(folder, asked(["a"]))

    assert StandIn.made == {
        "trust_remote_code": False,
        "local_files_only": True,
        "device": None,  # the one that the library finds
        "model_kwargs": {"use_safetensors": True},
    }


def test_options_reach_the_library(folder: Path) -> None:
    assert load(folder, asked(["a"], prefix="q: ")).vectors.tolist() == [[5, 1]]
    scaled = load(folder, asked(["a b"], normalize="yes")).vectors
    assert np.allclose(scaled, np.array([[4, 1]]) / 17**0.5)
    assert {call["prompt"] for call in StandIn.asked} == {None}  # the model's own, where it has one


def test_what_a_model_does_itself_cannot_be_undone(folder: Path) -> None:
    write_modules(folder, ("Transformer", {}), ("Pooling", {}), ("Normalize", {}))

    with pytest.raises(OptionError, match=r"normalize=no does not fit .*scales its vectors itself"):
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

    with pytest.raises(InputError, match=r"needs os\.models\.Transformer, which is not of"):
        load(folder, asked(["a"]))


def test_a_damaged_folder_names_itself(folder: Path) -> None:
    (folder / "model.safetensors").unlink()

    with pytest.raises(InputError, match=rf"{folder} cannot .*no file named model\.safetensors"):
        load(folder, asked(["a"]))


def test_another_model_under_the_same_name_has_a_cache_of_its_own(
    folder: Path, tmp_path: Path
) -> None:
    for content in (b"weights", b"other weights"):
        (folder / "model.safetensors").write_bytes(content)
        load(folder, asked(["a"], tmp_path / "cache"))

        assert len(StandIn.asked) == 2  # the probe, and the term


def test_its_folder_is_told_from_others(folder: Path) -> None:
    own = ("sentence-transformers", FORMATS.get("sentence-transformers"))
    assert find_format(folder, EmbeddingOptions()) == own

    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"")

    assert find_format(folder, EmbeddingOptions()) == ("onnx", FORMATS.get("onnx"))
    assert find_format(folder, EmbeddingOptions(format="sentence-transformers")) == own


@pytest.mark.parametrize("name", ["config.json", "modules.json", "other.txt"])
def test_what_is_no_folder_of_a_model_is_not_recognised(tmp_path: Path, name: str) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / name).write_text("damaged", encoding="utf-8")
    formats = ("model2vec", "onnx", "sentence-transformers")
    for path in (tmp_path, tmp_path / "inner" / name, tmp_path / "missing"):
        assert not any(FORMATS.get(one).recognises(path) for one in formats)


def test_a_missing_extra_says_how_to_install_it(folder: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    with pytest.raises(OptionError, match=r"install medsim with its extra sentence-transformers"):
        load(folder, asked(["a"]))


def test_the_processor_alone_is_used_where_that_is_asked_for(folder: Path) -> None:
    load(folder, asked(["pain"]))
    assert StandIn.made["device"] is None  # as the library finds it
    load(folder, asked(["pain"], device="cpu"))
    assert StandIn.made["device"] == "cpu"


def test_vectors_of_a_gpu_are_kept_apart(folder: Path, tmp_path: Path, monkeypatch) -> None:
    for device in ("cpu", "cuda", "cpu", "cuda"):
        monkeypatch.setattr(StandIn, "device", SimpleNamespace(type=device))
        load(folder, asked(["pain"], tmp_path / "cache"))

    assert len(list((tmp_path / "cache").iterdir())) == 2
    monkeypatch.setattr(StandIn, "device", SimpleNamespace(type="cpu"))
    here = SentenceEncoder(folder, EmbeddingOptions(), 1).identity
    monkeypatch.setattr(StandIn, "device", SimpleNamespace(type="cuda"))
    there = SentenceEncoder(folder, EmbeddingOptions(), 1).identity
    assert there == here | {"device": "cuda"}
