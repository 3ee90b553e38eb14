"""Writes files atomically and durably, and hashes files as they are read."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from medsim.core.errors import OutputError
from medsim.core.reading import Watched, open_file

_CANNOT_SYNC = {errno.EBADF, errno.EINVAL, errno.ENOTSUP}  # if folders cannot sync


@contextmanager
def whole_file(path: Path, partial: Path, *, sync_name: bool = True) -> Iterator[Path]:
    """Give the body a path to write to; if it succeeds, the file is on the disk at ``path``.

    An earlier file is replaced; it stays if the body fails.

    Args:
        path: the final path of the file.
        partial: the path to write to, in the same folder; a file that a killed process left there
            is removed.
        sync_name: whether to sync its name as well; not needed in a folder that ``sync_tree``
            syncs later.
    """
    with _failing_to_write(path):
        try:
            partial.unlink(missing_ok=True)  # else a link there would be followed
            yield partial
            put_in_place(partial, path, sync_name=sync_name)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """Give the body a file to write; if it succeeds, the file is on the disk at ``path``.

    Until then it has a temporary name that ends in ``.partial``, and a lock. A later process that
    writes to the same path removes files with such a name and without a lock, which killed
    processes left.

    Raises:
        OutputError: the file at ``path`` must not be replaced, or no file can be written there.
    """
    _remove_leftovers(path)
    with _failing_to_write(path):
        partial, stream = _locked_partial(path)
        try:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if overwrite:
                partial.replace(path)
            else:
                os.link(partial, path)
            sync_folder(path.parent)
        finally:
            with suppress(OSError):  # newer versions of Python try to write the rest again
                stream.close()
            partial.unlink(missing_ok=True)


def _locked_partial(path: Path) -> tuple[Path, IO[bytes]]:
    """Return a new partial file and its path.

    Another process may take the file for a leftover before it is locked, and remove it; then this
    makes another. That process has the lock only for a moment, so this waits for it.
    """
    while True:
        partial = path.with_name(f".{path.name}.{uuid4().hex}.partial")
        stream = partial.open("x+b")
        with suppress(OSError):  # a file system may not support locks
            fcntl.flock(stream, fcntl.LOCK_EX)
        if partial.exists():
            return partial, stream
        stream.close()


def write_file(path: Path, content: bytes, *, overwrite: bool) -> None:
    """Write a file and sync it to the disk; see ``new_file``."""
    with new_file(path, overwrite=overwrite) as stream:
        stream.write(content)


def _remove_leftovers(path: Path) -> None:
    """Remove partial files that killed processes left."""
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{32}}\.partial")
    with suppress(OSError):  # a folder may be writable and not readable
        for leftover in path.parent.iterdir():
            if name.fullmatch(leftover.name) and leftover.is_file() and not leftover.is_symlink():
                with suppress(OSError), leftover.open("rb") as stream:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    leftover.unlink()


@contextmanager
def _failing_to_write(path: Path) -> Iterator[None]:
    """Turn a system error about a file into an OutputError."""
    try:
        yield
    except FileExistsError as error:
        raise OutputError(f"{path} is there already; add `overwrite` to replace it") from error
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with its content; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put_in_place(partial: Path, path: Path, *, sync_name: bool = True) -> None:
    """Rename a written file once its content is on the disk.

    If the name reached the disk before the content, a crash would leave an empty file.
    """
    sync_file(partial)
    partial.replace(path)
    if sync_name:
        sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the file system supports it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Wait until the names in a folder and all its subfolders are on the disk."""
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            sync_folder(path)
    sync_folder(folder)


_REST_BYTES = 1 << 20  # read at a time when only the hash is needed


class HashedReader(io.BufferedReader):
    """A buffered reader of bytes that hashes everything it reads.

    Every byte is read once, in order, so the digest is of the bytes that the caller got, even if
    the file changes meanwhile. It cannot seek.

    Attributes:
        n_bytes: number of bytes read so far; all bytes after ``finish``.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._digest = hashlib.sha256()
        self.n_bytes = 0
        super().__init__(Watched(stream, self._hash))

    def _hash(self, part: bytes) -> None:
        self._digest.update(part)
        self.n_bytes += len(part)

    def finish(self) -> str:
        """Read the rest of the file and return the SHA-256 of all of it, in hex."""
        while self.read(_REST_BYTES):
            pass
        return self._digest.hexdigest()


def open_hashed(path: Path) -> HashedReader:
    """Return a reader of a file that hashes what is read.

    Raises:
        InputError: the path is a folder, a pipe or a device.
        OSError: it cannot be opened.
    """
    return HashedReader(open_file(path))


def check_own_file(path: Path) -> None:
    """Raise OSError if a file that medsim wrote is missing, or is now something else."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("it is not a file")


def read_own_json(path: Path) -> Any:
    """Return the value of a JSON file that medsim wrote.

    Raises:
        OSError: the file is missing, is not a file, or cannot be read.
        ValueError: it is not text, not JSON, or nested too deeply.
    """
    check_own_file(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with open_file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
