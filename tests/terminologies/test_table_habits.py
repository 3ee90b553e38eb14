"""Tables as spreadsheets, programs and databases write them: nothing is lost without a word."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl
import pytest
from fixtures.sources import n_skipped, read_source
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from medsim.cli import app
from medsim.core.errors import InputError
from medsim.core.tables import is_missing

Names = dict[str, list[str]]
"""The names of each concept, the preferred one first."""


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def names_of(path: Path, *columns: str) -> Names:
    rows = read_source(path, columns=columns)[1]["description"].sort("description_id")
    names: Names = {}
    for concept, term in rows.select("concept_id", "term").iter_rows():
        names.setdefault(concept, []).append(term)
    return names


def parents_of(path: Path) -> list[tuple[str, str]]:
    return read_source(path)[1]["is_a"].rows()


def warning_of(path: Path, *columns: str) -> str:
    (warning,) = read_source(path, columns=columns)[0].warnings
    return warning


@pytest.mark.some(1)
@pytest.mark.parametrize("start", [0, 1, 1000])
def test_a_column_that_counts_the_rows_has_no_concepts(tmp_path: Path, start: int) -> None:
    codes = [("A00", "cholera"), ("A00", "cholera disease"), ("B01", "varicella")]
    expected = {"A00": ["cholera", "cholera disease"], "B01": ["varicella"]}
    rows = [(at, *row) for at, row in enumerate(codes, start)]
    text = "".join(f"{at},{code},{term}\n" for at, code, term in rows)
    assert names_of(put(tmp_path / "n.csv", f"id,code,term\n{text}")) == expected
    frame = pl.DataFrame(rows, ["ID", "code", "term"], orient="row")
    frame.write_parquet(tmp_path / "n.parquet")
    assert names_of(tmp_path / "n.parquet") == expected

    frame = pl.DataFrame({"id": [1, 2], "code": [0, 10], "term": ["cholera", "varicella"]})
    frame.write_parquet(tmp_path / "zero.parquet")
    assert list(names_of(tmp_path / "zero.parquet")) == ["0", "10"]
    long = "9" * 5_000  # more digits than Python converts
    assert names_of(put(tmp_path / "l.csv", f"id,code,term\n{long},A,fever\n"))[long] == ["fever"]

    alone = put(tmp_path / "alone.csv", "id,term\n1,cholera\n2,varicella\n")
    assert names_of(alone) == {"1": ["cholera"], "2": ["varicella"]}
    gaps = put(tmp_path / "gaps.csv", "id,code,term\n1,A00,cholera\n3,B01,varicella\n")
    assert list(names_of(gaps)) == ["1", "3"]
    text = "id,code,term,parent_id\n1,A00,cholera,\n2,B01,varicella,1.0\n"
    assert parents_of(put(tmp_path / "parents.csv", text)) == [("2", "1")]


def test_a_column_that_counts_the_rows_has_concepts_if_no_other_is_filled(tmp_path: Path) -> None:
    rows = "".join(f"{at},{at if at % 20 else ''},name {at}\n" for at in range(1, 101))
    assert len(names_of(put(tmp_path / "n.csv", f"id,code,name\n{rows}"))) == 100


@pytest.mark.some(2)
@pytest.mark.parametrize("parents", ["1", "1|2", "[1, 2]", "1.0"])
def test_parents_far_below_may_refer_to_a_column_that_counts_the_rows(
    tmp_path: Path, parents: str
) -> None:
    rows = "".join(f"{at},K{at},name {at},\n" for at in range(1, 101))
    path = put(tmp_path / "n.csv", f'id,code,name,parent\n{rows}101,K101,last,"{parents}"\n')
    assert len(names_of(path)) == 101
    assert "101" in names_of(path)


def test_a_header_may_be_below_many_comments(tmp_path: Path) -> None:
    text = "".join(f"# line {at}\n" for at in range(130))
    assert names_of(put(tmp_path / "n.csv", f"{text}code,name\n1,fever\n")) == {"1": ["fever"]}


def test_markers_among_synonyms_are_no_names_if_there_are_several(tmp_path: Path) -> None:
    path = put(tmp_path / "n.csv", "code,name,synonyms\n1,a,NA|y\n2,b,none|z\n3,c,x\n")
    assert names_of(path) == {"1": ["a", "y"], "2": ["b", "z"], "3": ["c", "x"]}
    path = put(tmp_path / "one.csv", "code,name,synonyms\n1,sodium,NA|natrium\n2,b,x|z\n")
    assert names_of(path)["1"] == ["sodium", "NA", "natrium"]
    path = put(tmp_path / "l.csv", "code,name,synonyms\n1,a,\"['NA', 'y']\"\n2,b,\"['NA']\"\n")
    assert names_of(path) == {"1": ["a", "y"], "2": ["b"]}


def test_braces_in_few_cells_are_part_of_names(tmp_path: Path) -> None:
    cells = ["{2,3-dimethyl}", "b|c", "d"]
    rows = "".join(f'{at},n{at},"{cell}"\n' for at, cell in enumerate(cells))
    names = names_of(put(tmp_path / "n.csv", f"code,name,synonyms\n{rows}"))
    assert names == {"0": ["n0", "{2,3-dimethyl}"], "1": ["n1", "b", "c"], "2": ["n2", "d"]}


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("cells", "sign"),
    [
        (["a; b", "c; d", "e |x| f"], ";"),
        (["a|b", "c|d", "e; f"], "|"),
        (["a; b"], ";"),
        (["a|b", *"cdefghijk"], None),
        (["a|b", "c|d", *"efghijkl"], "|"),
        (["a|b", "c;d", "e|f", "g;h", "i;j"], ";"),
        ([*["a;b"] * 2, *["c"] * 300], None),
    ],
)
def test_many_cells_decide_what_separates_synonyms(
    tmp_path: Path, cells: list[str], sign: str | None
) -> None:
    rows = "".join(f"{at},name {at},{cell}\n" for at, cell in enumerate(cells))
    path = put(tmp_path / "n.csv", f"code,name,synonyms\n{rows}")
    expected = {
        str(at): [f"name {at}", *map(str.strip, cell.split(sign) if sign else [cell])]
        for at, cell in enumerate(cells)
    }
    facts = read_source(path)[0]

    assert names_of(path) == expected
    assert facts.layout.get("synonyms_separator") == sign
    others = [cell for cell in cells if set(cell) & {"|", ";"} - {sign}]
    if others:
        assert f"as part of a value: {len(others)} of {len(cells)}" in facts.warnings[0]
    assert names_of(path, f"separator={cells[0][1]}")["0"][1:] == [
        cells[0][0],
        cells[0][2:].strip(),
    ]


TEXTS = st.text(st.characters(categories=["L", "N", "P", "S"]) | st.just(" "), min_size=1)
NAMES = TEXTS.map(str.strip).filter(lambda name: not is_missing(name))  # several are no names
LISTS = st.lists(NAMES, min_size=1, max_size=3, unique=True)


@settings(max_examples=5)
@given(st.lists(LISTS, min_size=20), st.sampled_from([repr, json.dumps, lambda x: repr((*x,))]))
def test_a_list_as_text_is_its_values(tmp_path_factory, lists: list[list[str]], write) -> None:
    codes = [str(at) for at in range(len(lists))]
    columns = {"code": codes, "name": ["the name"] * len(lists), "synonyms": map(write, lists)}
    pl.DataFrame(columns).write_csv(path := tmp_path_factory.getbasetemp() / "n.csv")

    expected = [["the name", *values] for values in lists]
    assert names_of(path) == dict(zip(codes, expected, strict=True))


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("['a one' \"b's\"\n 'c']", ["a one", "b's", "c"]),  # NumPy
        ('{a,"b, c",NULL}', ["a", "b, c"]),  # PostgreSQL
        ('{NULL,NULL,"NULL"}', ["NULL"]),
        ('  ["a", null] ', ["a"]),
        ("['a', None, nan]", ["a"]),
        ("['na\\xa0me', ]", ["na me"]),
        ("[]", []),
        ("[D]isease [x]", ["[D]isease [x]"]),
        ("[14C]urea", ["[14C]urea"]),
    ],
)
def test_lists_of_other_programs_are_read(tmp_path: Path, cell: str, values: list[str]) -> None:
    path = tmp_path / "n.csv"
    pl.DataFrame({"code": ["1"], "name": ["x"], "synonyms": [cell]}).write_csv(path)

    assert names_of(path) == {"1": ["x", *values]}


def test_markers_of_missing_values_are_neither_names_nor_identifiers(tmp_path: Path) -> None:
    path = put(
        tmp_path / "n.csv",
        "code,name,synonyms,replaced_by,parent,active,kind\n"
        "1,alpha,NA,NA,NA,NA,NA\n2,beta,nan,NULL,1,yes,PT\n3,<NA>,b3,N/A,1,no,\n"
        "4,delta,None,nan,1,1.0,1.0\nNaN,epsilon,e,nan,1,0.0,0.0\nn/a,zeta,z,nan,1,true,\n",
    )
    facts, tables = read_source(path)

    assert names_of(path) == {"1": ["alpha"], "2": ["beta"], "3": ["b3"], "4": ["delta"]}
    assert parents_of(path) == [("2", "1"), ("3", "1"), ("4", "1")]
    assert tables["association"].height == 0
    assert n_skipped(facts)["cell is a marker of a missing value"] == 15
    assert n_skipped(facts)["row has no concept"] == 2
    assert "names and identifiers such as <NA> read as missing: 6" in facts.warnings[0]


def test_a_single_marker_is_a_name_or_an_identifier(tmp_path: Path) -> None:
    text = "code,name,synonyms\nNA,Namibia,\nNO,Norway,\nE87,sodium,NA\nC1,nan,bread\n"
    expected = {
        "NA": ["Namibia"],
        "NO": ["Norway"],
        "E87": ["sodium", "NA"],
        "C1": ["nan", "bread"],
    }
    path = put(tmp_path / "one.csv", text)
    assert names_of(path) == expected
    assert n_skipped(read_source(path)[0]) == {}

    path = put(tmp_path / "two.csv", f"{text}D3,noradrenaline,NA\n")
    assert names_of(path)["E87"] == ["sodium"]
    assert "NA" not in names_of(path)
    assert names_of(path, "missing=") == expected | {"D3": ["noradrenaline", "NA"]}
    assert names_of(path, "missing=nan")["C1"] == ["bread"]
    frame = pl.DataFrame({"id": [1.0, None, float("nan")], "name": ["a", "b", "c"]})
    frame.write_parquet(tmp_path / "n.parquet")
    assert names_of(tmp_path / "n.parquet") == {"1": ["a"]}


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "cell",
    ["#REF!", "#N/A", "#NV", "#NAME?", "#DIV/0!", "#BEZUG!", "#¡VALOR!", "####", "#\u041d/\u0414"],
)
def test_errors_of_spreadsheets_are_not_names(tmp_path: Path, cell: str) -> None:
    path = put(tmp_path / "n.csv", f"code,name,synonyms\n1,a,{cell}\n2,#1 in line,#A\n{cell},c,\n")
    facts = read_source(path)[0]

    assert names_of(path) == {"1": ["a"], "2": ["#1 in line", "#A"]}
    assert n_skipped(facts)["cell is an error of a spreadsheet"] == 2
    assert f"such as {cell}: 2" in facts.warnings[0]


def test_a_formula_of_a_text_is_the_text(tmp_path: Path) -> None:
    text = 'code,name,parent\n="0001",fever,\n"=""0002""","=""ague""","=""0001"""\n'
    path = put(tmp_path / "n.csv", text)

    assert names_of(path) == {"0001": ["fever"], "0002": ["ague"]}
    assert parents_of(path) == [("0002", "0001")]


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("concept", "parent"),
    [
        ("1", "1.0"),
        ("1.0", "1"),
        ("X:1", "alpha"),
        ("X:1", "'Alpha'"),
        ("HP:0001", "http://purl.obolibrary.org/obo/HP_0001"),
        ("http://purl.obolibrary.org/obo/HP_0001", "hp:0001"),
        ("HP_0001", "HP:0001"),
    ],
)
def test_parents_are_found_by_other_spellings_and_by_name(
    tmp_path: Path, concept: str, parent: str
) -> None:
    text = f"code,name,parent,replaced_by\n{concept},alpha,owl:Thing,\n9,beta,{parent}|7,{parent}\n"
    facts, tables = read_source(put(tmp_path / "n.csv", text))

    assert {*tables["is_a"].rows()} == {("9", "7"), ("9", concept)}
    assert tables["association"]["target_id"].to_list() == [concept]
    assert facts.warnings == ()


