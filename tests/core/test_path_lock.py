"""A lock on a path is held by one process at a time, though its file comes and goes."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from medsim.core import path_lock as module
from medsim.core.path_lock import path_lock

CONTENDER = """
import os, sys
from pathlib import Path
from medsim.core.path_lock import path_lock

lock, inside = Path(sys.argv[1]), Path(sys.argv[2])
n_held = 0
while n_held < 100:
    try:
        with path_lock(lock):
            os.close(os.open(inside, os.O_CREAT | os.O_EXCL))  # fails if another is inside
            inside.unlink()
            n_held += 1
    except BlockingIOError:
        pass
"""


@pytest.mark.slow
def test_processes_that_come_and_go_never_hold_it_together(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CONTENDER, tmp_path / "lock", tmp_path / "inside"]

    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]

    assert [process.communicate(timeout=120)[1] for process in processes] == ["", "", ""]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_its_owner_removed_in_between_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first owner ends, and the next begins, after the file was opened and before its lock."""
    lock = tmp_path / "lock"
    first, third = path_lock(lock), path_lock(lock)
    first.__enter__()
    flock = fcntl.flock

    def interleaved(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        first.__exit__(None, None, None)
        third.__enter__()
        flock(descriptor, operation)

    monkeypatch.setattr(module.fcntl, "flock", interleaved)

    with pytest.raises(BlockingIOError), path_lock(lock):
        pass
    assert lock.exists()
    third.__exit__(None, None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_that_does_not_tell_files_apart_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_lies_at", lambda *_arguments: False)

    with pytest.raises(OSError, match="Stale file handle"), path_lock(tmp_path / "lock"):
        pass


def test_what_a_killed_process_left_is_locked_anew(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()

    with path_lock(tmp_path / "lock"):
        pass

    assert list(tmp_path.iterdir()) == []


def test_a_version_before_is_kept_out_and_keeps_out(tmp_path: Path) -> None:
    """It locks the same file by filelock."""
    lock = tmp_path / "lock"
    with FileLock(lock), pytest.raises(BlockingIOError), path_lock(lock):
        pass
    with path_lock(lock):
        assert not FileLock(lock, blocking=False).is_locked
        with pytest.raises(TimeoutError):
            FileLock(lock, timeout=0).acquire()


@pytest.mark.parametrize("missing", ["flock", "module"])
def test_where_there_are_no_locks_a_file_s_existence_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def flock(*_arguments: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    if missing == "flock":
        monkeypatch.setattr(module.fcntl, "flock", flock)
    else:
        monkeypatch.setattr(module, "_HAS_LOCKS", False)

    with path_lock(tmp_path / "lock"), pytest.raises(BlockingIOError), path_lock(tmp_path / "lock"):
        pass
    with path_lock(tmp_path / "lock"):
        pass
    assert list(tmp_path.iterdir()) == []
