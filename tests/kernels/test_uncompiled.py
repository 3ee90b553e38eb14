"""The kernels as plain Python, without the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

KERNEL_TESTS = Path(__file__).parent


def test_the_kernels_do_the_same_without_the_compiler() -> None:
    # A process of its own: Numba reads the variable when it is imported.
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "kernels", "-n", "0", "-p", "no:cacheprovider", "."],
        cwd=KERNEL_TESTS,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "CI": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
