"""A table of names is read like a terminology, in every format and with any names of columns."""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import duckdb
import openpyxl
import polars as pl
import pytest
from fixtures.sources import n_skipped, read_source
from fixtures.stores import empty_store

import medsim
from medsim.core.errors import InputError, OptionError
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import find_source

ROWS = [
    {"id": "C1", "name": "Alder fever", "synonyms": ["red fever", "Alders"], "obsolete": False},
    {"id": "C2", "name": "Birch ache", "synonyms": [], "obsolete": False, "parent": ["C1", "C3"]},
    {"id": "C3", "name": "Cedar rash", "synonyms": ["rash, of cedar"], "obsolete": False},
    {"id": "C4", "name": "Old ache", "synonyms": [], "obsolete": True, "replaced_by": "C2"},
]
CSV = """\
id,name,synonyms,obsolete,parent,replaced_by
C1,Alder fever,red fever|Alders,false,,
C2,Birch ache,,false,C1|C3,
C3,Cedar rash,"rash, of cedar",false,,
C4,Old ache,,true,,C2
"""


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def names(path: Path, **options: object) -> list[tuple[object, ...]]:
    """Return concept, term, kind, activity and language of all names."""
    frame = read_source(path, **options)[1]["description"].sort("description_id")
    return frame.select("concept_id", "term", "kind", "active", "language").rows()


def columns(*items: str) -> dict[str, object]:
    return {"columns": items}


def in_sqlite(path: Path, tables: dict[str, pl.DataFrame]) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for name, frame in tables.items():
            places = ", ".join("?" * frame.width)
            database.execute(f'create table "{name}" ({", ".join(frame.columns)})')
            insert = f'insert into "{name}" values ({places})'  # noqa: S608 — a test's own names
            database.executemany(insert, frame.rows())
        database.execute('create view "a view" as select 1')
        database.commit()
    return path


def in_duckdb(path: Path, tables: dict[str, pl.DataFrame]) -> Path:
    with duckdb.connect(path) as database:
        for name, frame in tables.items():
            database.register("frame", frame.to_arrow())
            database.execute(f'create table "{name}" as from frame')
        database.execute('create view "a view" as select 1')
    return path


def written(end: str, folder: Path) -> Path:
    """Write the table in the format of a file's ending."""
    path, rows = folder / f"names{end}", pl.DataFrame(ROWS)
    joined = rows.with_columns(pl.col("synonyms", "parent").list.join("|"))
    if end == ".jsonl":
        return put(path, "".join(f"{json.dumps(row)}\n" for row in ROWS))
    if end == ".parquet":
        rows.write_parquet(path)
    elif end == ".duckdb":
        in_duckdb(path, {"names": rows})
    elif end == ".sqlite":
        in_sqlite(path, {"na me": joined.cast({"obsolete": pl.Int64})})
    elif end == ".xlsx":
        book = openpyxl.Workbook()
        book.active.append(["Signs", None, "of the clinic"])
        book.create_sheet("empty")
        for row in csv.reader(CSV.splitlines()):
            book.active.append(row)
        book.save(path)
    elif end == ".tsv.gz":
        put(path, gzip.compress(CSV.replace(",", "\t").encode()))
    elif end == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("in/names.csv", CSV)
            archive.writestr("in/readme.txt", "see the web")
    return path


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "end", [".jsonl", ".parquet", ".duckdb", ".sqlite", ".xlsx", ".tsv.gz", ".zip"], ids=str
)
def test_every_format_gives_the_same_tables(tmp_path: Path, end: str) -> None:
    facts, expected = read_source(put(tmp_path / "names.csv", CSV))
    assert expected["concept"].rows() == [
        *((f"C{number}", True, "", "") for number in (1, 2, 3)),
        ("C4", False, "", ""),
    ]
    assert names(tmp_path / "names.csv") == [
        ("C1", "Alder fever", "fsn", True, "en"),
        ("C1", "red fever", "synonym", True, "en"),
        ("C1", "Alders", "synonym", True, "en"),
        ("C2", "Birch ache", "fsn", True, "en"),
        ("C3", "Cedar rash", "fsn", True, "en"),
        ("C3", "rash, of cedar", "synonym", True, "en"),
        ("C4", "Old ache", "fsn", True, "en"),
    ]
    assert expected["is_a"].rows() == [("C2", "C1"), ("C2", "C3")]
    assert expected["association"].rows() == [("C4", "C2", "replaced_by", True)]
    assert facts.redistributable is None
    assert n_skipped(facts) == {}

    _, tables = read_source(path := written(end, tmp_path))
    for table, frame in expected.items():
        if end == ".tsv.gz" and table == "description":
            continue  # its comma became a tab
        assert tables[table].equals(frame), table
    assert len(list(tmp_path.iterdir())) == 2, path  # a database leaves no other file


