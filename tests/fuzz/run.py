"""Feeds damaged files to every reader, which must read them or refuse them with a one-line error.

    just fuzz --reader npy

An input is made of a reader's good files and a seed, and read in another process, which may end in
any way. Those at fault are kept with their seed, by which ``--seed`` reads one again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.mutations import mutated
from fuzz.readers import READERS

from medsim.core.errors import MedsimError

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_MESSAGE = 1_000
MEMORY = 6 << 30
"""Maximum bytes of address space of a reader."""

READ, REFUSED = "read", "refused"


def main() -> int:
    """Run the fuzz, print its counts, and return 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600, help="each, 600 by default")
    parser.add_argument("--reader", action="append", choices=[*READERS], help="all by default")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="read one input, and show what becomes of it")
    parser.add_argument("--limit", type=float, default=20, help="seconds that an input may take")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir(), "medsim-fuzz"))
    given = parser.parse_args()
    has_faults = False
    for name in given.reader or READERS:
        with tempfile.TemporaryDirectory() as scratch:
            if given.seed is not None:
                _say(outcome(name, scratch, given.seed))
                continue
            outcomes: Counter[str] = Counter()
            for seed, result in _fuzzed(name, scratch, given):
                is_fault = result not in {READ, REFUSED}
                outcomes["fault" if is_fault else result] += 1
                if is_fault and outcomes["fault"] <= 20:
                    kept = given.keep / f"{name}-{seed}"
                    shutil.rmtree(kept, ignore_errors=True)
                    _damaged(name, scratch, seed)
                    shutil.copytree(Path(scratch, "bad"), kept)
                    _say(f"{name}: seed {seed}: {result}\n  kept in {kept}")
            _say(f"{name} {dict(outcomes)}")
            has_faults |= outcomes["fault"] > 0
    return int(has_faults)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _fuzzed(name: str, scratch: str, given: argparse.Namespace) -> Iterator[tuple[int, str]]:
    """Yield the outcome of each seed until the time is over."""
    seed, end = given.first, time.monotonic() + given.seconds
    while time.monotonic() < end:
        spawning = multiprocessing.get_context(
            "spawn"
        )  # a fork would lack the threads of libraries
        with ProcessPoolExecutor(1, spawning, _begin, (name, scratch)) as pool:
            result = READ
            while time.monotonic() < end and result in {READ, REFUSED}:
                limit = 300 if seed == given.first else given.limit  # for imports and the compiler
                try:
                    result = pool.submit(outcome, name, scratch, seed).result(limit)
                except TimeoutError:
                    result = f"more than {given.limit:g} seconds"
                    for child in multiprocessing.active_children():
                        child.kill()
                except BrokenProcessPool:
                    result = "the process died"
                yield seed, result
                seed += 1


def _begin(name: str, scratch: str) -> None:
    """Limit the process, and read the good files so that everything is imported."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libraries in Rust print panics there
    READERS[name].read(_good(name, scratch))


@cache
def _good(name: str, scratch: str) -> Path:
    """Return the path of a reader's good files, after writing them once."""
    folder, note = Path(scratch, "good"), Path(scratch, "path")
    if not folder.exists():
        folder.mkdir()
        note.write_text(str(READERS[name].write(folder)))
    return Path(note.read_text())


def _damaged(name: str, scratch: str, seed: int) -> Path:
    """Return the path of a damaged input."""
    good = _good(name, scratch)
    folder = Path(scratch, "bad")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(Path(scratch, "good"), folder)
    path = folder / good.relative_to(Path(scratch, "good"))
    draw = random.Random(seed)  # noqa: S311 — nothing is secret
    files = [path] if path.is_file() else sorted(path.glob(READERS[name].damaged))
    file = draw.choice([good_file for good_file in files if good_file.is_file()])
    file.write_bytes(mutated(file.read_bytes(), draw))
    return path


def outcome(name: str, scratch: str, seed: int) -> str:
    """Return the outcome of an input: read, refused, or a fault in words."""
    path = _damaged(name, scratch, seed)
    try:
        READERS[name].read(path)
    except MedsimError as error:
        message = str(error)
        if len(message) > LONGEST_MESSAGE + len(str(path)) or "\n" in message:
            return f"message of {len(message):,} characters: {message[:300]!r}"
        return REFUSED
    except BaseException:  # noqa: BLE001 — whatever a reader raises is a fault
        return traceback.format_exc()[-1500:]
    return READ


if __name__ == "__main__":
    sys.exit(main())
