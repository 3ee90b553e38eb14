"""Folders and files of encoders in ONNX: which belong together, and what is wrong with them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.encoders import (
    LOOKUP,
    VOCABULARY,
    asked,
    write_encoder,
    write_modules,
    write_plain_encoder,
    write_transformer,
)

from medsim.core.errors import InputError, OptionError
from medsim.embeddings import FORMATS, TermVectors, fingerprint
from medsim.embeddings.formats import onnx as format_onnx
from medsim.embeddings.formats.model_folder import onnx_weights
from medsim.embeddings.formats.onnx import FORMAT
from medsim.embeddings.options import EmbeddingOptions

if TYPE_CHECKING:
    from medsim.kernels.types import Vectors


load = FORMAT.load
pytest.importorskip("onnxruntime", reason="medsim[onnx] is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an encoder."""
    return write_encoder(tmp_path / "model")


def vectors_of(path: Path, *terms: str, **options: str) -> Vectors:
    return load(path, asked(terms, **options)).vectors


def test_a_model_may_lie_in_a_subfolder_or_be_named_itself(folder: Path, tmp_path: Path) -> None:
    write_modules(folder, ("Transformer", {}), ("Pooling", {"pooling_mode": "max"}))
    expected = vectors_of(folder, "pain").tolist()
    inner = folder / "onnx" / "model.onnx"
    inner.parent.mkdir()
    (folder / "model.onnx").rename(inner)
    elsewhere = tmp_path / "elsewhere.json"
    (folder / "tokenizer.json").rename(elsewhere)

    for path in (folder, inner):
        assert FORMATS.get("onnx").recognises(path)
        with pytest.raises(InputError, match=r"tokenizer\.json does not exist; .*vocabulary="):
            vectors_of(path, "pain")
        assert vectors_of(path, "pain", vocabulary=str(elsewhere)).tolist() == expected


def test_every_file_that_decides_vectors_is_in_the_fingerprint(folder: Path) -> None:
    write_modules(folder, ("Transformer", {}), ("Pooling", {"pooling_mode": "max"}))
    (folder / "model.onnx_data").write_bytes(b"weights")
    options = EmbeddingOptions()
    seen = {fingerprint(folder, format_onnx.FORMAT, options)}
    files = [path for path in folder.rglob("*") if path.is_file()]

    for path in files:
        path.write_bytes(path.read_bytes() + b" ")
        seen.add(fingerprint(folder, format_onnx.FORMAT, options))

    assert len(files) == 6
    assert len(seen) == len(files) + 1


@pytest.mark.parametrize("name", ["weights.bin", "inner/weights.bin", "w" * 150 + ".bin"])
def test_weights_under_a_name_of_their_own_are_in_the_fingerprint(folder: Path, name: str) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
    expected = vectors_of(folder, "pain").tolist()
    model = onnx.load(folder / "model.onnx")
    external = {"save_as_external_data": True, "location": name, "size_threshold": 64}
    (folder / name).parent.mkdir(exist_ok=True)
    onnx.save_model(model, str(folder / "model.onnx"), **external)
    (folder / "other.bin").write_bytes(b"of another program")
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).touch()
    options = EmbeddingOptions()
    before = fingerprint(folder, format_onnx.FORMAT, options)
    assert vectors_of(folder, "pain").tolist() == expected

    (folder / "other.bin").write_bytes(b"changed")
    assert fingerprint(folder, format_onnx.FORMAT, options) == before
    weights = bytearray((folder / name).read_bytes())
    weights[0] ^= 1
    (folder / name).write_bytes(weights)
    assert fingerprint(folder, format_onnx.FORMAT, options) != before


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b"\x0bweights.bin and more", ["weights.bin"]),
        (b"\x96\x01" + b"w" * 200, ["w" * 150]),
        (b"\x09../../etc", []),
        (b"\x04/dev", []),
        (b"\x02\xff\xfe", []),
        (b"\x96", []),
        (b"", []),
    ],
)
def test_only_paths_in_the_folder_are_weights(
    tmp_path: Path, value: bytes, found: list[str]
) -> None:
    (tmp_path / "model.onnx").write_bytes(b"of a tensor\n\x08location\x12" + value)
    assert onnx_weights(tmp_path / "model.onnx") == found


def test_a_tokenizer_beside_the_model_does_not_hide_the_settings(folder: Path) -> None:
    write_modules(folder, ("Transformer", {}), ("Pooling", {"pooling_mode": "max"}))
    expected = vectors_of(folder, "pain").tolist()
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    shutil.copy(folder / "tokenizer.json", folder / "onnx")

    assert vectors_of(folder, "pain").tolist() == expected


