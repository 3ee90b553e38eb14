"""The kernels without the compiler, and compiled for vectors of half the size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config
from numba.core.registry import cpu_target

from medsim.kernels.instructions import LANES

pytestmark = pytest.mark.slow

KERNEL_TESTS = Path(__file__).parent


@pytest.mark.full
def test_the_kernels_do_the_same_without_the_compiler() -> None:
    # A new process, since Numba reads the variable when it is imported.
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


LANES_OF_AVX2 = 256


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.skipif(
    bool(config.DISABLE_JIT) or LANES == LANES_OF_AVX2,
    reason="the other tests have shown it, or nothing is compiled",
)
def test_the_search_does_the_same_without_avx512() -> None:
    _, processor, features = cpu_target.target_context.codegen().magic_tuple()
    # A new process, since Numba reads the variable when it first compiles.
    code = (
        "import sys, pytest\n"
        "from medsim.kernels.instructions import LANES\n"
        f"assert LANES == {LANES_OF_AVX2}\n"
        "sys.exit(pytest.main(sys.argv[1:]))"
    )
    files = ["test_screen.py", "test_edit_search.py"]
    options = ["-m", "not slow", "-n", "0", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [sys.executable, "-c", code, *options, *files],
        cwd=KERNEL_TESTS,
        env={
            **os.environ,
            "NUMBA_CPU_NAME": processor,
            "NUMBA_CPU_FEATURES": features.replace("+avx512", "-avx512"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
