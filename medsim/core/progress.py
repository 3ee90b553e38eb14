"""Reports the stages of a run: a bar or lines while one runs, then a line with time and memory."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from medsim.core.errors import with_addresses

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

_CLEAR_PEAK = "5"  # proc(5): writing 5 to clear_refs resets the peak resident set size
_MEBIBYTE = 1 << 20
_SECONDS_A_LINE = 60
_FEW = 2  # minutes
_NOTEBOOK_WIDTH = 80  # of a line that is overwritten
_PLAIN = ("dumb", "unknown")  # terminals that cannot overwrite a line
_LONG_TO_COMPILE = 1.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord:
    """The time and memory of one stage.

    Attributes:
        name: name of the stage.
        seconds: wall-clock time.
        peak_mib: peak resident memory of the process during the stage, in mebibytes; since the
            start of the process if the system cannot measure it for a stage.
    """

    name: str
    seconds: float
    peak_mib: int


class Stage:
    """A running stage, whose progress and result can be set.

    Args:
        name: name of the stage.
        bars: progress bars to show its progress in.
        say: function that gets a line about the progress from time to time, if there are no bars.
        every: seconds between two such lines.
    """

    def __init__(
        self,
        name: str,
        bars: Bars | None = None,
        say: Callable[[str], None] | None = None,
        every: int = _SECONDS_A_LINE,
    ) -> None:
        self._bars = bars
        self._bar = partial(bars.update, bars.add_task(name, total=None)) if bars else None
        self._name = name
        self._say = say
        self._every = every
        self._lock = threading.Lock()
        self._total = self._done = 0
        self._last_line = time.monotonic()
        self._mark = (self._last_line, 0)  # start of the speed measurement: time and units done
        self.result = ""

    def total(self, n_units: int) -> None:
        """Set the number of units of work of the stage."""
        if self._bar:
            self._bar(total=n_units, completed=0)
        with self._lock:
            self._total, self._done, self._mark = n_units, 0, (time.monotonic(), 0)

    def advance(self, n_units: int = 1) -> None:
        """Add ``n_units`` finished units; can be called from any thread.

        Without bars, a line from time to time estimates the remaining time from the speed of the
        last minute, because the start may be slow (compiling).
        """
        if self._bar:
            self._bar(advance=n_units)
        if self._bar or not self._say:
            return
        with self._lock:
            self._done += n_units
            now, (since, before) = time.monotonic(), self._mark
            if now - self._last_line < self._every or not before < self._done < self._total:
                return
            minutes = (now - since) * (self._total - self._done) / (self._done - before) / 60
            self._last_line = now
            if now - since >= _SECONDS_A_LINE:
                self._mark = (now, self._done)
            time_left = f"about {minutes:.0f} minutes" if minutes >= _FEW else "up to two minutes"
            time_left = time_left if minutes >= 1 else "less than a minute"
            self._say(f"{self._name}: {100 * self._done // self._total}%, {time_left} left")

    def say(self, line: str) -> None:
        """Write one line while the stage runs."""
        if self._bars:
            self._bars.console.print(f"{self._name}: {line}", markup=False, highlight=False)
        elif self._say:
            self._say(f"{self._name}: {line}")

    def note(self, text: str) -> None:
        """Note a result for the line at the end of the stage."""
        self.result = text


class Progress:
    """Runs stages, records the time and memory of each, and reports them to a stream.

    Args:
        stream: stream for lines and bars; None is silent.
        wording: function that rewrites a line before it is written; unchanged by default.
        quiet: whether only warnings are written.
        verbose: whether details such as the memory of a stage are written.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        wording: Callable[[str], str] | None = None,
        *,
        quiet: bool = False,
        verbose: bool = False,
    ) -> None:
        self._stream = stream
        self._wording = wording or str
        self._quiet, self._verbose = quiet, verbose
        self.records: list[StageRecord] = []
        self.warnings: list[str] = []

    def part(self, name: str) -> Progress:
        """Return a progress with its own records that reports to the same stream under a name."""
        return Progress(
            self._stream,
            lambda line: self._wording(f"{name}: {line}"),
            quiet=self._quiet,
            verbose=self._verbose,
        )

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Run the body as a stage named ``name``, and record it if it succeeds."""
        with suppress(OSError):  # reset the process's peak memory, if the system can
            Path("/proc/self/clear_refs").write_text(_CLEAR_PEAK, encoding="ascii")
        began = time.perf_counter()
        is_notebook = _is_notebook(self._stream)
        say = partial(self.say, end="") if is_notebook else self.say  # the next line replaces it
        if is_notebook:
            say(name)
        with self._bars() as bars:
            stage = Stage(name, bars, say, every=1 if is_notebook else _SECONDS_A_LINE)
            with self._compiling(stage) as compiled:
                yield stage
        record = StageRecord(
            name=name, seconds=round(time.perf_counter() - began, 3), peak_mib=_peak_mib()
        )
        self.records.append(record)
        result = f": {stage.result}" if stage.result else ""
        seconds = f"{record.seconds:.1f} s"
        if compiled() >= _LONG_TO_COMPILE:
            seconds += f", {compiled():.1f} s of it compiling"
        memory = f", {record.peak_mib:,} MiB" if self._verbose else ""
        say(f"{name}{result} ({seconds}{memory})")

    def say(self, line: str, end: str = "\n") -> None:
        """Write one line."""
        if not self._quiet:
            self._write(line, end)

    def detail(self, line: str) -> None:
        """Write one line if the report is verbose."""
        if self._verbose:
            self._write(line)

    def _write(self, line: str, end: str = "\n") -> None:
        if self._stream is not None:
            text = self._wording(with_addresses(line))
            if _is_notebook(self._stream):
                text = f"\r{text:{_NOTEBOOK_WIDTH}}"
            # In one call, so that an interrupt comes before or after it.
            self._stream.write(f"{text}{end}")
            self._stream.flush()

    def warn(self, *lines: str) -> None:
        """Write lines as warnings, and record them."""
        for line in lines:
            self.warnings.append(line)
            self._write(f"warning: {line}")

    @contextmanager
    def _compiling(self, stage: Stage) -> Iterator[Callable[[], float]]:
        """Give the body a function that returns the compile time so far, and report compiling."""
        if self._stream is None or "numba" not in sys.modules:
            yield float
            return
        from medsim.kernels.compiler import compile_watch  # noqa: PLC0415 — imports Numba

        with compile_watch(lambda: stage.say("compiling (first run only)")) as times:
            yield lambda: times.seconds

    @contextmanager
    def _bars(self) -> Iterator[Bars | None]:
        if (
            self._quiet
            or not (self._stream and self._stream.isatty())
            or os.environ.get("TERM") in _PLAIN
        ):
            yield None
            return
        from rich import progress  # noqa: PLC0415 — not needed for help and silent runs
        from rich.console import Console  # noqa: PLC0415 — not needed for help

        columns = (*progress.Progress.get_default_columns(), progress.TimeElapsedColumn())
        console = Console(file=self._stream)
        with progress.Progress(*columns, console=console, transient=True) as bars:
            yield bars


def progress_of(progress: Progress | None) -> Progress:
    """Return the given progress, or one that reports to a terminal or a notebook."""
    if progress is not None:
        return progress
    is_watched = _is_notebook(sys.stderr) or (sys.stderr is not None and sys.stderr.isatty())
    return Progress(sys.stderr if is_watched else None)


def _is_notebook(stream: TextIO | None) -> bool:
    return type(stream).__module__ == "ipykernel.iostream"


def _peak_mib() -> int:
    """Return the peak resident memory in mebibytes since the last reset."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) // 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // _MEBIBYTE if sys.platform == "darwin" else peak // 1024
