"""The command medsim nearest: what it prints and writes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from fixtures.disks import disk_that_is_full_after
from typer.testing import CliRunner, Result

import medsim
from medsim.cli import app
from medsim.core.errors import OptionError
from medsim.core.workbooks import write_workbook
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

    result = run(files[0], names, "-o", names, "--overwrite")

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


CATALOGUE = """\
Code,Name,Ward
001,Ödem,A
002,ödem,B
003,Ödeme,A
007,Asthma,L
008,Asthma,L
010,Astma,L
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    path = tmp_path / "catalogue.csv"
    path.write_text(CATALOGUE, encoding="utf-8")
    return path


def rows_of(*arguments: object) -> list[str]:
    result = run(*arguments, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


def test_kept_columns_stand_beside_each_row_of_a_name(catalogue: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked.csv"
    asked.write_text("id,term\n9,oedem\n5,ÖDEM\n6,Ödem\n", encoding="utf-8")

    assert rows_of(asked, catalogue, "--keep", "ID", "--keep-pool", "code,WARD") == [
        "query,query_ID,rank,match,match_code,match_WARD,distance",
        "oedem,9,1,Ödem,001,A,2",
        "oedem,9,1,ödem,002,B,2",
        "ÖDEM,5,1,Ödem,001,A,0",
        "ÖDEM,5,1,ödem,002,B,0",
        "Ödem,6,1,Ödem,001,A,0",
        "Ödem,6,1,ödem,002,B,0",
    ]
    assert rows_of(asked, catalogue, "--keep", "id", "-k", 1) == [
        "query,query_id,rank,match,distance",
        "oedem,9,1,Ödem,2",
        "ÖDEM,5,1,Ödem,0",
        "Ödem,6,1,Ödem,0",
    ]
    assert rows_of(catalogue, "--keep", "code", "--max-distance", 1) == [
        "query,query_code,match,match_code,distance",
        "Asthma,007,Astma,010,1",
        "Asthma,008,Astma,010,1",
        "Ödem,001,Ödeme,003,1",
        "ödem,002,Ödeme,003,1",
    ]


def test_duplicates_are_pairs_of_rows_at_distance_0(catalogue: Path, tmp_path: Path) -> None:
    assert rows_of(catalogue, "--duplicates", "--max-distance", 0, "--keep", "code") == [
        "query,query_code,match,match_code,distance",
        "Ödem,001,ödem,002,0",
        "Asthma,007,Asthma,008,0",
    ]
    names = tmp_path / "names.txt"
    names.write_text("a\nache\nA\n\na\naches\n", encoding="utf-8")
    found = ["a,A,0", "a,a,0", "ache,aches,1"]
    assert rows_of(names, "--duplicates", "--max-distance", 1)[1:] == found
    alone = rows_of(names, "--duplicates", "--max-distance", 0, "--match-case")[1:]
    assert alone == ["a,a,0"]
    for wrong in (["-k", 1], [names, "--max-distance", 1]):
        assert "--duplicates needs --max-distance" in run(names, *wrong, "--duplicates").stderr


def test_names_come_from_workbooks_and_databases(catalogue: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(catalogue, infer_schema=False)
    write_workbook(tmp_path / "a.xlsx", {"About": frame.select("Ward").head(1), "Names": frame})
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as database:
        database.execute("create table names(code, name)")
        database.executemany("insert into names values (?, ?)", [(1, "Ödem"), (None, "Ödeme")])
        database.execute("create table other(a)")
        database.commit()
    near = ["--max-distance", 1, "--keep", "code"]

    expected = rows_of(catalogue, *near)
    assert rows_of(tmp_path / "a.xlsx", *near) == expected
    assert "'Names' is read, not 'About'" in run(tmp_path / "a.xlsx", *near).stderr
    assert rows_of(tmp_path / "a.xlsx", "--query-table", "Names", *near) == expected
    chosen = rows_of(tmp_path / "a.sqlite", "--query-table", "names", *near)
    assert chosen[1:] == ["Ödem,1,Ödeme,,1"]
    assert "it has names and other" in run(tmp_path / "a.sqlite").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keep", "kode"], "has no column kode; its columns are Code, Name and Ward"),
        (["--keep-pool", "code"], "--keep-pool needs a file of names"),
        (["--pool-table", "a"], "--pool-table needs a file of names"),
        (["names.txt", "--keep-pool", "code"], "is read as lines"),
    ],
)
def test_columns_that_cannot_be_kept_are_named(
    catalogue: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(catalogue.parent)
    Path("names.txt").write_text("fever\n", encoding="utf-8")

    assert message in run(catalogue, *arguments).stderr
    with pytest.raises(OptionError, match="no columns to keep"):
        medsim.nearest(["fever"], keep=["code"])


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_sql_reads_the_file_that_nearest_wrote(
    catalogue: Path, tmp_path: Path, suffix: str
) -> None:
    out, other = tmp_path / f"near [1]{suffix}", tmp_path / "secret.csv"
    other.write_text("a\n1\n", encoding="utf-8")
    assert run(catalogue, "-k", 2, "--keep", "code", "-o", out).exit_code == 0

    def sql(statement: str, *arguments: object) -> Result:
        given = ["sql", str(out), statement, "--format", "csv", *map(str, arguments)]
        return CliRunner().invoke(app, given)

    result = sql("from nearest select query_code, distance + 1 as n where rank = 1 limit 1")
    assert result.stdout.splitlines() == ["query_code,n", "001,2"]
    both = sql(
        "select count(*) as n from nearest join b.nearest using (query)", "--with", f"b={out}"
    )
    assert int(both.stdout.splitlines()[1]) > 0
    assert sql(f"from '{other}'").exit_code != 0
    out.unlink()
    assert "cannot be read" in sql("from nearest").stderr
