"""Compiles kernels, with a cache of compiled code for each state of their sources.

Numba's built-in cache reuses code as long as the kernel's file is unchanged. It has three problems:
it misses changes of functions, constants or types in other files, and then runs old code or fails;
it loads its files unchecked, so a damaged file stops or crashes every later run; and two processes
that compile at the same time may mix up the code of two signatures. So medsim has its own cache of
kernels. Its folder is named after the content of all files with kernels. Folders for other contents
are removed once no process has used them for a month.

A file of the cache holds a digest, then the code of one kernel for one signature. A file that is
damaged, truncated, empty or for another signature counts as missing, and is written again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import time
import uuid
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from numba import config, njit
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.event import Event, Listener, install_listener
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

_DIGEST_BYTES = hashlib.sha256().digest_size
VERSIONS = (sys.version, numba.__version__, llvmlite.__version__)
"""The versions that compiled code depends on."""


@dataclass
class CodeCache(_Cache):
    """The cache of a kernel's compiled code; other processes can change it at any time.

    Attributes:
        function: the kernel before compilation.
        cache_path: folder of its files; empty if none can be used.
    """

    function: Callable[..., object]
    cache_path: str = ""

    def enable(self) -> None:
        """Do nothing: the files are always used."""

    def disable(self) -> None:
        """Do nothing, as nothing asks for it."""

    def flush(self) -> None:
        """Do nothing, as nothing asks for it."""

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Return the code for a signature; None if it is missing or damaged."""
        # Numba's own method first loads everything that it can compile, which takes half a second.
        # Compiled code needs only the runtime that counts references; compiling loads the rest.
        rtsys.initialize(target_context)
        key, file = self._file(sig, target_context.codegen())
        try:
            content = file.read_bytes()
        except OSError:
            return None
        digest, stored = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if digest != hashlib.sha256(stored).digest():
            return None
        stored_key, reduced = pickle.loads(stored)  # noqa: S301 — as Numba's own files
        if stored_key != key:
            return None
        return CompileResult._rebuild(target_context, *reduced)  # type: ignore[no-untyped-call]  # noqa: SLF001

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code for a signature; warn once if that fails."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        if not self.cache_path:
            _warn("there is no home folder")
            return
        key, file = self._file(sig, data.codegen)
        stored = dumps((key, data._reduce()))  # type: ignore[no-untyped-call]  # noqa: SLF001
        partial = file.with_name(f"{file.name}.{uuid.uuid4().hex[:16]}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(hashlib.sha256(stored).digest() + stored)
            partial.replace(file)
        except OSError as error:
            _warn(f"{self.cache_path}: {error.strerror}")
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def _file(self, signature: Any, codegen: Any) -> tuple[tuple[object, ...], Path]:
        """Return what compiled code depends on besides the sources, and the path of its file."""
        key = (signature, codegen.magic_tuple(), VERSIONS)
        name = f"{self.function.__module__.rpartition('.')[2]}.{self.function.__qualname__}"
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return key, Path(self.cache_path, f"{name}-{digest}.nbc")


@cache
def _warn(reason: str) -> None:
    """Warn once that code cannot be saved; warning filters cannot turn this into an error."""
    with suppress(UserWarning):
        warnings.warn(
            f"compiled kernels cannot be saved ({reason}), so every run compiles them again, which "
            "takes up to a minute; set the environment variable NUMBA_CACHE_DIR to a folder",
            stacklevel=2,
        )


F = TypeVar("F", bound=Callable[..., object])

_MONTH_SECONDS = 30 * 24 * 60 * 60


def kernel(function: F) -> Dispatcher[F]:
    """Return a function compiled without the interpreter lock, from the cache if possible.

    The cache is in ``NUMBA_CACHE_DIR`` or in the user's cache folder; if neither is writable, code
    is compiled in every run.
    """
    return _cached(function, njit(function, nogil=True))


def inner_kernel(function: F) -> Dispatcher[F]:
    """Return a function that only kernels may call and that creates no arrays.

    It works on its arguments, and neither creates arrays nor calls functions that return arrays:
    without reference counts, these would never be freed. Reference counting needs two atomic
    instructions per array and call. They took half of the time of looking up bounds and an eighth
    of the time of the search. Otherwise like ``kernel``; a call from Python raises TypeError.
    """
    return array_kernel(function, _nrt=False)


def array_kernel(function: F, **options: bool) -> Dispatcher[F]:
    """Return a function that only kernels can call and that can create arrays; see ``kernel``.

    It has no wrapper for calls from Python, which saves a quarter of the compile time of all
    kernels.
    """
    alone: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **options}
    compiled = njit(function, nogil=True, **alone)
    if isinstance(compiled, Dispatcher):
        # Without a wrapper there is no entry point for the dispatcher, so none is registered.
        compiled._insert = lambda *_code: None  # type: ignore[attr-defined]  # noqa: SLF001
        compiled._compile_for_args = partial(_refuse, function.__name__)  # type: ignore[attr-defined]  # noqa: SLF001
    return _cached(function, compiled)


