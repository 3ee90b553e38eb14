"""Plain folders of transformers: which are found, what is read of them, and which are refused."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from medsim.core.errors import InputError
from medsim.embeddings import FORMATS, find_format, fingerprint
from medsim.embeddings.formats.model_folder import read_settings
from medsim.embeddings.options import EmbeddingOptions

WEIGHTS = struct.pack("<Q", 2) + b"{}"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with all files of a model of transformers."""
    path = tmp_path / "model"
    path.mkdir()
    write_config(path, model_type="bert", architectures=["BertModel"])
    (path / "model.safetensors").write_bytes(WEIGHTS)
    (path / "tokenizer.json").write_text("{}")
    return path


def write_config(folder: Path, **settings: object) -> None:
    (folder / "config.json").write_text(json.dumps(settings))


def write_shards(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {"a": SHARDS[0], "b": SHARDS[1], "c": SHARDS[0]}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    for name in SHARDS:
        (folder / name).write_bytes(WEIGHTS)


def with_weights(folder: Path, *names: str, content: bytes = WEIGHTS) -> None:
    (folder / "model.safetensors").unlink()
    for name in names:
        (folder / name).write_bytes(content)


def test_its_folder_is_found_by_its_files(folder: Path) -> None:
    own = ("transformers", FORMATS.get("transformers"))
    assert find_format(folder, EmbeddingOptions()) == own

    write_shards(folder)

    assert find_format(folder, EmbeddingOptions()) == own
    (folder / "modules.json").write_text("[]")
    assert find_format(folder, EmbeddingOptions())[0] == "sentence-transformers"
    (folder / "model.onnx").write_bytes(b"")
    assert find_format(folder, EmbeddingOptions())[0] == "onnx"


def test_its_fingerprint_is_of_what_decides_the_vectors(folder: Path) -> None:
    write_shards(folder)
    found, options = FORMATS.get("transformers"), EmbeddingOptions()
    digests = [fingerprint(folder, found, options)]
    for name in ("README.md", "pytorch_model.bin", "model.fp16.safetensors", "logs"):
        (folder / name).write_bytes(b"other")
    assert fingerprint(folder, found, options) == digests[0]
    for name in (SHARDS[1], "tokenizer.json", "vocab.txt"):
        (folder / name).write_bytes(b"other")
        digests.append(fingerprint(folder, found, options))

    assert len(set(digests)) == 4


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "no object": (lambda folder: (folder / "config.json").write_text("[]"), "is no JSON object"),
    "damaged": (lambda folder: (folder / "config.json").write_text("{"), "is no JSON"),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer"),
    "pickle": (
        lambda folder: with_weights(folder, "pytorch_model.bin"),
        r"pytorch_model\.bin is a pickle.* convert the folder to safetensors in Python",
    ),
    "other weights": (lambda folder: with_weights(folder, "a.safetensors"), "has no weights; put"),
    "lfs": (
        lambda folder: with_weights(
            folder, "model.safetensors", content=b"version https://git-lfs.github.com/spec/v1\n"
        ),
        "is a Git LFS pointer",
    ),
    "adapters": (
        lambda folder: (folder / "adapter_config.json").write_text("{}"),
        r"holds adapters \(PEFT\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_encoder_or_not_whole_is_refused_in_one_line(folder: Path, case: str) -> None:
    change, expected = REFUSED[case]
    change(folder)

    name, found = find_format(folder, EmbeddingOptions())
    assert name == "transformers"
    with pytest.raises(InputError, match=expected) as caught:
        fingerprint(folder, found, EmbeddingOptions())

    assert "\n" not in str(caught.value)


def test_adapters_alone_are_found_and_refused(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    (tmp_path / "adapter_model.safetensors").write_bytes(WEIGHTS)
    (tmp_path / "adapter_model.txt").write_text("a\n")

    name, found = find_format(tmp_path, EmbeddingOptions())

    assert name == "transformers"
    with pytest.raises(InputError, match=r"holds adapters \(PEFT\)"):
        fingerprint(tmp_path, found, EmbeddingOptions())


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_folder_that_looks_like_a_model_says_what_it_lacks(folder: Path, name: str) -> None:
    (folder / name).unlink()

    with pytest.raises(InputError, match=r"in no known format: .* \(config\.json and model\.safe"):
        find_format(folder, EmbeddingOptions())


def test_a_folder_around_a_model_says_so(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a model is in its folder model"):
        find_format(folder.parent, EmbeddingOptions())
    (tmp_path / "cache" / "snapshots").mkdir(parents=True)
    with pytest.raises(InputError, match="name the model as hf:NAME"):
        find_format(tmp_path / "cache", EmbeddingOptions())


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
    folder: Path, settings: dict[str, object], n_positions: int
) -> None:
    write_config(folder, max_position_embeddings=514, **settings)

    assert read_settings(folder).n_positions == n_positions
