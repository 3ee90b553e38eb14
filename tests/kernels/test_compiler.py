"""Where compiled kernels are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

import medsim
from medsim.kernels import compiler
from medsim.kernels.compiler import kernel

USE = """
import numpy as np
from numba import config
from medsim.kernels.hashing import mixed
mixed(np.uint64(1))
assert not config.CACHE_DIR, config.CACHE_DIR
"""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_compiled_kernels_lie_in_a_folder_named_by_their_sources(tmp_path: Path) -> None:
    package = tmp_path / "package" / "medsim"
    _copy(Path(medsim.__file__).parent, package)
    folders = []
    for addition in ("", "# changed\n"):
        with (package / "kernels" / "best.py").open("a") as file:
            file.write(addition)
        folders.append(_used(package.parent, tmp_path / "cache"))

    first, second = folders
    assert len(first) == 1
    assert len(second - first) == 1
    for folder in second:
        assert list(folder.rglob("hashing.mixed-*.nbc"))
    assert not list(package.rglob("*.nbc"))


def test_other_functions_are_cached_where_they_were() -> None:
    before = config.CACHE_DIR

    kernel(_doubled)

    assert before == config.CACHE_DIR


def test_the_folder_lies_in_the_one_that_numba_was_given() -> None:
    assert Path(compiler._folder("/somewhere")).parent == Path("/somewhere")
    assert Path(compiler._folder("")).parent.name == "medsim"


def test_users_without_a_home_leave_the_place_to_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    compiler._folder.cache_clear()
    try:
        assert not compiler._folder("")
    finally:
        compiler._folder.cache_clear()


def _doubled(number: int) -> int:
    return 2 * number


def _copy(source: Path, target: Path) -> None:
    for file in source.rglob("*.py"):
        to = target / file.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(file.read_bytes())


def _used(package: Path, cache: Path) -> set[Path]:
    """Return the folders of kernels that are there after one has been used."""
    env = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(package)}
    env.pop("NUMBA_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", USE], env=env, cwd=package, check=True)
    return set((cache / "medsim").iterdir())
