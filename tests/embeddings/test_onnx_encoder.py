"""Encoders in ONNX against numpy by hand."""

from __future__ import annotations

import json
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
)

from medsim.core.errors import InputError, OptionError
from medsim.embeddings.formats import onnx as format_onnx
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
    """Take a part out of the tokenizer's file."""
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

    found = load(folder, asked(TERMS, **({"pooling": pooling} if pooling else {})))

    expected = [pool(hidden_of(tokens_of(term))) for term in TERMS]
    assert found.vectors.dtype == np.float32
    assert np.allclose(found.vectors, expected, atol=1e-6)
    assert found.covered.all()
    assert found.n_vocabulary is None


@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_depends_neither_on_other_terms_nor_on_threads(
    folder: Path, monkeypatch, threads
) -> None:
    monkeypatch.setattr(format_onnx, "_TOKENS_A_RUN", 7)

    together = load(folder, asked(TERMS, threads=threads)).vectors

    for term, vector in zip(TERMS, together, strict=True):
        assert np.array_equal(vectors_of(folder, term)[0], vector)


def test_a_model_that_quantises_as_it_runs_gets_a_term_at_a_time(tmp_path: Path) -> None:
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


def test_vectors_are_scaled_when_asked_for(folder: Path) -> None:
    plain = vectors_of(folder, *TERMS)

    scaled = vectors_of(folder, *TERMS, normalize="yes")

    assert np.allclose(scaled, plain / np.linalg.norm(plain, axis=1, keepdims=True), atol=1e-6)


def test_a_prefix_is_read_before_every_term(folder: Path) -> None:
    found = vectors_of(folder, "fever", "pain", prefix="acute ")

    ids = [tokens_of("acute fever"), tokens_of("acute pain")]
    assert np.allclose(found, [hidden_of(row).mean(axis=0) for row in ids], atol=1e-6)


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

    found = vectors_of(folder, "pain of the hand")

    ids = tokens_of("pain of the hand")
    cut = [*ids[: n_tokens - 1], ids[-1]]
    assert np.allclose(found, [hidden_of(cut).mean(axis=0)], atol=1e-6)


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


def test_what_sentence_transformers_wrote_is_the_default(folder: Path) -> None:
    write_modules(
        folder,
        ("Transformer", {}),
        ("Pooling", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}),
        ("Normalize", {}),
    )
    prompts = {"prompts": {"query": "acute "}, "default_prompt_name": "query"}
    add_json(folder, {"config_sentence_transformers.json": prompts})

    own, other = vectors_of(folder, "pain"), vectors_of(folder, "pain", normalize="no", prefix="x ")

    first = hidden_of(tokens_of("acute pain"))[0]
    assert np.allclose(own, [first / np.linalg.norm(first)], atol=1e-6)
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
def test_steps_that_the_onnx_file_does_not_hold_are_not_left_out_silently(
    folder: Path, steps: list[tuple[str, dict[str, object]]]
) -> None:
    write_modules(folder, *steps)

    with pytest.raises(InputError, match=r"goes on with .*(lasttoken|mean\+max|Dense)"):
        vectors_of(folder, "pain")

    expected = hidden_of(tokens_of("pain")).mean(axis=0)
    assert np.allclose(vectors_of(folder, "pain", pooling="mean"), [expected], atol=1e-6)


def test_a_model_that_gives_one_vector_a_text_is_taken_as_it_is(tmp_path: Path) -> None:
    steps = [LOOKUP, ("ReduceSum", ["hidden", "middle"], ["embedding"], {"keepdims": 0})]
    write_plain_encoder(tmp_path, *steps, outputs={"embedding": 2})

    assert np.allclose(vectors_of(tmp_path, "pain"), [TABLE[tokens_of("pain")].sum(axis=0)])
    with pytest.raises(OptionError, match=r"pooling=mean does not fit .*one vector a text"):
        vectors_of(tmp_path, "pain", pooling="mean")