def test_several_models_in_a_folder_are_named(folder: Path) -> None:
    write_transformer(folder / "int8.onnx")

    with pytest.raises(
        InputError, match=r"should hold one \.onnx file but holds int8\.onnx, model\.onnx"
    ):
        vectors_of(folder, "pain")
    assert isinstance(load(folder / "int8.onnx", asked(["pain"])), TermVectors)


def test_a_model_that_is_damaged_or_cut_short_names_its_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (folder / "model.onnx").read_bytes()
    cut = [whole[:length] for length in range(0, len(whole), 97)]
    no_text = whole.replace(b"Gather", b"\xffather")
    for content in (b"nonsense", b"\x08\x09\x12\x03abc", no_text, *cut):
        (folder / "model.onnx").write_bytes(content)
        with pytest.raises(InputError, match=r"model\.onnx"):
            vectors_of(folder, "pain")
    assert capsys.readouterr().out == ""  # the library prints errors that are no text


@pytest.mark.parametrize("content", ["", "nonsense", "{}", "[]", '{"model": {"type": "Unknown"}}'])
def test_a_damaged_tokenizer_names_its_file(folder: Path, content: str) -> None:
    (folder / "tokenizer.json").write_text(content)

    with pytest.raises(InputError, match=r"tokenizer\.json cannot be read as a tokenizer \("):
        vectors_of(folder, "pain")


@pytest.mark.parametrize(
    "name", ["modules.json", "config.json", "sentence_bert_config.json", "tokenizer_config.json"]
)
@pytest.mark.parametrize("content", ["", "[1]", '{"max_seq_length": 0, "model_max_length": "x"}'])
def test_damaged_settings_name_their_file(folder: Path, name: str, content: str) -> None:
    if (name, content[:1]) == ("config.json", "{"):
        content = '{"max_position_embeddings": -1}'
    (folder / name).write_text(content)

    with pytest.raises(InputError, match=name):
        vectors_of(folder, "pain")


def test_a_tokenizer_of_another_model_names_the_model(tmp_path: Path) -> None:
    path = write_plain_encoder(tmp_path)
    tokenizer = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    text = tokenizer.replace(f'"pain": {VOCABULARY["pain"]}', '"pain": 999')
    assert text != tokenizer
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")

    with pytest.raises(InputError, match=str(path)):
        vectors_of(tmp_path, "pain")


@pytest.mark.parametrize(
    "shape",
    [{"inputs": ["offsets"]}, {"inputs": ["input_ids", "offsets"]}, {"dtype": "UINT8"}],
)
def test_a_model_of_other_inputs_is_refused(tmp_path: Path, shape: dict) -> None:
    source = shape.get("inputs", ["input_ids"])[-1]
    step = ("Cast", [source], ["ids"], {"to": 7})
    write_plain_encoder(tmp_path, step, ("Gather", ["table", "ids"], ["hidden"], {}), **shape)

    with pytest.raises(InputError, match=rf"is no encoder of tokens: it takes .*{source} tensor"):
        vectors_of(tmp_path, "pain")


def test_a_model_of_other_outputs_is_refused(tmp_path: Path) -> None:
    steps = [LOOKUP, ("ReduceSum", ["hidden"], ["sum"], {"keepdims": 0})]
    write_plain_encoder(tmp_path, *steps, outputs={"sum": 0})

    says = r"vectors neither of tokens nor of texts.* sum of shape \(\); export it for feature"
    with pytest.raises(InputError, match=says):
        vectors_of(tmp_path, "pain")


def test_a_classifier_is_refused_and_its_vectors_are_taken_where_it_has_them(
    tmp_path: Path,
) -> None:
    of_classifier = (*LOOKUP[:2], ["logits"], {})
    write_plain_encoder(tmp_path / "a", of_classifier, outputs={"logits": 3})
    with pytest.raises(InputError, match=r"logits of shape \(1, 2, 6\); export it for feature-"):
        vectors_of(tmp_path / "a", "pain")

    both = {"logits": 3, "hidden": 3}
    write_plain_encoder(tmp_path / "b", of_classifier, LOOKUP, outputs=both)
    write_plain_encoder(tmp_path / "c")
    expected = vectors_of(tmp_path / "c", "pain").tolist()
    assert vectors_of(tmp_path / "b", "pain").tolist() == expected


def test_a_model_that_gives_no_numbers_names_the_term(tmp_path: Path) -> None:
    write_plain_encoder(tmp_path, (*LOOKUP[:2], ["own"], {}), ("Log", ["own"], ["hidden"], {}))

    with pytest.raises(InputError, match="the vector of 'fever' is not finite"):
        vectors_of(tmp_path, "fever")


def test_options_of_word_vectors_do_not_fit(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"case=lower does not fit \(onnx"):
        vectors_of(folder, "pain", case="lower")


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_says_how_to_install_it(folder: Path, monkeypatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(OptionError, match=r"install medsim with its extra onnx"):
        vectors_of(folder, "pain")
