"""Reads folders of transformers and of sentence-transformers, which need PyTorch."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from medsim.core.errors import InputError, OptionError, needing
from medsim.core.reading import reading
from medsim.embeddings.encoders import register_encoder
from medsim.embeddings.formats.model_folder import (
    ADAPTER,
    CONFIG,
    MAX_TOKENS,
    MODULES,
    PICKLES,
    SETTINGS_SUFFIXES,
    TOKENIZER,
    model_files,
    read_modules,
    read_object,
    read_settings,
)
from medsim.embeddings.options import POOLINGS, EmbeddingOptions
from medsim.kernels.types import Vectors

NAME = "sentence-transformers"
"""The name of the format."""

_DESCRIBES = "model of sentence-transformers"
_TERMS_A_RUN = 64
_NO_CODE = "code that comes with a model is never run"
_VOCABULARIES = (TOKENIZER, "vocab.txt", "vocab.json", "*.model")


class SentenceEncoder:
    """A model that sentence-transformers runs, on a GPU if PyTorch finds one and it is allowed.

    Terms of a run are padded to the longest and the padding is masked, so the batch, threads and a
    GPU change only the rounding of a vector; the cache has other folders for vectors from a GPU.
    PyTorch has one number of threads for the whole process.

    Attributes:
        path: the folder of the model.
        model: the library's model, which may be fine-tuned in place.
        before: the prefix of every text.
    """

    def __init__(self, path: Path, options: EmbeddingOptions, threads: int) -> None:
        is_plain = not (path / MODULES).exists()
        options.check_fit(NAME, *(["pooling"] if is_plain else []), "normalize", "prefix", "device")
        settings = read_settings(path)
        if options.normalize == "no" and settings.normalize:
            raise OptionError(f"normalize=no does not fit {path}, which scales its vectors")
        _check_runs_no_code(path)
        with needing("folders of transformers need sentence-transformers", NAME):
            import sentence_transformers  # noqa: PLC0415 — an extra
            import torch  # noqa: PLC0415 — comes with it
            import transformers  # noqa: PLC0415 — as torch
        torch.set_num_threads(threads)
        self.identity = {
            "normalize": str(options.normalize == "yes"),
            "prefix": options.prefix,
            "precision": "float32",
            "sentence_transformers": str(sentence_transformers.__version__),
            "torch": str(torch.__version__),
            "transformers": str(transformers.__version__),
        }
        hint = _NO_CODE if "auto_map" in read_object(path / CONFIG) else ""
        with reading(path, _DESCRIBES, hint), _quiet(transformers):
            self.model: Any = sentence_transformers.SentenceTransformer(
                str(path),
                local_files_only=True,
                trust_remote_code=False,
                device=None if options.device == "auto" else options.device,
                model_kwargs={"use_safetensors": True},
            ).float()  # vectors of half precision would depend on their batch
            if is_plain:
                self.identity |= _complete(path, self.model, options.pooling or POOLINGS[0])
        if self.model.device.type != "cpu":
            self.identity["device"] = str(self.model.device.type)
        self.path = path
        self.before = options.prefix or settings.prompt
        self._normalize = options.normalize == "yes"
        self._prompt = options.prefix or None  # without one, the model's own is put before terms

    def encode(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of a batch; see ``medsim.embeddings.encoders.Encoder``."""
        with reading(self.path, _DESCRIBES):
            return encode_batch(self.model, terms, self._prompt, normalize=self._normalize)


def encode_batch(
    model: Any, terms: Sequence[str], prompt: str | None = None, *, normalize: bool = False
) -> Vectors:
    """Return the vectors of a model of sentence-transformers: float32[n_terms, n_dimensions].

    ``prompt`` is put before every term; None for the model's own.
    """
    vectors = model.encode(
        list(terms),
        prompt=prompt,
        batch_size=_TERMS_A_RUN,
        show_progress_bar=False,
        convert_to_numpy=True,
        normalize_embeddings=normalize,
    )
    return np.asarray(vectors, np.float32)


def _check_runs_no_code(path: Path) -> None:
    """Raise InputError for modules and pickles, which would run code from the folder."""
    for _, module in read_modules(path):
        if not module.startswith("sentence_transformers."):
            raise InputError(f"{path} needs {module}, which is not in sentence_transformers")
    for weights in sorted(path.rglob(PICKLES)):
        if not any(weights.parent.glob("*.safetensors")):
            convert = f"SentenceTransformer({str(path)!r}).save({f'{path}-safe'!r})"
            raise InputError(
                f"{weights} is a pickle, which could run any code; if you trust it, convert the "
                f"folder to safetensors in Python: {convert}"
            )


def plain_files(folder: Path, _options: EmbeddingOptions) -> list[Path]:
    """Return the weights, settings and tokenizer of a plain folder of transformers.

    Raises:
        InputError: the folder has adapters, modules or pickles, or no tokenizer or weights. An
            index may name other weights, which the fingerprint would miss.
    """
    if (folder / MODULES).exists():
        raise InputError(f"{folder} has {MODULES}; read it with ,format={NAME}")
    if (folder / ADAPTER).exists():
        raise InputError(
            f"{folder} has adapters (PEFT) only; merge them into their model in Python: "
            "model.merge_and_unload().save_pretrained(FOLDER)"
        )
    _check_runs_no_code(folder)
    files = [file for file in sorted(folder.iterdir()) if file.is_file()]
    if not any(file.match(name) for file in files for name in _VOCABULARIES):
        raise InputError(f"{folder} has no tokenizer; put the model's {TOKENIZER} there")
    whole = [file for file in files if file.name == "model.safetensors"]
    weights = whole or [file for file in files if file.match("model-*-of-*.safetensors")]
    if not weights:
        raise InputError(f"{folder} has no weights; put model.safetensors there")
    return [*weights, *(file for file in files if file.suffix in SETTINGS_SUFFIXES)]


def _complete(path: Path, model: Any, pooling: str) -> dict[str, str]:
    """Complete the library's model of a plain folder, and return the identity of its vectors."""
    _, info = type(model[0].auto_model).from_pretrained(
        str(path), local_files_only=True, use_safetensors=True, output_loading_info=True
    )  # the library draws missing weights at random; it does not use the pooler
    missing = sorted(name for name in info["missing_keys"] if not name.startswith("pooler."))
    if missing:
        fault = f"lacks {len(missing):,} weights that its {CONFIG} asks for, such as {missing[0]}"
        raise InputError(f"{path} {fault}")
    settings = read_settings(path)
    model.max_seq_length = settings.max_tokens or settings.n_positions or MAX_TOKENS
    n_dimensions = model.encode([""], show_progress_bar=False).shape[1]
    model[1] = type(model[1])(n_dimensions, pooling)
    return {"pooling": pooling, "max_tokens": str(model.max_seq_length)}


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Let libraries log only errors and show no progress while a model is loaded."""
    bars, before = transformers.utils.logging, logging.root.manager.disable
    had_bars = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
        if had_bars:
            bars.enable_progress_bar()


FORMAT = register_encoder(NAME, "folder of sentence-transformers", SentenceEncoder, model_files)
register_encoder("transformers", "folder of transformers", SentenceEncoder, plain_files)
