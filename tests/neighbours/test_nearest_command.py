"""The command medsim nearest: what it prints and writes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fixtures.disks import disk_that_is_full_after
from typer.testing import CliRunner, Result

import medsim
from medsim.cli import app
from medsim.neighbours import pool


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["nearest", *map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    queries, names = tmp_path / "queries.txt", tmp_path / "names.txt"
    queries.write_text("hart attack\n1,5 cm\n", encoding="utf-8")
    names.write_text("Heart attack\nHeart attacks\nMigraine\n1.5 cm\n", encoding="utf-8")
    return queries, names


def test_rows_are_printed_as_a_table_and_for_programs(files: tuple[Path, Path]) -> None:
    table, csv = run(*files), run(*files, "-k", 2, "--max-distance", 2, "--format", "csv")

    assert table.exit_code == csv.exit_code == 0
    assert "Heart attack          1" in table.stdout
    assert csv.stdout.splitlines() == [
        "query,rank,match,distance",
        "hart attack,1,Heart attack,1",
        "hart attack,2,Heart attacks,2",
        '"1,5 cm",1,1.5 cm,1',
    ]


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_file_has_the_rows_of_the_function(
    files: tuple[Path, Path], tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / f"nearest{suffix}"
    monkeypatch.setattr(pool, "_QUERIES_AT_ONCE", 1)

    assert run(*files, "-o", out).exit_code == 0
    assert run(files[1], "--max-distance", 1, "-o", out).exit_code == 1  # it is there
    read = pl.read_parquet if suffix == ".parquet" else pl.read_csv
    assert read(out).rows() == medsim.nearest(*files).rows()
    assert run(files[1], "--max-distance", 1, "-o", out, "--overwrite").exit_code == 0
    assert read(out).rows() == [("Heart attack", "Heart attacks", 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "nearest.txt"], "--out takes a file whose name ends in .parquet or .csv"),
        (["-o", "missing/nearest.csv"], "there is no folder"),
        (["--max-distance", "5"], "--max-distance takes 1 to 4 without --k"),
        (["-k", "0"], "--k 0 is out of range"),
        (["--query-column", "a"], "is read as lines"),
        (["--exclude", "queries.txt"], "has no column"),
    ],
)
def test_a_wrong_option_ends_in_one_line(
    files: tuple[Path, Path], arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files[0].parent)

    result = run(*files, *arguments)

    assert result.exit_code != 0
    assert message in result.stderr


def test_a_folder_that_is_no_build_is_named(tmp_path: Path) -> None:
    result = run(tmp_path)

    assert "is not a finished output of medsim" in result.stderr


def test_a_missing_file_and_a_missing_column_are_named(tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("a,b\nheart,lung\n", encoding="utf-8")

    assert "missing.txt does not exist" in run("missing.txt").stderr
    assert "choose one with --query-column or --pool-column: a and b" in run(names).stderr


def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("\n".join(f"pain {number}" for number in range(5000)), encoding="utf-8")

    with disk_that_is_full_after(1000):
        result = run(names, "--max-distance", 2, "-o", tmp_path / "near.csv")

    assert "cannot write" in result.stderr
    assert [*tmp_path.iterdir()] == [names]


def test_no_input_is_overwritten(files: tuple[Path, Path], tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("term\nheart\n", encoding="utf-8")
    exclude = tmp_path / "exclude.csv"
    exclude.write_text("query,match\na,b\n", encoding="utf-8")

    for out in (names, exclude):
        result = run(files[0], names, "--exclude", exclude, "-o", out, "--overwrite")
        assert "an input of this command" in result.stderr
    assert names.read_text(encoding="utf-8") == "term\nheart\n"


def test_a_file_that_is_not_utf_8_is_read_with_a_warning(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_bytes(b"caf\xe9\x85\ncafe\n")

    result = run(names, "--max-distance", 2)

    assert "names.txt: 1 line is not UTF-8" in result.stderr
    assert "café…" in result.stdout


def test_json_lines_have_names_in_a_column(tmp_path: Path) -> None:
    names = tmp_path / "names.jsonl"
    names.write_text('{"id": 1, "name": "Fever "}\n{"name": null}\n\n{"name": "fevers"}\n')
    expected = ["query,rank,match,distance", "Fever,1,fevers,1", "fevers,1,Fever,1"]
    assert run(names, "--format", "csv").stdout.splitlines() == expected
    names.write_text('{"a": "ache", "b": "fever"}\n{"a": 1, "b": "fevers"}\n')
    chosen = run(names, "--query-column", "B", "--format", "csv")
    assert chosen.stdout.splitlines()[1:] == ["fever,1,fevers,1", "fevers,1,fever,1"]

    assert "choose one with --query-column or --pool-column: a and b" in run(names).stderr
    assert "a has values that are not text" in run(names, "--query-column", "a").stderr
    for content, says in (
        ('["fever"]', "row 1 is not an object"),
        ("fever\nague", "line 1 is not JSON"),
    ):
        names.write_text(content)
        assert says in run(names).stderr
