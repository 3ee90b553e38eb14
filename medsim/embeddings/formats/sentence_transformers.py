"""Reads models of sentence-transformers, which need PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medsim.core.errors import InputError, OptionError
from medsim.core.reading import reading
from medsim.embeddings.encoders import needing, register_encoder
from medsim.embeddings.formats.model_folder import model_files, read_modules, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from medsim.embeddings.options import EmbeddingOptions
    from medsim.kernels.types import Vectors

NAME = "sentence-transformers"
"""Under which the format is registered."""

_DESCRIBES = "model of sentence-transformers"
_TERMS_A_RUN = 64


class SentenceEncoder:
    """A model that sentence-transformers runs, on a GPU where PyTorch finds one.

    Terms of a run are padded to the longest and the padding is masked, so a vector depends on its
    batch and on threads by rounding alone. PyTorch has one number of threads for the whole process.
    """

    def __init__(self, path: Path, options: EmbeddingOptions, threads: int) -> None:
        options.check_fit(NAME, "normalize", "prefix")
        if options.normalize == "no" and read_settings(path).normalize:
            raise OptionError(f"normalize=no does not fit {path}, which scales its vectors itself")
        _check_runs_no_code(path)
        with needing(NAME):
            import sentence_transformers  # noqa: PLC0415 — an extra
            import torch  # noqa: PLC0415 — comes with it
            import transformers  # noqa: PLC0415 — as torch
        torch.set_num_threads(threads)
        with reading(path, _DESCRIBES):
            self._model = sentence_transformers.SentenceTransformer(
                str(path),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        self._path = path
        self._normalize = options.normalize == "yes"
        self._prompt = options.prefix or None  # without one, the model's own is put before terms
        self._before = options.prefix or read_settings(path).prompt
        self.identity = {
            "normalize": str(self._normalize),
            "prefix": options.prefix,
            "sentence_transformers": str(sentence_transformers.__version__),
            "torch": str(torch.__version__),
            "transformers": str(transformers.__version__),
        }
        self.n_dimensions = self.encode([""]).shape[1]  # its method for it changed names

    def encode(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of a batch; see ``medsim.embeddings.encoders.Encoder``."""
        with reading(self._path, _DESCRIBES):
            vectors = self._model.encode(
                list(terms),
                prompt=self._prompt,
                batch_size=_TERMS_A_RUN,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=self._normalize,
            )
        return np.asarray(vectors, np.float32)

    @property
    def path(self) -> Path:
        """The folder of the model."""
        return self._path

    @property
    def model(self) -> Any:
        """The model of the library, which may be fine-tuned in place."""
        return self._model

    @property
    def before(self) -> str:
        """The text that is put before every text."""
        return self._before


def _check_runs_no_code(path: Path) -> None:
    """Raise InputError for what would run code of the folder's choice: modules, and pickles."""
    for _, module in read_modules(path):
        if not module.startswith("sentence_transformers."):
            raise InputError(f"{path} needs {module}, which is not of sentence_transformers")
    for weights in sorted(path.rglob("pytorch_model*.bin")):
        if not any(weights.parent.glob("*.safetensors")):
            raise InputError(
                f"{weights} is a pickle, which could run any code, and is not read; if you trust "
                "it, convert the folder to safetensors in Python: "
                f"SentenceTransformer({str(path)!r}).save({f'{path}-safe'!r})"
            )


FORMAT = register_encoder(
    NAME,
    "folder of sentence-transformers",
    SentenceEncoder,
    lambda path, _options: model_files(path),
)
