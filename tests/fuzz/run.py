"""Feeds damaged files to every reader, which must read them or say in one line why not.

    just fuzz --reader npy

An input is made of a reader's good files and a seed, and read in a process of its own that may end
in any way. Those at fault are kept with their seed, by which ``--seed`` reads one again.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.mutations import mutated
from fuzz.readers import READERS, Reader

from medsim.core.errors import MedsimError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

LONGEST_MESSAGE = 1_000
MEMORY = 6 << 30
"""Bytes of addresses that a reader may have; a file that asks for more is no reason to die."""

_KEPT = Path(tempfile.gettempdir()) / "medsim-fuzz"
_LONGEST_START = 300  # seconds, for imports and the compiler

READ, REFUSED = "read", "refused"


@dataclass(slots=True)
class Counts:
    """The outcomes of the inputs of one reader, and the faults with their seeds."""

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)


def main() -> int:
    """Run the fuzz, print its counts, and return 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600, help="each, 600 by default")
    parser.add_argument("--reader", action="append", choices=[*READERS], help="all by default")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="read one input, and show what becomes of it")
    parser.add_argument("--limit", type=float, default=20, help="seconds that an input may take")
    parser.add_argument("--keep", type=Path, default=_KEPT, help="folder of faulty inputs")
    given = parser.parse_args()
    n_faults = 0
    for name in given.reader or READERS:
        with tempfile.TemporaryDirectory() as scratch:
            work = Work(READERS[name], Path(scratch))
            if given.seed is not None:
                _say(work.outcome(given.seed))
                continue
            counts = _fuzzed(name, Path(scratch), given)
            for seed, fault in counts.faults[:20]:
                kept = given.keep / f"{name}-{seed}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(work.damaged(seed), kept)
                _say(f"{name}: seed {seed}: {fault}\n  kept in {kept}")
            n_faults += len(counts.faults)
            _say(f"{name} {dict(counts.outcomes)}, {len(counts.faults)} faults")
    return int(n_faults > 0)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Work:
    """The good files of a reader and the inputs made of them."""

    def __init__(self, reader: Reader, scratch: Path) -> None:
        self._reader = reader
        self._good, self._bad = scratch / "good", scratch / "bad"
        path = scratch / "path"
        if not self._good.exists():
            self._good.mkdir()
            path.write_text(str(reader.write(self._good).relative_to(self._good)))
        self._path = Path(path.read_text())

    def read_good(self) -> None:
        """Read the good files, so that all is imported and compiled."""
        self._reader.read(self._good / self._path)

    def damaged(self, seed: int) -> Path:
        """Return the folder of an input."""
        shutil.rmtree(self._bad, ignore_errors=True)
        shutil.copytree(self._good, self._bad)
        draw = random.Random(seed)  # noqa: S311 — nothing is secret
        root = self._bad / self._path
        files = [root] if root.is_file() else sorted(root.glob(self._reader.damaged))
        file = draw.choice([one for one in files if one.is_file()])
        file.write_bytes(mutated(file.read_bytes(), draw))
        return self._bad

    def outcome(self, seed: int) -> str:
        """Return what becomes of an input: read, refused, or a fault in words."""
        folder = self.damaged(seed)
        try:
            self._reader.read(folder / self._path)
        except MedsimError as error:
            message = str(error)
            if len(message) > LONGEST_MESSAGE + len(str(folder)) or "\n" in message:
                return f"message of {len(message):,} characters: {message[:300]!r}"
            return REFUSED
        except BaseException:  # noqa: BLE001 — whatever a reader raises is a fault
            return traceback.format_exc()[-1500:]
        return READ


def _fuzzed(name: str, scratch: Path, given: argparse.Namespace) -> Counts:
    """Return the outcomes of as many seeds as there is time for."""
    counts, seed, left = Counts(), given.first, given.seconds
    while left > 0:
        begin = time.monotonic()
        seed = _batch((name, scratch), seed, left, given.limit, counts)
        left -= time.monotonic() - begin
    return counts


def _batch(work: tuple[str, Path], seed: int, seconds: float, limit: float, counts: Counts) -> int:
    """Read inputs in one process until it dies or the time is over; return the next seed."""
    spawning = multiprocessing.get_context("spawn")  # a fork would lack the threads of libraries
    reading, writing = spawning.Pipe(duplex=False)
    child = spawning.Process(target=_serve, args=(*work, seed, seconds, writing))
    child.start()
    writing.close()
    try:
        if not reading.poll(_LONGEST_START) or reading.recv() is not None:
            raise RuntimeError(f"{work[0]}: the process does not start")
        while True:
            outcome = reading.recv() if reading.poll(limit) else f"more than {limit:g} seconds"
            if outcome is None:
                return seed
            _count(counts, seed, outcome)
            seed += 1
            if outcome.startswith("more than"):
                return seed
    except EOFError:
        _count(counts, seed, "the process died")
        return seed + 1
    finally:
        child.kill()
        child.join()


def _count(counts: Counts, seed: int, outcome: str) -> None:
    if outcome in {READ, REFUSED}:
        counts.outcomes[outcome] += 1
    else:
        counts.outcomes["fault"] += 1
        counts.faults.append((seed, outcome))


def _serve(name: str, scratch: Path, seed: int, seconds: float, writing: Connection) -> None:
    """Read inputs and send their outcomes, None when it begins and when the time is over."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libraries in Rust write of their panics there
    work = Work(READERS[name], scratch)
    work.read_good()
    writing.send(None)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        writing.send(work.outcome(seed))
        seed += 1
    writing.send(None)


if __name__ == "__main__":
    sys.exit(main())
