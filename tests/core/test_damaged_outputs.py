"""Damaged or changed files of a finished output are reported in one line."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import medsim
from medsim.builds.output import BUILD, TERM
from medsim.builds.stats import table_2
from medsim.core.errors import InputError, MedsimError, listed
from medsim.core.files import read_own_json
from medsim.core.kinds import read_manifest
from medsim.core.manifest import MANIFEST
from medsim.core.opened import open_output, reading_output
from medsim.embeddings.chats import ReplyCache
from medsim.embeddings.encoders import cached_parts

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

DEEP = "[" * 100_000 + "]" * 100_000


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def noise(path: Path) -> None:
    path.write_bytes(bytes(reversed(path.read_bytes())))


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def made_a_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


DAMAGES = (emptied, cut, noise, made_a_folder, made_a_dangling_link)
PAIRS = "pairs/dataset=fsn_syn/difficulty=easy/negatives=random/data.parquet"


@pytest.fixture
def damaged(shared_build: medsim.Build, tmp_path: Path) -> Path:
    """A copy of a build to damage; undamaged files are links."""
    return Path(shutil.copytree(shared_build.folder, tmp_path / "out"))


def assert_said(error: MedsimError, *names: str) -> None:
    """Check that an error is one line that names files and says what to do."""
    message = str(error)
    assert "\n" not in message
    assert re.search("again|anew", message)
    for name in names:
        assert name in message


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_table_is_named_by_every_reader(
    damaged: Path, damage: Callable[[Path], None]
) -> None:
    for name in ("stats.parquet", PAIRS):
        damage(damaged / name)

    with pytest.raises(InputError) as of_read:
        medsim.open(damaged).read(PAIRS)
    assert_said(of_read.value, PAIRS)
    with pytest.raises(InputError) as of_stats:
        table_2(medsim.open(damaged))
    assert_said(of_stats.value, "stats.parquet")
    with pytest.raises(InputError) as of_pairs:
        medsim.open(damaged).pairs()
    assert_said(of_pairs.value, PAIRS)
    with pytest.raises(InputError) as of_views:
        open_output(damaged).views()
    assert_said(of_views.value, str(damaged))
    with pytest.raises(MedsimError):
        medsim.evaluate(damaged, {"one": "nowhere.txt"}, damaged.parent / "results")
    result = medsim.verify(damaged, sample=1)
    assert set(result.broken) & {"files", "columns", "fingerprint"}


def test_missing_table_is_named(damaged: Path) -> None:
    (damaged / TERM.files).unlink()  # missing in builds of earlier versions

    for query in (lambda opened: opened.views(), lambda opened: opened.sql("from pair")):
        with pytest.raises(InputError) as error:
            query(medsim.open(damaged))
        assert_said(error.value, TERM.files)
    with pytest.raises(InputError, match=TERM.files):
        medsim.export(damaged, damaged.parent / "database", "duckdb")


@pytest.mark.usefixtures("alarm")
def test_pipe_in_a_cache_does_not_block(tmp_path: Path) -> None:
    for name in ("replies.jsonl", "0.vectors"):
        os.mkfifo(tmp_path / name)

    with pytest.raises(InputError, match=r"replies\.jsonl is a pipe"):
        ReplyCache(tmp_path)
    with pytest.raises(InputError, match=r"0\.vectors is a pipe"):
        list(cached_parts(tmp_path))


def test_page_that_crashes_polars_is_detected(damaged: Path) -> None:
    pl.DataFrame({"term1": ["a", "b"], "label": [0, 1]}).write_parquet(damaged / PAIRS)
    content, n_values = (
        (damaged / PAIRS).read_bytes(),
        b"\x2c\x15\x04",
    )  # values of a page: it has two
    assert n_values in content
    (damaged / PAIRS).write_bytes(content.replace(n_values, b"\x2c\x15\x7f"))

    assert medsim.verify(damaged, sample=0).broken == ["columns"]


@pytest.mark.parametrize("value", [None, [], "text", 5, True, [None], {"x": None}])
def test_manifest_without_files_is_refused(
    shared_build: medsim.Build, tmp_path: Path, value: object
) -> None:
    content = json.loads((shared_build.folder / MANIFEST).read_text())
    (tmp_path / MANIFEST).write_text(json.dumps(content | {"outputs": value}))

    with pytest.raises(InputError) as error:
        read_manifest(tmp_path, BUILD)
    assert_said(error.value, MANIFEST, "medsim build")


@pytest.mark.parametrize("error", [ValueError("x"), pl.exceptions.PanicException("y"), KeyError(1)])
def test_any_error_while_reading_an_output_names_the_output(
    shared_build: medsim.Build, error: BaseException
) -> None:
    with pytest.raises(InputError) as caught, reading_output(shared_build):
        raise error
    assert_said(caught.value, str(shared_build.folder), "medsim build")


def test_bug_in_medsim_is_not_reported_as_damage(
    shared_build: medsim.Build,
) -> None:
    with pytest.raises(TypeError, match="not iterable"), reading_output(shared_build):
        listed(5)  # type: ignore[arg-type] — like a bug in medsim
    with (
        pytest.raises(InputError, match="its content is not as expected"),
        reading_output(shared_build),
    ):
        json.loads(5)  # type: ignore[arg-type] — like a library on damaged input


@pytest.mark.parametrize(("option", "value"), [("language", 5), ("max_repeats", "text")])
def test_benchmark_with_an_option_of_wrong_type_is_reported_as_changed(
    shared_benchmark: medsim.Benchmark, tmp_path: Path, option: str, value: object
) -> None:
    folder = shutil.copytree(shared_benchmark.folder, tmp_path / "wic")
    content = json.loads((folder / MANIFEST).read_text())
    content["options"][option] = value
    (folder / MANIFEST).write_text(json.dumps(content))

    with pytest.raises(InputError) as caught:
        medsim.verify_wic(folder)
    assert_said(caught.value, str(folder), "medsim wic build")


@pytest.mark.parametrize("content", [DEEP, '{"a": ' * 100_000, "", "\x00", None])
def test_deep_or_invalid_json_raises_value_error(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / MANIFEST
    path.mkdir() if content is None else path.write_text(content)

    with pytest.raises((OSError, ValueError), match=r"^(it is|Expecting)"):
        read_own_json(path)
    with pytest.raises(InputError, match=r"cannot be read as a manifest of medsim"):
        read_manifest(tmp_path, BUILD)
    with pytest.raises(InputError, match=r"manifest\.json"):
        open_output(tmp_path)