@pytest.mark.parametrize(
    ("encoded", "warning"),
    [
        (codecs.BOM_UTF8 + "\r\nCUI;STR\r\n1;Fièvre\r\n".encode(), ""),
        ("CUI\tSTR\n1\tFièvre\n".encode("utf-16"), ""),
        (
            "CUI|STR\n1|Fièvre\n".encode("latin-1"),
            "n.txt: 1 line is not UTF-8, the first is line 2; read as Windows-1252",
        ),
    ],
)
def test_other_encodings_are_read(tmp_path: Path, encoded: bytes, warning: str) -> None:
    path = put(tmp_path / "n.txt", encoded)
    assert [row[:2] for row in names(path)] == [("1", "Fièvre")]
    assert read_source(path)[0].warnings == ((warning,) if warning else ())


def test_rows_with_a_name_each_say_its_kind_language_and_use(tmp_path: Path) -> None:
    text = """\
Concept_ID,Term,Term Type,Lang,Status,Semantic Type
7,fever,SY,ENG,current,Finding
7,pyrexia,PT,eng,Active,Other
7,Fieber,PT,de-DE,1,
7,hyperthermia,preferred,,yes,
7,pyrexia,LLT,en,active,
7,ague,synonym,en,obsolete,
8,ache,,,,
8,pain,,,,
9,flu,s,,retired,
,lost,,,,
8,,,,,
"""
    path = put(tmp_path / "n.csv", text)
    facts, tables = read_source(path)
    assert names(path) == [
        ("7", "Fieber", "fsn", True, "de"),
        ("7", "pyrexia", "fsn", True, "en"),
        ("7", "hyperthermia", "synonym", True, "en"),
        ("7", "fever", "synonym", True, "en"),
        ("7", "ague", "synonym", False, "en"),
        ("8", "ache", "fsn", True, "en"),
        ("8", "pain", "synonym", True, "en"),
        ("9", "flu", "fsn", True, "en"),
    ]
    assert tables["concept"].rows() == [
        ("7", True, "", "Finding"),
        ("8", True, "", ""),
        ("9", False, "", ""),
    ]
    assert n_skipped(facts) == {
        "description is empty": 1,
        "name repeats a name of its concept": 1,
        "row has no concept": 1,
        "second preferred name, read as a synonym": 1,
    }
    german = read_source(put(tmp_path / "g.csv", "id,name\n1,Fieber\n"), language="de")
    assert german[1]["description"]["language"].to_list() == ["de"]


def test_a_status_is_not_used_if_none_of_its_words_is_known(tmp_path: Path) -> None:
    text = "id,name,Status\n1,a,OFFICIAL\n2,b,MANUALLY TRANSLATED\n3,c,\n"
    found = names(put(tmp_path / "n.csv", text))
    assert [row[3] for row in found] == [True, True, True]
    with pytest.raises(InputError, match="row 2: Status 'OFFICIAL' is not known as a value of act"):
        names(tmp_path / "n.csv", **columns("active=Status"))


def test_a_language_is_a_code_with_or_without_subtags(tmp_path: Path) -> None:
    codes = ["en-GB", "en_US", "ENG", "dtp", "zh-Hant-TW", " de "]
    text = "".join(f"{code},a{code},{code}\n" for code in codes)
    found = names(put(tmp_path / "n.csv", f"id,name,language\n{text}"))
    assert sorted(row[4] for row in found) == ["de", "dtp", "en", "en", "en", "zh"]


def test_a_second_header_of_robot_is_no_concept(tmp_path: Path) -> None:
    text = "ID\tLabel\tType\tis_a\nID\tA rdfs:label\tTYPE\tSC %\nX:1\tfever\t\tX:2\n"
    facts, tables = read_source(put(tmp_path / "n.tsv", text))
    assert tables["description"]["term"].to_list() == ["fever"]
    assert tables["is_a"].rows() == [("X:1", "X:2")]
    assert n_skipped(facts)["row has no concept"] == 1
    text = "ID\tLabel\nID\tidentity\nX:1\tA fever\n"
    assert [row[:2] for row in names(put(tmp_path / "o.tsv", text))] == [
        ("ID", "identity"),
        ("X:1", "A fever"),
    ]


