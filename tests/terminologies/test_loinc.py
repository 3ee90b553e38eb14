"""LOINC's table and its accessory files, against rows made by hand."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.loinc import COLUMNS, Observations, random_observations, write_csv
from fixtures.sources import n_skipped, read_source

from medsim.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def names(tables: dict[str, pl.DataFrame]) -> list[tuple[str, ...]]:
    return tables["description"].select("concept_id", "kind", "term").rows()


def one_term() -> Observations:
    made = Observations()
    made.term(
        "1-8",
        ' Velpene "free" [Mass/volume]\r\nin Blood',
        CLASS="CHEM",
        SHORTNAME="Velpene Bld-mCnc",
        DisplayName="Velpene Bld-mCnc",
        CONSUMER_NAME="Velpene, Blood",
        RELATEDNAMES2="Velp; Blood;; velp ;Velpene Bld-mCnc",
    )
    made.consumer_names.append(("1-8", "Velpene in the blood"))
    return made


def test_synonyms_count_by_their_scope(tmp_path: Path) -> None:
    one_term().write(tmp_path)
    full = ("1-8", "fsn", 'Velpene "free" [Mass/volume]\r\nin Blood')
    exact = [("1-8", "synonym", "Velpene Bld-mCnc")]
    broad = [("1-8", "synonym", "Velpene, Blood"), ("1-8", "synonym", "Velpene in the blood")]
    related = [("1-8", "synonym", x) for x in ("Velp", "Blood", "velp")]

    terminology, tables = read_source(tmp_path)
    assert (terminology.source, terminology.vocabulary) == ("loinc", "LNC")
    assert names(tables) == [full, *exact]
    assert tables["concept"].rows() == [("1-8", True, "", "CHEM")]
    assert n_skipped(terminology) == {
        "synonym has another scope": 6,
        "synonym repeats a name of its concept": 1,
    }
    assert names(read_source(tmp_path, synonyms=("broad",))[1]) == [full, *broad]
    terminology, tables = read_source(tmp_path, synonyms=("exact", "broad", "related"))
    assert names(tables) == [full, *exact, *broad, *related]
    assert n_skipped(terminology) == {"synonym repeats a name of its concept": 2}


def test_deprecated_terms_are_replaced_and_lose_the_word(tmp_path: Path) -> None:
    made = Observations()
    made.term("1-8", "Velpene")
    made.term("2-6", "Velpene old", "DISCOURAGED")
    more = {"SHORTNAME": "Deprecated Velp", "DisplayName": "Deprecated Velpene Qn"}
    made.term("3-4", "DEPRECATED Velpene older", "Deprecated", **more)
    made.term("4-2", "Deprecated only in name", "TRIAL")
    made.term("5-9", "")
    made.mappings = [("2-6", "1-8", "better"), ("3-4", "1-8", ""), ("3-4", "1-8", "again")]
    made.mappings += [("3-4", "2-6", ""), ("3-4", "", "nothing")]
    terminology, tables = read_source(made.write(tmp_path))

    assert tables["association"].rows() == [
        ("2-6", "1-8", "replaced_by", True),
        ("3-4", "1-8", "replaced_by", True),
        ("3-4", "2-6", "replaced_by", True),
    ]
    assert tables["concept"]["active"].to_list() == [True, True, False, True, True]
    assert names(tables) == [
        ("1-8", "fsn", "Velpene"),
        ("2-6", "fsn", "Velpene old"),
        ("3-4", "fsn", "Velpene older"),
        ("3-4", "synonym", "Velp"),
        ("3-4", "synonym", "Velpene Qn"),
        ("4-2", "fsn", "Deprecated only in name"),
    ]
    assert n_skipped(terminology) == {"description is empty": 1}


def test_the_hierarchy_is_that_of_components(tmp_path: Path) -> None:
    made = one_term()
    made.parents = [("1-8", "LP2"), ("LP2", "LP1"), ("LP1", ""), ("1-8", "LP2")]
    made.write(tmp_path)
    expected = [("1-8", "LP2"), ("LP2", "LP1")]
    assert read_source(tmp_path)[1]["is_a"].rows() == expected
    (path,) = tmp_path.rglob("ComponentHierarchyBySystem.csv")
    path.rename(path.with_name("MultiAxialHierarchy.csv"))  # as releases before 2.72 name it
    assert read_source(tmp_path)[1]["is_a"].rows() == expected


def test_folder_zip_and_table_alone_have_the_same_terms(tmp_path: Path) -> None:
    folder = random_observations(1).write(tmp_path / "Loinc_2.99")
    random_observations(2).write(tmp_path / "other")
    extra = folder / "AccessoryFiles" / "PanelsAndForms"
    (tmp_path / "other" / "LoincTable").rename(extra)
    write_csv(folder / "LoincTableCore" / "LoincTableCore.csv", COLUMNS, [])
    write_csv(folder / "LoincTableCore" / "MapTo.csv", ("LOINC", "MAP_TO", "COMMENT"), [])
    with zipfile.ZipFile(tmp_path / "Loinc_2.99.zip", "w") as archive:
        for path in sorted(folder.rglob("*.csv")):
            archive.write(path, path.relative_to(folder).as_posix())
    terminology, expected = read_source(folder)
    _, zipped = read_source(tmp_path / "Loinc_2.99.zip")
    alone, tables = read_source(folder / "LoincTable" / "Loinc.csv")

    assert {file.name for file in terminology.files} == {
        "LoincTable/Loinc.csv",
        "LoincTable/MapTo.csv",
        "AccessoryFiles/ConsumerName/ConsumerName.csv",
        "AccessoryFiles/ComponentHierarchyBySystem/ComponentHierarchyBySystem.csv",
    }
    for table, frame in expected.items():
        assert zipped[table].equals(frame), table
    assert expected["association"].height == 10
    assert tables["description"].equals(expected["description"])
    assert [file.name for file in alone.files] == ["Loinc.csv"]
    assert tables["association"].is_empty()


def test_the_core_table_serves_without_the_columns_that_it_lacks(tmp_path: Path) -> None:
    columns = ["LOINC_NUM", "CLASS", "LONG_COMMON_NAME", "SHORTNAME", "STATUS"]
    rows = [["1-8", "CHEM", "Velpene", "Velp", "ACTIVE"], []]
    write_csv(tmp_path / "loinctablecore.csv", columns, rows)
    assert names(read_source(tmp_path / "loinctablecore.csv")[1]) == [
        ("1-8", "fsn", "Velpene"),
        ("1-8", "synonym", "Velp"),
    ]
    with pytest.raises(InputError, match=r"loinctablecore\.csv has no column 'relatednames2'"):
        read_source(tmp_path, synonyms=("related",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"2-6","x"\n', "line 4 has 2 cells, the header 10"),
        ('"2-6","","","","OLD","","","","",""\n', "line 4: status 'OLD' is not one of ACTIVE,"),
        ('"","","","","ACTIVE","","","","",""\n', "line 4: loinc_num '' is missing"),
        ('"1-8","","","","ACTIVE","","","","",""\n', "line 2: loinc_num '1-8' is in several lines"),
        ('"2-6","x\n', "line 4 cannot be cut into cells (unexpected end of data)"),
        ('"2-6","\udcff"\n', "line 4 is not UTF-8: byte 0xff"),
        (f'"{"x" * (1 << 24)}"\n', "line 4 has more than 1,048,576 characters"),
        (
            f'"{"x" * (1 << 18)}"\n',
            "line 4 cannot be cut into cells (field larger",
        ),
    ],
)
def test_the_line_at_fault_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = one_term().write(tmp_path) / "LoincTable" / "Loinc.csv"
    path.write_bytes(path.read_bytes() + text.encode("utf-8", "surrogateescape"))

    with pytest.raises(InputError) as caught:
        read_source(tmp_path)
    assert said in str(caught.value)
    assert str(caught.value).startswith("LoincTable/Loinc.csv")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", ["Loinc.csv", "MapTo.csv", "ConsumerName.csv"])
def test_a_missing_column_is_named(tmp_path: Path, file: str) -> None:
    (path,) = random_observations(1).write(tmp_path).rglob(file)
    text = path.read_text(encoding="utf-8")
    first = text.split(",")[0].strip('"')
    for damaged, said in (
        (text.replace(first, "X", 1), f"has no column '{first.lower()}'"),
        ("", "is empty"),
    ):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match=rf"{file} {said}"):
            read_source(tmp_path)
