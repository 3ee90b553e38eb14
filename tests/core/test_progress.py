"""Progress of stages: lines, bars and records."""

from __future__ import annotations

import io
import mmap
import re
import sys
import threading
from pathlib import Path

import pytest

from medsim.core.progress import Progress, progress_of


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def test_stage_prints_a_line_at_its_end() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    with progress.stage("read the release") as stage:
        stage.total(10)
        stage.advance(4)
        stage.advance()
        assert stream.getvalue() == ""
        stage.note("350 concepts [D]")
    with progress.stage("search"):
        pass
    progress.say("done")
    progress.warn("something is odd")
    first, second, *others = stream.getvalue().splitlines()
    assert re.fullmatch(r"read the release: 350 concepts \[D\] \(\d+\.\d s\)", first)
    assert re.fullmatch(r"search \(\d+\.\d s\)", second)
    assert others == ["done", "warning: something is odd"]
    assert not re.search(r"[\x1b\r]", stream.getvalue())
    assert [record.name for record in progress.records] == ["read the release", "search"]
    assert all(0 <= record.seconds < 60 for record in progress.records)


@pytest.mark.parametrize(
    ("done", "lines"),
    [
        (
            ((59, 10), (1, 90), (59, 50), (1, 50), (600, 700), (60, 100)),
            [
                "10%, about 9 minutes left",
                "20%, about 8 minutes left",
                "90%, up to two minutes left",
            ],
        ),
        (
            ((120, 10), (60, 490), (60, 490), (1, 10)),  # the first line is slow, as it compiles
            [
                "1%, about 198 minutes left",
                "50%, up to two minutes left",
                "99%, less than a minute left",
            ],
        ),
    ],
)
def test_long_stage_estimates_the_remaining_time_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, done: tuple[tuple[int, int], ...], lines: list[str]
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("medsim.core.progress.time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    with Progress(stream).stage("search") as stage:
        stage.total(1000)
        for seconds, n_units in done:
            clock[0] += seconds
            stage.advance(n_units)
    assert stream.getvalue().splitlines()[:-1] == [f"search: {line}" for line in lines]


def test_stage_reports_compiling_and_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.event import trigger_event

    clock = [0.0]
    monkeypatch.setattr("medsim.kernels.compiler.time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    with Progress(stream).stage("compare"):
        for seconds in (7.5, 2.0):
            with trigger_event("numba:compile"), trigger_event("numba:compile"):  # nested
                clock[0] += seconds
    assert re.sub(r"\(\d\.\d", "(0.1", stream.getvalue()) == (
        "compare: compiling (first run only)\ncompare (0.1 s, 9.5 s of it compiling)\n"
    )


def test_quiet_prints_warnings_and_verbose_prints_memory() -> None:
    for options, expected in (
        ({"quiet": True}, r"warning: w\n"),
        ({}, r"read \(0.0 s\)\nwarning: w\n"),
        ({"verbose": True}, r"read \(0.0 s, [\d,]+ MiB\)\nd\nwarning: w\n"),
    ):
        stream = io.StringIO()
        progress = Progress(stream, **options)
        with progress.stage("read"):
            pass
        progress.detail("d")
        progress.warn("w")
        assert re.fullmatch(expected, stream.getvalue()), options


def test_a_notebook_gets_lines_that_replace_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("medsim.core.progress.time.monotonic", lambda: clock[0])
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    with Progress(stream).stage("search") as stage:
        stage.total(3)
        for _ in range(3):
            clock[0] += 70
            stage.advance()
    begun, half, more, done = re.split(r" *\r", stream.getvalue().removeprefix("\r").rstrip(" \n"))
    assert (begun, half) == ("search", "search: 33%, about 2 minutes left")
    assert more == "search: 66%, up to two minutes left"
    assert re.fullmatch(r"search \(\d\.\d s\)", done)
    Progress(stream).warn("late")
    assert stream.getvalue().rstrip(" \n").endswith("\rwarning: late")
    assert stream.getvalue().endswith("\n")


def test_stages_are_reported_by_default_in_terminals_and_notebooks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    progress = Progress()
    assert progress_of(progress) is progress
    for stream, is_told in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        progress_of(None).say("read")
        assert (stream.getvalue() == "read\n") == is_told


def test_peak_memory_is_of_the_stage() -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux measures the peak of a stage")
    progress = Progress()
    # A new mapping, as an object could reuse memory that the process has freed and still holds.
    with progress.stage("large"), mmap.mmap(-1, 120 << 20) as large:
        for start in range(0, len(large), mmap.PAGESIZE):
            large[start] = 1
    with progress.stage("small"):
        pass
    large_peak, small_peak = (record.peak_mib for record in progress.records)
    assert large_peak > small_peak + 80


def test_memory_is_measured_on_other_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(_path: Path, **_options: str) -> str:
        raise FileNotFoundError

    progress = Progress()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", lacking)  # as on macOS
        with progress.stage("read"):
            pass
    assert progress.records[0].peak_mib > 10


def test_failed_stage_has_no_line_and_no_record() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    with pytest.raises(ValueError, match="damaged"), progress.stage("read"):
        raise ValueError("damaged")
    assert (stream.getvalue(), progress.records) == ("", [])


def test_terminal_gets_a_bar_if_it_can_overwrite_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind in ("xterm", "dumb"):
        monkeypatch.setenv("TERM", kind)
        stream = Terminal()
        with Progress(stream).stage("search") as stage:
            stage.total(100)
            threads = [threading.Thread(target=stage.advance, args=(25,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            stage.note("done")
        assert re.search(r"search: done \(\d+\.\d s\)\n$", stream.getvalue())
        assert ("\x1b" in stream.getvalue()) == (kind == "xterm")


def test_wording_applies_only_to_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(sys.stderr, lambda line: line.replace("`seed`", "--seed"))
    progress.warn("`seed` is odd")
    Progress(sys.stderr).say("a line")
    assert capsys.readouterr() == ("", "warning: --seed is odd\na line\n")
    assert progress.warnings == ["`seed` is odd"]
