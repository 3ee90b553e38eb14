"""Runs each SQL statement of a user in its own process, with limits on memory and time."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from medsim.core.config import TIMEOUT, available_memory, available_threads
from medsim.core.errors import InputError, MedsimError, OptionError, StatementError, counted
from medsim.core.options import Options, Threads, machine_field
from medsim.core.surroundings import started

if TYPE_CHECKING:
    import polars as pl

    Outputs: TypeAlias = Mapping[str, tuple[Path, Mapping[str, str], Sequence[str]]]


_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_MIN_MEMORY = 64 * 10**6
_MAX_MEMORY = 1 << 50
_OWN_MEMORY = 1 << 30  # of the process, for libraries and rows in transit
_THREAD_MEMORY = 16 << 20
_WAKES_AFTER = 0.1  # seconds
_ENDS_WITHIN = 0.1  # seconds
_ROWS, _END, _REFUSED, _DAMAGED = b"r", b"e", b"s", b"d"  # the kinds of messages
_ERRORS = {_REFUSED: StatementError, _DAMAGED: InputError}
_LONGEST_ERROR = 2_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementOptions(Options):
    """The limits of a statement."""

    _: KW_ONLY
    threads: Threads = None
    memory: str | None = machine_field(
        None, "Memory, such as 4GB; default: half of all.", metavar="SIZE"
    )
    timeout: float = machine_field(
        TIMEOUT, "Time limit of the statement in seconds.", least=1.0, most=604_800.0
    )

    @property
    def n_bytes(self) -> int:
        """The memory limit of the statement, in bytes."""
        if self.memory is None:
            return max(_MIN_MEMORY, available_memory() // 2)
        number = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([A-Za-z]{2,3})\s*", self.memory)
        units = {name.lower(): n_bytes for name, n_bytes in _UNITS.items()}
        if number is None or number[2].lower() not in units:
            raise OptionError(f"`memory` {self.memory!r} is not a size; write 500MB, 4GB or 2GiB")
        size = int(float(number[1]) * units[number[2].lower()])
        if not _MIN_MEMORY <= size <= _MAX_MEMORY:
            raise OptionError(f"`memory` {self.memory} is out of range (64MB to 1000TB)")
        return size

    def check(self) -> None:
        """Raise OptionError if `memory` is not a size."""
        _ = self.n_bytes


def rows_of(statement: str, outputs: Outputs, options: StatementOptions) -> pl.DataFrame:
    """Return all rows of a statement; see ``frames_of``.

    Raises:
        InputError: a file of the folder cannot be read.
        StatementError: it is not a single select, fails, or exceeds its limits.
    """
    import polars as pl  # noqa: PLC0415 — not needed in a statement's process

    frames: list[pl.DataFrame] = []
    n_bytes = 0.0
    for frame in frames_of(statement, outputs, options):
        n_bytes += frame.estimated_size()
        if n_bytes > options.n_bytes:
            raise StatementError(
                "the rows need more than the statement's `memory`; add a limit, or print them with "
                "medsim sql as csv, which streams them"
            )
        frames.append(frame)
    return pl.concat(frames)


def frames_of(
    statement: str, outputs: Outputs, options: StatementOptions
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a statement as they arrive, starting with an empty frame.

    It can read the views of outputs, by their schema, and nothing else: the folder, the pattern of
    each view's files below it, and queries that create views of other views.

    Raises:
        InputError: a file of the folder cannot be read.
        StatementError: it is not a single select, fails, or exceeds its limits.
    """
    import polars as pl  # noqa: PLC0415 — not needed in a statement's process

    limits = {"threads": options.threads or available_threads(), "memory": options.n_bytes}
    request = {"text": statement, "outputs": outputs, **limits}
    with _process() as connection:
        with suppress(OSError):  # it has ended already
            connection.send_bytes(json.dumps(request, default=os.fsdecode).encode())
        for message in _messages(connection, options.timeout):
            kind, content = message[:1], message[1:]
            if kind == _END:
                return
            if kind != _ROWS:
                raise _ERRORS[kind](content.decode(errors="replace"))
            yield pl.read_ipc_stream(io.BytesIO(content))
    raise StatementError(
        "the statement's process ended, most likely out of memory; select fewer values, "
        "or raise `memory`"
    )


@contextmanager
def _process() -> Iterator[Connection]:
    """Give the body a connection to a new process for a statement; it ends with the body.

    It is in its own process group, so an interrupt from the terminal reaches only this process.
    """
    connection, child = Pipe()
    with connection:
        with child:
            number = child.fileno()
            process = started("-P", "-m", __name__, str(number), pass_fds=[number])
        try:
            yield connection
        finally:
            process.kill()
            try:
                process.wait(_ENDS_WITHIN)
            except subprocess.TimeoutExpired:  # freeing much memory takes seconds
                threading.Thread(target=process.wait, daemon=True).start()


def _messages(connection: Connection, seconds: float) -> Iterator[bytes]:
    """Yield the complete messages of a process, until the time limit."""
    waited = 0.0
    with suppress(EOFError, OSError):
        while True:
            begun = time.monotonic()
            # Not a plain read: once Polars has run, an interrupt does not end one.
            while not connection.poll(_WAKES_AFTER):
                if waited + time.monotonic() - begun > seconds:
                    raise StatementError(
                        f"the statement took longer than {counted(int(seconds), 'second')}; "
                        "simplify it, or raise `timeout`"
                    )
            waited += time.monotonic() - begun
            yield connection.recv_bytes()


def _run(connection: Connection) -> None:
    """Run the statement from a connection, and send back the rows."""
    from pyarrow import BufferOutputStream, ipc  # noqa: PLC0415 — only in this process

    from medsim.core.store import Store  # noqa: PLC0415 — as pyarrow

    request = json.loads(connection.recv_bytes())
    threading.Thread(target=_end_with, args=[connection], daemon=True).start()
    n_bytes = request["memory"] + _OWN_MEMORY + request["threads"] * _THREAD_MEMORY
    with suppress(OSError, ValueError):
        _, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, hard_limit))

    kind, outputs = _DAMAGED, request["outputs"]
    try:
        with Store(threads=request["threads"], memory=request["memory"]) as store:
            for schema, (folder, views, derived) in outputs.items():
                with store.schema(schema):
                    store.view_files(Path(folder), views, derived)
            store.lock_down(*(Path(folder) for folder, *_ in outputs.values()))
            kind = _REFUSED
            with store.batches(request["text"]) as reader:
                for batches in chain([[]], zip(reader)):
                    sink = BufferOutputStream()
                    sink.write(_ROWS)
                    with ipc.new_stream(sink, reader.schema) as stream:
                        for batch in batches:
                            stream.write_batch(batch)
                    connection.send_bytes(memoryview(sink.getvalue()))
        connection.send_bytes(_END)
    except MedsimError as error:
        kind = _DAMAGED if isinstance(error, InputError) else kind
        connection.send_bytes(kind + str(error)[:_LONGEST_ERROR].encode(errors="replace"))


def _end_with(connection: Connection) -> None:
    """End this process when its parent process has ended, for any reason."""
    connection.poll(None)
    os._exit(1)


if __name__ == "__main__":
    _run(Connection(int(sys.argv[1])))
    os._exit(0)
