"""Tables of predictions, by the roles of their columns."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from openpyxl import Workbook

from medsim.core.errors import InputError, OptionError
from medsim.systems.options import ROLES, system_of
from medsim.systems.predictions import exact_mappings, number_column, predicted_table

FORMATS = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
ROWS = [("A 1", "HP:0000001", "0.5"), ("A 2", "", "")]


def read(source: object) -> list[tuple[str, ...]]:
    table = predicted_table(system_of(source, "system"), ("code", "concept"), ("score",))
    assert len(table.sha256) == 64
    return table.frame.rows()


def test_the_usual_names_of_columns_are_documented() -> None:
    text = FORMATS.read_text(encoding="utf-8")
    for role, names in ROLES.items():
        listed = ", ".join(f"`{name}`" for name in names.split())
        assert f"| `{role}` |" in text
        assert f"| {listed} |" in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "code,concept,score\nA 1,HP:0000001,0.5\nA 2,,\n"),
        ("sep.csv", 'sep=;\n"Source_Code";Concept_ID;Score\nA 1;HP:0000001;0.5\nA 2;NA;nan\n'),
        (
            "m.sssom.tsv",
            (
                "#curie_map:\n#  HP: http://x/\n#license: y\nsubject_id\tpredicate_id\tobject_id\t"
                "confidence\nA 1\tskos:exactMatch\tHP:0000001\t0.5\nA 2\tskos:exactMatch\t\t\n"
            ),
        ),
        ("title.txt", "Export of today\n\ncode|concept|score\nA 1|HP:0000001|0.5\nA 2||\n"),
        (
            "l.jsonl",
            (
                '{"code": "A 1", "concept": "HP:0000001", "score": 0.5}\n'
                '{"code": "A 2", "concept": null}\n'
            ),
        ),
    ],
)
def test_files_of_any_kind_have_the_same_rows(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read(tmp_path / name) == ROWS


def test_frames_and_workbooks_have_the_same_rows(tmp_path: Path) -> None:
    columns = {"code": ["A 1", "A 2"], "concept": ["HP:0000001", None], "score": [0.5, None]}
    book = Workbook()
    for row in [["Kodes of the ward"], [*columns], *zip(*columns.values(), strict=True)]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet")
    for source in (
        pl.DataFrame(columns),
        pd.DataFrame(columns),
        tmp_path / "a.xlsx",
        tmp_path / "a.parquet",
    ):
        assert read(source) == ROWS


def test_columns_are_named_after_the_path(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Kürzel;Ziel;concept\nA 1;HP:0000001;x\nA 2;;y\n".encode("cp1252"))
    rows = predicted_table(
        system_of(f"{path},code=Kürzel,concept=Ziel", "system"), ("code", "concept")
    )
    assert rows.frame.rows() == [row[:2] for row in ROWS]
    with pytest.raises(InputError, match="has no column Zeil, but Kürzel, Ziel and concept"):
        read(f"{path},concept=Zeil")
    with pytest.raises(InputError, match=r"has no column code, .*,code=COLUMN"):
        read(path)
    with pytest.raises(OptionError, match="unknown column of predictions 'target'"):
        read(f"{path},target=Ziel")
    with pytest.raises(OptionError, match=r"list is not a system"):
        read([1])


def test_numbers_of_spreadsheets_and_pandas_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("code;concept;score\n1.0;A;1,5e-05\n2.0;B;-0,5\n;C;\n", encoding="utf-8")
    table = predicted_table(system_of(path, "system"), ("code", "concept"), ("score",))
    assert table.frame["code"].to_list() == ["1", "2", ""]
    assert number_column(table, "score").to_list() == [1.5e-05, -0.5, None]
    with pytest.raises(OptionError, match="rank= does not apply"):
        predicted_table(system_of(f"{path},rank=score", "system"), ("code", "concept"))


def test_only_exact_mappings_and_those_to_none_are_kept() -> None:
    rows = [
        ("1", "A;B | C", "exact", ""),
        ("2", "A", "skos:exactMatch", "Not"),
        ("3", "A", "http://www.w3.org/2004/02/skos/core#exactMatch", ""),
        ("4", "A", "owl:equivalentClass", ""),
        ("5", "A", "skos:broadMatch", ""),
        ("6", "sssom:NoTermFound", "skos:exactMatch", ""),
        ("7", "0", "", ""),
        ("8", "A", "no_match", ""),
        ("9", "", "skos:broadMatch", ""),
    ]
    frame = pl.DataFrame(rows, ["code", "concept", "decision", "predicate_modifier"], orient="row")
    system, optional = system_of(frame, "system"), ("decision", "modifier")
    table, n_left_out = exact_mappings(predicted_table(system, ("code", "concept"), optional))
    pairs = [("1", "A"), ("1", "B"), ("1", "C"), ("3", "A"), ("4", "A")]
    assert table.frame.select("code", "concept").rows() == [
        *pairs,
        *(("6", ""), ("7", ""), ("8", ""), ("9", "")),
    ]
    assert n_left_out == 2
    assert table.at.to_list() == [1, 1, 1, 3, 4, 6, 7, 8, 9]
