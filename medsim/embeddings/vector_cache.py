"""Keeps vectors of terms on disk, in parts that are whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock
from safetensors import SafetensorError
from safetensors.numpy import load, save

from medsim.errors import OutputError
from medsim.whole_file import put_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.kernels.types import Vectors

LAYOUT = "1"
"""Changes whenever files of the cache are written otherwise than before."""

_PART = ".vectors"
_PARTIAL = "partial"
_LOCK = "lock"


def users_cache() -> Path | None:
    """Return where a user's caches keep what encoders made; None where nothing can be kept."""
    try:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        place = Path(caches, "medsim", "vectors")
        place.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return place if os.access(place, os.W_OK) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Vectors that were written together.

    Attributes:
        terms: distinct.
        vectors: float32[n_terms, n_dimensions].
    """

    terms: Sequence[str]
    vectors: Vectors


class VectorCache:
    """The vectors of one encoder; several processes may read and write them at the same time.

    A part is named by the SHA-256 of its bytes, and is renamed to that name once it is on the disk.
    So a process that is killed leaves no part that looks whole and is not, and a part whose bytes
    have changed since is told by its name.

    Args:
        folder: where the parts lie; made when the first is written.
        n_dimensions: of every vector.
    """

    def __init__(self, folder: Path, n_dimensions: int) -> None:
        self._folder = folder
        self._n_dimensions = n_dimensions

    def parts(self) -> Iterator[Part]:
        """Yield every part that is whole; one that is damaged is removed."""
        for path in sorted(self._folder.glob(f"*{_PART}")):
            part = None
            with suppress(OSError):  # such as that another process has removed it just now
                part = self._whole(path, path.read_bytes())
                if part is None:
                    path.unlink()
            if part is not None:
                yield part

    def add(self, part: Part) -> None:
        """Write a part; it is on the disk when this returns.

        Raises:
            OutputError: it cannot be written.
        """
        terms = json.dumps(list(part.terms)).encode("ascii")
        vectors = np.ascontiguousarray(part.vectors, np.float32)
        content = save({"terms": np.frombuffer(terms, np.uint8), "vectors": vectors})
        partial = self._folder / _PARTIAL
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / _LOCK):  # what a killed process left is written over
                partial.write_bytes(content)
                put_in_place(partial, self._folder / f"{_digest(content)}{_PART}")
        except OSError as error:
            raise OutputError(
                f"cannot keep vectors in {self._folder}: {error.strerror or error}"
            ) from error

    def _whole(self, path: Path, content: bytes) -> Part | None:
        """Return the part in a file, None where it is damaged."""
        with suppress(SafetensorError, ValueError, KeyError):
            if _digest(content) != path.stem:
                return None
            arrays = load(content)
            terms, vectors = json.loads(arrays["terms"].tobytes()), arrays["vectors"]
            if vectors.shape == (len(terms), self._n_dimensions) and vectors.dtype == np.float32:
                return Part(terms=terms, vectors=vectors)
        return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
