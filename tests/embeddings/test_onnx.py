"""Encoders in ONNX against numpy by hand: terms, folders and their faults."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from fixtures.encoders import (
    LOOKUP,
    TABLE,
    TERMS,
    VOCABULARY,
    asked,
    hidden_of,
    tokens_of,
    write_encoder,
    write_modules,
    write_plain_encoder,
    write_tokenizer,
    write_transformer,
)

from medsim.core.errors import InputError, OptionError
from medsim.embeddings.formats import FORMATS, TermVectors, files_fingerprint
from medsim.embeddings.formats import onnx as format_onnx
from medsim.embeddings.formats.model_folder import onnx_weights
from medsim.embeddings.formats.onnx import FORMAT, OnnxEncoder
from medsim.embeddings.options import EmbeddingOptions

load = FORMAT.load

POSITIONS = {"config.json": {"max_position_embeddings": 40}}
onnxruntime = pytest.importorskip("onnxruntime", reason="medsim[onnx] is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an encoder."""
    return write_encoder(tmp_path / "model")


def add_json(folder: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def change_tokenizer(folder: Path, part: str) -> None:
    """Remove a part of the tokenizer's file."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    add_json(folder, {"tokenizer.json": tokenizer | {part: None}})


def vectors_of(path: Path, *terms: str, **options: str) -> np.ndarray:
    return load(path, asked(terms, **options)).vectors


@pytest.mark.parametrize("pooling", ["mean", "cls", "max", None])
def test_pooling_is_what_numpy_gives(folder: Path, pooling: str | None) -> None:
    pool = {
        "cls": lambda hidden: hidden[0],
        "max": lambda hidden: hidden.max(axis=0),
        "mean": lambda hidden: hidden.mean(axis=0),
    }[pooling or "mean"]

    result = load(folder, asked(TERMS, **({"pooling": pooling} if pooling else {})))

    expected = [pool(hidden_of(tokens_of(term))) for term in TERMS]
    assert result.vectors.dtype == np.float32
    assert np.allclose(result.vectors, expected, atol=1e-6)
    assert result.covered.all()
    assert result.n_vocabulary is None


@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_depends_neither_on_other_terms_nor_on_threads(
    folder: Path, monkeypatch, threads
) -> None:
    monkeypatch.setattr(format_onnx, "_TOKENS_A_RUN", 7)

    together = load(folder, asked(TERMS, threads=threads)).vectors

    for term, vector in zip(TERMS, together, strict=True):
        assert np.array_equal(vectors_of(folder, term)[0], vector)


def test_a_dynamically_quantised_model_gets_one_term_at_a_time(tmp_path: Path) -> None:
    steps = [
        ("Gather", ["table", "input_ids"], ["own"], {}),
        ("DynamicQuantizeLinear", ["own"], ["rounded", "scale", "zero"], {}),
        ("DequantizeLinear", ["rounded", "scale", "zero"], ["hidden"], {}),
    ]
    path = write_plain_encoder(tmp_path, *steps)
    terms = ["acute", "fever", "pain"]
    ids = [tokens_of(term) for term in terms]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    alone = [session.run(None, {"input_ids": np.array([row])})[0][0].mean(axis=0) for row in ids]
    together = session.run(None, {"input_ids": np.array(ids)})[0].mean(axis=1)
    assert not np.allclose(together, alone)

    assert np.allclose(vectors_of(tmp_path, *terms), alone, atol=1e-7)


@pytest.mark.parametrize(
    ("said", "n_tokens"),
    [
        ({}, 5),  # the tokenizer's own
        ({"sentence_bert_config.json": {"max_seq_length": 4}}, 4),
        ({"sentence_bert_config.json": {"max_seq_length": 100}}, 6),
        ({"config.json": {"max_position_embeddings": 3}}, 5),
    ],
)
def test_a_long_term_is_cut_where_the_model_says(
    folder: Path, said: dict[str, object], n_tokens: int
) -> None:
    write_tokenizer(folder / "tokenizer.json", max_tokens=5)
    add_json(folder, said)

    result = vectors_of(folder, "pain of the hand")

    ids = tokens_of("pain of the hand")
    cut = [*ids[: n_tokens - 1], ids[-1]]
    assert np.allclose(result, [hidden_of(cut).mean(axis=0)], atol=1e-6)


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ({}, 512),
        (POSITIONS, 40),
        ({**POSITIONS, "tokenizer_config.json": {"model_max_length": 38}}, 38),
        ({"tokenizer_config.json": {"model_max_length": 10**30}}, 512),
    ],
)
def test_without_a_limit_in_the_tokenizer_the_positions_are_one(
    folder: Path, said: dict[str, object], most: int
) -> None:
    change_tokenizer(folder, "truncation")
    add_json(folder, said)

    encoder = OnnxEncoder(folder / "model.onnx", EmbeddingOptions(), threads=1)

    assert encoder.identity["max_tokens"] == str(most)


def test_settings_of_sentence_transformers_are_the_default(folder: Path) -> None:
    write_modules(
        folder,
        ("Transformer", {}),
        ("Pooling", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}),
        ("Normalize", {}),
    )
    prompts = {"prompts": {"query": "acute "}, "default_prompt_name": "query"}
    add_json(folder, {"config_sentence_transformers.json": prompts})

    default = vectors_of(folder, "pain")
    other = vectors_of(folder, "pain", normalize="no", prefix="x ")

    first = hidden_of(tokens_of("acute pain"))[0]
    assert np.allclose(default, [first / np.linalg.norm(first)], atol=1e-6)
    unknown = [VOCABULARY[token] for token in ("[CLS]", "[UNK]", "pain", "[SEP]")]
    assert np.allclose(other, [hidden_of(unknown)[0]], atol=1e-6)


@pytest.mark.parametrize(
    "steps",
    [
        [("Transformer", {}), ("Pooling", {"pooling_mode": "lasttoken"})],
        [("Transformer", {}), ("Pooling", {"pooling_mode": ["mean", "max"]})],
        [("Transformer", {}), ("Pooling", {"pooling_mode": "mean"}), ("Dense", {})],
    ],
)
def test_steps_missing_in_the_onnx_file_are_reported(
    folder: Path, steps: list[tuple[str, dict[str, object]]]
) -> None:
    write_modules(folder, *steps)

    with pytest.raises(InputError, match=r"last steps .*(lasttoken|mean\+max|Dense)"):
        vectors_of(folder, "pain")

    expected = hidden_of(tokens_of("pain")).mean(axis=0)
    assert np.allclose(vectors_of(folder, "pain", pooling="mean"), [expected], atol=1e-6)


def test_a_model_with_one_vector_per_text_is_not_pooled(tmp_path: Path) -> None:
    steps = [LOOKUP, ("ReduceSum", ["hidden", "middle"], ["embedding"], {"keepdims": 0})]
    write_plain_encoder(tmp_path, *steps, outputs={"embedding": 2})

    assert np.allclose(vectors_of(tmp_path, "pain"), [TABLE[tokens_of("pain")].sum(axis=0)])
    with pytest.raises(OptionError, match=r"pooling=mean does not fit .*nothing to pool"):
        vectors_of(tmp_path, "pain", pooling="mean")
    with pytest.raises(OptionError, match="one vector per text"):
        OnnxEncoder(tmp_path, EmbeddingOptions(), 1).encode_targets([])


def test_vectors_of_tokens_are_preferred_to_one_of_the_text(tmp_path: Path) -> None:
    steps = [LOOKUP, ("ReduceSum", ["hidden", "middle"], ["pooled"], {"keepdims": 0})]
    write_plain_encoder(tmp_path, *steps, outputs={"pooled": 2, "hidden": 3})

    expected = TABLE[tokens_of("pain")].mean(axis=0)
    assert np.allclose(vectors_of(tmp_path, "pain"), [expected], atol=1e-6)


def test_token_types_are_passed_if_a_model_needs_them(tmp_path: Path) -> None:
    steps = [
        ("Gather", ["table", "input_ids"], ["own"], {}),
        ("Gather", ["table", "token_type_ids"], ["type"], {}),
        ("Add", ["own", "type"], ["hidden"], {}),
    ]
    write_plain_encoder(tmp_path, *steps, inputs=["input_ids", "token_type_ids"], dtype="INT32")

    expected = TABLE[tokens_of("pain")].mean(axis=0) + TABLE[0]
    assert np.allclose(vectors_of(tmp_path, "pain"), [expected], atol=1e-6)


def test_a_term_without_tokens_has_a_zero_vector(folder: Path) -> None:
    change_tokenizer(folder, "post_processor")

    result = load(folder, asked(["", "pain"]))

    assert result.vectors.any(axis=1).tolist() == [False, True]
    assert load(folder, asked([])).vectors.shape == (0, 1)


def test_an_option_that_changes_vectors_has_a_separate_cache(folder: Path, tmp_path) -> None:
    for given in ({}, {"pooling": "max"}, {"normalize": "yes"}, {"prefix": "acute "}):
        cached = load(folder, asked(TERMS, tmp_path / "cache", **given))
        assert np.array_equal(cached.vectors, load(folder, asked(TERMS, **given)).vectors)


def offer_gpu(monkeypatch: pytest.MonkeyPatch, *, works: bool) -> list[object]:
    """Let ONNX Runtime offer a GPU, and return the providers of later sessions.

    A GPU that does not work is skipped, as in ONNX Runtime.
    """
    asked_for: list[object] = []
    session = onnxruntime.InferenceSession

    class OnGpu(session):
        def __init__(self, path: Path, settings: object, providers: list[object]) -> None:
            asked_for.append(providers)
            self.names = [p if isinstance(p, str) else p[0] for p in providers]
            super().__init__(path, settings, providers=["CPUExecutionProvider"])

        def get_providers(self) -> list[str]:
            return self.names if works else ["CPUExecutionProvider"]

    offered = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: offered)
    monkeypatch.setattr(onnxruntime, "InferenceSession", OnGpu)
    monkeypatch.setattr(onnxruntime, "preload_dlls", lambda: asked_for.append(["libraries"]))
    return asked_for


@pytest.mark.parametrize("works", [True, False])
def test_a_working_gpu_is_used_with_a_separate_cache(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, works: bool
) -> None:
    plain = OnnxEncoder(folder, EmbeddingOptions(), 1).identity
    asked_for = offer_gpu(monkeypatch, works=works)

    there = OnnxEncoder(folder, EmbeddingOptions(), 1).identity
    here = OnnxEncoder(folder, EmbeddingOptions(device="cpu"), 1).identity

    precise = ("CUDAExecutionProvider", {"use_tf32": "0"})
    on_gpu = [["libraries"], [precise, "CPUExecutionProvider"]]
    assert asked_for == [*on_gpu, ["CPUExecutionProvider"]]
    assert there == plain | ({"provider": "CUDAExecutionProvider"} if works else {})
    assert here == plain


def test_a_model_may_lie_in_a_subfolder_or_be_named_itself(folder: Path, tmp_path: Path) -> None:
    write_modules(folder, ("Transformer", {}), ("Pooling", {"pooling_mode": "max"}))
    expected = vectors_of(folder, "pain").tolist()
    inner = folder / "onnx" / "model.onnx"
    inner.parent.mkdir()
    (folder / "model.onnx").rename(inner)
    shutil.copy(folder / "tokenizer.json", folder / "onnx")
    assert vectors_of(folder, "pain").tolist() == expected  # by the settings around it
    (folder / "onnx" / "tokenizer.json").unlink()
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
    seen = {files_fingerprint(folder, format_onnx.FORMAT, options)}
    files = [path for path in folder.rglob("*") if path.is_file()]

    for path in files:
        path.write_bytes(path.read_bytes() + b" ")
        seen.add(files_fingerprint(folder, format_onnx.FORMAT, options))

    assert len(files) == 6
    assert len(seen) == len(files) + 1


@pytest.mark.parametrize("name", ["weights.bin", "inner/weights.bin", "w" * 150 + ".bin"])
def test_weights_under_any_name_are_in_the_fingerprint(folder: Path, name: str) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
    expected = vectors_of(folder, "pain").tolist()
    model = onnx.load(folder / "model.onnx")
    external = {"save_as_external_data": True, "location": name, "size_threshold": 64}
    (folder / name).parent.mkdir(exist_ok=True)
    onnx.save_model(model, str(folder / "model.onnx"), **external)
    (folder / "other.bin").write_bytes(b"of another program")
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).touch()
    options = EmbeddingOptions()
    before = files_fingerprint(folder, format_onnx.FORMAT, options)
    assert vectors_of(folder, "pain").tolist() == expected

    (folder / "other.bin").write_bytes(b"changed")
    assert files_fingerprint(folder, format_onnx.FORMAT, options) == before
    weights = bytearray((folder / name).read_bytes())
    weights[0] ^= 1
    (folder / name).write_bytes(weights)
    assert files_fingerprint(folder, format_onnx.FORMAT, options) != before


@pytest.mark.parametrize(
    ("value", "names"),
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
    tmp_path: Path, value: bytes, names: list[str]
) -> None:
    (tmp_path / "model.onnx").write_bytes(b"of a tensor\n\x08location\x12" + value)
    assert onnx_weights(tmp_path / "model.onnx") == names


def test_several_models_in_a_folder_are_named(folder: Path) -> None:
    write_transformer(folder / "int8.onnx")

    with pytest.raises(InputError, match=r"one \.onnx file but has int8\.onnx, model\.onnx"):
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
    assert capsys.readouterr().out == ""  # the library prints errors that are not text


DAMAGED = {
    "tokenizer.json": ["", "nonsense", "{}", "[]", '{"model": {"type": "Unknown"}}'],
    "modules.json": ["", "[1]"],
    "config.json": ["", "[1]", '{"max_position_embeddings": -1}'],
    "sentence_bert_config.json": ["", "[1]", '{"max_seq_length": 0}'],
    "tokenizer_config.json": ["", "[1]", '{"model_max_length": "x"}'],
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_tokenizer_or_settings_name_their_file(folder: Path, name: str) -> None:
    for content in DAMAGED[name]:
        (folder / name).write_text(content)

        with pytest.raises(InputError, match=name):
            vectors_of(folder, "pain")


@pytest.mark.parametrize(
    "shape", [{"inputs": ["offsets"]}, {"inputs": ["input_ids", "offsets"]}, {"dtype": "UINT8"}]
)
def test_a_model_of_other_inputs_is_refused(tmp_path: Path, shape: dict) -> None:
    source = shape.get("inputs", ["input_ids"])[-1]
    step = ("Cast", [source], ["ids"], {"to": 7})
    write_plain_encoder(tmp_path, step, ("Gather", ["table", "ids"], ["hidden"], {}), **shape)

    with pytest.raises(InputError, match=rf"is not an encoder: its inputs are .*{source} tensor"):
        vectors_of(tmp_path, "pain")


def test_other_outputs_are_refused_and_vectors_are_taken_where_there_are_some(
    tmp_path: Path,
) -> None:
    steps = [LOOKUP, ("ReduceSum", ["hidden"], ["sum"], {"keepdims": 0})]
    write_plain_encoder(tmp_path / "sum", *steps, outputs={"sum": 0})
    says = r"no vectors of tokens or texts .* sum of shape \(\); export it for feature"
    with pytest.raises(InputError, match=says):
        vectors_of(tmp_path / "sum", "pain")
    of_classifier = (*LOOKUP[:2], ["logits"], {})
    write_plain_encoder(tmp_path / "a", of_classifier, outputs={"logits": 3})
    with pytest.raises(InputError, match=r"logits of shape \(1, 2, 6\); export it for feature-"):
        vectors_of(tmp_path / "a", "pain")

    both = {"logits": 3, "hidden": 3}
    write_plain_encoder(tmp_path / "b", of_classifier, LOOKUP, outputs=both)
    write_plain_encoder(tmp_path / "c")
    expected = vectors_of(tmp_path / "c", "pain").tolist()
    assert vectors_of(tmp_path / "b", "pain").tolist() == expected


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_says_how_to_install_it(folder: Path, monkeypatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(OptionError, match=r"install medsim with its extra onnx"):
        vectors_of(folder, "pain")
