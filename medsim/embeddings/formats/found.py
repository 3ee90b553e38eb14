"""Collects the vectors of wanted words as a file is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import InputError
from medsim.embeddings import WordVectors

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from medsim.kernels.types import Vectors


class FoundWords:
    """Vectors of the wanted words that a file has, in the order in which they come.

    Words are compared as UTF-8, so a word of the file that is no valid UTF-8 is none of those
    wanted and is passed over.

    Args:
        path: of the file.
        wanted: the words.
        place: what its rows are called, "line" or "row".
    """

    def __init__(self, path: Path, wanted: Collection[str], place: str) -> None:
        self.path = path
        self._place = place
        self._rows: dict[bytes, int] = {}
        self._vectors = bytearray()
        self.wanted = frozenset(word.encode("utf-8", "surrogatepass") for word in wanted)

    def add(self, word: bytes, row: int, vector: bytes) -> None:
        """Keep the vector of a wanted word: its numbers as float32, low byte first.

        Raises:
            InputError: the word has a vector already.
        """
        if word in self._rows:
            raise InputError(
                f"{self.path}: {_text(word)!r} stands in {self._place} {self._rows[word]:,} and "
                f"again in {self._place} {row:,}"
            )
        self._rows[word] = row
        self._vectors += vector

    def result(self, n_dimensions: int, n_vocabulary: int) -> WordVectors:
        """Return what was found.

        Raises:
            InputError: a vector has a value that is not finite.
        """
        vectors = np.frombuffer(self._vectors, "<f4").reshape(-1, n_dimensions)
        words = [_text(word) for word in self._rows]
        if (at := first_not_finite(vectors)) is not None:
            row = list(self._rows.values())[at]
            raise InputError(
                f"{self.path}: {self._place} {row:,}: the vector of {words[at]!r} has a value "
                "that is not finite as float32"
            )
        return WordVectors(
            words=words,
            vectors=vectors.astype(np.float32, copy=False),
            in_vocabulary=np.ones(len(words), np.bool_),
            n_vocabulary=n_vocabulary,
        )


def first_not_finite(vectors: Vectors) -> int | None:
    """Return the first row with a value that is infinite or not a number, if there is one."""
    if not len(vectors):
        return None
    # The extremes of a row carry what is not finite, without a flag for every value.
    wrong = ~(np.isfinite(vectors.min(axis=1)) & np.isfinite(vectors.max(axis=1)))
    return int(wrong.argmax()) if wrong.any() else None


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogatepass")
