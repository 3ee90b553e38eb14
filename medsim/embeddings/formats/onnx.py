"""Reads encoders in the ONNX format, such as BERT, with their tokenizer."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from medsim.core.config import in_threads
from medsim.core.errors import InputError, OptionError, needing
from medsim.core.reading import reading
from medsim.embeddings.encoders import register_encoder, unit
from medsim.embeddings.formats.model_folder import (
    MAX_TOKENS,
    MODULES,
    TOKENIZER,
    Settings,
    find_all,
    onnx_files,
    onnx_weights,
    read_settings,
    settings_files,
)
from medsim.embeddings.options import POOLINGS, Device, EmbeddingOptions
from medsim.kernels.types import Flags, Rows, Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A span of a sentence."""

    sentence: str
    start: int
    end: int


def read_target(tokenizer: Any, prefix: str, target: Target) -> tuple[Any, Flags, bool]:
    """Return the tokens of a sentence, or of a window around the target if it is too long.

    If the model's limit would cut off part of the target, the sentence is cut to a window with the
    target in its middle, or to the beginning of the target if the target alone is too long.

    The tokenizer is from the library tokenizers. It counts code points and truncates to the model's
    limit with a stride of 0, so that no token is in two parts of its output.

    Returns:
        The tokenizer's encoding; whether each of its tokens has a character of the target,
        bool[n_tokens], all False if the tokenizer drops the whole target; and whether the target is
        longer than the model's limit, so that its end is missing.
    """
    shift = len(prefix)
    whole = tokenizer.encode(prefix + target.sentence)
    begin, end = shift + target.start, shift + target.end
    spans = sorted(span for part in (whole, *whole.overflowing) for span in _spans(part))
    of_target = [at for at, span in enumerate(spans) if _meets(span, begin, end)]
    within = _within(whole, begin, end)
    n_before = sum(span[1] <= shift for span in spans)  # tokens of the prefix, which stays
    n_read = len(_spans(whole)) - n_before
    if within.sum() == len(of_target) or n_read < 1:
        return whole, within, bool(within.sum() < len(of_target))
    middle = (of_target[0] + of_target[-1] + 1 - n_read) // 2
    first = max(n_before, min(middle, of_target[0], len(spans) - n_read))
    window = spans[first : first + n_read]
    moved = max(0, window[0][0] - shift)
    cut = tokenizer.encode(prefix + target.sentence[moved : window[-1][1] - shift])
    within = _within(cut, begin - moved, end - moved)
    return cut, within, bool(within.sum() < len(of_target))


def _spans(part: Any) -> list[tuple[int, int]]:
    """Return the start and end of each token in the text, without special tokens at its ends."""
    marks = part.special_tokens_mask
    return [span for span, mark in zip(part.offsets, marks, strict=True) if not mark]


def _within(part: Any, begin: int, end: int) -> Flags:
    """Return a mask of the tokens with a character in a span of the text."""
    meets = [_meets(span, begin, end) for span in part.offsets]
    return np.array(meets, np.bool_) & ~np.array(part.special_tokens_mask, np.bool_)


def _meets(span: tuple[int, int], begin: int, end: int) -> bool:
    return span[0] < end and begin < span[1]


