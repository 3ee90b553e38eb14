"""Files and links that medsim did not make are never removed or followed."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from medsim.builds.output import BUILD
from medsim.core.errors import OutputError
from medsim.core.files import new_file
from medsim.core.manifest import MANIFEST
from medsim.core.output import claimed
from medsim.evaluations.output import EVALUATION
from medsim.wic.output import WIC

KINDS = pytest.mark.parametrize("kind", [BUILD, EVALUATION, WIC], ids=lambda kind: kind.name)


def make(out: Path, kind=BUILD, *, overwrite: bool = False, meanwhile=lambda: None) -> None:
    """Write an output of one file."""
    with claimed(out, kind, overwrite=overwrite) as output:
        if kind.resumed_by:
            output.resume({"seed": "0"})
        output.write("pairs/data.parquet", pl.DataFrame({"a": [1]}), {})
        outputs = {"pairs/data.parquet": {"rows": 1, "fingerprint": ""}}
        text = json.dumps({"kind": kind.name, "outputs": outputs})
        (output.folder / MANIFEST).write_text(text)
        meanwhile()
        output.publish()


def diary(folder: Path) -> Path:
    folder.mkdir(parents=True)
    path = folder / "diary.txt"
    path.write_text("precious")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@KINDS
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".out.unfinished", "was not made by medsim; move it away"),
        ("mine", r"\.out\.unfinished was not made by medsim; move it"),  # the target of a link
    ],
)
def test_users_folder_named_like_an_unfinished_one_stays(
    tmp_path: Path, kind, name: str, message: str
) -> None:
    precious = diary(tmp_path / name)
    if name == "mine":
        (tmp_path / ".out.unfinished").symlink_to(precious.parent)

    with pytest.raises(OutputError, match=message):
        make(tmp_path / "out", kind)

    assert precious.read_text() == "precious"
    assert names(tmp_path) == sorted({".out.unfinished", name})
    assert names(precious.parent) == ["diary.txt"]


@KINDS
@pytest.mark.parametrize("entry", ["pairs", "spill", "manifest.json.partial"])
def test_links_in_an_unfinished_folder_are_removed_and_not_followed(
    tmp_path: Path, kind, entry: str
) -> None:
    precious = diary(tmp_path / "mine")
    folder = tmp_path / ".out.unfinished"
    folder.mkdir()
    (folder / "job.json").write_text('{"job": null, "digests": {}}')
    (folder / entry).symlink_to(precious if "." in entry else precious.parent)
    (folder / "job.json.partial").symlink_to(precious)

    make(tmp_path / "out", kind)

    assert names(precious.parent) == ["diary.txt"]
    assert precious.read_text() == "precious"
    assert names(tmp_path) == ["mine", "out"]


@KINDS
def test_users_folder_named_like_a_replaced_one_stays(tmp_path: Path, kind) -> None:
    kept = diary(tmp_path / ".out.replaced")

    with pytest.raises(OutputError, match=r"\.out\.replaced is in the way; move it away"):
        make(tmp_path / "out", kind)

    assert kept.read_text() == "precious"
    assert names(tmp_path) == [".out.replaced"]


def test_link_named_like_a_replaced_folder_is_not_followed(tmp_path: Path) -> None:
    make(tmp_path / "out")
    make(tmp_path / "other")
    (tmp_path / ".out.replaced").symlink_to("other")

    with pytest.raises(OutputError, match="is in the way"):
        make(tmp_path / "out", overwrite=True)

    assert names(tmp_path / "other") == [MANIFEST, "pairs"]


def test_users_file_named_like_the_lock_stays(tmp_path: Path) -> None:
    lock = tmp_path / ".out.lock"
    lock.write_text("precious")
    with pytest.raises(OutputError, match=r"\.out\.lock: is not a lock of medsim"):
        make(tmp_path / "out")
    assert lock.read_text() == "precious"

    lock.unlink()
    os.mkfifo(lock)
    with pytest.raises(OutputError, match="not a lock of medsim"):
        make(tmp_path / "out")
    assert lock.is_fifo()


CONTENDER = """
import sys
from pathlib import Path
from medsim.core.errors import OutputError
from medsim.core.output import claimed
from medsim.wic.output import WIC

