"""Local names of invented concepts, mapped to an invented terminology."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from fixtures.corpora import invented_names, write_ontology
from fixtures.embeddings import write_words
from openpyxl import load_workbook
from polars.testing import assert_frame_equal
from rapidfuzz.distance import Levenshtein

import medsim
from medsim.core.errors import InputError, OptionError

N_CONCEPTS = 120
N_WITHOUT = 30


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return an ontology, and a table of local names of its concepts and of others."""
    folder = tmp_path_factory.mktemp("mapping")
    names = {concept: of[:2] for concept, of in invented_names(3, N_CONCEPTS).items()}
    others = [f"kwurb {number} zolp" for number in range(N_WITHOUT)]
    rows = [(f"{at:04}", of[at % 2].upper(), at) for at, of in enumerate(names.values())]
    rows += [(f"X{at}", name, 0) for at, name in enumerate(others)]
    table = pl.DataFrame(rows, ["code", "name", "n"], orient="row")
    table = table.with_columns(ward=pl.format("w{}", "n"))
    table.write_csv(folder / "local.csv")
    return {
        "folder": folder,
        "local": folder / "local.csv",
        "standard": write_ontology(folder, names),
        "vectors": write_words(folder / "own.vec", sorted({"kwurb", "verolin", "syndrome"}), 3),
    }


COLUMNS = ["concept=code", "term=name", "frequency=n"]


def mapped(places: dict[str, Path], out: str, **options: object) -> medsim.NameMapping:
    return medsim.map_names(
        places["local"], places["standard"], places["folder"] / out, columns=COLUMNS, **options
    )


@pytest.fixture(scope="module")
def plain(places: dict[str, Path]) -> medsim.NameMapping:
    return mapped(places, "plain")


def test_first_candidates_are_right(plain: medsim.NameMapping, places: dict[str, Path]) -> None:
    first = plain.candidates().filter(rank=1)
    table = pl.read_csv(places["local"], infer_schema_length=0)
    known = first.join(table.filter(~pl.col("code").str.starts_with("X")), on="code")
    equal = known.filter(
        pl.col("matched_name").str.to_lowercase() == pl.col("name").str.to_lowercase()
    )
    assert equal.height == N_CONCEPTS
    assert set(equal["difference"]) == {"case"}
    assert equal["probability"].mean() > 0.5  # some names have several concepts
    odd = first.filter(pl.col("code").str.starts_with("X"))
    assert (odd["probability"] < 0.2).all()
    local = plain.local()
    assert set(local["status"]) == {"undecided"}
    assert local["frequency"].to_list() == sorted(local["frequency"], reverse=True)
    assert json.loads(local.filter(code="0003")["kept"][0]) == {"ward": "w3"}


def test_probabilities_and_distances_fit(plain: medsim.NameMapping) -> None:
    rows = plain.candidates()
    ranked = rows.sort("code", "probability", descending=[False, True], maintain_order=True)
    assert ranked["rank"].to_list() == rows.sort("code", maintain_order=True)["rank"].to_list()
    sums = rows.group_by("code").agg(pl.col("probability").sum()).join(plain.local(), on="code")
    assert (sums["probability"] + sums["none_probability"] < 1 + 1e-4).all()
    pairs = rows.select(pl.col("local_name", "matched_name").str.to_lowercase(), "distance")
    assert all(Levenshtein.distance(one, other) == n for one, other, n in pairs.iter_rows())
    assert rows.group_by("code").len()["len"].max() <= 5


def test_tables_of_scores_are_empty_without_a_gold_mapping(plain: medsim.NameMapping) -> None:
    tables = (plain.results(), plain.comparisons(), plain.curves(), plain.scored())
    assert [table.height for table in tables] == [0, 0, 0, 0]
    assert all("model" in table.columns or "model1" in table.columns for table in tables)


