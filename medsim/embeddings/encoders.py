"""Models that embed any term: batches, cache, and registration as formats."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from filelock import FileLock
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from medsim.core.errors import InputError, OutputError
from medsim.core.files import digest_of, put_in_place
from medsim.core.surroundings import user_cache
from medsim.embeddings import formats
from medsim.embeddings.formats.model_folder import kind
from medsim.kernels.types import Vectors

if TYPE_CHECKING:
    from medsim.embeddings.options import EmbeddingOptions

    class Encoder(Protocol):
        """A model that embeds any term.

        Attributes:
            identity: everything that decides its vectors besides the content of its files, as text
                by name.
        """

        identity: dict[str, str]

        def encode(self, terms: Sequence[str]) -> Vectors:
            """Return the vectors of a batch, zeros for unknown terms.

            A vector depends only on its term: the other terms of the batch and the number of
            threads change only the rounding of 32-bit floating point. Terms come in order of
            length, so that batches need little padding.
            """
            ...


LAYOUT = "1"
"""The version of the file format of the cache."""

_PART = ".vectors"
_PARTIAL = "partial"


def cache_folder(chosen: str | Path | None) -> Path | None:
    """Return the folder of cached vectors, by default in the user's cache folder.

    None means no cache: the user chose "none", or the default folder is not writable.
    """
    if chosen is not None:
        return None if str(chosen) == "none" else Path(chosen)
    return user_cache("vectors")


EncodedBatch: TypeAlias = "tuple[Sequence[str], Vectors]"
"""Terms and their vectors, which are computed and written together."""


def cached_parts(folder: Path, wanted: Container[str] | None = None) -> Iterator[EncodedBatch]:
    """Yield the requested vectors of every intact part of a cache, and remove damaged parts.

    The cache has the vectors of one encoder; several processes may read and write it at the same
    time. The name of a part is the SHA-256 of its bytes, given once it is on the disk. So a killed
    process leaves no incomplete part under a final name, and a changed part is detected.

    The bytes of a part are checked against its name once per process. Then its terms are read, and
    its vectors only if one of its terms is requested.
    """
    for path in sorted(folder.glob(f"*{_PART}")):
        part = None
        with suppress(OSError):  # another process may have removed it
            try:
                part = _read_part(path, wanted)
            except (SafetensorError, ValueError, KeyError):  # damaged, or in another format
                path.unlink()
        if part is not None:
            yield part


def cache_part(folder: Path, part: EncodedBatch) -> None:
    """Write a part of a cache; it is on the disk when this returns."""
    terms = np.frombuffer(json.dumps(list(part[0])).encode("ascii"), np.uint8)
    content = save({"terms": terms, "vectors": np.ascontiguousarray(part[1], np.float32)})
    partial, name = folder / _PARTIAL, f"{hashlib.sha256(content).hexdigest()}{_PART}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):  # files of a killed process are overwritten
            partial.unlink(missing_ok=True)
            partial.write_bytes(content)
            put_in_place(partial, folder / name)
    except OSError as error:
        fault = error.strerror or error
        raise OutputError(f"cannot cache vectors in {folder}: {fault}") from error


def _read_part(path: Path, wanted: Container[str] | None) -> EncodedBatch | None:
    """Return the requested terms of a part with their vectors; None if it has none of them.

    Its bytes are checked against its name once for every state of the file.
    """
    stat = path.stat()
    state = (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    if not _was_whole(path.absolute(), state):
        raise ValueError("damaged")
    with safe_open(path, framework="numpy") as arrays:
        terms = json.loads(arrays.get_tensor("terms").tobytes())
        rows = [row for row, term in enumerate(terms) if wanted is None or term in wanted]
        if not rows:
            return None
        vectors = arrays.get_tensor("vectors")
    return [terms[row] for row in rows], vectors[rows]


@cache
def _was_whole(path: Path, state: tuple[int, ...]) -> bool:
    """Return whether a file's bytes matched its name in this state of the file."""
    del state
    return digest_of(path) == path.stem


_CHARACTERS_A_BATCH = 1 << 13  # about 250 terms, or a second of a small model
_MAPPED_BYTES = 1 << 28  # larger results are mapped from a file


