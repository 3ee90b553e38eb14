"""Files that appear whole or not at all, and are on the disk when they do; hashed when read."""

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
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

from medsim.core.errors import OutputError
from medsim.core.reading import Watched, open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CANNOT_SYNC = {errno.EBADF, errno.EINVAL, errno.ENOTSUP}  # file systems that sync no folders

_CANNOT_LINK = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EMLINK}

_NAMELESS = getattr(os, "O_TMPFILE", 0)  # of Linux alone
_DESCRIPTORS = Path("/proc/self/fd")
_CANNOT_BE_NAMELESS = {errno.EISDIR, errno.ENOENT, errno.ENOTSUP, errno.EINVAL}


@contextmanager
def whole_file(path: Path, partial: Path, *, sync_name: bool = True) -> Iterator[Path]:
    """Give the body a path to write to; when it ends well, the file is on the disk at ``path``.

    Whatever lay there is replaced; it stays where the body fails.

    Args:
        path: of the file.
        partial: where it is written, in the same folder, and where what a killed process left is
            removed.
        sync_name: whether its name is on the disk as well; it need not be in a folder that is
            synced later, by ``sync_tree``.
    """
    with _failing_to_write(path):
        try:
            partial.unlink(missing_ok=True)  # a link there would be written through
            yield partial
            put_in_place(partial, path, sync_name=sync_name)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


@contextmanager
def nameless_file(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """Give the body a file to write; when it ends well, the file is on the disk at ``path``.

    Until then it has no name, so a process that is killed leaves nothing of it. Where the system or
    the file system knows no such files, and for the moment in which it takes the place of another,
    it has a name of its own, which ends in ``.partial``, and a lock. A later process that writes to
    the same path removes what has such a name and no lock.

    Raises:
        OutputError: there is a file at ``path`` that may not be replaced, or none can be written.
    """
    with ExitStack() as stack:
        _remove_left(path)
        partial = path.with_name(f".{path.name}.{uuid4().hex}.partial")
        with _failing_to_write(path):
            stream = _nameless(path.parent) or partial.open("x+b")
        stack.callback(partial.unlink, missing_ok=True)
        stack.push(suppress(OSError))  # newer versions of Python try to write the rest once more
        stack.callback(stream.close)
        with suppress(OSError):  # a file system may know no locks
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield stream
        with _failing_to_write(path):
            stream.flush()
            os.fsync(stream.fileno())
            target = partial if overwrite else path
            if not partial.exists():
                own = _DESCRIPTORS / str(stream.fileno())
                # A link to the file that the descriptor leads to; Python follows it only so.
                os.link(own, target, src_dir_fd=stream.fileno())
            elif not overwrite:
                os.link(partial, path)
            if overwrite:
                partial.replace(path)
            sync_folder(path.parent)


def write_file(path: Path, content: bytes, *, overwrite: bool) -> None:
    """Write a file, which is on the disk when this returns; see ``nameless_file``."""
    with _failing_to_write(path), nameless_file(path, overwrite=overwrite) as stream:
        stream.write(content)


def _remove_left(path: Path) -> None:
    """Remove what killed processes left of a file."""
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{32}}\.partial")
    with suppress(OSError):  # a folder may take files and not be listed
        for left in path.parent.iterdir():
            if name.fullmatch(left.name) and left.is_file() and not left.is_symlink():
                with suppress(OSError), left.open("rb") as stream:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    left.unlink()


def _nameless(folder: Path) -> IO[bytes] | None:
    """Return a new file in a folder that has no name; None where there are no such files."""
    if not (_NAMELESS and _DESCRIPTORS.is_dir()):
        return None
    try:
        return os.fdopen(os.open(folder, _NAMELESS | os.O_RDWR, 0o666), "w+b")
    except OSError as error:
        if error.errno not in _CANNOT_BE_NAMELESS:
            raise
        return None


@contextmanager
def _failing_to_write(path: Path) -> Iterator[None]:
    """Turn an error of the system about a file into one clear line."""
    try:
        yield
    except FileExistsError as error:
        raise OutputError(f"{path} is there already; add `overwrite` to replace it") from error
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that it holds; no link is followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put_in_place(partial: Path, path: Path, *, sync_name: bool = True) -> None:
    """Rename a file that is written to its name, once its content is on the disk.

    A name that reached the disk before the content would be that of an empty file after a crash.
    """
    sync_file(partial)
    partial.replace(path)
    if sync_name:
        sync_folder(path.parent)


def first_file(path: Path, partial: Path, content: bytes) -> None:
    """Write a file unless there is one.

    Of several processes one writes it, and all see it whole: it gets its name as a link, which no
    file system makes where the name is taken. On a file system without links the last one wins, so
    a caller that needs to have won reads the file again.
    """
    with _failing_to_write(path):
        try:
            partial.write_bytes(content)
            sync_file(partial)
            os.link(partial, path)
        except OSError as error:
            if not path.exists():
                if error.errno not in _CANNOT_LINK:
                    raise
                partial.replace(path)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Return when the content of a file is on the disk."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk, where the file system can tell."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Return when the names in a folder and in all folders within are on the disk."""
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            sync_folder(path)
    sync_folder(folder)


_REST_BYTES = 1 << 20  # read at once where nobody looks at them


class HashedReader(io.BufferedReader):
    """A buffered reader of bytes that hashes what it takes from its file.

    Every byte is taken from the file once, in order, so the digest is of what readers were given,
    even if the file changes meanwhile. It cannot seek.

    Attributes:
        n_bytes: how many were taken from the file so far; all of them after ``finish``.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._digest = hashlib.sha256()
        self.n_bytes = 0
        super().__init__(Watched(stream, self._hash))

    def _hash(self, part: bytes) -> None:
        self._digest.update(part)
        self.n_bytes += len(part)

    def finish(self) -> str:
        """Return the SHA-256 of the whole file, in hex, after reading what is left of it."""
        while self.read(_REST_BYTES):
            pass
        return self._digest.hexdigest()


def open_hashed(path: Path) -> HashedReader:
    """Return a reader of a file that hashes what is read.

    Raises:
        InputError: it is no file, but a folder, a pipe or a device.
        OSError: it cannot be opened.
    """
    return HashedReader(open_file(path))


def check_own_file(path: Path) -> None:
    """Raise OSError unless a file that medsim wrote is there and still is a file."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("it is not a file")


def read_own_json(path: Path, of_object: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Return the value of a file of JSON that medsim wrote, objects as ``of_object`` makes them.

    Raises:
        OSError: it is not there, is no file, or cannot be read.
        ValueError: it is no text, no JSON, or nested too deeply.
    """
    check_own_file(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"), object_hook=of_object)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with open_file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
