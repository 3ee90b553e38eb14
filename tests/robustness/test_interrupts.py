"""An interrupt at any time ends the program with one line and exit code 130."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

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
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, **process
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
