"""A finished output is synced before it becomes visible, so no crash leaves a part of it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest

from medsim.builds.output import BUILD
from medsim.core.errors import OutputError
from medsim.core.files import new_file, sync_folder, whole_file
from medsim.core.manifest import MANIFEST
from medsim.core.output import claimed
from medsim.embeddings.encoders import cache_part
from medsim.studies.output import StudyManifest

MADE = StudyManifest(
    **dict.fromkeys(("study_id", "scale", "title", "notice"), ""),
    **{name: [] for name in ("instructions", "annotators", "warnings")},
    **{name: {} for name in ("source", "options", "outputs")},
    medsim="0.1.0",
    page_size=0,
)


class Disk:
    """The state of the disk after a crash, if only synced content survives.

    Attributes:
        lost: renames and removals before the content that they rely on was synced.
        renamed: the paths that files and folders were renamed to.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lost: list[str] = []
        self.renamed: list[Path] = []
        self._kept: dict[int, object] = {}
        for name in ("fsync", "replace", "rename"):
            monkeypatch.setattr(os, name, getattr(self, f"_{name}")(getattr(os, name)))
        rmtree = shutil.rmtree
        monkeypatch.setattr(
            shutil, "rmtree", lambda *a, **b: (self._removed(a[0]), rmtree(*a, **b))
        )

    def _fsync(self, fsync: Callable[[int], None]) -> Callable[[int], None]:
        def synced(descriptor: int) -> None:
            fsync(descriptor)
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            self._kept[path.stat().st_ino] = content(path)

        return synced

    def _replace(self, replace: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
        def renamed(source: Path, target: Path) -> None:
            self._check(Path(source))
            replace(source, target)
            self.renamed.append(Path(target))

        return renamed

    _rename = _replace

    def _removed(self, path: Path) -> None:
        if path.name.endswith(".replaced") and path.exists() and not self.keeps(path.parent):
            self.lost.append(f"{path.name} is removed too early")

    def _check(self, source: Path) -> None:
        everything = [source, *source.rglob("*")]
        self.lost += [str(path) for path in everything if not self.keeps(path)]

    def keeps(self, path: Path) -> bool:
        """Return whether the current state of a file or folder is synced."""
        return self._kept.get(path.stat().st_ino) == content(path)


def content(path: Path) -> object:
    if path.is_dir():
        return {entry.name: entry.stat().st_ino for entry in path.iterdir()}
    return path.read_bytes()


pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="finds the path of a file that is open"
)


def publish(out: Path, *, carried: bool = False) -> None:
    with claimed(out, BUILD, overwrite=True) as output:
        output.resume({})
        if carried:
            output.carry_over({}, {"pairs/a=1/data.parquet"})
        output.write("pairs/a=1/data.parquet", pl.DataFrame({"a": [1]}), {})
        output.write_text("label/notes.txt" if not carried else "other.txt", "text", 1)
        MADE.write(output.folder)
        output.publish()


def test_output_is_synced_before_it_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)

    publish(tmp_path / "out")

    assert disk.lost == []
    assert disk.renamed[-1] == tmp_path / "out"
    assert {"data.parquet", "notes.txt", "job.json", MANIFEST} <= {p.name for p in disk.renamed}
    assert disk.keeps(tmp_path / "out")


@pytest.mark.parametrize("carried", [False, True])
def test_earlier_output_is_removed_only_after_the_new_one_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, carried: bool
) -> None:
    def no_links(*_arguments: object) -> None:  # so that files that are carried over are copied
        raise OSError(errno.EPERM, "Operation not permitted")

    out = tmp_path / "out"
    publish(out)
    outputs = (out / MANIFEST).read_text()
    monkeypatch.setattr("medsim.core.output.check_free", lambda *_a, **_b: None)
    monkeypatch.setattr(os, "link", no_links)
    disk = Disk(monkeypatch)
    disk._check = lambda source: None if source == out else Disk._check(disk, source)

    publish(out, carried=carried)

    assert disk.lost == []
    assert (out / MANIFEST).read_text() == outputs
    assert (out / "label" / "notes.txt").read_text() == "text"


@pytest.mark.parametrize("earlier", [True, False])
def test_an_output_whose_name_cannot_be_synced_is_withdrawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, earlier: bool
) -> None:
    out = tmp_path / "place" / "out"
    if earlier:
        publish(out)
        (out / MANIFEST).write_text("{}")
    monkeypatch.setattr("medsim.core.output.check_free", lambda *_a, **_b: None)

    def failing(folder: Path) -> None:
        if folder == out.parent:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("medsim.core.output.sync_folder", failing)
    with pytest.raises(OutputError, match="Input/output"):
        publish(out)

    assert out.exists() == earlier
    assert not earlier or (out / MANIFEST).read_text() == "{}"
    assert not out.with_name(".out.replaced").exists()


def test_single_file_is_synced_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)

    with whole_file(tmp_path / "page.html", tmp_path / "page.partial") as partial:
        partial.write_text("page")
    assert disk.keeps(tmp_path)
    cache_part(tmp_path / "cache", (["a"], np.ones((1, 1), np.float32)))

    assert disk.lost == []
    assert disk.keeps(next((tmp_path / "cache").glob("*.vectors")))


def test_failing_disk_differs_from_one_without_folder_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (errno.EINVAL, errno.EIO):
        failing = Mock(side_effect=OSError(number, os.strerror(number)))
        monkeypatch.setattr(os, "fsync", failing)
        with nullcontext() if number == errno.EINVAL else pytest.raises(OSError, match="Input"):
            sync_folder(tmp_path)
    with pytest.raises(OutputError, match="Input"), new_file(tmp_path / "page", overwrite=True):
        raise failing.side_effect