def test_a_name_of_two_concepts_is_no_parent_and_absent_parents_are_reported(
    tmp_path: Path,
) -> None:
    text = "code,name,parent\n1,alpha,\n2,alpha,\n3,beta,alpha\n4,gamma,1\n"
    path = put(tmp_path / "n.csv", text)
    assert parents_of(path) == [("3", "alpha"), ("4", "1")]
    assert read_source(path)[0].warnings == ()
    path = put(tmp_path / "n.csv", text.replace("gamma,1", "gamma,x"))
    assert "neither a concept nor a name of the table, such as alpha: 2 of 2" in warning_of(path)


def test_shortened_identifiers_and_rare_unlike_names_are_reported(tmp_path: Path) -> None:
    for code in ("1,23E+08", "1.23e+08", "123456789012345000"):
        text = f"code;name\n{code};Fieber\n{code};Husten\n7;Ache\n7;Pain\n"
        warning = warning_of(put(tmp_path / "n.csv", text))
        assert f"shortened, such as {code} of Fieber and Husten: 1;" in warning
    same = "code;name\n1,2E+08;Fieber\n1,2E+08;Fieber, hoch\n1E10;flu\n1E10;grippe\n"
    assert read_source(put(tmp_path / "same.csv", same))[0].warnings == ()

    text = "code,name,synonyms\n1,fever,heat\n1,cough,\n2,flu,\n"
    warning = warning_of(put(tmp_path / "n.csv", text))
    assert "in several rows, such as 1 with fever and cough: 1; are they different" in warning
    rows = "".join(f"{at},name {at}\n" for at in range(10))
    assert "0 with name 0 and ague: 1" in warning_of(
        put(tmp_path / "n.csv", f"code,name\n{rows}x,y\n0,ague\n")
    )
    rows = f"code,name,kind\n{rows}0,ague\n".replace("\n", ",\n").replace("kind,", "kind")
    assert read_source(put(tmp_path / "kinds.csv", rows.replace(",\n", ",PT\n")))[0].warnings == ()