def test_babelon_is_read_without_definitions(tmp_path: Path) -> None:
    text = """\
source_language,translation_language,subject_id,predicate_id,source_value,translation_value
en,es,HP:1,rdfs:label,All,Todos
en,es,HP:1,IAO:0000115,Anything,Cualquier cosa
en,es,HP:1,oboInOwl:hasExactSynonym,Every,Todas
""".replace(",", "\t")
    facts, tables = read_source(put(tmp_path / "hp-es.babelon.tsv", text), language="es")
    assert names(tmp_path / "hp-es.babelon.tsv") == [
        ("HP:1", "Todos", "fsn", True, "es"),
        ("HP:1", "Todas", "synonym", True, "es"),
    ]
    assert tables["concept"].rows() == [("HP:1", True, "", "")]
    assert n_skipped(facts) == {"description is a definition": 1}


def test_cells_have_quotes_commas_and_line_ends(tmp_path: Path) -> None:
    text = 'id,name\n1,"the ""A"" fever, old"\n2,5" tube\n3,"two\nlines"\n4,\'tis\n'
    found = [term for _, term, *_ in names(put(tmp_path / "n.csv", text))]
    assert found == ['the "A" fever, old', '5" tube', "two\nlines", "'tis"]
    unquoted = 'id\tname\n1\t"A" fever\n2\t"open\n'
    found = [term for _, term, *_ in names(put(tmp_path / "n.tsv", unquoted))]
    assert found == ['"A" fever', '"open']


def test_columns_are_given_by_name_or_number(tmp_path: Path) -> None:
    bare = put(tmp_path / "bare.tsv", "C1\tfever\tague|heat\nC2\tache\t\n")
    found = names(bare, **columns("concept=1", "term=2", "synonyms=3"))
    assert [row[:3] for row in found] == [
        ("C1", "fever", "fsn"),
        ("C1", "ague", "synonym"),
        ("C1", "heat", "synonym"),
        ("C2", "ache", "fsn"),
    ]
    text = "Code,Label,Also,Type\nC1,fever,ague; heat,drug\n"
    path = put(tmp_path / "own.csv", text)
    given = columns("term=label", "synonyms=Also", "kind=")
    assert [row[1] for row in names(path, **given)] == ["fever", "ague", "heat"]
    given = columns("term=label", "synonyms=Also", "separator=comma", "kind=")
    assert [row[1] for row in names(path, **given)] == ["fever", "ague; heat"]
    only = put(tmp_path / "only.csv", "Code,Synonyms\nC1,fever|heat\n")
    assert [row[1:3] for row in names(only)] == [("fever", "fsn"), ("heat", "synonym")]


def test_binary_values_are_text_in_utf8(tmp_path: Path) -> None:
    path = tmp_path / "n.parquet"
    pl.DataFrame({"id": [b"1", b"2"], "name": ["Ödem".encode(), None]}).write_parquet(path)
    assert [row[:2] for row in names(path)] == [("1", "Ödem")]

    pl.DataFrame({"id": [1, 2], "name": [b"x", b"\xd6dem"]}).write_parquet(path)
    with pytest.raises(InputError, match="row 2: name: line 1 is not UTF-8: byte 0xd6"):
        read_source(path)


def test_one_table_of_a_database_is_read(tmp_path: Path) -> None:
    tables = {"a": pl.DataFrame({"id": [1.0, None], "name": ["fever", "x"]})}
    tables["b"] = pl.DataFrame({"code": [2], "term": ["ache"]})
    for write, end in ((in_sqlite, "db"), (in_duckdb, "duckdb")):
        path = write(tmp_path / f"n.{end}", tables)
        assert [row[:2] for row in names(path, **columns("table=a"))] == [("1", "fever")]
        assert [row[:2] for row in names(path, **columns("table=b"))] == [("2", "ache")]
        with pytest.raises(InputError, match="not exactly one table; it has a and b; give one as"):
            read_source(path)
        with pytest.raises(InputError, match="no table 'c'; it has a and b"):
            read_source(path, **columns("table=c"))


