"""Models that embed any term: their batches, their cache, and their registration as formats."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np

from medsim.core.errors import InputError, OptionError, OutputError
from medsim.embeddings import FORMATS, TERMS, Format, TermVectors, fingerprint
from medsim.embeddings.formats.model_folder import kind
from medsim.embeddings.vector_cache import LAYOUT, Part, VectorCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from medsim.embeddings import Request
    from medsim.embeddings.options import EmbeddingOptions
    from medsim.kernels.types import Vectors

_CHARACTERS_A_BATCH = 1 << 13  # some 250 terms: a second or so of a small model
_MAPPED_BYTES = 1 << 28  # larger results are mapped from a file


class Encoder(Protocol):
    """A model that embeds any term.

    Attributes:
        n_dimensions: of its vectors.
        identity: all that decides its vectors beside the content of its files, as text by name.
    """

    n_dimensions: int
    identity: dict[str, str]

    def encode(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of a batch, zeros for a term of which the model knows nothing.

        A vector is of its term alone: which terms share the batch, and how many threads compute,
        changes it by no more than the rounding of 32-bit floating point. Terms come in order of
        length, so that those that are padded together need little of it.
        """
        ...


def encoded(encoder: Encoder, request: Request, files: str) -> TermVectors:
    """Return the vectors of the request's terms, each encoded once and then kept in its cache.

    Every batch is on the disk before the next begins. So a run that is interrupted loses no more
    than the batch in flight, and the next run goes on where it stopped. ``files`` is the
    ``fingerprint`` of the files that decide the vectors.
    """
    cache = kept_by(encoder, request, files)
    rows = {term: row for row, term in enumerate(request.terms)}
    vectors = _matrix(len(rows), encoder.n_dimensions, request.cache)
    done, covered = np.zeros((2, len(rows)), np.bool_)
    request.stage.total(len(rows))

    def fill(part: Part) -> None:
        wanted = [at for at, term in enumerate(part.terms) if term in rows]
        own = np.array([rows[part.terms[at]] for at in wanted], np.int64)
        request.stage.advance(int(np.count_nonzero(~done[own])))
        vectors[own] = part.vectors[wanted]
        covered[own] = part.vectors[wanted].any(axis=1)
        done[own] = True

    for part in cache.parts(rows) if cache else ():
        fill(part)
    for terms in _batches(term for term, row in rows.items() if not done[row]):
        part = Part(terms=terms, vectors=_finite(terms, encoder.encode(terms)))
        if cache:
            cache.add(part)
        fill(part)
    return TermVectors(vectors=vectors, covered=covered, n_vocabulary=None)


def kept_by(encoder: Encoder, request: Request, files: str) -> VectorCache | None:
    """Return the vectors that are kept of an encoder; None where none are to be kept."""
    if request.cache is None:
        return None
    key = json.dumps([LAYOUT, files, encoder.identity], sort_keys=True).encode()
    return VectorCache(request.cache / hashlib.sha256(key).hexdigest(), encoder.n_dimensions)


def register_encoder(
    name: str,
    describes: str,
    open_encoder: Callable[[Path, EmbeddingOptions, int], Encoder],
    files: Callable[[Path, EmbeddingOptions], list[Path]],
) -> Format:
    """Return the format of a kind of encoder after registering it."""

    def load(path: Path, request: Request) -> TermVectors:
        encoder = open_encoder(path, request.options, request.threads)
        return encoded(encoder, request, fingerprint(path, found, request.options))

    found = Format(
        describes=describes,
        recognises=lambda path: kind(path) == name,
        files=files,
        gives=TERMS,
        load=load,
    )
    return FORMATS.register(name, found)


def unit(vectors: Vectors) -> Vectors:
    """Return vectors scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turn what an import of the body raises where libraries are missing into an OptionError."""
    try:
        yield
    except ImportError as error:
        raise OptionError(
            f"embeddings of format {extra} need more; install medsim with its extra {extra}"
        ) from error


def _batches(terms: Iterable[str]) -> Iterator[list[str]]:
    """Yield terms in order of length and text, up to a number of characters at a time."""
    batch: list[str] = []
    n_characters = 0
    for term in sorted(terms, key=lambda term: (len(term), term)):
        n_characters += len(term) + 1
        if batch and n_characters > _CHARACTERS_A_BATCH:
            yield batch
            batch, n_characters = [], len(term) + 1
        batch.append(term)
    if batch:
        yield batch


def _finite(terms: Sequence[str], vectors: Vectors) -> Vectors:
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        term = terms[int(np.argmin(finite))]
        raise InputError(f"the vector of {term!r} is not finite; is the model damaged?")
    return vectors


def _matrix(n_rows: int, n_dimensions: int, folder: Path | None) -> Vectors:
    """Return zeros: float32[n_rows, n_dimensions], mapped from a nameless file where large."""
    shape = (n_rows, n_dimensions)
    n_bytes = 4 * n_rows * n_dimensions
    if n_bytes < _MAPPED_BYTES:
        return np.zeros(shape, np.float32)
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):  # a full disk must not show itself as a crash later
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            return np.memmap(file, np.float32, "w+", shape=shape)
    except OSError as error:
        location = folder or tempfile.gettempdir()
        raise OutputError(
            f"cannot write {n_bytes:,} bytes of vectors in {location}: {error.strerror or error}"
        ) from error
