"""The right of one process to a path, by a lock on a file that is gone when the right ends."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from filelock import SoftFileLock, Timeout

_HAS_LOCKS = find_spec("fcntl") is not None  # there are systems without
if _HAS_LOCKS:
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TAKEN = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK}
_UNKNOWN = {errno.ENOSYS, errno.EOPNOTSUPP}
_MOST_TRIED = 1000  # more owners do not come and go while one lock is sought
_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def path_lock(path: Path) -> Iterator[None]:
    """Give the body a lock that no other process has; its file is removed at the end.

    A lock belongs to a file, not to its path: whoever opened the file before the owner removed it
    can still lock it, while another process locks the next file at the same path. So a lock counts
    only if its file is found at the path after it was locked, and the file is removed by the owner
    alone, as the last thing before the lock is given up. Then no two processes ever hold locks
    that count.

    Where the file system or the operating system knows no such locks, the lock is the existence of
    a second file, which filelock looks after.
    """
    descriptor = _locked(path)
    if descriptor is None:
        with _existence(path):
            yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            if _lies_at(path, descriptor):
                path.unlink()
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _locked(path: Path) -> int | None:
    """Return the descriptor of the locked file at a path, None where there are no such locks."""
    if not _HAS_LOCKS:
        return None
    for _ in range(_MOST_TRIED):
        descriptor = os.open(path, _OPEN, 0o666)
        try:
            _check_empty(path, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _lies_at(path, descriptor):
                return descriptor
        except OSError as error:
            os.close(descriptor)
            if error.errno in _UNKNOWN:
                return None
            if error.errno in _TAKEN:
                raise BlockingIOError(error.errno, error.strerror, str(path)) from error
            raise
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the owner removed the file in between: the next one counts
    raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(path))


def _check_empty(path: Path, descriptor: int) -> None:
    """Raise FileExistsError unless a file may be a lock, which is removed: those are empty."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size:
        raise FileExistsError(
            errno.EEXIST, "is there, and no lock of medsim; move it away", str(path)
        )


def _lies_at(path: Path, descriptor: int) -> bool:
    """Return whether a path still leads to the file that was opened there."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


@contextmanager
def _existence(path: Path) -> Iterator[None]:
    """Give the body a lock that is held as long as a file exists."""
    with suppress(OSError):
        path.unlink()  # what the attempt to lock it left; it means nothing here
    lock = SoftFileLock(path.with_name(f"{path.name}.held"), timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path)) from error
    try:
        yield
    finally:
        lock.release()
