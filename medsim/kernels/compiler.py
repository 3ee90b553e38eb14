"""Compiles kernels, with a cache of compiled code for each state of their sources.

Numba keeps compiled code for as long as the kernel's own file stays the same. It does not see that
a function, a constant or a type of another file has changed, and then runs old code or fails. So
kernels have a cache of their own, in a folder that is named by the content of all kernels' files.
Folders of other contents that no process has used for a month are removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from numba import config, njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.dispatcher import Dispatcher as CompiledFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numba.core.dispatcher import Dispatcher

F = TypeVar("F", bound=Callable[..., object])

_DAY_SECONDS = 24 * 60 * 60
_UNUSED_DAYS = 30
_NAME = re.compile(r"kernels-[0-9a-f]{16}(\.removed-[0-9a-f]{32})?")


def kernel(function: F) -> Dispatcher[F]:
    """Return a function compiled without the interpreter lock, from the cache where it is there.

    The cache is in ``NUMBA_CACHE_DIR`` or in the user's cache folder; where neither can be written,
    Numba looks for another place.
    """
    compiled = njit(function, nogil=True)
    if isinstance(compiled, CompiledFunction):  # not where compiling is switched off
        # As its method enable_caching does.
        compiled._cache = _KernelCache(function)  # type: ignore[attr-defined,no-untyped-call]  # noqa: SLF001
    return compiled


class _KernelLocator(UserProvidedCacheLocator):
    """The place of a kernel's compiled code in the folder of all kernels."""

    def __init__(self, function: Callable[..., object], file: str) -> None:
        super().__init__(function, file)  # type: ignore[no-untyped-call]  # as Numba's is
        folder = _folder(config.CACHE_DIR)  # type: ignore[attr-defined]  # set when it is imported
        within = self.get_suitable_cache_subpath(file)  # type: ignore[no-untyped-call]  # as Numba's
        self._cache_path = str(Path(folder, within))

    @classmethod
    def from_function(
        cls, py_func: Callable[..., object], py_file: str
    ) -> UserProvidedCacheLocator | None:
        """Return the place of a function, None where there is none or it cannot be written."""
        folder = _folder(config.CACHE_DIR)  # type: ignore[attr-defined]  # set when it is imported
        if not folder:
            return None
        _keep_house(folder)
        # That of the class above asks whether the user has named a folder.
        return super(UserProvidedCacheLocator, cls).from_function(py_func, py_file)  # type: ignore[no-untyped-call]


class _KernelCacheImpl(CompileResultCacheImpl):
    """As Numba keeps compiled code, with the kernels' own place before others."""

    _locator_classes = [_KernelLocator, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012, SLF001 — as in Numba


class _KernelCache(FunctionCache):
    """Compiled code of a kernel, which another process may remove at any time."""

    _impl_class = _KernelCacheImpl

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        """Go on where a file or its folder is gone: then code is compiled, or not kept."""
        with suppress(FileNotFoundError), super()._guard_against_spurious_io_errors():
            yield


@cache
def _folder(chosen: str) -> str:
    """Return the folder of the cache, or nothing where the user has no place for it."""
    try:
        users = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        base = Path(chosen) if chosen else Path(users, "medsim")
    except RuntimeError:  # a user without a home
        return ""
    sources = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(file.read_bytes())
    return str(base / f"kernels-{sources.hexdigest()[:16]}")


@cache
def _keep_house(folder: str) -> None:
    """Say once a day that a folder is in use, and then remove those that nobody uses.

    A process says so before it reads anything there, so none removes what another has just begun
    to use; and where one does all the same, code is compiled again (``_KernelCache``).
    """
    own = Path(folder)
    try:
        if time.time() - own.stat().st_mtime < _DAY_SECONDS:
            return
        os.utime(own)
    except FileNotFoundError:  # these sources are new, or were never compiled
        pass
    except OSError:
        return
    with suppress(OSError):
        _remove_unused(own)


def _remove_unused(own: Path) -> None:
    """Remove the folders beside one that are of earlier sources and were not used for a month.

    Each gets another name first, which succeeds in one process only and is done at once.
    """
    latest = time.time() - _UNUSED_DAYS * _DAY_SECONDS
    with os.scandir(own.parent) as entries:
        others = [
            entry for entry in entries if entry.name != own.name and _NAME.fullmatch(entry.name)
        ]
    for entry in others:
        with suppress(OSError):
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.stat(follow_symlinks=False).st_mtime < latest:
                state = entry.name.partition(".")[0]
                removed = own.parent / f"{state}.removed-{uuid.uuid4().hex}"
                Path(entry.path).rename(removed)
                shutil.rmtree(removed, ignore_errors=True)
