"""Compiles kernels, with a cache of compiled code for each state of their sources.

Numba's own cache keeps code for as long as the kernel's own file stays the same. It does not see
that a function, a constant or a type of another file has changed, and then runs old code or fails;
it loads whatever its files hold, so that a damaged one stops or crashes every later run; and two
processes that compile at once may mix up the code of two signatures. So kernels have a cache of
their own (``code_cache``), in a folder that is named by the content of all kernels' files. Folders
of other contents that no process has used for a month are removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numba import config, njit
from numba.core.dispatcher import Dispatcher as CompiledFunction
from numba.core.registry import cpu_target

from medsim.kernels.compiler import VERSIONS, CodeCache

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

F = TypeVar("F", bound=Callable[..., object])

_DAY_SECONDS = 24 * 60 * 60
_UNUSED_DAYS = 30
_NAME = re.compile(r"kernels-[0-9a-f]{16}(\.removed-[0-9a-f]{32})?")


def kernel(function: F) -> Dispatcher[F]:
    """Return a function compiled without the interpreter lock, from the cache where it is there.

    The cache is in ``NUMBA_CACHE_DIR`` or in the user's cache folder; where neither can be written,
    code is compiled in every run.
    """
    return _cached(function, njit(function, nogil=True))


def inner_kernel(function: F) -> Dispatcher[F]:
    """Return a function that only kernels may call and that has no arrays of its own.

    It works on the arrays that it is given, and neither makes arrays nor calls what returns some:
    it does not count who refers to an array, so such arrays would never be freed. Counting is done
    by atomic instructions, two for each array of each call, which took half of the time of a search
    for bounds and an eighth of that of the search. Compiled as by ``kernel``; a call from Python
    raises TypeError.
    """
    return _inner(function, _nrt=False)


def array_kernel(function: F) -> Dispatcher[F]:
    """Return a function that only kernels may call and that may make arrays; see ``kernel``."""
    return _inner(function)


def _inner(function: F, **options: bool) -> Dispatcher[F]:
    """Return a function compiled without what calls from Python need, which refuses them.

    So all kernels take a quarter less time to compile.
    """
    alone: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **options}
    compiled = njit(function, nogil=True, **alone)
    if isinstance(compiled, CompiledFunction):
        # The dispatcher would jump to code that is not there; so it is not told that there is any.
        compiled._insert = lambda *_code: None  # type: ignore[attr-defined]  # noqa: SLF001
        compiled._compile_for_args = partial(_refuse, function.__name__)  # type: ignore[attr-defined]  # noqa: SLF001
    return _cached(function, compiled)


def inlined_kernel(function: F) -> Dispatcher[F]:
    """Return a function that is compiled as a part of the one kernel that calls it.

    Large kernels that each call the next compile in half the time so, since each is otherwise
    compiled once more with every one above it. Small ones, and what has several callers, gain
    nothing.
    """
    return njit(function, nogil=True, inline="always")


def _refuse(name: str, *_arguments: object, **_named: object) -> None:
    raise TypeError(f"{name} is an inner kernel, which only other kernels may call")


def _cached(function: F, compiled: Dispatcher[F]) -> Dispatcher[F]:
    """Return a compiled function with its cache."""
    if isinstance(compiled, CompiledFunction):  # not where compiling is switched off
        folder = _folder(config.CACHE_DIR)  # type: ignore[attr-defined]  # set when it is imported
        if folder:
            _keep_house(folder)
        # As its method enable_caching does.
        compiled._cache = CodeCache(function, folder)  # type: ignore[attr-defined]  # noqa: SLF001
    return compiled


def compiled_mark() -> Path | None:
    """Return the file that says that what a build needs has been compiled on this machine.

    Another processor and other versions have others. None where code is not kept, or not compiled.
    """
    folder = _folder(config.CACHE_DIR)  # type: ignore[attr-defined]  # set when it is imported
    if not folder or config.DISABLE_JIT:  # type: ignore[attr-defined]  # likewise
        return None
    made_for = repr((VERSIONS, cpu_target.target_context.codegen().magic_tuple()))
    return Path(folder, f"compiled-{hashlib.sha256(made_for.encode()).hexdigest()[:16]}")


@cache
def _folder(chosen: str) -> str:
    """Return the folder of the cache, or nothing where the user has no place for it."""
    try:
        base = Path(chosen or _users_folder())
    except RuntimeError:  # a user without a home
        return ""
    sources = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(file.read_bytes())
    return str(base / f"kernels-{sources.hexdigest()[:16]}")


def _users_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "medsim")


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


@inner_kernel
def whole(number: int | np.integer[Any]) -> int:
    """Return a number as int64: kernels that are called with one type only are compiled once."""
    return int(np.int64(number))