def in_wal(path: Path) -> Path:
    """Write an SQLite database whose second row is only in its write-ahead log."""
    with closing(sqlite3.connect(source := path.with_name("source"))) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table n (code, name)")
        database.execute("insert into n values (1, 'alpha')")
        database.commit()
        database.execute("pragma wal_checkpoint(truncate)")
        database.execute("insert into n values (2, 'beta')")
        database.commit()
        shutil.copy(source, path)
        shutil.copy(f"{source}-wal", f"{path}-wal")
    source.unlink()
    return path


def in_duckdb_wal(path: Path) -> Path:
    """Write a DuckDB database whose second row is only in its write-ahead log."""
    with duckdb.connect(source := path.with_name("source")) as database:
        database.execute("create table n as select 1 as code, 'alpha' as name")
        database.execute("checkpoint")
        database.execute("insert into n values (2, 'beta')")
        shutil.copy(source, path)
        shutil.copy(f"{source}.wal", f"{path}.wal")
    source.unlink()
    return path


def in_hot_journal(path: Path) -> Path:
    """Write an SQLite database as a killed process leaves it in the middle of a change."""
    with closing(sqlite3.connect(source := path.with_name("source"))) as database:
        database.execute("create table n (code, name)")
        database.executemany("insert into n values (?, ?)", [(1, "alpha"), (2, "beta")])
        database.commit()
        database.execute("pragma cache_size = 1")
        database.execute("update n set name = 'lost'")
        rows = [(number, "x" * 5000) for number in range(100)]
        database.executemany("insert into n values (?, ?)", rows)
        shutil.copy(source, path)
        shutil.copy(f"{source}-journal", f"{path}-journal")
        database.rollback()
    source.unlink()
    return path


