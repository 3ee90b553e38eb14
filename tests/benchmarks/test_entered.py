"""The count of modules and functions that a command enters."""

from __future__ import annotations

import subprocess
import sys


def test_the_script_counts_the_modules_and_functions_that_a_command_enters() -> None:
    command = [sys.executable, "-m", "benchmarks.entered", "stats", "no-such-folder"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    *modules, total = done.stderr.splitlines()
    counts = [line.split() for line in modules if line.endswith(".py")]
    assert done.returncode == 1
    assert ["1", "__main__.py"] in counts
    assert total == f"{len(counts)} modules, {sum(int(n) for n, _ in counts)} functions"