n_held = 0
while n_held < 30:
    try:
        with claimed(Path(sys.argv[1]), WIC, overwrite=False) as output:
            (output.folder / "inside").touch(exist_ok=False)  # fails if another is inside
            n_held += 1
    except OutputError as error:
        assert "another benchmark is writing" in str(error), error
"""


@pytest.mark.full
@pytest.mark.slow
def test_processes_never_hold_the_same_lock(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CONTENDER, tmp_path / "out"]
    (tmp_path / ".out.lock").touch()  # left by a killed process

    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]

    assert [process.communicate(timeout=120)[1] for process in processes] == ["", "", ""]
    assert names(tmp_path) == []


@KINDS
@pytest.mark.parametrize("overwrite", [False, True])
def test_file_created_meanwhile_at_the_path_stays(tmp_path: Path, kind, *, overwrite: bool) -> None:
    out = tmp_path / "out"
    if overwrite:
        make(out, kind)

    def meanwhile() -> None:
        out.mkdir(exist_ok=True)
        (out / "diary.txt").write_text("precious")

    with pytest.raises(OutputError, match=r"holds (diary\.txt, not|files, not)"):
        make(out, kind, overwrite=overwrite, meanwhile=meanwhile)

    assert (out / "diary.txt").read_text() == "precious"


def test_empty_folder_stays_if_a_run_fails(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(KeyboardInterrupt), claimed(out, WIC, overwrite=False):
        raise KeyboardInterrupt
    assert names(tmp_path) == ["out"]


def killed_between_renames(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace an output, and stop after the earlier one is renamed."""
    renamed, n_renames = Path.rename, 0

    def failing(path: Path, target: Path) -> Path:
        nonlocal n_renames
        n_renames += 1
        if n_renames > 1:
            raise SystemExit
        return renamed(path, target)

    with monkeypatch.context() as patch:
        patch.setattr("medsim.core.output.finish_replacing", lambda _out, _kind: None)
        with pytest.raises(SystemExit):
            make(out, overwrite=True, meanwhile=lambda: patch.setattr(Path, "rename", failing))
    assert not out.exists()


@KINDS
@pytest.mark.parametrize("note", ["", '{"job": n', None])
def test_new_or_complete_unfinished_folder_starts_again(
    tmp_path: Path, kind, note: str | None
) -> None:
    folder = tmp_path / ".out.unfinished"
    if note is None:  # killed before it was moved
        make(tmp_path / "out", kind)
        (tmp_path / "out").rename(folder)
    else:
        folder.mkdir()
        (folder / "job.json.partial").write_text(note)

    make(tmp_path / "out", kind)

    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("emptied", [False, True])
def test_replaced_output_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, emptied: bool
) -> None:
    out = tmp_path / "out"
    make(out)
    killed_between_renames(out, monkeypatch)
    if emptied:
        out.mkdir()

    with pytest.raises(OutputError, match="add `overwrite` to replace it"):
        make(out)
    assert names(out) == [MANIFEST, "pairs"]
    make(out, overwrite=True)
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("kind", [None, "study"])
def test_replaced_folder_stays_while_another_has_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str | None
) -> None:
    out = tmp_path / "out"
    make(out)
    killed_between_renames(out, monkeypatch)
    diary(out)
    if kind is not None:
        (out / MANIFEST).write_text(json.dumps({"kind": kind, "outputs": {}}))

    with pytest.raises(OutputError, match="files, not a build"):
        make(out)
    assert names(tmp_path / ".out.replaced") == [MANIFEST, "pairs"]


@pytest.mark.parametrize("n_bytes", [244, 256])
def test_too_long_name_is_an_error_at_the_start(tmp_path: Path, n_bytes: int) -> None:
    with (
        pytest.raises(OutputError, match="File name too long"),
        claimed(tmp_path / ("x" * n_bytes), BUILD, overwrite=False),
    ):
        pytest.fail("it was made")
    assert names(tmp_path) == []