@pytest.mark.parametrize(
    ("write", "end", "log"),
    [
        (in_wal, "sqlite", "-wal"),
        (in_duckdb_wal, "duckdb", ".wal"),
        (in_hot_journal, "db", "-journal"),
    ],
)
def test_the_log_beside_a_database_is_read_and_nothing_is_written_there(
    tmp_path: Path, write, end: str, log: str
) -> None:
    path = write(tmp_path / f"n.{end}")
    before = {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in tmp_path.iterdir()}
    expected = {"1": ["alpha"], "2": ["beta"]}

    assert names_of(path) == expected
    assert [file.name for file in read_source(path)[0].files] == [path.name, f"{path.name}{log}"]
    after = {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in tmp_path.iterdir()}
    assert after == before

    with zipfile.ZipFile(tmp_path / "n.zip", "w") as archive:
        for each in before:
            archive.write(each, f"in/{each.name}")
    assert names_of(tmp_path / "n.zip") == expected


def test_a_journal_that_names_another_file_deletes_nothing(tmp_path: Path) -> None:
    path, other = in_hot_journal(tmp_path / "n.db"), tmp_path / "other"
    other.write_bytes(b"of somebody")
    name = str(other).encode()
    checksum = sum(int.from_bytes([byte], signed=True) for byte in name) % 2**32
    with (tmp_path / "n.db-journal").open("ab") as journal:  # as SQLite ends it
        journal.write((1 << 30).to_bytes(4) + name + len(name).to_bytes(4))
        journal.write(checksum.to_bytes(4) + bytes.fromhex("d9d505f920a163d7"))

    with pytest.raises(InputError, match=r"n\.db-journal is of several databases"):
        read_source(path)

    assert other.read_bytes() == b"of somebody"
    with closing(sqlite3.connect(path)) as database:
        database.execute("select * from n").fetchall()
    assert not other.exists()  # as SQLite alone deletes it


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("text", "columns", "n_left_out"),
    [
        ("sep=;\r\ncode;name\r\n1;a, b\r\n", (), 0),
        ('"sep=^"\ncode^name\n1^a, b\n', (), 0),
        ("List of signs;\n;\ncode;name\n1;a, b\n", (), 1),
        ("Signs\n\n2026\ncode\tname\n1\ta, b\n", (), 2),
        ("# made today\n#\ncode;name\n1;a, b\n", (), 2),
        ("# made today\n# code;name;x\n#\n1;a, b;2\n", (), 1),
        ("#code;name\n1;a, b\n", (), 0),
        ("# made today\n# c;n\n1;a, b\n", ("concept=1", "term=2"), 2),
        ("# made today\n# c;n\n1;a, b\n", ("concept=c", "term=n"), 1),
    ],
)
def test_lines_above_the_header_are_left_out_and_counted(
    tmp_path: Path, text: str, columns: tuple[str, ...], n_left_out: int
) -> None:
    path = put(tmp_path / "n.csv", text)
    warnings = read_source(path, columns=columns)[0].warnings

    assert names_of(path, *columns) == {"1": ["a, b"]}
    assert "".join(warnings).count("above the rows left out") == (n_left_out > 0)
    assert not n_left_out or f"n.csv: {n_left_out} line" in warnings[0]
    wrong = put(tmp_path / "wrong.csv", f"{text}1;2;3;4\n".replace("^2;3;4", "^^^"))
    with pytest.raises(InputError, match=f"line {len(wrong.read_text().splitlines())} has "):
        names_of(wrong, *columns)


