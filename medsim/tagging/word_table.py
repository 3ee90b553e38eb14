"""The vectors of words that taggers see."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.embeddings import Request, WordVectors
from medsim.embeddings.embedded_terms import read_vectors
from medsim.embeddings.metrics import WordBags, Workers
from medsim.embeddings.metrics.averages import points_of
from medsim.embeddings.tokens import forms, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from medsim.core.progress import Progress
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.kernels.types import Flags, Vectors

SPREAD = 0.5
"""The standard deviation that the values of vectors have once they are scaled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTable:
    """The vectors that an embedding has of words.

    Attributes:
        rows: of the vectors, by word.
        vectors: float32[n_words, n_dimensions].
        known: bool[n_words], whether the embedding has a word.
    """

    rows: dict[str, int]
    vectors: Vectors
    known: Flags

    def knows(self, words: Iterable[str]) -> Flags:
        """Return whether the embedding has each of some words of the table."""
        return self.known[[self.rows[word] for word in words]]

    def scaled(self, words: Sequence[str]) -> Vectors:
        """Return the vectors of some words as a tagger sees them: float32[n_words + 1, n].

        All are scaled by one number, which is such that the values of known words have the standard
        deviation ``SPREAD``: so it does not matter in which unit an embedding measures. A word that
        is not known has the mean of those that are. The last row is of what lies beyond the ends of
        sentences: zeros.
        """
        own = [self.rows[word] for word in words]
        vectors = np.zeros((len(own) + 1, self.vectors.shape[1]), np.float32)
        is_known = self.known[own]
        if is_known.any():
            known = self.vectors[own][is_known]
            vectors[:-1] = known.mean(axis=0, dtype=np.float64)
            vectors[:-1][is_known] = known
            vectors *= np.float32(SPREAD / max(float(known.std(dtype=np.float64)), 1e-30))
        return vectors


def word_table(
    named: NamedEmbedding,
    words: Sequence[str],
    progress: Progress,
    threads: int,
    cache: Path | None,
) -> WordTable:
    """Return the vectors that an embedding has of words, which are distinct and in order.

    A word is looked up as those of terms are, under the embedding's options; but punctuation, which
    is no word of a term, as it stands. One that is split at punctuation inside has the mean of its
    parts. ``cache`` keeps what encoders make.
    """
    options = named.spec.options
    with progress.stage(f"embed {len(words):,} words by {named.spec.name}") as stage:
        request = Request(
            terms=words,
            words=forms(words, options).union(words),
            options=options,
            threads=threads,
            cache=cache,
            stage=stage,
        )
        found = read_vectors(named, request, progress)
        if isinstance(found, WordVectors):
            vectors, known = _of_words(found, request)
        else:
            vectors, known = found.vectors, found.covered
        stage.found(f"{int(known.sum()):,} known, {vectors.shape[1]} dimensions")
    return WordTable(rows=_rows(words), vectors=vectors, known=known)


def drawn_table(words: Sequence[str], n_dimensions: int, seed: int) -> WordTable:
    """Return vectors that are drawn from the normal law, by a hash of the seed and the word."""
    vectors = np.empty((len(words), n_dimensions), np.float32)
    for row, word in enumerate(words):
        digest = hashlib.sha256(f"{seed}\0{word}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "big"))
        vectors[row] = rng.standard_normal(n_dimensions, np.float32)
    return WordTable(rows=_rows(words), vectors=vectors, known=np.ones(len(words), np.bool_))


def _rows(words: Sequence[str]) -> dict[str, int]:
    return {word: row for row, word in enumerate(words)}


def _of_words(found: WordVectors, request: Request) -> tuple[Vectors, Flags]:
    """Return the vector of each word, and whether there is one."""
    bags = words_of(request.terms, found, request.options)
    embedded = WordBags(vectors=found.vectors, words=bags.word_ids, starts=bags.starts)
    every = np.arange(len(request.terms), dtype=np.int32)
    vectors = points_of(embedded, every, Workers(threads=request.threads)).astype(np.float32)
    known = bags.covered.copy()
    rows = _rows(found.words)
    for at in np.flatnonzero(bags.n_words == 0).tolist():
        row = rows.get(request.terms[at])
        if row is not None and found.in_vocabulary[row]:
            vectors[at], known[at] = found.vectors[row], True
    return vectors, known