Tokens: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""Token ids, or types of tokens, a row per text: int64[n_texts, n_tokens]."""

Outputs: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
"""Vectors of tokens, float32[n_texts, n_tokens, n_dimensions]; or of texts, without n_tokens."""

NAME = "onnx"
"""The name of the format."""

_MODEL_FORM = "a model in ONNX"
_TOKENIZER_FORM = "a tokenizer"
_FED = ("input_ids", "attention_mask", "token_type_ids")
_WHOLE = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_TOKEN_AXES, _TEXT_AXES = 3, 2
_HEADS = frozenset({"logits", "start_logits", "end_logits"})  # outputs for other tasks
_GPU, _PROCESSOR = "CUDAExecutionProvider", "CPUExecutionProvider"  # as ONNX Runtime names them
_EXACT = {"use_tf32": "0"}  # products as precise as on a processor
_DYNAMIC = b"DynamicQuantize"  # the beginning of the names of such operators in a file
_TOKENS_A_RUN = 512
_POOLED: dict[str | None, Callable[[Outputs], Vectors]] = {
    "cls": lambda outputs: outputs[:, 0],
    "max": lambda outputs: outputs.max(axis=1),
    "mean": lambda outputs: outputs.mean(axis=1),
    None: lambda outputs: outputs,
}


class OnnxEncoder:
    """A transformer with its tokenizer.

    The terms of a run have equally many tokens, so nothing is padded. A run has a single term if
    the model quantises dynamically, since rounding then depends on all texts of a run. Each run has
    one thread, and several runs are parallel. So a vector depends neither on its batch nor on
    threads, except for the order of ONNX Runtime's sums. On a GPU, used if one works and the device
    is not "cpu", the last digits may differ, so these vectors have their own folder in the cache.
    """

    def __init__(self, path: Path, options: EmbeddingOptions, threads: int) -> None:
        options.check_fit(NAME, "vocabulary", "pooling", "normalize", "prefix", "device")
        self._path, self._tokenizer_path = _model(path), _tokenizer(path, options)
        settings = read_settings(_settings_folder(self._path))
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # else it sends data over HTTPS
        with needing("encoders in ONNX need onnxruntime and tokenizers", NAME):
            import onnxruntime  # noqa: PLC0415 — an extra
            import tokenizers  # noqa: PLC0415 — as onnxruntime
        with (
            reading(self._path, _MODEL_FORM),
            redirect_stdout(StringIO()),
        ):  # it also prints its errors
            self._session = _session(onnxruntime, self._path, options.device)
        self._inputs = self._checked_inputs()
        self._outputs: list[str] | None = None  # all, until the wanted one is known
        self._outputs, self._of_tokens, self.n_dimensions = self._checked_outputs()
        self._is_dynamic = any(True for _ in find_all(self._path, _DYNAMIC))
        self._pooling = self._chosen_pooling(options.pooling, settings)
        self._normalize = options.scales(default=settings.normalize)
        self._prefix = options.prefix or settings.prompt
        with reading(self._tokenizer_path, _TOKENIZER_FORM):
            self._tokenizer = tokenizers.Tokenizer.from_file(str(self._tokenizer_path))
            truncation = self._tokenizer.truncation or {}
            declared = settings.max_tokens or truncation.get("max_length")
            limit = declared or settings.n_positions or MAX_TOKENS
            truncation |= {"max_length": limit, "stride": 0}
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(**truncation)
        self._threads = threads
        self.identity = {
            "pooling": str(self._pooling),
            "normalize": str(self._normalize),
            "prefix": self._prefix,
            "max_tokens": str(limit),
            "onnxruntime": str(onnxruntime.__version__),
            "tokenizers": str(tokenizers.__version__),
        }
        if (provider := str(self._session.get_providers()[0])) != _PROCESSOR:
            self.identity["provider"] = provider

    def encode(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of a batch; see ``medsim.embeddings.encoders.Encoder``."""
        with reading(self._tokenizer_path, _TOKENIZER_FORM):
            tokens = [self._tokenizer.encode(self._prefix + term) for term in terms]

        vectors = self._vectors(tokens, lambda outputs, _rows: _POOLED[self._pooling](outputs))
        return unit(vectors) if self._normalize else vectors

    def encode_targets(self, targets: Sequence[Target]) -> tuple[Vectors, Flags, Flags]:
        """Return the mean of the last layer's vectors of the tokens of each target.

        Also return whether each target has a token, without which its vector is zeros, and whether
        it is longer than the model's limit.
        """
        if not self._of_tokens:
            raise OptionError("the model gives one vector per text, not vectors of its tokens")
        with reading(self._tokenizer_path, _TOKENIZER_FORM):
            readings = [read_target(self._tokenizer, self._prefix, target) for target in targets]
        tokens, within, is_cut = zip(*readings, strict=True)

        def means(outputs: Outputs, rows: Rows) -> Vectors:
            weights = np.array([within[row] for row in rows], np.float32)
            sums: Vectors = (outputs * weights[:, :, None]).sum(axis=1)
            n_tokens: Vectors = np.maximum(weights.sum(axis=1, keepdims=True), 1)
            return sums / n_tokens

        covered = np.array([mask.any() for mask in within], np.bool_)
        return self._vectors(list(tokens), means), covered, np.array(is_cut, np.bool_)

    def _vectors(self, tokens: list[Any], pool: Callable[[Outputs, Rows], Vectors]) -> Vectors:
        """Return a vector per text, given its tokens and a function that pools outputs."""
        vectors = np.zeros((len(tokens), self.n_dimensions), np.float32)

        def run(rows: Rows) -> None:
            ids = np.array([tokens[row].ids for row in rows], np.int64)
            types = np.array([tokens[row].type_ids for row in rows], np.int64)
            vectors[rows] = pool(np.asarray(self._run(ids, types)[0], np.float32), rows)

        runs = self._runs(np.array([len(encoding.ids) for encoding in tokens], np.int64))
        in_threads(self._threads, run, runs)
        return vectors

    def _runs(self, lengths: Rows) -> list[Rows]:
        """Return the terms of each run by number of tokens; terms without tokens are left out."""
        runs: list[Rows] = []
        for length in np.unique(lengths[lengths > 0]):
            rows = np.flatnonzero(lengths == length)
            most = 1 if self._is_dynamic else max(1, _TOKENS_A_RUN // int(length))
            runs += [rows[at : at + most] for at in range(0, len(rows), most)]
        return runs

    def _run(self, ids: Tokens, types: Tokens) -> list[Any]:
        """Return the outputs for texts of equally many tokens."""
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        fed = {name: known[name].astype(dtype) for name, dtype in self._inputs.items()}
        with reading(self._path, _MODEL_FORM):
            return list(self._session.run(self._outputs, fed))

    def _checked_inputs(self) -> dict[str, str]:
        types = {node.name: node.type for node in self._session.get_inputs()}
        fits = set(types) <= set(_FED) and set(types.values()) <= set(_WHOLE)
        if "input_ids" not in types or not fits:
            inputs = ", ".join(f"{name} {dtype}" for name, dtype in types.items()) or "none"
            expected = f"its inputs are {inputs}; expected whole numbers as {', '.join(_FED)}"
            raise InputError(f"{self._path} is not an encoder: {expected}")
        return {name: _WHOLE[dtype] for name, dtype in types.items()}

    def _checked_outputs(self) -> tuple[list[str], bool, int]:
        """Return the output to use, whether it has a vector per token, and its dimensions.

        A model may not declare the shapes of its outputs, so it is run once.
        """
        ids: Tokens = np.zeros((1, 2), np.int64)
        shapes = [np.shape(output) for output in self._run(ids, ids)]
        names = [node.name for node in self._session.get_outputs()]
        for n_axes in (_TOKEN_AXES, _TEXT_AXES):
            for name, shape in zip(names, shapes, strict=True):
                is_vectors = name not in _HEADS and len(shape) == n_axes
                if is_vectors and shape[:-1] == ids.shape[: n_axes - 1]:
                    return [name], n_axes == _TOKEN_AXES, shape[-1]
        given = [f"{name} of shape {shape}" for name, shape in zip(names, shapes, strict=True)]
        raise InputError(
            f"{self._path} has no vectors of tokens or texts among its outputs: for two tokens, "
            f"{', '.join(given)}; export it for feature-extraction"
        )

    def _chosen_pooling(self, given: str | None, settings: Settings) -> str | None:
        """Return the pooling of token vectors; None if the model gives one vector per text."""
        if not self._of_tokens:
            if given is not None:
                raise OptionError(f"pooling={given} does not fit {self._path}: nothing to pool")
            return None
        declared = settings.pooling or POOLINGS[0]
        if given is None and (settings.other_steps or declared not in POOLINGS):
            steps = ", ".join([f"pooling {declared}", *settings.other_steps])
            raise InputError(
                f"{self._path} does not include the model's last steps ({steps}); add "
                f",format=sentence-transformers or ,pooling= with {', '.join(POOLINGS)}"
            )
        return given or declared


def _session(onnxruntime: Any, path: Path, device: Device) -> Any:
    """Return a session of ONNX Runtime; each of its runs computes in the calling thread."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.use_deterministic_compute = True
    settings.log_severity_level = 4  # errors are raised; warnings are of no use to users
    has_gpu = device == "auto" and _GPU in onnxruntime.get_available_providers()
    if has_gpu and hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()  # it does not find NVIDIA's packages itself
    providers = [(_GPU, _EXACT), _PROCESSOR] if has_gpu else [_PROCESSOR]
    return onnxruntime.InferenceSession(path, settings, providers=providers)


def _files(path: Path, options: EmbeddingOptions) -> list[Path]:
    model = _model(path)
    named = [file for file in model.parent.iterdir() if file.name.startswith(model.name)]
    listed = (model.parent / name for name in onnx_weights(model))
    weights = sorted({file for file in (*named, *listed) if os.path.isfile(file)} - {model})  # noqa: PTH113 — no error of names that cannot be
    return [model, *weights, _tokenizer(path, options), *settings_files(_settings_folder(model))]


def _model(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = onnx_files(path)
    if len(files) != 1:
        names = ", ".join(str(file.relative_to(path)) for file in files) or "none"
        raise InputError(f"{path} should have one .onnx file but has {names}; name the file")
    return files[0]


def _settings_folder(model: Path) -> Path:
    """Return the folder of the settings: the model's folder, or the parent of its folder onnx."""
    folder, parent = model.parent, model.parent.parent
    if folder.name != "onnx" or (folder / MODULES).exists():
        return folder
    has_own = (folder / TOKENIZER).exists() and not (parent / MODULES).exists()
    return folder if has_own else parent


def _tokenizer(path: Path, options: EmbeddingOptions) -> Path:
    model = _model(path)
    in_folder = model.parent / TOKENIZER
    usual = in_folder if in_folder.is_file() else _settings_folder(model) / TOKENIZER
    file = options.vocabulary or usual
    if not file.is_file():
        raise InputError(f"{file} does not exist; name the tokenizer with ,vocabulary=PATH")
    return file


FORMAT = register_encoder(NAME, "encoder in ONNX with tokenizer.json", OnnxEncoder, _files)
