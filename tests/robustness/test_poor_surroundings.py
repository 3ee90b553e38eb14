"""The program in unusual environments, each in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MANY = "select * from range(100000)"


def run(*arguments: str | Path, **process) -> subprocess.CompletedProcess[str]:
    """Return the result of the program, run from a process whose descriptors are not inherited."""
    return subprocess.run(
        [sys.executable, "-m", "medsim", *map(str, arguments)],
        text=True,
        check=False,
        timeout=300,
        **process,
    )


@pytest.mark.full
def test_closed_standard_descriptors_do_not_mix_files(shared_release: Path, tmp_path: Path) -> None:
    closed = partial(run, preexec_fn=lambda: os.closerange(0, 3))
    out, page = tmp_path / "out", tmp_path / "page.html"

    assert closed("build", shared_release, "-o", out).returncode == 1  # no output for its table
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["kind"] == "build"
    assert closed("report", out, "-o", page).returncode == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    verified = run("verify", out, "--sample", "0", capture_output=True)
    assert verified.returncode == 0, verified.stderr


def test_closed_pipe_ends_the_program_quietly(shared_build) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "medsim", "sql", shared_build.folder, MANY, "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == b"range\n"
        program.stdout.close()
        assert program.stderr.read() == b""