@pytest.mark.some(9)
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "n.csv",
            "term1,term2,rating\na,b,1\n",
            "no column with the usual name of a concept and a",
        ),
        ("n.csv", "a,b\n1,2\n", "its columns are 'a' and 'b'; give them as `columns` concept=NAME"),
        ("n.csv", "id,name\n1,a\n2,b,c\n", "line 3 has 3 cells, the first 2: an extra 'c'"),
        ("n.csv", "id,name\n1,a\n2\n", "line 3 has 1 cell, the first 2: no 'name'"),
        ("n.csv", "id,term,Term\n1,a,b\n", "has several columns named 'term'; rename them"),
        ("n.csv", "id,name\n", "no row has a concept in 'id' and a name"),
        ("n.csv", "code,id,name\n1,,a\n", "no row has a concept in 'id' and a name; give other"),
        ("n.csv", f"id,name{',x' * 10_000}\n", "has more than 10,000 columns; remove some"),
        (
            "n.csv",
            "id,name,lang\n1,a,en\n2,b,english\n",
            "row 3: lang 'english' is not known as a value of language",
        ),
        (
            "n.csv",
            "id,name,status\n1,a,retired\n2,b,OFFICIAL\n",
            "row 3: status 'OFFICIAL' is not known as a value of status",
        ),
        ("n.csv", 'id,name\n1,"a\n', "line 2 cannot be cut into cells"),
        ("n.csv", b"id,name\n1,a\n2,\0\n", "line 3 has the character '\\x00'"),
        ("n.csv", b"id,name\n1,\xff\n2,\x01\n", "line 3 has the character '\\x01'"),
        ("n.csv", "id,name".encode("utf-16") + b"\n", "is not in UTF-16: byte 17 is 0x0a; save it"),
        (
            "n.csv",
            "id,name,type\n1,a,PT\n2,b,tablet\n",
            "row 3: type 'tablet' is not known as a value of kind",
        ),
        (
            "n.csv",
            "id,name,active\n1,a,perhaps\n",
            "row 2: active 'perhaps' is not known as a value of active",
        ),
        ("n.csv", "", "is empty"),
        ("n.csv", "<html><head>", "is an HTML page"),
        ("n.csv", b"%PDF-1.4", "is an HDF5 or PDF file"),
        ("n.jsonl", '{"id": 1, "name": "a"}\n{"id"\n', "line 2 is not JSON"),
        ("n.jsonl", '{"id": 1, "name": "a"}\n[1]\n', "row 2 is not an object"),
        ("n.jsonl", '{"id": 1, "name": {"en": "a"}}\n', "row 1: name is an object; expected text"),
        ("n.jsonl", '{"id": 1, "name": [{"en": "a"}]}\n', "row 1: name is an object; expected"),
        ("n.jsonl", '{"id": 1, "name": "\\ud800"}\n', "surrogates not allowed"),
        ("n.parquet", b"PAR1 and nothing", "cannot be read"),
        ("n.db", b"SQLite format 3\0 and nothing", "cannot be read"),
        ("n.duckdb", bytes(8) + b"DUCK and nothing", "cannot be read"),
    ],
)
def test_what_is_not_a_table_is_refused_in_one_line(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    path = put(tmp_path / name, content)
    with pytest.raises(InputError) as error:
        read_source(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("concept",), "takes values such as concept=ID; unknown column 'concept'|did you mean"),
        (("tem=x",), "unknown column 'tem'; did you mean term"),
        (("concept=id", "term=ID"), "gives 'id' twice; give each column once"),
    ],
)
def test_unknown_columns_are_named(tmp_path: Path, given: tuple[str, ...], said: str) -> None:
    path = put(tmp_path / "n.csv", CSV)
    with pytest.raises(OptionError, match=said):
        read_source(path, columns=given)
    with pytest.raises(InputError, match="has no column 'x'; its columns are 'id', 'name',"):
        read_source(path, columns=("term=x",))


def test_a_build_of_a_table_keeps_its_promises(tmp_path: Path) -> None:
    rows = "".join(f"C{n // 2},{word} fever {n}\n" for n, word in enumerate(["red", "blue"] * 20))
    path = put(tmp_path / "n.csv", f"code,title\n{rows}")

    build = medsim.build(path, tmp_path / "out", negatives=["random"], threads=1)
    assert medsim.verify(build, threads=1).holds
    assert build.pairs().filter(pl.col("label") == 1).height > 0
    rows_of = medsim.convert(path, tmp_path / "rf2.zip", columns=["term=title"])["rows"]
    assert rows_of.to_list()[:2] == [20, 40]


class LocalOptions(ReadingOptions):
    """The options of a command that asks for the other columns."""

    keeps_columns = True


def local_rows(path: Path, *given: str) -> list[tuple[str, int | None, dict[str, str | None]]]:
    source, place = find_source(str(path))
    with empty_store() as store:
        source.read(place, store, LocalOptions(columns=given))
        rows = store.table("local_row").rows()
    return [(concept, frequency, json.loads(kept)) for concept, frequency, kept in rows]


LOCAL = """\
List of codes;;;;;
id;name;Count;ward;ward;
007;Größe;1,234;A;B;x
007;Groesse;1;C;D;
2;"a;b";NA;="01";;"say ""x"" y"
3;c;12.0;;;
"""