def test_decisions_hold_conflict_and_change(
    plain: medsim.NameMapping, places: dict[str, Path]
) -> None:
    first = plain.candidates().filter(rank=1).select("code", "concept_id", "main_name").rows()
    asked = {code: (concept, name) for code, concept, name in first}
    lines = ["subject_id;subject_label;object_id;object_label;decision;comment;reviewer;date"]

    def decide(code: str, decision: str, reviewer: str, date: str, **other: str) -> None:
        concept, name = asked[code] if decision != "no_match" else ("", "")
        row = {"concept": concept, "name": name, **other}
        cells = [
            code,
            row.get("label", ""),
            row["concept"],
            row["name"],
            decision,
            "c",
            reviewer,
            date,
        ]
        lines.append(";".join(cells))

    decide("0001", "exact", "ann", "2026-01-01")
    decide("0002", "exact", "ann", "2026-01-01")
    decide("0002", "broader", "ben", "2026-01-02")
    decide("0003", "exact", "ann", "2026-01-01", name="an earlier name")
    decide("0004", "exact", "ann", "2026-01-01", concept="V:9999")
    decide("X1", "no_match", "ann", "2026-01-01")
    decide("0005", "exact", "ann", "2026-01-01")
    decide("0005", "narrower", "ann", "2026-01-02")
    decide("0006", "different", "ann", "2026-01-01")
    decide("0009", "exact", "ann", "2026-01-01", label="another code")
    decide("0007", "exact", "ann", "2026-01-01", concept="V:9999")
    decide("0007", "exact", "ben", "2026-02-01")
    for reviewer, decision in (("ann", "exact"), ("ben", "broader"), ("cy", "broader")):
        decide("0008", decision, reviewer, "2026-01-01")
    lines.append("gone;x;V:0001;x;exact;;ann;2026-01-01")
    file = places["folder"] / "decisions.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    decided = mapped(places, "decided", decisions=[file], accept=0.9, k=3)
    status = dict(decided.local().select("code", "status").iter_rows())
    expected = {"0001": "decided", "0002": "conflict", "0003": "changed", "0004": "changed"}
    expected |= {"0005": "decided", "0006": "undecided", "X1": "no_match", "X2": "undecided"}
    assert {code: status[code] for code in expected} == expected
    mappings = decided.mappings()
    by_people = mappings.filter(pl.col("probability").is_null())
    assert by_people.select("code", "concept_id", "decision").sort("code").rows() == [
        ("0001", asked["0001"][0], "exact"),
        ("0005", asked["0005"][0], "narrower"),
        ("0007", asked["0007"][0], "exact"),
        ("0008", asked["0008"][0], "broader"),
        ("X1", None, "no_match"),
    ]
    taken = mappings.filter(pl.col("probability").is_not_null())
    assert taken["probability"].min() >= 0.9
    opened = decided.open_decisions().select("code", "why", "replacement_id").unique().sort("code")
    assert opened.rows() == [
        ("0002", "conflict", None),
        ("0003", "renamed", asked["0003"][0]),
        ("0004", "unknown", None),
        ("0009", "other_code", None),
    ]
    rejected = decided.candidates().filter(code="0006", concept_id=asked["0006"][0])
    assert rejected.is_empty()
    assert "1 code of decisions not in LOCAL: gone" in decided.manifest.warnings
    check_files(decided)


def test_decisions_in_a_workbook_hold_for_codes_and_names_with_line_breaks(tmp_path: Path) -> None:
    table = {"code": ["A\n1", "A 2", "B \r\n 2"], "name": ["fever", "ache", "sore\nthroat"]}
    standard = pl.DataFrame({"id": ["S1", "S2", "S3"], "name": ["fever", "ache", "sore\nthroat"]})
    pl.DataFrame(table).write_csv(tmp_path / "local.csv")
    standard.write_csv(tmp_path / "standard.csv")
    given = (tmp_path / "local.csv", tmp_path / "standard.csv")
    asked = medsim.map_names(*given, tmp_path / "asked")
    book = load_workbook(asked.folder / "candidates.xlsx")
    for row in book.active.iter_rows(min_row=2):
        if row[1].value == row[3].value:
            row[4].value = "exact"
    book.save(tmp_path / "decided.xlsx")

    found = medsim.map_names(*given, tmp_path / "out", decisions=[tmp_path / "decided.xlsx"])

    assert found.manifest.warnings == ["STANDARD has only 3 names, so probabilities are rough"]
    assert found.mappings().select("code", "concept_id").rows() == [
        ("A\n1", "S1"),
        ("A 2", "S2"),
        ("B \r\n 2", "S3"),
    ]


