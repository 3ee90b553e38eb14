"""Unfinished releases leave no file with the name of a release, however the process ends."""

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
import time
from medsim.__main__ import main
from medsim.terminologies import rf2_writer

write = rf2_writer.ReleaseWriter.write

def print_written(*arguments):
    write(*arguments)
    print("written", flush=True)
    time.sleep(120)

rf2_writer.ReleaseWriter.write = print_written
main()
"""


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("command", "number"),
    [("synth", signal.SIGKILL), ("convert", signal.SIGTERM), ("synth", signal.SIGINT)],
)
def test_killed_release_leaves_no_release(
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
    left = [path.suffix for path in out.parent.iterdir()]
    assert left == ([".partial"] if number == signal.SIGKILL else [])  # the next run removes it
