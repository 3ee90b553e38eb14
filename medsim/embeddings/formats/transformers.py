"""Reads plain folders of transformers, whose token vectors sentence-transformers pools."""

from __future__ import annotations

from medsim.embeddings.encoders import register_encoder
from medsim.embeddings.formats.plain_model import plain_files
from medsim.embeddings.formats.sentence_transformers import SentenceEncoder

NAME = "transformers"
"""Under which the format is registered."""

FORMAT = register_encoder(
    NAME, "folder of transformers", SentenceEncoder, lambda path, _options: plain_files(path)
)
