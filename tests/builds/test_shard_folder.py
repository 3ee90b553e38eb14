"""Processes that share a folder of shards come and go at any moment without a failure."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from medsim.builds.shards import ShardedRun, ShardFolder
from medsim.core.errors import OutputError


def job(seed: str) -> ShardedRun:
    return ShardedRun(key={"seed": seed}, total=2, source="release.zip")


def before_the_first(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, happens: object
) -> None:
    """Let something happen once, just before a function is called."""
    function = getattr(module, name)
    left = [happens]

    def interleaved(*arguments: object, **options: object) -> object:
        if left:
            left.pop()()
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, interleaved)


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out.shards").write_text("in the way")

    with (
        pytest.raises(OutputError, match=r"cannot write .*out\.shards"),
        ShardFolder(tmp_path / "out").spill(),
    ):
        pass


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize(("theirs", "is_refused"), [("1", True), ("0", False)])
def test_of_two_processes_that_claim_a_folder_at_once_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: str, *, is_refused: bool, links: bool
) -> None:
    """The other claims it after this one has seen no claim, and before it has written its own."""
    shards = ShardFolder(tmp_path / "out")
    shards.folder.mkdir()
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    before_the_first(monkeypatch, os, "fsync", lambda: shards.claim(job(theirs)))

    if is_refused:
        with pytest.raises(OutputError, match="shards of another job"):
            shards.claim(job("0"))
    else:
        shards.claim(job("0"))

    assert json.loads((shards.folder / "job.json").read_text())["job"] == {"seed": theirs}
    assert [path.name for path in shards.folder.iterdir()] == ["job.json"]


def no_links(*_arguments: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_shards_that_another_process_has_removed_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = ShardFolder(tmp_path / "out")
    shards.remove()
    shards.folder.mkdir()
    shards.claim(job("0"))
    before_the_first(monkeypatch, os, "unlink", shards.remove)

    shards.remove()

    assert list(tmp_path.iterdir()) == []


def test_names_that_only_resemble_those_of_shards_stay(tmp_path: Path) -> None:
    shards = ShardFolder(tmp_path / "out")
    shards.folder.mkdir()
    names = ["shard-notes.txt", "spill-over-from-the-pond", "job.json.backup"]
    for name in names:
        (shards.folder / name).mkdir()
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "diary.txt").write_text("precious")
    (shards.folder / "spill-abcdefgh").symlink_to(precious)
    shards.claim(job("0"))

    shards.remove()

    assert sorted(path.name for path in shards.folder.iterdir()) == sorted(names)
    assert (precious / "diary.txt").read_text() == "precious"


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out.shards").symlink_to("elsewhere")

    with (
        pytest.raises(OutputError, match=r"out\.shards is a link"),
        ShardFolder(tmp_path / "out").spill(),
    ):
        pass

    assert list((tmp_path / "elsewhere").iterdir()) == []
