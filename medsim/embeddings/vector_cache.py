"""Keeps vectors of terms on disk, in parts that are whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from medsim.core.errors import OutputError
from medsim.core.files import put_in_place
from medsim.core.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from medsim.kernels.types import Vectors

LAYOUT = "1"
"""Changes whenever files of the cache are written otherwise than before."""

_PART = ".vectors"
_PARTIAL = "partial"
_LOCK = "lock"
_TICK_NS = 2_000_000_000  # the coarsest clock of a file system in use


def cache_folder(chosen: str | Path | None) -> Path | None:
    """Return the folder that keeps vectors, by default one among the user's caches.

    None keeps nothing, as the user chooses with "none", and where the default cannot be written.
    """
    if chosen is not None:
        return None if str(chosen) == "none" else Path(chosen)
    try:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(caches, "medsim", "vectors")
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Vectors that were written together."""

    terms: Sequence[str]
    vectors: Vectors


class VectorCache:
    """The vectors of one encoder; several processes may read and write them at the same time.

    A part is named by the SHA-256 of its bytes, and is renamed to that name once it is on the disk.
    So a process that is killed leaves no part that looks whole and is not, and a part whose bytes
    have changed since is recognised by its name.
    """

    def __init__(self, folder: Path, n_dimensions: int) -> None:
        self._folder = folder
        self._n_dimensions = n_dimensions

    def parts(self, wanted: Container[str] | None = None) -> Iterator[Part]:
        """Yield the vectors of every part that is whole; one that is damaged is removed.

        The bytes of a part are compared with its name once a process. After that its terms are read
        to see whether any is wanted, and its vectors where one is.
        """
        for path in sorted(self._folder.glob(f"*{_PART}")):
            part = None
            with suppress(OSError):  # such as that another process has removed it just now
                if not _is_whole(path):
                    path.unlink()
                    continue
                try:
                    part = self._read(path, wanted)
                except (SafetensorError, ValueError, KeyError):  # whole, but in another form
                    path.unlink()
            if part is not None and len(part.terms):
                yield part

    def add(self, part: Part) -> None:
        """Write a part; it is on the disk when this returns."""
        terms = json.dumps(list(part.terms)).encode("ascii")
        vectors = np.ascontiguousarray(part.vectors, np.float32)
        content = save({"terms": np.frombuffer(terms, np.uint8), "vectors": vectors})
        partial = self._folder / _PARTIAL
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / _LOCK):  # what a killed process left is written over
                partial.unlink(missing_ok=True)
                partial.write_bytes(content)
                put_in_place(
                    partial, self._folder / f"{hashlib.sha256(content).hexdigest()}{_PART}"
                )
        except OSError as error:
            raise OutputError(
                f"cannot keep vectors in {self._folder}: {error.strerror or error}"
            ) from error

    def _read(self, path: Path, wanted: Container[str] | None) -> Part:
        """Return those terms of a part that are wanted, with their vectors."""
        with safe_open(path, framework="numpy") as arrays:
            terms = json.loads(arrays.get_tensor("terms").tobytes())
            about = arrays.get_slice("vectors")
            if (about.get_dtype(), about.get_shape()) != ("F32", [len(terms), self._n_dimensions]):
                raise ValueError("other vectors")
            rows = [row for row, term in enumerate(terms) if wanted is None or term in wanted]
            if not rows:
                return Part(terms=[], vectors=np.empty((0, self._n_dimensions), np.float32))
            vectors = arrays.get_tensor("vectors")
        return Part(terms=[terms[row] for row in rows], vectors=vectors[rows])


def kept_dimensions(folder: Path) -> int | None:
    """Return the dimensions of the vectors that a folder keeps; None where it has no whole part."""
    for path in sorted(folder.glob(f"*{_PART}")):
        with suppress(OSError, SafetensorError, ValueError, KeyError):
            if _is_whole(path):
                with safe_open(path, framework="numpy") as arrays:
                    return int(arrays.get_slice("vectors").get_shape()[1])
    return None


def _is_whole(path: Path) -> bool:
    """Return whether a file's bytes are those that it is named by.

    They are read once for every state of the file. A change within the same tick of the file
    system's clock leaves the times as they are, so the state of a file that has changed just now
    does not count.
    """
    found = path.stat()
    state = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < _TICK_NS:
        return _digest_of(path) == path.stem
    return _was_whole(path.absolute(), state)


@cache
def _was_whole(path: Path, state: tuple[int, ...]) -> bool:
    """Return whether a file's bytes were those that it is named by, when its state was this."""
    del state
    return _digest_of(path) == path.stem


def _digest_of(path: Path) -> str:
    with open_file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
