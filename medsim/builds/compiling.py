"""Compiles kernels while a build reads its source, if they are not compiled yet."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np
from numba import config

from medsim.builds.negatives import SAMPLERS, PositiveSet, Sampling, TermIndex
from medsim.builds.options import WarmOptions
from medsim.core.errors import OptionError, OutputError
from medsim.core.options import public
from medsim.core.progress import Progress
from medsim.core.surroundings import started
from medsim.kernels.best import empty_slots
from medsim.kernels.compiler import compiled_mark
from medsim.kernels.components import components
from medsim.kernels.edit_search import Search
from medsim.kernels.serving import serve_nearest, used_pairs
from medsim.kernels.sliced import search_group
from medsim.neighbours.search import NearestSearch, Terms, lay_out, queries_in, slate, workspace

_COMMAND = ("-P", "-m", "medsim.builds.compiling")


def no_wait(_progress: Progress) -> list[int]:
    """Return at once: nothing is being compiled."""
    return []


@public(WarmOptions)
def warm(options: WarmOptions) -> None:
    """Compile the search before the first build, unless it is compiled already.

    Raises:
        OptionError: compiling is turned off for Numba.
        OutputError: compiling fails, or the compiled code cannot be cached.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set at import
        raise OptionError("the environment variable NUMBA_DISABLE_JIT turns compiling off")
    with compile_in_background() as wait:
        codes = wait(options.progress or Progress())
    if any(codes):
        status = ", ".join(map(str, filter(None, codes)))
        raise OutputError(
            f"compiling the search failed (exit status {status}); -9 is often too little memory"
        )
    mark = compiled_mark()
    if mark is None or not mark.exists():
        raise OutputError(
            "compiled code cannot be kept; set the environment variable NUMBA_CACHE_DIR to a folder"
        )


@contextmanager
def compile_in_background() -> Iterator[Callable[[Progress], list[int]]]:
    """Compile a build's kernels in the background, and yield a function that waits for them.

    The function returns the exit statuses of the compiling processes. There are two, which are
    stopped at the end of the with block; none start if everything is compiled already. Kernels that
    they do not compile are compiled at the first call.
    """
    mark = compiled_mark()
    if mark is not None:
        with suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
    can_keep = mark is not None and mark.parent.is_dir() and os.access(mark.parent, os.W_OK)
    if mark is None or mark.exists() or not can_keep:
        yield no_wait
        return
    # They end with this process, when their standard input does.
    processes = [started(*_COMMAND, part, stdin=subprocess.PIPE) for part in _PARTS]

    def wait(progress: Progress) -> list[int]:
        if any(process.poll() is None for process in processes):
            with progress.stage("compile the search, once"):
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


_TERMS = ("acute pain", "back pain", "chronic pain of the back")
_NONE = np.empty(0, np.int32)
_ONE = np.zeros(1, np.int32)


def compile_search() -> None:
    """Compile the search by blocks, which takes as long as all other kernels."""
    pool = lay_out(Terms.from_terms(_TERMS))
    best = empty_slots(np.ones(1, np.int32), np.int32)
    task = Search(pool, np.uint64(0), queries_in(pool, _ONE), best)
    search_group(task, _ONE, slate(pool), workspace(pool))


def compile_others() -> None:
    """Compile the other kernels, in the order in which a build needs them."""
    candidates = Terms.from_terms(_TERMS)
    own = components(len(candidates.terms), _ONE, _ONE)
    index = TermIndex(lower=candidates.terms, hashes=candidates.hashes, components=own, groups=own)
    positives = PositiveSet(name="syn_syn", term1_ids=_ONE, term2_ids=_ONE)
    sampler = SAMPLERS.get("random")(index, Sampling(seed=0))
    with Progress().stage("compile") as stage:
        sampler(positives, np.empty((2, 0), np.int32), stage)
    starts, table = np.zeros(2, np.int64), used_pairs(_NONE, _NONE, 1)
    serve_nearest(_ONE, starts, _NONE, table, starts)
    # A query for no candidates is compared with its neighbours, but not searched by blocks.
    NearestSearch(candidates, seed=0, threads=1).nearest(_ONE, np.zeros(1, np.int32))


_PARTS = {"search": compile_search, "others": compile_others}


if __name__ == "__main__":
    # When standard input ends, the parent process has ended, and so does this one. A buffered read
    # would keep it from ending.
    threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
    _PARTS[sys.argv[1]]()
