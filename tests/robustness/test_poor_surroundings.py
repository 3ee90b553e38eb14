"""The program in unusual surroundings, each in a process of its own."""

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
    """Return how the program ended, run from a process of which nothing is taken over."""
    return subprocess.run(
        [sys.executable, "-m", "medsim", *map(str, arguments)],
        text=True,
        check=False,
        timeout=300,
        **process,
    )


def test_with_all_standard_descriptors_closed_files_hold_what_belongs_there(
    shared_release: Path, tmp_path: Path
) -> None:
    closed = partial(run, preexec_fn=lambda: os.closerange(0, 3))
    out, page = tmp_path / "out", tmp_path / "page.html"

    assert closed("build", shared_release, "-o", out).returncode == 1  # its table has no place
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["kind"] == "build"
    assert closed("report", out, "-o", page).returncode == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    verified = run("verify", out, "--sample", "0", capture_output=True)
    assert verified.returncode == 0, verified.stderr


def test_a_reader_that_has_seen_enough_ends_the_program_quietly(shared_build) -> None:
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