def test_evaluation_with_unknown_files_is_not_extended(tmp_path: Path) -> None:
    make(tmp_path / "out", EVALUATION)
    (tmp_path / "out" / "mine").symlink_to(diary(tmp_path / "elsewhere").parent)

    with pytest.raises(OutputError, match="holds mine, not part of the evaluation"):
        make(tmp_path / "out", EVALUATION)


def test_links_are_followed_unless_they_form_a_loop(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for place, message in (("/", "cannot be replaced"), (tmp_path / "loop", "give a folder")):
        with pytest.raises(OutputError, match=message):
            make(Path(place))
    (tmp_path / "link").symlink_to("out")
    make(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out" / MANIFEST).exists()


def test_spilled_rows_stay_when_files_of_another_run_are_removed(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    with suppress(KeyboardInterrupt), claimed(out, BUILD, overwrite=False) as output:
        output.resume({"seed": "0"})
        output.write("pairs/data.parquet", pl.DataFrame({"a": [1]}), {})
        raise KeyboardInterrupt

    with claimed(out, BUILD, overwrite=False) as output:
        spilled = output.spill / "rows"
        spilled.write_text("spilled while the source was read")
        is_resumed = output.resume({"seed": "1"})

        assert not is_resumed
        assert spilled.exists()
        assert not (output.folder / "pairs" / "data.parquet").exists()


# Remains of a killed run are removed by a later one


@pytest.mark.parametrize("emptied", [False, True])
def test_remains_of_a_replaced_output_are_removed(tmp_path: Path, *, emptied: bool) -> None:
    make(tmp_path / "out")
    leftover = tmp_path / ".out.replaced"
    leftover.mkdir()
    if not emptied:
        (leftover / MANIFEST).write_text(json.dumps({"kind": "build", "outputs": {}}))
    others = [".out.replace", ".other.replaced"]
    for name in others:
        (tmp_path / name).mkdir()

    make(tmp_path / "out", overwrite=True)

    assert names(tmp_path) == sorted([*others, "out"])


def test_a_file_that_another_process_takes_for_a_leftover_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock, others = tmp_path / "job.json", fcntl.flock, [b"theirs"]

    def locked_late(stream, operation: int) -> None:
        while others:
            content = others.pop()
            with new_file(path, overwrite=True) as other:  # it removes the file, not yet locked
                other.write(content)
        lock(stream, operation)

    monkeypatch.setattr(fcntl, "flock", locked_late)
    with new_file(path, overwrite=True) as stream:
        stream.write(b"ours")
    assert path.read_bytes() == b"ours"
    assert [file.name for file in tmp_path.iterdir()] == ["job.json"]


def test_partial_files_are_removed_unless_still_being_written(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    leftover = tmp_path / f".page.html.{'0' * 32}.partial"
    leftover.write_text("of a process that was killed")
    others = [".page.html.partial", f".page.htm.{'0' * 32}.partial", f".page.html.{'0' * 32}.part"]
    for name in others:
        (tmp_path / name).write_text("precious")
    locked = tmp_path / f".page.html.{'1' * 32}.partial"

    with locked.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with new_file(path, overwrite=True) as opened:
            opened.write(b"page")

    assert names(tmp_path) == sorted([*others, locked.name, path.name])
    assert path.read_bytes() == b"page"


def test_next_process_removes_the_partial_file_of_a_killed_one(tmp_path: Path) -> None:
    """The process is killed when the file has its temporary name, before it replaces another."""
    code = """
import os
from pathlib import Path
from medsim.core import files

Path.replace = lambda *_: os.kill(os.getpid(), 9)
with files.new_file(Path("page.html"), overwrite=True) as stream:
    stream.write(b"page")
"""
    (tmp_path / "page.html").write_text("earlier")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code]
    killed = subprocess.run(command, check=False, cwd=tmp_path, env=environment)
    assert killed.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 2
    assert (tmp_path / "page.html").read_text() == "earlier"

    with new_file(tmp_path / "page.html", overwrite=True) as stream:
        stream.write(b"later")

    assert names(tmp_path) == ["page.html"]
    assert (tmp_path / "page.html").read_bytes() == b"later"
