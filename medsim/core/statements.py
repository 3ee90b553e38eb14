"""Runs users' SQL statements, each in a process of its own that has so much memory and time."""

from __future__ import annotations

import io
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, cast

from medsim.core.config import available_memory, available_threads
from medsim.core.errors import InputError, MedsimError, OptionError, StatementError, counted
from medsim.core.options import Option, Options, Threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

TIMEOUT = 600.0
"""Seconds that a statement may take, by default."""

LONGEST = 1_000_000
"""The most characters of a statement: DuckDB may think about more for hours."""

_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_LEAST_MEMORY = 64 * 10**6
_MOST_MEMORY = 1 << 50
_OWN_MEMORY = 1 << 30  # of the process, for libraries and rows on their way
_THREAD_MEMORY = 16 << 20
_LENGTH_BYTES = 8
_READ_BYTES = 1 << 18  # at once: room is made for all that is asked for
_WAKES_AFTER = 0.1  # seconds
_ENDS_WITHIN = 0.1  # seconds
_ROWS, _END, _REFUSED, _DAMAGED = b"r", b"e", b"s", b"d"  # the kinds of messages
_ERRORS = {_REFUSED: StatementError, _DAMAGED: InputError}
_MOST_SAID = 2_000  # characters of an error


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementOptions(Options):
    """The bounds of a statement."""

    _: KW_ONLY
    threads: Threads = None
    memory: Annotated[
        str | None,
        Option(
            "Memory for the statement, such as 4GB; half of the machine's by default.",
            metavar="SIZE",
        ),
    ] = None
    timeout: Annotated[
        float, Option("Seconds that the statement may take.", least=1.0, most=604_800.0)
    ] = TIMEOUT

    @property
    def n_bytes(self) -> int:
        """The bytes of memory for the statement."""
        if self.memory is None:
            return max(_LEAST_MEMORY, available_memory() // 2)
        number = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([A-Za-z]{2,3})\s*", self.memory)
        units = {name.lower(): n_bytes for name, n_bytes in _UNITS.items()}
        if number is None or number[2].lower() not in units:
            raise OptionError(
                f"`memory` {self.memory!r} is no size; such are 500MB, 4GB and 1.5TB (or MiB, GiB, "
                "TiB)"
            )
        found = int(float(number[1]) * units[number[2].lower()])
        if not _LEAST_MEMORY <= found <= _MOST_MEMORY:
            raise OptionError(
                f"`memory` {self.memory} is out of range; 64MB to 1000TB are accepted"
            )
        return found

    def check(self) -> None:
        """Raise OptionError for a size that is none."""
        _ = self.n_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement and what it sees.

    Attributes:
        text: of the statement.
        folder: that the views are of; nothing else is read.
        views: the pattern below the folder of the files of each view, by its name.
        derived: queries that make views of those.
        as_text: whether days and times are text, so that there are none that Python lacks.
    """

    text: str
    folder: Path
    views: Mapping[str, str]
    derived: Sequence[str] = ()
    as_text: bool = False


def rows_of(statement: Statement, options: StatementOptions) -> pl.DataFrame:
    """Return all rows of a statement.

    Raises:
        InputError: a file of the folder cannot be read.
        StatementError: it is no single select, cannot be run, passes its bounds, or has days that
            Python lacks.
    """
    import polars as pl  # noqa: PLC0415 — the process of a statement does without

    frames: list[pl.DataFrame] = []
    n_bytes = 0.0
    for frame in frames_of(statement, options):
        n_bytes += frame.estimated_size()
        if n_bytes > options.n_bytes:
            raise StatementError(
                "the rows need more than the statement's `memory`; take fewer by a limit, or print "
                "them by medsim sql as csv, which holds a few at a time"
            )
        frames.append(frame)
    found = pl.concat(frames)
    if not statement.as_text:
        _check_days(found)
    return found


def frames_of(statement: Statement, options: StatementOptions) -> Iterator[pl.DataFrame]:
    """Yield the rows of a statement as they come, a frame of no rows first.

    Raises:
        InputError: a file of the folder cannot be read.
        StatementError: it is no single select, cannot be run, or passes its bounds.
    """
    import polars as pl  # noqa: PLC0415 — the process of a statement does without

    if len(statement.text) > LONGEST:
        raise StatementError(
            f"the statement has more than {LONGEST:,} characters; make it shorter, as by joining "
            "instead of listing values"
        )
    try:
        statement.text.encode()
    except UnicodeEncodeError as error:
        letter = statement.text[error.start]
        raise StatementError(
            f"the statement has {letter!a} at position {error.start + 1:,}, which is half of a "
            "surrogate pair and no character; remove it"
        ) from error
    request = {
        "text": statement.text,
        "folder": os.fsdecode(statement.folder),
        "views": dict(statement.views),
        "derived": list(statement.derived),
        "as_text": statement.as_text,
        "threads": options.threads or available_threads(),
        "memory": options.n_bytes,
    }
    with _process(json.dumps(request).encode() + b"\n") as process:
        for kind, content in _messages(process, options.timeout):
            if kind == _END:
                return
            if kind != _ROWS:
                raise _ERRORS[kind](content.decode(errors="replace"))
            yield pl.read_ipc_stream(io.BytesIO(content))
    raise StatementError(
        "the statement ended its process, most likely for want of memory; take fewer or shorter "
        "values, or give it more by `memory`"
    )


def _check_days(frame: pl.DataFrame) -> None:
    """Raise StatementError for days and times that Python lacks, which Polars cannot show."""
    import polars as pl  # noqa: PLC0415 — the process of a statement does without

    left = [(column.name, column) for column in frame]
    while left:
        name, column = left.pop()
        if isinstance(column.dtype, pl.Struct):
            left += [(name, one) for one in column.struct.unnest()]
        elif isinstance(column.dtype, (pl.List, pl.Array)):
            left.append((name, column.explode()))
        if not isinstance(column.dtype, (pl.Date, pl.Datetime)):
            continue
        unit = getattr(column.dtype, "time_unit", "days")
        years = column.to_physical().cast(pl.Float64) / _IN_A_YEAR[unit]
        if not (years.drop_nulls().is_between(_FIRST_YEAR, _LAST_YEAR)).all():
            raise StatementError(
                f"the column {name!r} has days that Python lacks, such as those before year "
                "1; cast it to varchar"
            )


_FIRST_YEAR, _LAST_YEAR = 1 - 1970 + 0.01, 9999 - 1970 + 0.98
_DAYS = 365.2425
_IN_A_YEAR = {
    "days": _DAYS,
    "ms": _DAYS * 86_400 * 1e3,
    "us": _DAYS * 86_400 * 1e6,
    "ns": _DAYS * 86_400 * 1e9,
}


@contextmanager
def _process(request: bytes) -> Iterator[subprocess.Popen[bytes]]:
    """Give the body the process of a statement, which ends with the body at the latest.

    It is in no group of a terminal's: an interrupt from there comes to this process alone.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(one or str(Path.cwd()) for one in sys.path)},
        start_new_session=True,
    )
    try:
        with suppress(BrokenPipeError):
            stream, rest = cast("IO[bytes]", process.stdin), memoryview(request)
            while rest:
                rest = rest[stream.write(rest) :]
        yield process
    finally:
        process.kill()
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(OSError):
                pipe.close()
        try:
            process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:  # it takes seconds to give back much memory
            threading.Thread(target=process.wait, daemon=True).start()