def test_vectors_of_tokens_are_preferred_to_one_of_the_text(tmp_path: Path) -> None:
    steps = [LOOKUP, ("ReduceSum", ["hidden", "middle"], ["pooled"], {"keepdims": 0})]
    write_plain_encoder(tmp_path, *steps, outputs={"pooled": 2, "hidden": 3})

    expected = TABLE[tokens_of("pain")].mean(axis=0)
    assert np.allclose(vectors_of(tmp_path, "pain"), [expected], atol=1e-6)


def test_types_of_tokens_are_fed_where_a_model_wants_them(tmp_path: Path) -> None:
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

    found = load(folder, asked(["", "pain"]))

    assert found.vectors.any(axis=1).tolist() == [False, True]
    assert load(folder, asked([])).vectors.shape == (0, 6)


def test_the_cache_is_of_the_content_of_the_model_and_not_of_its_name(
    folder: Path, tmp_path: Path, monkeypatch
) -> None:
    cache = tmp_path / "cache"
    first = load(folder, asked(TERMS, cache))
    runs: list[int] = []
    run = format_onnx.OnnxSession.run
    monkeypatch.setattr(
        format_onnx.OnnxSession, "run", lambda *given: runs.append(1) or run(*given)
    )

    again = load(folder, asked(TERMS, cache))
    assert (len(runs), again.vectors.tolist()) == (0, first.vectors.tolist())

    write_plain_encoder(folder)
    other = load(folder, asked(TERMS, cache))
    assert runs
    assert not np.allclose(other.vectors, first.vectors)


@pytest.mark.parametrize("option", ["pooling", "normalize", "prefix"])
def test_an_option_that_changes_vectors_has_a_cache_of_its_own(
    folder: Path, tmp_path: Path, option: str
) -> None:
    given = {option: {"pooling": "max", "normalize": "yes", "prefix": "acute "}[option]}
    load(folder, asked(TERMS, tmp_path / "cache"))

    cached = load(folder, asked(TERMS, tmp_path / "cache", **given))

    assert np.array_equal(cached.vectors, load(folder, asked(TERMS, **given)).vectors)


def offer_gpu(monkeypatch: pytest.MonkeyPatch, *, works: bool) -> list[object]:
    """Let ONNX Runtime offer a GPU, and return the providers that sessions are then opened with.

    One that does not work is passed over, as ONNX Runtime does.
    """
    asked_for: list[object] = []
    session = onnxruntime.InferenceSession

    class OnGpu(session):
        def __init__(self, path: Path, settings: object, providers: list[object]) -> None:
            asked_for.append(providers)
            self.names = [one if isinstance(one, str) else one[0] for one in providers]
            super().__init__(path, settings, providers=["CPUExecutionProvider"])

        def get_providers(self) -> list[str]:
            return self.names if works else ["CPUExecutionProvider"]

    offered = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: offered)
    monkeypatch.setattr(onnxruntime, "InferenceSession", OnGpu)
    monkeypatch.setattr(onnxruntime, "preload_dlls", lambda: asked_for.append(["libraries"]))
    return asked_for


def test_a_gpu_is_used_where_there_is_one_and_cached_apart(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = OnnxEncoder(folder, EmbeddingOptions(), 1).identity
    asked_for = offer_gpu(monkeypatch, works=True)

    there = OnnxEncoder(folder, EmbeddingOptions(), 1).identity
    here = OnnxEncoder(folder, EmbeddingOptions(device="cpu"), 1).identity

    precise = ("CUDAExecutionProvider", {"use_tf32": "0"})
    on_gpu = [["libraries"], [precise, "CPUExecutionProvider"]]
    assert asked_for == [*on_gpu, ["CPUExecutionProvider"]]
    assert there == plain | {"provider": "CUDAExecutionProvider"}
    assert here == plain


def test_a_gpu_that_does_not_work_is_as_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = OnnxEncoder(folder, EmbeddingOptions(), 1).identity
    asked_for = offer_gpu(monkeypatch, works=False)
    assert OnnxEncoder(folder, EmbeddingOptions(), 1).identity == plain
    assert len(asked_for) == len(["libraries", "session"])
