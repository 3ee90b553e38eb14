"""Keeps compiled code in files that are loaded only if they are whole.

A file holds the code of one kernel for one signature, behind the digest of all that follows. What
is damaged, cut, empty or of another signature counts as not there, and is written anew.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import uuid
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

if TYPE_CHECKING:
    from collections.abc import Callable

_DIGEST_BYTES = hashlib.sha256().digest_size
VERSIONS = (sys.version, numba.__version__, llvmlite.__version__)
"""Of what compiled code is made with."""


class CodeCache(_Cache):
    """Compiled code of a kernel, which another process may write or remove at any time.

    Args:
        function: the kernel as it is written.
        folder: where its files lie; nothing where there is no place for them.
    """

    def __init__(self, function: Callable[..., object], folder: str) -> None:
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self._folder = folder
        self._is_enabled = True

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return self._folder

    def enable(self) -> None:
        """Use the files, as is done unless something else is said."""
        self._is_enabled = True

    def disable(self) -> None:
        """Use no files."""
        self._is_enabled = False

    def flush(self) -> None:
        """Remove the files."""
        for file in Path(self._folder).glob(f"{self._name}-*.nbc"):
            file.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Return the code for a signature, None where it is not there or not whole."""
        target_context.refresh()
        if not self._is_enabled:
            return None
        key = _key(sig, target_context.codegen())
        try:
            content = self._file(key).read_bytes()
        except OSError:
            return None
        digest, stored = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if digest != hashlib.sha256(stored).digest():
            return None
        found, reduced = pickle.loads(stored)  # noqa: S301 — as Numba's own files
        if found != key:
            return None
        return CompileResult._rebuild(target_context, *reduced)  # type: ignore[no-untyped-call]  # noqa: SLF001

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature; what cannot be written is told of once."""
        if not self._is_enabled or data.lifted or data.library.has_dynamic_globals:
            return
        if not self._folder:
            _warn("there is no home folder")
            return
        key = _key(sig, data.codegen)
        stored = dumps((key, data._reduce()))  # type: ignore[no-untyped-call]  # noqa: SLF001
        file = self._file(key)
        partial = file.with_name(f"{file.name}.{uuid.uuid4().hex[:16]}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(hashlib.sha256(stored).digest() + stored)
            partial.replace(file)
        except OSError as error:
            _warn(f"{self._folder}: {error.strerror}")
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def _file(self, key: tuple[object, ...]) -> Path:
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return Path(self._folder, f"{self._name}-{name}.nbc")


def _key(signature: Any, codegen: Any) -> tuple[object, ...]:
    """Return all that compiled code depends on besides the sources."""
    return signature, codegen.magic_tuple(), VERSIONS


@cache
def _warn(reason: str) -> None:
    """Say once that code cannot be kept; no setting of warnings makes that an error."""
    with suppress(UserWarning):
        warnings.warn(
            f"compiled kernels cannot be kept ({reason}), so every run compiles them anew, which "
            "takes up to a minute; let the environment variable NUMBA_CACHE_DIR name a folder",
            stacklevel=2,
        )
