"""What is read of a finished output may be damaged or changed: one line says so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
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
from medsim.core.opened import open_output, read_rows, reading_output
from medsim.embeddings.encoders import VectorCache
from medsim.wic.models.llm import ReplyCache

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
    """A copy of a build, to be damaged; what is not damaged is linked."""
    return Path(shutil.copytree(shared_build.folder, tmp_path / "out"))


def assert_said(error: MedsimError, *names: str) -> None:
    """Fail unless an error is one line that names files and says what to do."""
    said = str(error)
    assert "\n" not in said
    assert re.search("again|anew", said)
    for name in names:
        assert name in said


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table_is_named_by_all_that_read_it(
    damaged: Path, damage: Callable[[Path], None]
) -> None:
    for name in ("stats.parquet", PAIRS):
        damage(damaged / name)

    with pytest.raises(InputError) as of_read:
        read_rows(damaged / PAIRS)
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
    found = medsim.verify(damaged, sample=1)
    assert set(found.broken) & {"files", "columns", "fingerprint"}


def test_a_table_that_the_manifest_names_is_missed(damaged: Path) -> None:
    (damaged / TERM.files).unlink()  # which builds of earlier versions lack

    for read in (lambda one: one.views(), lambda one: one.sql("from pair")):
        with pytest.raises(InputError) as error:
            read(medsim.open(damaged))
        assert_said(error.value, TERM.files)
    with pytest.raises(InputError, match=TERM.files):
        medsim.export(damaged, damaged.parent / "database", "duckdb")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (pl.col("label").cast(pl.Int64), "has label as Int64, not Int8"),
        (pl.col("distance").cast(pl.Int8), "has distance as Int8, not Int32"),
        (pl.exclude("term2"), "has no column term2"),
    ],
)
def test_a_table_with_other_columns_than_the_rest_is_named(
    damaged: Path, change: pl.Expr, fault: str
) -> None:
    rows = pl.read_parquet(damaged / PAIRS, hive_partitioning=False)
    changed = rows.select(change) if "no column" in fault else rows.with_columns(change)
    changed.write_parquet(damaged / PAIRS)

    with pytest.raises(InputError) as error:
        medsim.open(damaged).pairs()
    assert_said(error.value, f"{damaged / PAIRS} {fault}")


def test_a_pipe_in_place_of_a_table_is_not_waited_for(damaged: Path) -> None:
    (path := damaged / "terminology/concept.parquet").unlink()
    os.mkfifo(path)

    command = [sys.executable, "-m", "medsim", "split", damaged, "-o", damaged.parent / "splits"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)

    assert ended.returncode == 1
    said = f"{path} cannot be read (it is not a file); rebuild the output, or"
    assert ended.stderr.splitlines()[-1].startswith(f"error: {said}")


@pytest.mark.usefixtures("alarm")
def test_a_pipe_in_a_cache_is_not_waited_for(tmp_path: Path) -> None:
    for name in ("replies.jsonl", "0.vectors"):
        os.mkfifo(tmp_path / name)

    with pytest.raises(InputError, match=r"replies\.jsonl is a pipe"):
        ReplyCache(tmp_path)
    with pytest.raises(InputError, match=r"0\.vectors is a pipe"):
        list(VectorCache(tmp_path).parts())


def test_a_page_at_which_polars_ends_the_process_is_found(damaged: Path) -> None:
    pl.DataFrame({"term1": ["a", "b"], "label": [0, 1]}).write_parquet(damaged / PAIRS)
    content, n_values = (damaged / PAIRS).read_bytes(), b"\x2c\x15\x04"  # of a page: two
    assert n_values in content
    (damaged / PAIRS).write_bytes(content.replace(n_values, b"\x2c\x15\x7f"))

    assert medsim.verify(damaged, sample=0).broken == ["columns"]


@pytest.mark.parametrize("value", [None, [], "text", 5, True, [None], {"x": None}])
@pytest.mark.parametrize(
    "field", ["options", "outputs", "source", "stages", "libraries", "threads"]
)
def test_a_manifest_whose_parts_are_of_other_types_is_refused(
    shared_build: medsim.Build, tmp_path: Path, field: str, value: object
) -> None:
    found = json.loads((shared_build.folder / MANIFEST).read_text())
    if isinstance(value, type(found[field])) and value in ([], {"x": None}, 5):
        return  # it may be so
    (tmp_path / MANIFEST).write_text(json.dumps(found | {field: value}))

    try:
        manifest = read_manifest(tmp_path, BUILD)
    except InputError as error:
        assert_said(error, MANIFEST, "medsim build")
    else:
        assert getattr(manifest, field) == value  # an object, as it must be


def test_a_manifest_tells_of_what_it_lacks(shared_build: medsim.Build, tmp_path: Path) -> None:
    found = json.loads((shared_build.folder / MANIFEST).read_text())
    del found["source"]["rf2_rules"]
    (tmp_path / MANIFEST).write_text(json.dumps(found))

    with pytest.raises(InputError, match=r"manifest\.json lacks the key 'rf2_rules'"):
        _ = read_manifest(tmp_path, BUILD).source["rf2_rules"]


@pytest.mark.parametrize("error", [ValueError("x"), pl.exceptions.PanicException("y"), KeyError(1)])
def test_whatever_reading_an_output_raises_is_said_of_the_output(
    shared_build: medsim.Build, error: BaseException
) -> None:
    with pytest.raises(InputError) as caught, reading_output(shared_build):
        raise error
    assert_said(caught.value, str(shared_build.folder), "medsim build")


def test_a_fault_of_the_program_is_not_said_to_be_one_of_the_output(
    shared_build: medsim.Build,
) -> None:
    with pytest.raises(TypeError, match="not iterable"), reading_output(shared_build):
        listed(5)  # type: ignore[arg-type] — as a fault in medsim would
    with pytest.raises(InputError, match="TypeError: the JSON"), reading_output(shared_build):
        json.loads(5)  # type: ignore[arg-type] — as a library does at what it reads


@pytest.mark.parametrize(("option", "value"), [("language", 5), ("most_repeats", "text")])
def test_a_benchmark_with_an_option_of_another_type_is_said_to_be_changed(
    shared_benchmark: medsim.Benchmark, tmp_path: Path, option: str, value: object
) -> None:
    folder = shutil.copytree(shared_benchmark.folder, tmp_path / "wic")
    found = json.loads((folder / MANIFEST).read_text())
    found["options"][option] = value
    (folder / MANIFEST).write_text(json.dumps(found))

    with pytest.raises(InputError) as caught:
        medsim.verify_wic(folder)
    assert_said(caught.value, str(folder), "medsim wic build")


@pytest.mark.parametrize("content", [DEEP, '{"a": ' * 100_000, "", "\x00", None])
def test_json_that_is_deep_or_none_is_no_more_than_a_wrong_value(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / MANIFEST
    path.mkdir() if content is None else path.write_text(content)

    with pytest.raises((OSError, ValueError), match=r"^(it is|Expecting)"):
        read_own_json(path)
    with pytest.raises(InputError, match=r"cannot be read as a manifest of medsim"):
        read_manifest(tmp_path, BUILD)
    with pytest.raises(InputError, match=r"manifest\.json"):
        open_output(tmp_path)
