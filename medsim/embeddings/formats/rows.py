"""The rows of an embedding that are wanted, of those that its words or terms name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import InputError
from medsim.core.terms import lowered
from medsim.embeddings import TERMS, WORDS, TermVectors, WordVectors
from medsim.embeddings.options import TOKEN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Sequence
    from pathlib import Path

    from medsim.embeddings import Request
    from medsim.kernels.types import Rows, Vectors


class WantedWords:
    """Vectors of the wanted words that a file has, in the order in which they come.

    Words are compared as UTF-8, so a word of the file that is no valid UTF-8 is none of those
    wanted and is passed over.
    """

    def __init__(self, path: Path, wanted: Collection[str], unit: str) -> None:
        self.path = path
        self._unit = unit
        self._rows: dict[bytes, int] = {}
        self._vectors = bytearray()
        self._vocabulary = bytearray()
        self.wanted = frozenset(word.encode("utf-8", "surrogatepass") for word in wanted)

    def pass_by(self, word: bytes) -> None:
        """Keep a word as one of the vocabulary, wanted or not."""
        self._vocabulary += word + b"\n"

    def add(self, word: bytes, row: int, vector: bytes) -> None:
        """Keep the vector of a wanted word: its numbers as float32, low byte first."""
        if word in self._rows:
            raise InputError(
                f"{self.path}: {_text(word)!r} stands in {self._unit} {self._rows[word]:,} and "
                f"again in {self._unit} {row:,}"
            )
        self._rows[word] = row
        self._vectors += vector

    def result(self, n_dimensions: int, n_vocabulary: int) -> WordVectors:
        """Return the vectors of all that were added."""
        vectors = np.frombuffer(self._vectors, "<f4").reshape(-1, n_dimensions)
        words = [_text(word) for word in self._rows]
        if (at := first_not_finite(vectors)) is not None:
            row = list(self._rows.values())[at]
            raise InputError(
                f"{self.path}: {self._unit} {row:,}: the vector of {words[at]!r} has a value "
                "that is not finite as float32"
            )
        return WordVectors(
            words=words,
            vectors=vectors.astype(np.float32, copy=False),
            in_vocabulary=np.ones(len(words), np.bool_),
            n_vocabulary=n_vocabulary,
            vocabulary=self._vocabulary,
        )


FITTING: dict[str, tuple[str, ...]] = {WORDS: ("keys", *TOKEN_OPTIONS), TERMS: ("keys", "case")}
"""The options that fit rows of words and rows of terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The words or terms that name the rows of an embedding, and the file or object that has them.

    Their ``kind`` is ``WORDS`` or ``TERMS``.
    """

    path: Path | str
    values: Sequence[str]
    kind: str


def keyed(
    keys: Keys, request: Request, take: Callable[[Rows], Vectors]
) -> WordVectors | TermVectors:
    """Return the vectors of the wanted words, or of the terms.

    A term has the row that bears its text; else, with ``case=fallback``, the first row that bears
    it in another case. With ``case=lower`` case never counts, with ``case=keep`` always.
    """
    if keys.kind == TERMS:
        return _terms(keys, request, take)
    rows = _rows(keys, frozenset(request.words))
    return WordVectors(
        words=list(rows),
        vectors=_taken(keys, np.array(list(rows.values()), np.int64), take),
        in_vocabulary=np.ones(len(rows), np.bool_),
        n_vocabulary=len(keys.values),
        vocabulary="\n".join(keys.values).encode("utf-8", "surrogatepass"),
    )


def first_not_finite(vectors: Vectors) -> int | None:
    """Return the first row with a value that is infinite or not a number, if there is one."""
    if not len(vectors):
        return None
    # The extremes of a row carry what is not finite, without a flag for every value.
    wrong = ~(np.isfinite(vectors.min(axis=1)) & np.isfinite(vectors.max(axis=1)))
    return int(wrong.argmax()) if wrong.any() else None


def _terms(keys: Keys, request: Request, take: Callable[[Rows], Vectors]) -> TermVectors:
    terms, case = request.terms, request.options.case
    exact = {} if case == "lower" else _rows(keys, frozenset(terms))
    row_of = np.array([exact.get(term, -1) for term in terms], np.int64)
    if case != "keep":
        lower = lowered(terms)
        wanted = frozenset(text for text, row in zip(lower, row_of, strict=True) if row < 0)
        folded: dict[str, int] = {}
        for row, key in enumerate(lowered(keys.values)):
            if key in wanted:
                folded.setdefault(key, row)
        rest = np.array([folded.get(text, -1) for text in lower], np.int64)
        row_of = np.where(row_of < 0, rest, row_of)
    covered = row_of >= 0
    rows, places = np.unique(row_of[covered], return_inverse=True)
    taken = _taken(keys, rows, take)
    vectors = np.zeros((len(terms), taken.shape[1]), np.float32)
    vectors[covered] = taken[places]
    return TermVectors(vectors=vectors, covered=covered, n_vocabulary=len(keys.values))


def _rows(keys: Keys, wanted: Container[str]) -> dict[str, int]:
    """Return the row of each key that is wanted, in order of row."""
    rows: dict[str, int] = {}
    for row, key in enumerate(keys.values):
        if key in wanted:
            if key in rows:
                raise InputError(
                    f"{keys.path}: {key!r} stands in row {rows[key] + 1:,} and again in row "
                    f"{row + 1:,}"
                )
            rows[key] = row
    return rows


def _taken(keys: Keys, rows: Rows, take: Callable[[Rows], Vectors]) -> Vectors:
    """Return the vectors of rows, all of them finite."""
    vectors = take(rows)
    if (at := first_not_finite(vectors)) is not None:
        raise InputError(
            f"{keys.path}: the vector of {keys.values[rows[at]]!r}, row {rows[at] + 1:,}, has a "
            "value that is not finite as float32"
        )
    return vectors


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogatepass")
