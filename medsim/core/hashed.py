"""Files that are hashed while they are read, so that a digest is of the bytes that were parsed."""

from __future__ import annotations

import hashlib
import io
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Buffer

_REST_BYTES = 1 << 20  # read at once where nobody looks at them


class HashedReader(io.BufferedReader):
    """A buffered reader of bytes that hashes what it takes from its file.

    Every byte is taken from the file once, in order, so the digest is of what readers were given,
    even if the file changes meanwhile. It cannot seek.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._source = _HashedSource(stream)
        super().__init__(self._source)

    def finish(self) -> str:
        """Return the SHA-256 of the whole file, in hex, after reading what is left of it."""
        while self.read(_REST_BYTES):
            pass
        return self._source.digest.hexdigest()

    @property
    def n_bytes(self) -> int:
        """The number of bytes taken from the file so far; all of them after ``finish``."""
        return self._source.n_bytes


class _HashedSource(io.RawIOBase):
    """The bytes of a stream, hashed as they are handed on."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self.digest = hashlib.sha256()
        self.n_bytes = 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer, as far as there are bytes; return how many there were."""
        room = memoryview(buffer)
        part = self._stream.read(len(room))
        room[: len(part)] = part
        self.digest.update(part)
        self.n_bytes += len(part)
        return len(part)

    def close(self) -> None:
        """Close the stream."""
        try:
            self._stream.close()
        finally:
            super().close()


def open_hashed(path: Path) -> HashedReader:
    """Return a reader of a file that hashes what is read."""
    return HashedReader(path.open("rb", buffering=0))


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