def encode_terms(encoder: Encoder, request: formats.Request, files: str) -> formats.TermVectors:
    """Return the vectors of the request's terms, each encoded once and then cached.

    Every batch is on the disk before the next begins. So an interrupted run loses at most one
    batch, and the next run continues from there.

    Args:
        encoder: model that embeds the terms.
        request: terms, and where vectors are cached.
        files: ``files_fingerprint`` of the files that decide the vectors.
    """

    def embed(terms: Sequence[str]) -> Iterator[EncodedBatch]:
        for batch in batches(terms):
            yield batch, encoder.encode(batch)

    return collect(request, cache_key(encoder, files), embed)


def collect(
    request: formats.Request,
    identity: str,
    embed: Callable[[Sequence[str]], Iterable[EncodedBatch]],
) -> formats.TermVectors:
    """Return the vectors of the request's terms, from the cache or from ``embed``.

    Every part is on the disk before the next is requested.

    Args:
        request: the terms, in any order.
        identity: identifies everything that decides the vectors; the name of their cache folder.
        embed: yields parts with the terms that the cache lacks.

    Raises:
        InputError: a vector is not finite, or its number of dimensions differs from the others.
    """
    cache = request.cache and request.cache / identity
    rows = {term: row for row, term in enumerate(request.terms)}
    done = np.zeros(len(rows), np.bool_)
    vectors: Vectors | None = None
    request.stage.total(len(rows))

    def filled(terms: Sequence[str], part: Vectors) -> Vectors:
        target = _matrix(len(rows), part.shape[1], request.cache) if vectors is None else vectors
        wanted = [at for at, term in enumerate(terms) if term in rows]
        places = np.array([rows[terms[at]] for at in wanted], np.int64)
        request.stage.advance(int(np.count_nonzero(~done[places])))
        target[places] = part[wanted]
        done[places] = True
        return target

    for terms, part in cached_parts(cache, rows) if cache else ():
        if vectors is None or part.shape[1] == vectors.shape[1]:
            vectors = filled(terms, part)
    for terms, part in embed([term for term, row in rows.items() if not done[row]]):
        if vectors is not None and part.shape[1] != vectors.shape[1]:
            raise InputError(
                f"the vector of {terms[0]!r} has {part.shape[1]:,} dimensions and others have "
                f"{vectors.shape[1]:,}; if the model has changed, choose another `cache` folder"
            )
        if (at := formats.first_not_finite(part)) is not None:
            raise InputError(f"the vector of {terms[at]!r} is not finite; is the model damaged?")
        if cache:
            cache_part(cache, (terms, part))
        vectors = filled(terms, part)
    if vectors is None:  # no terms
        vectors = _matrix(0, 1, None)
    return formats.TermVectors(vectors=vectors, covered=done, n_vocabulary=None)


def cache_key(encoder: Encoder, files: str) -> str:
    """Return the name of the cache folder of an encoder's vectors."""
    key = json.dumps([LAYOUT, files, encoder.identity], sort_keys=True).encode()
    return hashlib.sha256(key).hexdigest()


def register_encoder(
    name: str,
    describes: str,
    open_encoder: Callable[[Path, EmbeddingOptions, int], Encoder],
    files: Callable[[Path, EmbeddingOptions], list[Path]],
) -> formats.EmbeddingFormat:
    """Register a kind of encoder as a format, and return the format."""

    def load(path: Path, request: formats.Request) -> formats.TermVectors:
        encoder = open_encoder(path, request.options, request.threads)
        return encode_terms(
            encoder, request, formats.files_fingerprint(path, file_format, request.options)
        )

    file_format = formats.EmbeddingFormat(
        describes=describes,
        recognises=lambda path: kind(path) == name,
        files=files,
        gives=formats.TERMS,
        load=load,
    )
    return file_format.register(name)


def unit(vectors: Vectors) -> Vectors:
    """Return vectors scaled to length 1, float32[n, n_dimensions]; zeros stay zeros."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def batches(terms: Iterable[str]) -> Iterator[list[str]]:
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


def _matrix(n_rows: int, n_dimensions: int, folder: Path | None) -> Vectors:
    """Return zeros: float32[n_rows, n_dimensions], mapped from an unnamed file if large."""
    shape = (n_rows, n_dimensions)
    n_bytes = 4 * n_rows * n_dimensions
    if n_bytes < _MAPPED_BYTES:
        return np.zeros(shape, np.float32)
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            # So that a full disk is an error here, not a crash later.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            return np.memmap(file, np.float32, "w+", shape=shape)
    except OSError as error:
        fault = f"{folder or tempfile.gettempdir()}: {error.strerror or error}"
        raise OutputError(f"cannot write {n_bytes:,} bytes of vectors in {fault}") from error
