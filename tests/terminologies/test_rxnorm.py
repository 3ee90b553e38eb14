"""RxNorm in the format of UMLS, against rows made by hand."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.rxnorm import Drugs, random_drugs
from fixtures.sources import n_skipped, read_source

import medsim
from medsim.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def names(tables: dict[str, pl.DataFrame]) -> list[tuple[str, ...]]:
    columns = ["concept_id", "kind", "term"]
    return tables["description"].select(columns).sort(columns).rows()


def test_the_name_that_rxnorm_makes_is_the_full_one(tmp_path: Path) -> None:
    made = Drugs()
    made.atom("1", "karuxine 5 MG Oral Tablet", "PSN", rxaui="01")
    made.atom("1", "karuxine 0.005 G tablet", "SY", rxaui="02")
    made.atom("1", "KaruXINE", "TMSY", rxaui="03")
    made.atom("1", "KARUXINE TAB", "CD", sab="NDDF", rxaui="00", code="77")
    made.atom("1", "karuxine 0.005 MG/MG Oral Tablet", "SCD", rxaui="09")
    made.atom("2", "OLDULOL", "PT", sab="ATC", rxaui="10", code="A01")
    made.atom("2", "oldulol", "SY", rxaui="11")
    terminology, tables = read_source(made.write(tmp_path))

    assert (terminology.source, terminology.vocabulary) == ("rxnorm", "RXNORM")
    assert names(tables) == [
        ("1", "fsn", "karuxine 0.005 MG/MG Oral Tablet"),
        ("1", "synonym", "KARUXINE TAB"),
        ("1", "synonym", "KaruXINE"),
        ("1", "synonym", "karuxine 0.005 G tablet"),
        ("1", "synonym", "karuxine 5 MG Oral Tablet"),
        ("2", "fsn", "oldulol"),
        ("2", "synonym", "OLDULOL"),
    ]
    assert tables["code"].rows() == [("1", "NDDF", "77"), ("2", "ATC", "A01")]
    only = read_source(tmp_path, vocabularies=("ATC",))[1]
    assert names(only) == [("2", "fsn", "OLDULOL")]


def test_relations_of_concepts_are_read_and_those_of_atoms_counted(tmp_path: Path) -> None:
    made = Drugs()
    made.atom("1", "karuxine")
    made.relation("1", "RN", "2", "tradename_of")
    made.relation("2", "RB", "1", "has_tradename")
    made.relation("1", "RO", "3", "has_ingredient")
    made.of_atoms("000001", "CHD", "000009")
    made.of_atoms("000009", "PAR", "000001")
    made.of_atoms("000009", "RO", "000001")
    terminology, tables = read_source(made.write(tmp_path))

    assert tables["is_a"].rows() == [("2", "1")]
    assert tables["association"].is_empty()
    assert n_skipped(terminology) == {
        "relation is between atoms": 2,
        "is-a relationship is of an absent concept": 1,
    }


def test_retired_concepts_are_replaced_by_those_that_they_were_merged_to(tmp_path: Path) -> None:
    made = Drugs()
    made.atom("1", "karuxine")
    made.archived("2", "karuxine acid", "1", rxaui="201")
    made.archived("2", "karuxine acid", "1", rxaui="201")
    made.archived("2", "acid of karuxine", "1", rxaui="202", tty="SY")
    made.archived("1", "carouxine", "1", rxaui="203", tty="SY")
    made.archived("1", "carouxin", "2", rxaui="204", tty="SY")
    made.archived("3", "KARUX", "1", rxaui="205", sab="MMSL")
    made.archived("4", "merged into none", "4", rxaui="206")
    made.archived("", "of no concept", "1", rxaui="207")
    _, tables = read_source(made.write(tmp_path))

    assert tables["association"].rows() == [("2", "1", "replaced_by", True)]
    assert tables["concept"].select("concept_id", "active").rows() == [
        ("1", True),
        ("2", False),
        ("4", False),
    ]
    assert names(tables) == [
        ("1", "fsn", "karuxine"),
        ("2", "fsn", "karuxine acid"),
        ("2", "synonym", "acid of karuxine"),
        ("4", "fsn", "merged into none"),
    ]
    (tmp_path / "RXNATOMARCHIVE.RRF").unlink()
    assert read_source(tmp_path)[1]["association"].is_empty()


def test_an_empty_suppress_flag_or_n_means_not_suppressed(tmp_path: Path) -> None:
    made = Drugs()
    made.atom("1", "karuxine", suppress="")
    for child, suppress in (("2", ""), ("3", "N"), ("4", "O")):
        made.relation("1", "RN", child, "isa", suppress=suppress)
    terminology, tables = read_source(made.write(tmp_path))

    assert tables["concept"].select("concept_id", "active").rows() == [("1", True)]
    assert tables["is_a"].rows() == [("2", "1"), ("3", "1")]
    assert n_skipped(terminology) == {
        "relation is suppressed": 1,
        "is-a relationship is of an absent concept": 2,
    }


def test_a_full_release_is_read_without_its_prescribable_part(tmp_path: Path) -> None:
    folder = random_drugs(1).write(tmp_path / "rrf")
    random_drugs(2).write(tmp_path / "prescribe" / "rrf")
    (tmp_path / "Readme_Full_01052026.txt").write_text("")
    with zipfile.ZipFile(tmp_path / "drugs.zip", "w") as archive:
        for path in sorted(tmp_path.rglob("*")):
            if path.suffix in {".RRF", ".txt"}:
                archive.write(path, path.relative_to(tmp_path).as_posix())
    (_, expected), (_, subset) = read_source(folder), read_source(tmp_path / "prescribe")
    terminology, zipped = read_source(tmp_path / "drugs.zip")

    assert f"{terminology.release_date}" == "2026-01-05"
    assert terminology.files[0].name == "rrf/RXNCONSO.RRF"
    assert zipped["description"].equals(expected["description"])
    assert not subset["description"].equals(expected["description"])
    (tmp_path / "drugs.zip").rename(tmp_path / "RxNorm_full_prescribe_02302026.zip")
    dated = read_source(tmp_path / "RxNorm_full_prescribe_02302026.zip")[0]
    assert f"{dated.release_date}" == "2026-01-05"  # no calendar has 30 February


@pytest.mark.parametrize(
    ("file", "row", "said"),
    [
        (
            "RXNCONSO.RRF",
            "|ENG||||||7||||RXNORM|IN|1|x||N||",
            "line 2 has a wrong value (no identifier)",
        ),
        ("RXNREL.RRF", "||CUI|RN|2||CUI||||||||N||", "line 2 has a wrong value (no identifier)"),
        (
            "RXNREL.RRF",
            "1||CUI|RN|2||CUI||||||||Q||",
            "line 2 has a wrong value (the SUPPRESS 'Q', other than N, O, E and Y",
        ),
        ("RXNATOMARCHIVE.RRF", "1|2|", "line 2 has 2 bars; expected 16"),
    ],
)
def test_the_line_at_fault_is_named(tmp_path: Path, file: str, row: str, said: str) -> None:
    path = random_drugs(1).write(tmp_path) / file
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], f"{row}\n", *lines[1:]]))

    with pytest.raises(InputError) as caught:
        read_source(tmp_path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(file)


def test_numbers_of_rxnorm_are_not_identifiers_of_rf2(tmp_path: Path) -> None:
    release = random_drugs(1).write(tmp_path / "rrf")
    written = dict(medsim.convert(release, tmp_path / "rf2.zip").select("table", "rows").rows())
    assert written["simple_map"] == written["concept"] == 48
    again = read_source(tmp_path / "rf2.zip")[1]["concept"]["concept_id"]
    assert again.str.len_chars().min() >= 8
