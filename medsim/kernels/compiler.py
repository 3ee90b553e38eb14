"""Compiles kernels, and keeps what was compiled for every state of their sources apart.

Numba keeps compiled code for as long as the kernel's own file stays the same. It does not see that
a function, a constant or a type of another file has changed, and then runs old code or fails. So
its cache is given a folder that is named by the content of all kernels' files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from numba import config, njit

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> Dispatcher[F]:
    """Return a function compiled without the interpreter lock, from the cache where it is there.

    The cache is in ``NUMBA_CACHE_DIR`` or in the user's cache folder; where neither can be written,
    Numba looks for another place.
    """
    chosen = config.CACHE_DIR  # type: ignore[attr-defined]  # set when numba is imported
    config.CACHE_DIR = _folder(chosen)  # type: ignore[attr-defined]
    try:
        return njit(function, cache=True, nogil=True)
    finally:
        config.CACHE_DIR = chosen  # type: ignore[attr-defined]


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
