"""Paths with any characters are paths, never patterns, addresses, columns or home folders."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from fixtures.builds import run

import medsim
from medsim.core.parquet import read_parquet, scan_files, scan_parquet, write_parquet
from medsim.core.store import Store

pytestmark = pytest.mark.slow

PACKAGE = Path(medsim.__file__).parent

NAMES = [
    *("a=b", "dataset=x", "term1=x", "back\\slash", "back\\slash[x]", "~", "~nosuchuser", "file:"),
    *("file:x", "s3:", "[x]", "*", "?", "{a,b}", "%41", "#", " space ", "line\nfeed", "quo'te"),
    *('quo"te', "-o", "$name", "\u00e9", "e\u0301", "\u202e"),
]
OPENED = ["dataset=x", "back\\slash[x]", "~", "file:x", "-o %41 {a,b}*?'\"\n"]
"""Names for slower tests with database views."""

WHOLE = "~ dataset=x\\[x] %41 {a,b}*?'\"\n"
"""A name for tests that open outputs and run whole commands."""

FRAME = pl.DataFrame({"term1": ["a", None], "x": [1, 2]})


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make relative paths relative to the test's folder."""
    monkeypatch.chdir(tmp_path)


def written(folder: Path) -> Path:
    """Write files of two kinds and return their folder."""
    for kind, frame in (("1", FRAME), ("b%41", FRAME.drop("x"))):
        path = folder / "out" / f"kind={kind}" / "data.parquet"
        path.parent.mkdir(parents=True)
        write_parquet(frame, path, {"by": "medsim"})
    return folder / "out"


@pytest.mark.parametrize("name", NAMES)
def test_rows_come_from_the_file_and_columns_from_the_pattern(name: str) -> None:
    folder = written(Path(name))
    rows = [("a", 1, "1"), (None, 2, "1"), ("a", None, "b%41"), (None, None, "b%41")]
    path = folder / "kind=1" / "data.parquet"

    assert read_parquet(path).equals(FRAME)
    assert read_parquet(path, ["x"]).equals(FRAME.select("x"))
    assert scan_parquet(path).collect().equals(FRAME)
    scanned = scan_files(folder, "kind=*/data.parquet").collect()
    assert scanned.columns == ["term1", "x", "kind"]
    assert scanned.rows() == rows


@pytest.mark.parametrize("name", OPENED)
def test_views_have_only_files_of_the_pattern(name: str) -> None:
    folder = written(Path(name))

    with Store(threads=1) as store:
        store.view_files(folder, {"part": "kind=1/*.parquet"})
        store.lock_down(folder)
        assert store.select("from part order by x").rows() == [("a", 1, "1"), (None, 2, "1")]
        assert store.select("from part").columns == ["term1", "x", "kind"]
        with pytest.raises(medsim.MedsimError, match=r"^(Permission|IO) Error"):
            store.select(f"from read_text('{str(Path.cwd()).replace(chr(39), chr(39) * 2)}/*')")


def test_temporary_links_for_duckdb_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = Path("temporary")
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary.absolute()))
    folder = written(Path("a=b"))

    with Store(threads=1) as store:
        store.view_files(folder, {"part": "kind=1/*.parquet"})
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []

    monkeypatch.setattr("tempfile.tempdir", str(folder.absolute()))
    with Store(threads=1) as store, pytest.raises(medsim.MedsimError, match="set TMPDIR"):
        store.view_files(folder, {"part": "kind=1/*.parquet"})


@pytest.mark.parametrize("name", ["back\\slash", "~"])
def test_rows_that_do_not_fit_in_memory_are_spilled(name: str) -> None:
    Path(name).mkdir()

    with Store(threads=1, spill=Path(name)) as store:
        store._connection.execute("set memory_limit = '40MB'")
        store._connection.execute("create table t as select hash(range) as x from range(8000000)")
        assert list(Path(name).iterdir())
        assert store.n_rows("t") == 8_000_000


def test_build_at_any_path_is_opened_and_read_by_commands(
    shared_build: medsim.Build,
) -> None:
    shutil.copytree(shared_build.folder, build := Path(WHOLE, "build"))
    opened = medsim.Build(build)

    assert opened.views().equals(shared_build.views())
    assert opened.pairs().equals(shared_build.pairs())
    assert opened.table("concept").collect().equals(shared_build.table("concept").collect())
    for command in (
        ["stats", f"./{build}", "--format", "json"],
        ["sql", f"./{build}", "from pair select * limit 3"],
        ["verify", f"./{build}", "--sample", "1", "--format", "csv"],
    ):
        result = run(*command)
        assert result.exit_code == 0, result.output
    assert pl.read_csv(result.stdout.encode())["violations"].sum() == 0


def test_evaluations_at_any_path_are_written_read_and_extended(
    shared_evaluation: medsim.Evaluation,
) -> None:
    name = "a=b\\slash[x]"
    place, folder = shared_evaluation.folder.parent, Path(name)
    folder.mkdir()
    shutil.copy(place / "rated.csv", folder / f"{name}.csv")
    for embedding_name in ("one", "two"):
        shutil.copy(place / f"{embedding_name}.vec", folder / f"{embedding_name}.vec")
    arguments = ["--metric", "avg_cos", "--coverage", "any", "--resamples", "0"]

    for embedding_name in ("one", "two"):
        embedding = f"{embedding_name}=./{name}/{embedding_name}.vec"
        options = ["-e", embedding, "-o", f"./{name}/results", "--resamples", "200", *arguments[:4]]
        result = run("eval", f"./{name}/{name}.csv", *options)
        assert result.exit_code == 0, result.output

    results = medsim.Evaluation(folder / "results")
    assert results.views().filter(view="score")["rows"].item() == 120
    assert results.sql("select distinct embedding from score order by 1").rows() == [
        ("one",),
        ("two",),
    ]
    for command in (["compare", f"./{name}/results"], ["report", f"./{name}/results"]):
        more = ["-o", f"./{name}/page.html"] if command[0] == "report" else []
        assert run(*command, *more).exit_code == 0
    there = {"one.vec", "two.vec", f"{name}.csv", "results", "page.html"}
    assert {path.name for path in folder.iterdir()} == there


def test_name_that_is_not_utf_8_is_one_line(shared_build: medsim.Build) -> None:
    name = os.fsdecode(b"a\xff")
    shutil.copytree(shared_build.folder, name)

    for command in (["stats", f"./{name}"], ["sql", f"./{name}"], ["synth", "-o", f"{name}/x.zip"]):
        result = run(*command)
        assert result.exit_code == 1
        assert re.search(r"^error: .*'(\./)?a\\udcff.*' .*not UTF-8", result.output), result.output
        assert len(result.output.splitlines()) == 1


def test_no_other_module_passes_paths_to_polars() -> None:
    handing = re.compile(
        r"\bpl\.(read|scan)_\w+\(\s*+(?!data,|io\.BytesIO\(|path\.(absolute|read_bytes)\(\))|\.(sink_\w+|write_parquet)\("
    )
    calls = {
        f"{path.relative_to(PACKAGE).as_posix()}: {match[0]}"
        for path in PACKAGE.rglob("*.py")
        if path.name != "parquet.py"
        for match in handing.finditer(path.read_text(encoding="utf-8"))
    }
    assert calls == set()