def test_both_sides_have_a_language_of_their_own(tmp_path: Path) -> None:
    for name, rows in {
        "local": ["A,Heart attack,en", "A,Crise,fr", "B,Asthme,fr"],
        "standard": ["S1,Herzinfarkt,de", "S1,Heart attack,en", "S2,Asthma,de"],
    }.items():
        table = "\n".join(["code,name,language", *rows])
        (tmp_path / f"{name}.csv").write_text(table, encoding="utf-8")
    given = (tmp_path / "local.csv", tmp_path / "standard.csv", tmp_path / "out")

    found = medsim.map_names(*given, language="de", local_language="en")

    assert found.local().select("code", "names").rows() == [("A", "Heart attack")]
    assert found.standard_names()["term"].to_list() == ["Herzinfarkt", "Asthma"]
    lost = "left out 1 code of LOCAL without a name in 'en'; `local_language` chooses another"
    assert found.manifest.warnings[0] == f"{lost} language"
    with pytest.raises(InputError, match="no active descriptions in language 'de'"):
        medsim.map_names(*given, language="de", overwrite=True)


def check_files(decided: medsim.NameMapping) -> None:
    """Read what is written for other programs with other programs."""
    mappings, folder = decided.mappings(), decided.folder
    related = mappings.filter(pl.col("decision") != "no_match")
    text = (folder / "mappings.sssom.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == related.height + 1
    assert {row[0] for row in lines[1:]} == {f"local:{code}" for code in related["code"]}
    omop = pl.read_csv(folder / "source_to_concept_map.csv", infer_schema_length=0)
    assert set(omop["target_concept_id"]) == {"0"}
    fhir = json.loads((folder / "ConceptMap.json").read_text(encoding="utf-8"))
    elements = {each["code"]: each["target"] for each in fhir["group"][0]["element"]}
    assert elements["X1"] == [{"equivalence": "unmatched", "comment": "c"}]
    assert elements["0005"][0]["equivalence"] == "narrower"
    assert set(elements) == set(mappings["code"])
    table = pl.read_csv(folder / "mappings.csv", infer_schema_length=0)
    assert table.filter(code="0001")["ward"].to_list() == ["w1"]
    rows = load_workbook(folder / "candidates.xlsx").active.values
    head, *cells = rows
    listed = pl.read_csv(folder / "candidates.csv", infer_schema_length=0)
    assert list(head) == listed.columns
    assert dict(listed.select("subject_id", "ward").rows())["0003"] == "w3"
    assert len(cells) == listed.height
    assert [cell[0] for cell in cells] == listed["subject_id"].to_list()


def test_embedding_and_category_and_one_code(places: dict[str, Path]) -> None:
    table = pl.DataFrame({"code": ["a"], "name": ["Verolin syndrome"]})
    table.write_csv(places["folder"] / "one.csv")
    found = medsim.map_names(
        places["folder"] / "one.csv",
        places["standard"],
        places["folder"] / "one",
        embeddings={"own": places["vectors"]},
        categories=["V:0002"],
        progress=medsim.Progress(),
    )
    assert set(found.candidates()["concept_id"]) <= {"V:0002", "V:0003"}
    assert found.manifest.embeddings["own"]["path"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"prefix": "x"}, OptionError),
        ({"categories": ["none"]}, OptionError),
        ({"language": "xx"}, InputError),
        ({"decisions": ["nowhere.csv"]}, InputError),
        ({"k": 0}, OptionError),
    ],
)
def test_wrong_options_are_refused(
    places: dict[str, Path], options: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        mapped(places, "refused", **options)
    assert not (places["folder"] / "refused").exists()


def test_results_do_not_depend_on_threads(
    plain: medsim.NameMapping, places: dict[str, Path]
) -> None:
    again = mapped(places, "again", threads=2)
    assert_frame_equal(again.candidates(), plain.candidates())
