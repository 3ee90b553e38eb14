"""The fork that tests use in place of a start of the program does what a start does."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.program import REAL, program

if TYPE_CHECKING:
    import medsim

pytestmark = pytest.mark.slow


def outcome(file: Path, line: str, folder: Path) -> tuple[int, str, str]:
    """Return the exit code and the output of a shell line, with a file as the program."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": f"{file.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "line",
    [
        "medsim stats 'no place'; echo $?",
        "medsim stats .. --nothing",
        'medsim sql built "select * from range(200000)" -f csv | head -3; echo ${PIPESTATUS[0]}',
        "medsim --version >&-; COLUMNS=60 medsim stats -h",
    ],
)
def test_a_fork_of_the_program_does_what_a_start_does(
    line: str, shared_build: medsim.Build, tmp_path: Path
) -> None:
    (tmp_path / "built").symlink_to(shared_build.folder)

    assert outcome(program(), line, tmp_path) == outcome(REAL, line, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_fork(shared_build: medsim.Build, number: int) -> None:
    command = [
        program(),
        "sql",
        shared_build.folder,
        "select * from range(1000000000)",
        "-f",
        "csv",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.send_signal(number)
        _, errors = running.communicate()

    assert (running.returncode, errors) == (130, b"interrupted\n")