def test_frequencies_are_added_up_and_other_columns_are_kept(tmp_path: Path) -> None:
    expected = [
        ("007", 1235, {"ward": "A; C", "ward (5)": "B; D", "column6": "x"}),
        ("2", None, {"ward": "01", "ward (5)": None, "column6": 'say "x" y'}),
        ("3", 12, {"ward": None, "ward (5)": None, "column6": None}),
    ]
    assert local_rows(put(tmp_path / "local.csv", LOCAL)) == expected
    book = openpyxl.Workbook()
    for row in csv.reader(LOCAL.splitlines(), delimiter=";"):
        book.active.append([cell or None for cell in row])
    book.save(tmp_path / "local.xlsx")
    assert local_rows(tmp_path / "local.xlsx")[0][:2] == ("007", 1235)
    facts, _ = read_source(tmp_path / "local.csv")
    assert facts.layout["unused"] == "Count, ward and ward"  # nobody asked
    assert n_skipped(facts) == {}


def test_values_of_all_rows_of_a_concept_are_kept_once_in_order(tmp_path: Path) -> None:
    wards = ["b", "", "a", "b"]
    rows = [f"1,fever,{ward},w{at}" for at, ward in enumerate([*wards, *["a"] * 20])]
    path = put(tmp_path / "local.csv", "\n".join(["id,name,ward,bed", *rows]))

    beds = "; ".join(f"w{at}" for at in range(20))
    assert local_rows(path) == [("1", None, {"ward": "b; a", "bed": f"{beds}; …"})]


def test_values_of_other_formats_are_kept_as_text(tmp_path: Path) -> None:
    rows = {"id": [1, 2, 1], "name": ["a", "b", "c"], "n": [1.0, None, 3.0]}
    others = {"tags": [["x", "y"], [], None], "price": [1.5, 2.0, None], "on": [True, None, False]}
    pl.DataFrame(rows | others).write_parquet(tmp_path / "a.parquet")
    in_sqlite(tmp_path / "a.db", {"a": pl.DataFrame(rows)})

    assert local_rows(tmp_path / "a.parquet") == [
        ("1", 4, {"tags": "x; y", "price": "1.5", "on": "true; false"}),
        ("2", None, {"tags": None, "price": "2", "on": None}),
    ]
    assert local_rows(tmp_path / "a.db") == [("1", 4, {}), ("2", None, {})]
    assert local_rows(put(tmp_path / "a.obo", "[Term]\nid: A:1\nname: fever\n")) == []


def test_a_column_that_counts_nothing_is_no_frequency_unless_the_user_says_so(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.csv", "id,name,frequency,rare\n1,a,HP:0040283,3\n2,b,3/5,\n")

    assert local_rows(path)[0] == ("1", None, {"frequency": "HP:0040283", "rare": "3"})
    assert local_rows(path, "frequency=rare")[0] == ("1", 3, {"frequency": "HP:0040283"})
    assert local_rows(path, "frequency=")[0][1] is None
    with pytest.raises(InputError, match="frequency 'HP:0040283' is not known as a value of freq"):
        local_rows(path, "frequency=frequency")
    headless = put(tmp_path / "b.tsv", "1\ta\t5\tx\n1\tb\t6\ty\n")
    given = ("concept=1", "term=2", "frequency=3")
    assert local_rows(headless, *given) == [("1", 11, {"4": "x; y"})]
    for wrong in ("-1", "1.5", "many"):
        bad = put(tmp_path / "c.csv", f"id,name,n\n1,a,{wrong}\n")
        with pytest.raises(InputError, match="write a whole number"):
            local_rows(bad, "frequency=n")


def test_the_sheet_of_a_workbook_is_chosen_by_its_columns_or_name(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["About", "this", "book"])
    for title, name in (("One", "fever"), ("Two", "ache")):
        sheet = book.create_sheet(title)
        sheet.append(["Code", "Term"])
        sheet.append([7, name])
        sheet["A2"].number_format = "000"
    book.save(tmp_path / "a.xlsx")

    facts, tables = read_source(tmp_path / "a.xlsx")

    assert tables["description"]["term"].to_list() == ["fever"]
    assert tables["concept"]["concept_id"].to_list() == ["007"]
    assert facts.layout == {"concept": "Code", "term": "Term", "sheet": "One"}
    assert facts.warnings == ("a.xlsx: sheet 'One' is read, not 'Sheet' and 'Two'",)
    assert names(tmp_path / "a.xlsx", **columns("table=Two"))[0][:2] == ("007", "ache")
    with pytest.raises(InputError, match="has no sheet 'Three'; it has 'Sheet', 'One' and 'Two'"):
        names(tmp_path / "a.xlsx", **columns("table=Three"))
