"""OMOP's vocabularies as Athena exports them, against rows made by hand."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fixtures.omop import HEADERS, Vocabularies, random_vocabularies
from fixtures.sources import n_skipped, read_source
from typer.testing import CliRunner

from medsim.cli import app
from medsim.core.errors import InputError, OptionError


def names(tables: dict[str, pl.DataFrame]) -> list[tuple[str, ...]]:
    columns = ["concept_id", "language", "kind", "term"]
    return tables["description"].select(columns).sort(columns).rows()


def test_the_name_of_a_concept_is_the_full_one_and_its_synonyms_stand_beside_it(
    tmp_path: Path,
) -> None:
    made = Vocabularies()
    made.version("v5.0 27-FEB-26")
    made.concept(1, " Blue fever ")
    made.concept(2, "", domain="Drug")
    made.synonym(1, "Blue fever")
    made.synonym(1, "Azure pyrexia")
    made.synonym(1, "Azure pyrexia ")
    made.synonym(1, "fiebre azul", 4182511)
    made.synonym(1, "calentura azul", 4182511)
    made.synonym(1, "nobody's language", 99)
    made.concept(77, "German language", domain="Language")  # names a language by its concept
    made.synonym(1, "blaues Fieber", 77)
    made.synonym(2, " ")
    made.synonym(2, "Named by a synonym")
    terminology, tables = read_source(made.write(tmp_path))

    assert (terminology.source, terminology.vocabulary) == ("omop", None)
    assert f"{terminology.release_date}" == "2026-02-27"
    assert names(tables) == [
        ("1", "99", "fsn", "nobody's language"),
        ("1", "de", "fsn", "blaues Fieber"),
        ("1", "en", "fsn", "Blue fever"),
        ("1", "en", "synonym", "Azure pyrexia"),
        ("1", "es", "fsn", "calentura azul"),
        ("1", "es", "synonym", "fiebre azul"),
        ("2", "en", "fsn", "Named by a synonym"),
        ("77", "en", "fsn", "German language"),
    ]
    domains = tables["concept"].select("concept_id", "semantic_tag").rows()
    assert domains == [("1", "Condition"), ("2", "Drug"), ("77", "Language")]
    assert n_skipped(terminology) == {
        "description is empty": 2,
        "synonym repeats a name of its concept": 2,
    }


def test_relationships_are_associations_and_hierarchy(tmp_path: Path) -> None:
    made = Vocabularies()
    for concept_id in range(1, 7):
        made.concept(concept_id, f"concept {concept_id}", invalid="D" if concept_id == 6 else "")
    made.relationship(1, "Is a", 2)
    made.relationship(2, "Subsumes", 1)
    made.relationship(1, "Maps to", 1)
    made.relationship(3, "Maps to", 1)
    made.relationship(3, "Maps to value", 2)
    made.relationship(4, "Concept same_as to", 1)
    made.relationship(5, "Concept poss_eq to", 1)
    made.relationship(6, "Concept replaced by", 1)
    made.relationship(6, "Maps to", 1)
    made.relationship(6, "Maps to", 2)
    made.relationship(5, "Is a", 1, invalid="D")
    made.relationship(5, "Maps to", 999)
    terminology, tables = read_source(made.write(tmp_path))

    assert tables["is_a"].rows() == [("1", "2")]
    assert tables["association"].rows() == [
        ("3", "1", "possibly_equivalent_to", True),
        ("4", "1", "same_as", True),
        ("5", "1", "possibly_equivalent_to", True),
        ("6", "1", "possibly_equivalent_to", True),
        ("6", "1", "replaced_by", True),
        ("6", "2", "possibly_equivalent_to", True),
    ]
    assert tables["concept"].filter(~pl.col("active"))["concept_id"].to_list() == ["6"]
    assert n_skipped(terminology) == {
        "relationship is invalid": 1,
        "association is of an absent concept": 1,
    }


def test_without_relationships_ancestors_one_level_up_are_parents(tmp_path: Path) -> None:
    made = Vocabularies()
    for concept_id in (1, 2, 3):
        made.concept(concept_id, f"concept {concept_id}")
    made.ancestor(1, 1, 0)
    made.ancestor(1, 2, 1)
    made.ancestor(1, 3, 2)
    made.ancestor(2, 3, 1)
    made.write(tmp_path)
    assert read_source(tmp_path)[1]["is_a"].is_empty()
    (tmp_path / "CONCEPT_RELATIONSHIP.csv").unlink()
    assert read_source(tmp_path)[1]["is_a"].rows() == [("2", "1"), ("3", "2")]


def test_vocabularies_and_standard_concepts_choose_concepts(tmp_path: Path) -> None:
    made = Vocabularies()
    made.concept(1, "Blue fever", code="11")
    made.concept(2, "Blue fever, unspecified", vocabulary="ICD10CM", standard="", code="B1")
    made.concept(3, "Old blue fever", standard="", invalid="U", code="33")
    made.concept(4, "Standing for all", standard="C", code="OMOP44")
    made.synonym(2, "Fever, blue")
    made.relationship(2, "Maps to", 1)
    made.relationship(3, "Concept replaced by", 1)
    made.write(tmp_path)

    terminology, tables = read_source(tmp_path)
    assert tables["code"].rows() == [("1", "SNOMEDCT_US", "11"), ("2", "ICD10CM", "B1")]
    assert not n_skipped(terminology)

    terminology, tables = read_source(tmp_path, vocabularies=("SNOMED",))
    assert tables["concept"]["concept_id"].to_list() == ["1", "3", "4"]
    assert tables["association"].rows() == [("3", "1", "replaced_by", True)]
    assert n_skipped(terminology) == {
        "concept is not asked for": 1,
        "relationship is of a concept that is left out": 1,
        "synonym is of a concept that is left out": 1,
    }
    _, tables = read_source(tmp_path, standard_concepts=True)
    assert tables["concept"]["concept_id"].to_list() == ["1"]
    _, tables = read_source(tmp_path, standard_concepts=True, vocabularies=("ICD10CM", "SNOMED"))
    assert tables["description"]["term"].to_list() == ["Blue fever"]
    with pytest.raises(OptionError, match="unknown vocabulary 'ICD10'; did you mean ICD10CM"):
        read_source(tmp_path, vocabularies=("ICD10",))


def test_names_are_unchanged(tmp_path: Path) -> None:
    texts = ['"Quoted" ulcer', '"open', "'", "café 一", "back\\slash", "null", "a,b", ";"]
    made = Vocabularies()
    for number, text in enumerate(texts, start=1):
        made.concept(number, text)
        made.synonym(number, f"{text} {text}")
    actual = names(read_source(made.write(tmp_path))[1])
    assert [row[3] for row in actual if row[2] == "fsn"] == texts
    assert [row[3] for row in actual if row[2] == "synonym"] == [f"{x} {x}" for x in texts]


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    made = random_vocabularies(3)
    _, expected = read_source(made.write(tmp_path / "plain"))
    made.write(tmp_path / "other")
    for name, header in HEADERS.items():
        lines = (tmp_path / "plain" / name).read_text().splitlines()
        turned = [
            "\t".join(["\ufeffX x" if at == 0 else "x", *line.split("\t")[::-1]])
            for at, line in enumerate(lines)
        ]
        turned[0] = turned[0].upper()
        (tmp_path / "other" / name).unlink()
        lower = tmp_path / "other" / name.lower()
        lower.write_text("\r\n".join(turned), encoding="utf-8", newline="")
        assert header.split()[-1].upper() in turned[0]
    _, tables = read_source(tmp_path / "other")
    for table, frame in expected.items():
        assert tables[table].equals(frame), table


@pytest.mark.parametrize("seed", range(2))
def test_random_exports_agree_with_a_plain_reading(tmp_path: Path, seed: int) -> None:
    made = random_vocabularies(seed)
    _, tables = read_source(made.write(tmp_path))
    actual = set(tables["description"].select("concept_id", "language", "term").rows())
    concepts = {(str(row[0]), "en", str(row[1])) for row in made.rows["CONCEPT.csv"]}
    language = {4180186: "en", 4182511: "es"}
    synonyms = {
        (str(row[0]), language[row[2]], str(row[1])) for row in made.rows["CONCEPT_SYNONYM.csv"]
    }
    assert actual == concepts | synonyms
    of_kind = {
        kind: {
            (f"{a}", f"{b}") for a, b, k, *_ in made.rows["CONCEPT_RELATIONSHIP.csv"] if k == kind
        }
        for kind in ("Is a", "Maps to", "Concept replaced by")
    }
    associations = tables["association"].select("source_id", "target_id", "kind").rows()
    mapped = {pair for pair in of_kind["Maps to"] if pair[0] != pair[1]}
    replaced = of_kind["Concept replaced by"]
    assert set(tables["is_a"].rows()) == of_kind["Is a"]
    assert {row[:2] for row in associations if row[2] == "replaced_by"} == replaced
    assert {row[:2] for row in associations if row[2] != "replaced_by"} == mapped


def with_row(row: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [lines[0], row, *lines[1:]]


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("CONCEPT.csv", with_row("5\tx"), "line 2 has 1 tab; expected 9"),
        (
            "CONCEPT.csv",
            with_row("1.5\tx\tC\tV\tK\tS\t1\t2\t3\t"),
            "line 2 has a wrong value ('1.5' where",
        ),
        ("CONCEPT.csv", with_row("5\tx\tC\tV\tK\tS\t1\t2\t3\tnull"), "the flag 'null', neither"),
        ("CONCEPT.csv", with_row("10\tx\tC\tV\tK\tS\t1\t2\t3\t"), "several rows of the concept 10"),
        ("CONCEPT.csv", with_row("5\tx\tC\ty\r\ta"), "line 2 has a carriage return"),
        ("CONCEPT_SYNONYM.csv", with_row("5\tx\tENG"), "a number identifies"),
        (
            "CONCEPT_RELATIONSHIP.csv",
            lambda lines: lines[1:],
            "line 1 needs one column 'concept_id_1'",
        ),
        (
            "CONCEPT.csv",
            lambda lines: [x.replace("\t", ",") for x in [*lines[:2], "5\tx", *lines[2:]]],
            "line 3 has 2 values; expected 10",
        ),
        (
            "CONCEPT_RELATIONSHIP.csv",
            lambda lines: [x.replace("\t", ",") for x in [*lines[:3], f"x{lines[3]}", *lines[4:]]],
            "row 4 has a wrong value ('x",
        ),
        (
            "CONCEPT.csv",
            lambda lines: [x.replace("\t", ",") for x in lines[:2]] + ['1,"x'],
            "line 3: unexpected end of data",
        ),
        (
            "CONCEPT.csv",
            lambda lines: [f"concept_id\t{lines[0]}"],
            "line 1 needs one column 'concept_id'",
        ),
    ],
)
def test_the_line_at_fault_is_named(
    tmp_path: Path, file: str, change: Callable[[list[str]], list[str]], said: str
) -> None:
    path = random_vocabularies(1).write(tmp_path) / file
    changed = change(path.read_text(encoding="utf-8").split("\n"))
    path.write_text("\n".join(changed), encoding="utf-8", newline="")

    with pytest.raises(InputError) as caught:
        read_source(tmp_path)
    assert said in str(caught.value)
    assert file in str(caught.value)


@pytest.mark.parametrize("file", ["CONCEPT.csv", "CONCEPT_SYNONYM.csv"])
def test_names_that_all_stand_in_quotes_are_refused(tmp_path: Path, file: str) -> None:
    made = random_vocabularies(1)
    rows = made.rows[file]
    made.rows[file] = quoted = [(row[0], f'"{row[1]}"', *row[2:]) for row in rows]
    with pytest.raises(InputError, match=r'names are in quotes, such as ".*"; remove the quotes'):
        read_source(made.write(tmp_path / "all"))

    made.rows[file] = [*quoted[:-10], *rows[-10:]]
    assert read_source(made.write(tmp_path / "some"))[1]["description"].height > 1


def write_csv(folder: Path, made: Vocabularies, **dialect: Any) -> Path:
    folder.mkdir()
    for name, rows in made.rows.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, **dialect)
            writer.writerow(HEADERS[name].split())
            writer.writerows(rows)
    return folder


@pytest.mark.parametrize(
    "dialect",
    [
        {"delimiter": ","},
        {"delimiter": ",", "quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
        {"delimiter": "\t", "quoting": csv.QUOTE_ALL},
        {"delimiter": "\t", "quoting": csv.QUOTE_NONNUMERIC},
    ],
)
def test_commas_and_quotes_give_the_same_as_tabs(
    tmp_path: Path, dialect: dict[str, object]
) -> None:
    made = random_vocabularies(1)
    expected = read_source(made.write(tmp_path / "tabs"))
    text = 'the "blue", or\tlined\nulcer'
    made.concept(5, text)
    made.synonym(5, "NULL")

    terminology, tables = read_source(write_csv(tmp_path / "csv", made, **dialect))

    assert terminology.release_date == expected[0].release_date
    assert n_skipped(terminology) == n_skipped(expected[0]) | {"description is empty": 1}
    for name, table in tables.items():
        key = next((k for k in ("concept_id", "source_id") if k in table.columns), None)
        others = table.filter(pl.col(key) != "5") if key else table
        assert others.equals(expected[1][name]), name
    named = tables["description"].filter(pl.col("concept_id") == "5")
    assert named["term"].to_list() == ['the "blue", or lined ulcer']


def test_a_row_of_csv_with_a_wrong_value_is_named(tmp_path: Path) -> None:
    made = random_vocabularies(1)
    made.rows["CONCEPT.csv"].insert(2, ("x", "ulcer, left", *made.rows["CONCEPT.csv"][0][2:]))

    with pytest.raises(InputError, match=r"^CONCEPT\.csv: row 4 has a wrong value \('x' where"):
        read_source(write_csv(tmp_path / "csv", made, delimiter=","))


def test_marks_of_databases_for_missing_values_are_empty(tmp_path: Path) -> None:
    made = Vocabularies()
    for number, mark in enumerate(("NULL", "\\N", "NA"), start=1):
        made.concept(number, f"velp {number}", standard=mark, invalid=mark)
        made.synonym(number, mark)
    _, tables = read_source(made.write(tmp_path))

    assert tables["concept"]["active"].all()
    assert names(tables) == [
        ("1", "en", "fsn", "velp 1"),
        ("2", "en", "fsn", "velp 2"),
        ("3", "en", "fsn", "velp 3"),
        ("3", "en", "synonym", "NA"),
    ]


def test_missing_files_are_a_warning(tmp_path: Path) -> None:
    made = random_vocabularies(1)
    folder = made.write(tmp_path / "athena")
    for name in ("CONCEPT_SYNONYM.csv", "CONCEPT_RELATIONSHIP.csv", "CONCEPT_ANCESTOR.csv"):
        (folder / name).unlink()

    _, tables = read_source(folder)

    assert tables["description"].height == len(made.rows["CONCEPT.csv"])
    assert tables["association"].is_empty()
    assert tables["is_a"].is_empty()
    result = CliRunner().invoke(app, ["convert", str(folder), "-o", str(tmp_path / "out.zip")])
    assert "athena has no CONCEPT_SYNONYM.csv, so concepts have no synonyms" in result.stderr
    assert "neither CONCEPT_RELATIONSHIP.csv nor CONCEPT_ANCESTOR.csv, so no" in result.stderr
