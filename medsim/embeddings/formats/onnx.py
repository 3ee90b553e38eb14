"""Reads encoders in the ONNX format, such as BERT, with their tokenizer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from medsim.core.config import in_threads
from medsim.core.errors import InputError, OptionError
from medsim.core.extras import needing
from medsim.core.reading import reading
from medsim.embeddings.encoders import register_encoder, unit
from medsim.embeddings.formats.model_folder import (
    MODULES,
    MOST_TOKENS,
    TOKENIZER,
    onnx_files,
    onnx_weights,
    read_settings,
    settings_files,
)
from medsim.embeddings.formats.onnx_session import PROCESSOR, OnnxSession
from medsim.embeddings.options import POOLINGS
from medsim.embeddings.targets import TargetVectors, read_target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from medsim.embeddings.formats.model_folder import Settings
    from medsim.embeddings.formats.onnx_session import Outputs
    from medsim.embeddings.options import EmbeddingOptions
    from medsim.embeddings.targets import Target
    from medsim.kernels.types import Rows, Vectors

NAME = "onnx"
"""Under which the format is registered."""

_TOKENIZER_FORM = "a tokenizer"
_TOKENS_A_RUN = 512


class OnnxEncoder:
    """A transformer with its tokenizer.

    A run has terms of equally many tokens, so nothing is ever padded; and a single term where the
    model quantises as it runs. Each run has one thread, and several run at a time. So a vector
    depends neither on its batch nor on threads, but for the order in which ONNX Runtime adds. On a
    GPU its last digits may differ, so the cache keeps it apart.
    """

    def __init__(self, path: Path, options: EmbeddingOptions, threads: int) -> None:
        options.check_fit(NAME, "vocabulary", "pooling", "normalize", "prefix", "device")
        model, tokenizer = _model(path), _tokenizer(path, options)
        settings = read_settings(_settings_folder(model))
        self._session = OnnxSession(model, options.device)
        self._pooling = _pooling(self._session, options, settings, model)
        self._normalize = options.scales(default=settings.normalize)
        self._prefix = options.prefix or settings.prompt
        self._tokenizer_path = tokenizer
        self._tokenizer, version = _read_tokenizer(tokenizer, settings)
        self._threads = threads
        self.n_dimensions = self._session.n_dimensions
        self.identity = {
            "pooling": str(self._pooling),
            "normalize": str(self._normalize),
            "prefix": self._prefix,
            "max_tokens": str(self._tokenizer.truncation["max_length"]),
            "onnxruntime": self._session.version,
            "tokenizers": version,
        }
        if self._session.provider != PROCESSOR:
            self.identity["provider"] = self._session.provider

    def encode(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of a batch; see ``medsim.embeddings.encoders.Encoder``."""
        with reading(self._tokenizer_path, _TOKENIZER_FORM):
            tokens = [self._tokenizer.encode(self._prefix + term) for term in terms]
        vectors = self._vectors(tokens, lambda outputs, _rows: self._pooled(outputs))
        return unit(vectors) if self._normalize else vectors

    def encode_targets(self, targets: Sequence[Target]) -> TargetVectors:
        """Return the mean of the last layer's vectors of the tokens of each target."""
        if not self._session.of_tokens:
            raise OptionError("the model gives one vector a text, and none of the words in it")
        with reading(self._tokenizer_path, _TOKENIZER_FORM):
            readings = [read_target(self._tokenizer, self._prefix, one) for one in targets]
        within = [one.within for one in readings]

        def means(outputs: Outputs, rows: Rows) -> Vectors:
            weights = np.array([within[row] for row in rows], np.float32)
            sums: Vectors = (outputs * weights[:, :, None]).sum(axis=1)
            n_tokens: Vectors = np.maximum(weights.sum(axis=1, keepdims=True), 1)
            return sums / n_tokens

        return TargetVectors(
            vectors=self._vectors([one.tokens for one in readings], means),
            covered=np.array([one.any() for one in within], np.bool_),
            cut=np.array([one.is_cut for one in readings], np.bool_),
        )

    def _vectors(self, tokens: list[Any], pool: Callable[[Outputs, Rows], Vectors]) -> Vectors:
        """Return a vector a text, given its tokens and what pools the outputs of some texts."""
        vectors = np.zeros((len(tokens), self.n_dimensions), np.float32)

        def run(rows: Rows) -> None:
            ids = np.array([tokens[row].ids for row in rows], np.int64)
            types = np.array([tokens[row].type_ids for row in rows], np.int64)
            vectors[rows] = pool(self._session.run(ids, types), rows)

        runs = self._runs(np.array([len(one.ids) for one in tokens], np.int64))
        in_threads(self._threads, run, runs)
        return vectors

    def _runs(self, lengths: Rows) -> list[Rows]:
        """Return the terms of each run, given how many tokens each has; those of none have none."""
        runs: list[Rows] = []
        for length in np.unique(lengths[lengths > 0]):
            rows = np.flatnonzero(lengths == length)
            most = 1 if self._session.dynamic else max(1, _TOKENS_A_RUN // int(length))
            runs += [rows[at : at + most] for at in range(0, len(rows), most)]
        return runs

    def _pooled(self, outputs: Outputs) -> Vectors:
        """Return one vector a text: float32[n_texts, n_dimensions]."""
        if self._pooling == "cls":
            outputs = outputs[:, 0]
        elif self._pooling == "max":
            outputs = outputs.max(axis=1)
        elif self._pooling == "mean":
            outputs = outputs.mean(axis=1)
        return outputs


def _files(path: Path, options: EmbeddingOptions) -> list[Path]:
    model = _model(path)
    named = [file for file in model.parent.iterdir() if file.name.startswith(model.name)]
    told = (model.parent / name for name in onnx_weights(model))
    weights = sorted({file for file in (*named, *told) if os.path.isfile(file)} - {model})  # noqa: PTH113 — no error of names that cannot be
    return [model, *weights, _tokenizer(path, options), *settings_files(_settings_folder(model))]


def _model(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = onnx_files(path)
    if len(found) != 1:
        listed = ", ".join(str(one.relative_to(path)) for one in found) or "none"
        raise InputError(f"{path} should hold one .onnx file but holds {listed}; name the file")
    return found[0]


def _settings_folder(model: Path) -> Path:
    """Return the folder of the settings: that of the model, or the one around its folder onnx."""
    beside, around = model.parent, model.parent.parent
    if beside.name != "onnx" or (beside / MODULES).exists():
        return beside
    has_own = (beside / TOKENIZER).exists() and not (around / MODULES).exists()
    return beside if has_own else around


def _tokenizer(path: Path, options: EmbeddingOptions) -> Path:
    model = _model(path)
    beside = model.parent / TOKENIZER
    usual = beside if beside.is_file() else _settings_folder(model) / TOKENIZER
    found = options.vocabulary or usual
    if not found.is_file():
        raise InputError(f"{found} does not exist; name the tokenizer with ,vocabulary=PATH")
    return found


def _pooling(
    session: OnnxSession, options: EmbeddingOptions, settings: Settings, path: Path
) -> str | None:
    """Return how token vectors become one; None where the model gives one vector a text."""
    given, declared = options.pooling, settings.pooling or POOLINGS[0]
    if not session.of_tokens:
        if given is not None:
            raise OptionError(f"pooling={given} does not fit {path}, which gives one vector a text")
        return None
    if given is None and (settings.other_steps or declared not in POOLINGS):
        steps = [f"pooling {declared}", *settings.other_steps]
        raise InputError(
            f"{path} gives vectors of tokens, and its model goes on with {', '.join(steps)}; add "
            f",format=sentence-transformers or ,pooling= with {', '.join(POOLINGS)}"
        )
    return given or declared


def _read_tokenizer(path: Path, settings: Settings) -> tuple[Any, str]:
    """Return a tokenizer that never pads and always truncates, and the library's version."""
    with needing("encoders in ONNX need tokenizers", NAME):
        import tokenizers  # noqa: PLC0415 — an extra
    with reading(path, _TOKENIZER_FORM):
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
        own = tokenizer.truncation or {}
        limit = settings.max_tokens or own.get("max_length") or settings.n_positions
        tokenizer.no_padding()
        tokenizer.enable_truncation(**{**own, "max_length": limit or MOST_TOKENS, "stride": 0})
    return tokenizer, str(tokenizers.__version__)


FORMAT = register_encoder(NAME, "encoder in ONNX with tokenizer.json", OnnxEncoder, _files)