def _messages(process: subprocess.Popen[bytes], seconds: float) -> Iterator[tuple[bytes, bytes]]:
    """Yield the messages of a process, as far as they are whole, while there is time to wait."""
    descriptor, waited = cast("IO[bytes]", process.stdout).fileno(), 0.0

    def read(n_bytes: int) -> bytes:
        nonlocal waited
        found = bytearray()
        while len(found) < n_bytes:
            begun = time.monotonic()
            # Not by a read alone: once Polars was at work, an interrupt does not end one.
            while not select.select([descriptor], [], [], _WAKES_AFTER)[0]:
                if waited + time.monotonic() - begun > seconds:
                    raise StatementError(
                        f"the statement took longer than {counted(int(seconds), 'second')}; make "
                        "it simpler, or give it more by `timeout`"
                    )
            waited += time.monotonic() - begun
            if not (part := os.read(descriptor, min(_READ_BYTES, n_bytes - len(found)))):
                break
            found += part
        return bytes(found)

    while len(head := read(1 + _LENGTH_BYTES)) == 1 + _LENGTH_BYTES:
        length = int.from_bytes(head[1:], "big")
        if len(content := read(length)) < length:
            return
        yield head[:1], content


def _say(kind: bytes, content: bytes | memoryview = b"") -> None:
    sys.stdout.buffer.write(kind + len(content).to_bytes(_LENGTH_BYTES, "big"))
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _run() -> None:
    """Run the statement that standard input asks for; write its rows to standard output."""
    from pyarrow import BufferOutputStream, ipc  # noqa: PLC0415 — of this process alone

    from medsim.core.store import Store  # noqa: PLC0415 — as pyarrow

    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    n_bytes = request["memory"] + _OWN_MEMORY + request["threads"] * _THREAD_MEMORY
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 — not every operating system has it

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, most))

    def say_rows(*batches: object) -> None:
        sink = BufferOutputStream()
        with ipc.new_stream(sink, reader.schema) as stream:
            for batch in batches:
                stream.write_batch(batch)
        _say(_ROWS, memoryview(sink.getvalue()))

    folder = Path(request["folder"])
    kind = _DAMAGED
    try:
        with Store(threads=request["threads"], memory=request["memory"]) as store:
            store.view_files(folder, request["views"], request["derived"])
            store.lock_down(folder)
            kind = _REFUSED
            with store.batches(request["text"], as_text=request["as_text"]) as reader:
                say_rows()
                for batch in reader:
                    say_rows(batch)
        _say(_END)
    except MedsimError as error:
        if isinstance(error, InputError):
            kind = _DAMAGED
        _say(kind, str(error)[:_MOST_SAID].encode(errors="replace"))


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however it went."""
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    _run()
    os._exit(0)
