"""Reads models of model2vec, whose vector of a term is the mean of its tokens' vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from medsim.core.errors import needing
from medsim.core.reading import reading
from medsim.embeddings.encoders import register_encoder
from medsim.embeddings.formats.model_folder import model_files
from medsim.embeddings.options import EmbeddingOptions
from medsim.kernels.types import Vectors

NAME = "model2vec"
"""The name of the format."""


_DESCRIBES = "folder of model2vec"


class StaticEncoder:
    """A table of token vectors with its tokenizer (Tulkens and van Dongen 2024, Model2Vec).

    A vector does not depend on the other terms of its batch. A term without a known token gets
    zeros.
    """

    def __init__(self, path: Path, options: EmbeddingOptions, _threads: int) -> None:
        options.check_fit(NAME, "normalize", "prefix")
        with needing("static models need model2vec", NAME):
            import model2vec  # noqa: PLC0415 — an extra
            import tokenizers  # noqa: PLC0415 — comes with it
        with reading(path, _DESCRIBES):
            self._model = model2vec.StaticModel.from_pretrained(path, force_download=False)
        self._normalize = options.scales(default=bool(self._model.normalize))
        self._prefix = options.prefix
        self._path = path
        self.identity = {
            "normalize": str(self._normalize),
            "prefix": self._prefix,
            "model2vec": str(model2vec.__version__),
            "tokenizers": str(tokenizers.__version__),
        }

    def encode(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of a batch; see ``medsim.embeddings.encoders.Encoder``."""
        with reading(self._path, _DESCRIBES):
            vectors = self._model.encode(
                [self._prefix + term for term in terms],
                normalize=self._normalize,
                use_multiprocessing=False,
            )
        return np.asarray(vectors, np.float32)


FORMAT = register_encoder(NAME, _DESCRIBES, StaticEncoder, model_files)
