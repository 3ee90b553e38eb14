"""Unfinished releases leave no files, however the process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PATIENCE = 120  # seconds to wait for a condition

WRITING = """
import sys, time
from medsim.cli import app
from medsim.terminologies import rf2_writer

write = rf2_writer.ReleaseWriter.write

def print_written(*arguments):
    write(*arguments)
    print("written", flush=True)
    time.sleep(120)

rf2_writer.ReleaseWriter.write = print_written
app(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("command", "number"),
    [("synth", signal.SIGKILL), ("convert", signal.SIGTERM), ("synth", signal.SIGINT)],
)
def test_killed_release_leaves_nothing(
    tmp_path: Path, shared_release: Path, command: str, number: int
) -> None:
    out = tmp_path / "out" / "release.zip"
    out.parent.mkdir()
    source = [str(shared_release)] if command == "convert" else ["--concepts", "50"]
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, command, *source, "-o", str(out)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"  # one file, of several
    os.kill(process.pid, number)
    process.communicate(timeout=PATIENCE)

    assert process.returncode != 0
    assert list(out.parent.iterdir()) == []
