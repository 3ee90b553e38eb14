"""Kernels that were never compiled here are compiled while a build reads its source."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from numba import config

from medsim.builds.options import WarmOptions
from medsim.core.errors import OptionError, OutputError
from medsim.core.options import public
from medsim.core.progress import Progress
from medsim.kernels.compiler import compiled_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STAGE = "compile the search, once"
_COMMAND = (sys.executable, "-P", "-m", "medsim.builds.compiled")
_PARTS = ("search", "others")  # of ``compiled``


def no_wait(_progress: Progress) -> list[int]:
    """Return at once: nothing is being compiled."""
    return []


@public(WarmOptions)
def warm(options: WarmOptions) -> None:
    """Compile the search ahead of the first build, unless that has been done.

    Raises:
        OptionError: Numba is told not to compile.
        OutputError: compiling fails, or what is compiled cannot be kept.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when it is imported
        raise OptionError(
            "the environment variable NUMBA_DISABLE_JIT says that nothing is compiled"
        )
    with compiled_meanwhile() as wait:
        codes = wait(options.progress or Progress())
    if any(codes):
        status = ", ".join(map(str, filter(None, codes)))
        raise OutputError(
            f"compiling the search failed (exit status {status}); -9 is often too little memory"
        )
    mark = compiled_mark()
    if mark is None or not mark.exists():
        raise OutputError(
            "what is compiled cannot be kept; let the environment variable NUMBA_CACHE_DIR name a "
            "folder"
        )


@contextmanager
def compiled_meanwhile() -> Iterator[Callable[[Progress], list[int]]]:
    """Give the body a function that waits until a build's kernels are compiled.

    It returns the exit statuses of the processes that did so.
    They are compiled in two processes, which end with the body at the latest, and are not begun
    where they are compiled already. What they do not compile is compiled when it is called.
    """
    mark = compiled_mark()
    if mark is None or mark.exists() or not _is_writable(mark.parent):
        yield no_wait
        return
    processes = [_started(part) for part in _PARTS]

    def wait(progress: Progress) -> list[int]:
        if any(process.poll() is None for process in processes):
            with progress.stage(_STAGE):
                for process in processes:
                    process.wait()
        codes = [process.wait() for process in processes]
        if not any(codes):
            with suppress(OSError):
                mark.touch()
        return codes

    try:
        yield wait
    finally:
        for process in processes:
            process.kill()
            if process.stdin is not None:
                process.stdin.close()
            process.wait()


def _started(part: str) -> subprocess.Popen[bytes]:
    """Return a process that compiles; it ends when its standard input does, as with this one.

    It is in no group of a terminal's: an interrupt from there comes to this process alone.
    """
    return subprocess.Popen(
        (*_COMMAND, part),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(one or str(Path.cwd()) for one in sys.path)},
        start_new_session=True,
    )


def _is_writable(folder: Path) -> bool:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    return False