def test_a_first_row_that_looks_like_a_comment_is_kept(tmp_path: Path) -> None:
    path = put(tmp_path / "n.tsv", "#1\tfever\n#2\tague\n")
    assert names_of(path, "concept=1", "term=2") == {"#1": ["fever"], "#2": ["ague"]}
    path = put(tmp_path / "n.csv", "code,name\n#1,fever\n")
    assert names_of(path) == {"#1": ["fever"]}
    path = put(tmp_path / "n.csv", "# made today\n# no,what\n1,fever\n")
    with pytest.raises(InputError, match="its columns are 'no' and 'what'; give them"):
        read_source(path)


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("column", "used", "not_used"),
    [
        ("aktiv=active", "J", "N"),
        ("aktiv=active", "Ja", "nein"),
        ("active", "y", "n"),
        ("active", "oui", "non"),
        ("active", "1.0", "0.0"),
        ("obsolete", "nein", "ja"),
        ("status", "A", "I"),
        ("status", "A", "D"),
        ("status", "aktiv", "inaktiv"),
    ],
)
def test_flags_are_letters_or_words_of_several_languages(
    tmp_path: Path, column: str, used: str, not_used: str
) -> None:
    name, _, role = column.partition("=")
    path = put(tmp_path / "n.csv", f"code,name,{name}\n1,a,{used}\n2,b,{not_used}\n")
    columns = (f"{role}={name}",) if role else ()

    rows = read_source(path, columns=columns)[1]["concept"].select("concept_id", "active").rows()
    assert rows == [("1", True), ("2", False)]


