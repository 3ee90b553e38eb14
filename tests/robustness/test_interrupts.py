"""An interrupt at any time ends the program with one line and exit code 130."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import os, signal, sys, time

from medsim.core import surroundings

def interrupt(number={number}):
    os.kill(os.getpid(), number)

{definitions}
with surroundings.ending_in_one_line():
    {body}
"""


def outcome(
    body: str, *, definitions: str = "", number: int = signal.SIGINT, **process
) -> tuple[int, str]:
    """Return the exit code of a program and its standard error."""
    program = PROGRAM.format(
        number=int(number),
        definitions=textwrap.dedent(definitions),
        body=textwrap.indent(textwrap.dedent(body), "    ").strip(),
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=40,
        **process,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_either_signal_ends_the_program(number: int) -> None:
    assert outcome("interrupt(); time.sleep(60)", number=number) == (130, "interrupted\n")


COMMAND = """
from medsim.cli import app
from medsim.core.errors import InputError

@app.command()
def late() -> None:
    try:
        interrupt()
    except KeyboardInterrupt:
        raise InputError("a worker is gone") from None
"""
TURNED = """
try:
    interrupt()
except KeyboardInterrupt:
    raise TypeError("'<unprintable str object>' is not a data type") from None
"""


@pytest.mark.parametrize(
    ("body", "definitions"),
    [
        pytest.param(TURNED, "", id="turned by a library into another error"),
        pytest.param("sys.argv = ['medsim', 'late']; app()", COMMAND, id="before a known failure"),
    ],
)
def test_interrupt_is_not_lost(body: str, definitions: str) -> None:
    assert outcome(body, definitions=definitions) == (130, "interrupted\n")


LONG_CALL = """
import hashlib, threading

def later(n_signals):
    for _ in range(n_signals):
        time.sleep(0.2)
        interrupt()

def stay(n_signals, seconds):
    surroundings._ENDS_WITHIN = seconds
    threading.Thread(target=later, args=[n_signals], daemon=True).start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # never looks at signals
"""
KERNEL = """
import numpy as np
import polars as pl

from medsim.neighbours.search import NearestSearch, Terms

def search(threads):
    names = pl.Series(["a" * 4_000_000, "b" * 4_000_000])
    of_names = Terms(terms=names, components=np.arange(2), hashes=np.zeros(2, np.uint64))
    search = NearestSearch(of_names, seed=0, threads=threads, sliced=False)
    surroundings._ENDS_WITHIN = 0.2
    threading.Thread(target=later, args=[1], daemon=True).start()
    search.nearest(np.arange(2), np.ones(2))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("body", ["stay(1, 0.2)", "stay(2, 60)"])
def test_a_call_that_ignores_signals_is_ended_after_some_time_or_by_the_second(
    body: str, number: int
) -> None:
    assert outcome(body, definitions=LONG_CALL, number=number) == (130, "interrupted\n")


@pytest.mark.full
@pytest.mark.parametrize("threads", [1, 2])
def test_a_kernel_is_ended(threads: int) -> None:
    definitions = textwrap.dedent(LONG_CALL) + KERNEL

    assert outcome(f"search({threads})", definitions=definitions) == (130, "interrupted\n")


def test_processes_of_a_program_that_has_to_be_ended_are_ended_too(tmp_path: Path) -> None:
    definitions = f"""{LONG_CALL}
import multiprocessing

def child():
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=[50], daemon=True)
    process.start()
    open({str(tmp_path / "pid")!r}, "w").write(str(process.pid))
"""
    body = "child(); stay(1, 0.2)"
    assert outcome(body, definitions=definitions) == (130, "interrupted\n")

    pid = int((tmp_path / "pid").read_text())
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_signal_to_a_forked_process_does_not_end_its_parent() -> None:
    definitions = f"""{LONG_CALL}
import multiprocessing

def child():
    surroundings._ENDS_WITHIN = 0.1
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=[50])
    process.start()
    time.sleep(0.2)
    process.terminate()
    process.join()
    time.sleep(0.5)
"""
    code, message = outcome("child(); sys.exit(5)", definitions=definitions)

    assert (code, "interrupted" in message) == (5, False), message


def test_errors_without_an_interrupt_are_unchanged() -> None:
    assert outcome("sys.exit(3)") == (3, "")
    code, message = outcome("raise ValueError('of another kind')")
    assert code == 1
    assert message.endswith("ValueError: of another kind\n")
    ending_well = """
    try:
        interrupt()
    except KeyboardInterrupt:
        sys.exit(0)
    """
    assert outcome(ending_well) == (0, "")


def test_interrupt_ignored_by_the_shell_stays_ignored() -> None:
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    assert outcome("interrupt()", preexec_fn=ignore) == (0, "")


def test_nothing_is_printed_if_standard_error_is_closed() -> None:
    assert outcome("sys.stderr = None; interrupt()") == (130, "")
