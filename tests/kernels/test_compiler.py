"""The folder of compiled kernels."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from numba import config, njit
from numba.core.dispatcher import Dispatcher

import medsim
from medsim.kernels import compiler
from medsim.kernels.compiler import inner_kernel, kernel

SCALARS = {
    *("None", "int", "bool", "np.uint8", "np.int32", "np.uint32", "np.int64", "np.uint64"),
    "np.float32",
}

USE = """
import numpy as np
from numba import config
from medsim.kernels.packing import mixed
mixed(np.uint64(1))
assert not config.CACHE_DIR, config.CACHE_DIR
"""


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_kernels_are_compiled_once_for_each_state_of_their_sources(
    tmp_path: Path,
) -> None:
    package = tmp_path / "package" / "medsim"
    shutil.copytree(Path(medsim.__file__).parent, package, ignore=lambda *_: ["__pycache__"])
    seen = []
    for addition in ("", "", "# changed\n"):
        with (package / "kernels" / "best.py").open("a") as file:
            file.write(addition)
        folders = _used(package.parent, tmp_path / "cache")
        files = [file for folder in folders for file in folder.iterdir()]
        seen.append({file: file.stat().st_mtime_ns for file in files})

    assert seen[0] == seen[1]
    assert [len({file.parent for file in files}) for files in seen] == [1, 1, 2]
    assert seen[1].items() < seen[2].items()
    assert any(file.match("packing.mixed-*.nbc") for file in seen[0])
    assert not list(package.rglob("*.nbc"))


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize(
    "damage",
    [
        lambda _content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:999] + b"\1" + content[1000:],
        lambda _content: b"no pickle",
    ],
)
def test_a_damaged_file_of_compiled_code_is_rebuilt(
    kept: tuple[Path, bytes], monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    file, whole = kept
    monkeypatch.setattr(config, "CACHE_DIR", str(file.parents[1]))
    damaged = damage(whole)
    assert damaged != whole
    file.write_bytes(damaged)

    assert kernel(_doubled)(4) == 8

    assert [*file.parent.iterdir()] == [file]
    written, doubled = file.stat().st_mtime_ns, kernel(_doubled)
    assert doubled(4) == 8
    assert sum(doubled.stats.cache_hits.values()) == 1
    assert file.stat().st_mtime_ns == written


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_an_interrupt_leaves_no_part_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))

    def interrupted(_partial: Path, _name: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kernel(_doubled)(4)

    assert not [*tmp_path.rglob("*.nbc*")]
    assert kernel(_doubled)(4) == 8


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_code_of_another_signature_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    kernel(_doubled)(4)
    (integer,) = tmp_path.rglob("*.nbc")
    kernel(_doubled)(0.25)
    (real,) = {*tmp_path.rglob("*.nbc")} - {integer}
    shutil.copy(integer, real)

    assert kernel(_doubled)(0.25) == 0.5


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("place", ["takes no folder", "is a file", "is not known"])
def test_code_that_cannot_be_saved_is_compiled_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    folder = tmp_path / "file" / "kernels"
    if place == "is a file":
        (tmp_path / "file").touch()
    elif place == "takes no folder":
        folder = Path("/proc/nowhere/kernels")
    chosen = "" if place == "is not known" else str(folder)
    monkeypatch.setattr(compiler, "_folder", lambda _chosen: chosen)
    compiler._warn.cache_clear()
    doubled = kernel(_doubled)

    with pytest.warns(UserWarning, match="compiled kernels cannot be saved") as warned:
        assert (doubled(4), doubled(0.25)) == (8, 0.5)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiler._warn.cache_clear()
        assert kernel(_doubled)(4) == 8


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_an_inner_kernel_is_called_by_kernels_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    inner = inner_kernel(_doubled)

    assert njit(lambda number: inner(number) + 1)(4) == 9
    with pytest.raises(TypeError, match="_doubled is an inner kernel"):
        inner(4)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_every_kernel_runs_without_the_interpreter_lock_so_that_a_signal_can_end_it() -> None:
    modules = [
        importlib.import_module(f"medsim.kernels.{file.stem}")
        for file in Path(compiler.__file__).parent.glob("[a-z]*.py")
    ]
    kernels = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher) and value.py_func.__module__.startswith("medsim.")
    }

    assert len(kernels) > 100
    assert not [kernel for kernel in kernels if not kernel.targetoptions.get("nogil")]


def test_inner_kernels_neither_create_arrays_nor_call_functions_that_do() -> None:
    functions = {
        node.name: node
        for file in Path(compiler.__file__).parent.glob("*.py")
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }

    def called(function: ast.FunctionDef) -> set[str]:
        """Return the functions that a function calls, also in functions compiled as part of it."""
        calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
        names = {ast.unparse(call.func) for call in calls}
        parts = (functions[name] for name in names & functions.keys())
        return names.union(*(called(part) for part in parts if _is(part, "inlined_kernel")))

    inner = [function for function in functions.values() if _is(function, "inner_kernel")]
    assert len(inner) > 30
    for function in inner:
        for name in called(function):
            if name in functions:
                assert not _is(functions[name], "array_kernel"), (function.name, name)
                if _is(functions[name], "kernel"):
                    returned = functions[name].returns
                    assert returned is not None
                    assert ast.unparse(returned) in SCALARS, (function.name, name)
            elif name.startswith("np."):
                assert name in SCALARS, (function.name, name)


def _is(function: ast.FunctionDef, decorator: str) -> bool:
    return decorator in {ast.unparse(node) for node in function.decorator_list}


def test_only_folders_unused_for_a_month_are_removed(tmp_path: Path) -> None:
    current = Path(compiler._folder(str(tmp_path)))
    young, old = (tmp_path / f"kernels-{digit * 16}" for digit in "12")
    others = [tmp_path / name for name in ("vectors", "kernels-of-mine", f"kernels-{'4' * 16}.old")]
    link, target = tmp_path / f"kernels-{'5' * 16}", tmp_path / "target"
    for folder in (current, young, old, *others, target):
        folder.mkdir()
        (folder / "file").touch()
        then = time.time() - (29 if folder == young else 31) * 24 * 3600
        os.utime(folder, (then, then))
    link.symlink_to(target)
    compiler._folder.cache_clear()

    assert compiler._folder(str(tmp_path)) == str(current)

    assert {*tmp_path.iterdir()} == {current, young, *others, link, target}
    assert time.time() - current.stat().st_mtime < 3600


def test_users_without_a_home_have_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    compiler._folder.cache_clear()
    try:
        assert not compiler._folder("")
        assert Path(compiler._folder("/somewhere")).parent == Path("/somewhere")
    finally:
        compiler._folder.cache_clear()


def _doubled(number: int) -> int:
    return 2 * number


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A file of compiled code, and its content."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        kernel(_doubled)(4)
        (file,) = Path(config.CACHE_DIR).rglob("*.nbc")
    return file, file.read_bytes()


def _used(package: Path, cache: Path) -> set[Path]:
    """Return the folders of kernels after one has been used."""
    env = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(package)}
    env.pop("NUMBA_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", USE], env=env, cwd=package, check=True)
    return set((cache / "medsim").iterdir())