def test_unknown_flags_say_what_to_write(tmp_path: Path) -> None:
    path = put(tmp_path / "n.csv", "code,name,active\n1,a,O\n2,b,N\n")
    with pytest.raises(
        InputError, match=r"'O' is not known .* write active or inactive, or yes or no"
    ):
        read_source(path)
    path = put(tmp_path / "n.csv", "code,name,status\n1,a,X1\n2,b,X2\n")
    assert "no value of status, such as X1, is known, so all rows count" in warning_of(path)


def test_a_build_prints_and_records_which_column_is_what(tmp_path: Path) -> None:
    rows = "".join(f"{at},K{at % 4},fever {at},ache {at}; pain {at},x\n" for at in range(8))
    path = put(tmp_path / "n.csv", f"id,Code,Label,Synonyms,Form\n{rows}")
    run = CliRunner().invoke(app, ["build", str(path), "-o", str(tmp_path / "out"), "--threads=1"])

    assert run.exit_code == 0, run.stderr
    layout = {
        "concept": "Code",
        "term": "Label",
        "synonyms": "Synonyms",
        "unused": "id and Form",
        "cell_separator": ",",
        "encoding": "UTF-8",
        "synonyms_separator": ";",
    }
    shown = ", ".join(f"{key}={value!r}" for key, value in layout.items())
    assert f"n.csv is read with {shown}" in run.stderr.splitlines()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["source"]["layout"] == layout

    bare = put(tmp_path / "bare.csv", "C1,fever\nC2,ague\n")
    found = read_source(bare, columns=("concept=1", "term=2"))[0].layout
    assert found == {"concept": "1", "term": "2", "cell_separator": ",", "encoding": "UTF-8"}
