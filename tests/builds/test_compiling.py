"""Kernels are compiled in two processes while a build reads; they end with the build."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba import config

import medsim
from medsim.builds import compiling
from medsim.builds.compiling import _PARTS, compile_in_background
from medsim.core.errors import OptionError, OutputError
from medsim.core.progress import Progress

WAITS = (
    "import sys, os; open(sys.argv[1] + sys.argv[2], 'w').write(str(os.getpid())); sys.stdin.read()"
)
"""Writes its process id, and ends when its standard input ends."""

NEVER_ENDS = WAITS.replace("sys.stdin.read()", "__import__('time').sleep(600)")


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the mark of a folder of compiled kernels, which does not exist yet."""
    path = tmp_path / "kernels" / "compiled"
    monkeypatch.setattr(compiling, "compiled_mark", lambda: path)
    return path


def command(monkeypatch: pytest.MonkeyPatch, code: str, path: Path) -> None:
    monkeypatch.setattr(compiling, "_COMMAND", ("-c", code, str(path)))


def numbers_of(path: Path) -> list[int]:
    """Return the process ids, after the processes have written them."""
    files = [path.with_name(path.name + part) for part in _PARTS]
    while not all(file.exists() and file.read_text() for file in files):
        time.sleep(0.01)
    return [int(file.read_text()) for file in files]


def runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.usefixtures("mark")
def test_compiling_processes_end_with_a_failed_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command(monkeypatch, NEVER_ENDS, path := tmp_path / "told")

    def build() -> None:
        with compile_in_background():
            numbers_of(path)
            raise ValueError("no such source")

    with pytest.raises(ValueError, match="no such source"):
        build()
    assert not any(map(runs, numbers_of(path)))


@pytest.mark.slow
def test_compiling_processes_end_with_a_killed_build(tmp_path: Path) -> None:
    path = tmp_path / "told"
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from medsim.builds import compiling\n"
        "compiling.compiled_mark = lambda: Path(sys.argv[1]).parent / 'kernels' / 'compiled'\n"
        f"compiling._COMMAND = ('-c', {WAITS!r}, sys.argv[1])\n"
        "with compiling.compile_in_background():\n"
        "    time.sleep(600)\n"
    )
    build = subprocess.Popen([sys.executable, "-c", code, str(path)])
    numbers = numbers_of(path)

    build.kill()
    build.wait()

    for _ in range(1000):
        if not any(map(runs, numbers)):
            break
        time.sleep(0.01)
    assert not any(map(runs, numbers))


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_warm_compiles_once(mark: Path) -> None:
    progress = Progress()

    medsim.warm(progress=progress)
    assert mark.exists()
    medsim.warm(progress=progress)

    assert [record.name for record in progress.records] == ["compile the search, once"]


@pytest.mark.usefixtures("mark")
def test_warm_says_why_nothing_was_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(config, "DISABLE_JIT", 0)
    command(monkeypatch, "raise SystemExit(7)", tmp_path / "told")
    with pytest.raises(OutputError, match=r"compiling the search failed \(exit status 7, 7\)"):
        medsim.warm(progress=Progress())

    monkeypatch.setattr(compiling, "compiled_mark", lambda: None)
    with pytest.raises(OutputError, match="set the environment variable NUMBA_CACHE_DIR"):
        medsim.warm(progress=Progress())

    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    with pytest.raises(OptionError, match="NUMBA_DISABLE_JIT turns compiling off"):
        medsim.warm(progress=Progress())


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_every_kernel_of_a_build_is_compiled(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "import medsim\n"
        "from numba.core import event\n"
        "from medsim.builds import compiling\n"
        "for part in compiling._PARTS.values():\n"
        "    part()\n"
        "with event.install_recorder('numba:compile') as recorder:\n"
        "    medsim.synth(sys.argv[1] + '/rf2.zip', concepts=300)\n"
        "    medsim.build(sys.argv[1] + '/rf2.zip', sys.argv[1] + '/rf2', threads=1)\n"
        "of_medsim = {one.data['dispatcher'].py_func for _, one in recorder.buffer}\n"
        "print(sorted(one.__name__ for one in of_medsim))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_nothing_starts_if_kernels_are_compiled_or_cannot_be_cached(
    mark: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command(monkeypatch, WAITS, tmp_path / "told")
    progress = Progress()

    mark.parent.write_text("no folder")
    with compile_in_background() as wait:
        wait(progress)
    mark.parent.unlink()
    mark.parent.mkdir()
    mark.touch()
    with compile_in_background() as wait:
        wait(progress)
    monkeypatch.setattr(compiling, "compiled_mark", lambda: None)
    with compile_in_background() as wait:
        wait(progress)

    assert progress.records == []
    assert not list(tmp_path.glob("told*"))
