"""Kernels that were never compiled here are compiled while a build reads its source."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.kernels.compiler import compiled_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medsim.core.progress import Progress

_STAGE = "compile the search, once"
_COMMAND = (sys.executable, "-P", "-m", "medsim.builds.compiled")


@contextmanager
def compiled_meanwhile() -> Iterator[Callable[[Progress], None]]:
    """Give the body a function that waits until a build's kernels are compiled.

    They are compiled in a process of its own, which ends with the body at the latest, and is not
    begun where they are compiled already. What it does not compile is compiled when it is called.
    """
    mark = compiled_mark()
    if mark is None or mark.exists() or not _is_writable(mark.parent):
        yield lambda _progress: None
        return
    process = _started()

    def wait(progress: Progress) -> None:
        if process.poll() is None:
            with progress.stage(_STAGE):
                process.wait()

    try:
        yield wait
    finally:
        process.kill()
        if process.stdin is not None:
            process.stdin.close()
        process.wait()


def _started() -> subprocess.Popen[bytes]:
    """Return the process that compiles; it ends when its standard input does, as with this one.

    It is in no group of a terminal's: an interrupt from there comes to this process alone.
    """
    return subprocess.Popen(
        _COMMAND,
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