def inlined_kernel(function: F) -> Dispatcher[F]:
    """Return a function that is compiled as part of the only kernel that calls it.

    This halves the compile time of a chain of large kernels, where each would otherwise be compiled
    again with every kernel above it. Small functions and functions with several callers do not
    gain.
    """
    return njit(function, nogil=True, inline="always")


def _refuse(name: str, *_arguments: object, **_named: object) -> None:
    raise TypeError(f"{name} is an inner kernel, which only other kernels may call")


def _cached(function: F, compiled: Dispatcher[F]) -> Dispatcher[F]:
    """Return a compiled function with its cache."""
    if isinstance(compiled, Dispatcher):  # not where compiling is switched off
        folder = _folder(config.CACHE_DIR)  # type: ignore[attr-defined]  # set when it is imported
        # The same as its method enable_caching.
        compiled._cache = CodeCache(function, folder)  # type: ignore[attr-defined]  # noqa: SLF001
    return compiled


def compiled_mark() -> Path | None:
    """Return the path of a file that exists once all kernels of a build are compiled here.

    It depends on the processor and on versions. None if code is not saved or compilation is off.
    """
    folder = _folder(config.CACHE_DIR)  # type: ignore[attr-defined]  # set when it is imported
    if not folder or config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when it is imported
        return None
    made_for = repr((VERSIONS, cpu_target.target_context.codegen().magic_tuple()))
    return Path(folder, f"compiled-{hashlib.sha256(made_for.encode()).hexdigest()[:16]}")


@cache
def _folder(chosen: str) -> str:
    """Return the folder of the cache; empty if none can be used.

    The folder is marked as used now. Folders for other sources, unused for a month, are removed.
    """
    try:
        caches = os.environ.get("XDG_CACHE_HOME") or ("" if chosen else Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        return ""
    base = Path(chosen) if chosen else Path(caches, "medsim")
    sources = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(file.read_bytes())
    current = base / f"kernels-{sources.hexdigest()[:16]}"
    with suppress(OSError):
        if current.exists():
            os.utime(current)
        for other in base.glob(f"kernels-{'[0-9a-f]' * 16}"):
            if other != current and time.time() - other.lstat().st_mtime > _MONTH_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
    return str(current)


@inner_kernel
def whole(number: int | np.integer[Any]) -> int:
    """Return a number as int64, so that kernels are compiled for a single type."""
    return int(np.int64(number))


@dataclass
class CompileTimes(Listener):
    """The compile time of kernels in seconds; a kernel's time includes the kernels it calls.

    Attributes:
        begins: called when the first kernel begins to compile.
    """

    begins: Callable[[], None] | None
    seconds: float = 0.0
    _depth: int = 0
    _began: float = 0.0

    def on_start(self, event: Event) -> None:  # noqa: ARG002 — Numba's
        """Note that a kernel begins to compile."""
        if self._depth == 0:
            self._began = time.monotonic()
            if self.begins is not None:
                self.begins()
                self.begins = None
        self._depth += 1

    def on_end(self, event: Event) -> None:  # noqa: ARG002 — Numba's
        """Note that a kernel is compiled."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.monotonic() - self._began


def compile_watch(begins: Callable[[], None]) -> AbstractContextManager[CompileTimes]:
    """Measure the compile times of kernels in the body; cached code takes no time."""
    return install_listener("numba:compile", CompileTimes(begins))
