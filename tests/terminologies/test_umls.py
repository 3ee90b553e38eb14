"""UMLS in its Rich Release Format, against rows made by hand and a plain reading in Python."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fixtures.sources import n_skipped, read_source
from fixtures.umls import Metathesaurus, random_metathesaurus, write_rrf
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError


def names(tables: dict[str, pl.DataFrame]) -> list[tuple[str, ...]]:
    columns = ["concept_id", "language", "kind", "term"]
    return tables["description"].select(columns).sort(columns).rows()


def test_equal_names_of_a_concept_count_once_with_the_best_atom(tmp_path: Path) -> None:
    made = Metathesaurus()
    made.atom("C1", "Fever", best="S VO N", aui="A1")
    made.atom("C1", " Fever", best="P PF Y", aui="A2", sab="OMIM")
    made.atom("C1", "fever", best="S PF Y", aui="A3")
    terminology, tables = read_source(made.write(tmp_path))

    rows = tables["description"].select("description_id", "term", "kind").rows()
    assert rows == [("A2", "Fever", "fsn"), ("A3", "fever", "synonym")]
    assert n_skipped(terminology) == {"atom repeats a name of its concept": 1}


def test_obsolete_names_are_read_only_if_a_concept_has_no_other(tmp_path: Path) -> None:
    made = Metathesaurus()
    made.atom("C1", "fever")
    made.atom("C1", "old fever", suppress="O")
    made.atom("C1", "edited fever", suppress="E")
    made.atom("C2", "retired fever", suppress="O")
    made.atom("C2", "abbreviated fever", suppress="Y")
    terminology, tables = read_source(made.write(tmp_path))

    assert tables["concept"].select("concept_id", "active").rows() == [("C1", True), ("C2", False)]
    assert names(tables) == [("C1", "en", "fsn", "fever"), ("C2", "en", "fsn", "retired fever")]
    assert tables["description"]["active"].all()
    assert n_skipped(terminology) == {"atom is obsolete": 1, "atom is suppressed": 2}


def test_vocabularies_choose_names_but_not_codes(tmp_path: Path) -> None:
    made = Metathesaurus()
    made.atom("C1", "fever", sab="MTH", best="P PF Y", code="1")
    made.atom("C1", "Fever [MeSH]", sab="MSH", best="S PF Y", code="D1")
    made.atom("C1", "pyrexia", sab="SNOMEDCT_US", best="S VO N", code="386661006")
    made.atom("C2", "only in OMIM", sab="OMIM", code="NOCODE")
    made.atom("C2", "of the source", sab="SRC", code="V-OMIM")
    made.atom("C2", "obsolete", sab="OMIM", code="111", suppress="O")
    made.write(tmp_path)

    terminology, tables = read_source(tmp_path, vocabularies=("SNOMEDCT_US", "MSH"))
    assert names(tables) == [
        ("C1", "en", "fsn", "Fever [MeSH]"),
        ("C1", "en", "synonym", "pyrexia"),
    ]
    assert n_skipped(terminology) == {"atom is of another vocabulary": 3, "atom is obsolete": 1}
    codes = [("C1", "MSH", "D1"), ("C1", "SNOMEDCT_US", "386661006")]
    assert tables["code"].rows() == codes
    assert read_source(tmp_path)[1]["code"].rows() == codes
    with pytest.raises(OptionError, match="unknown vocabulary 'MHS'; did you mean MTH or MSH"):
        read_source(tmp_path, vocabularies=("MHS",))


def test_relations_are_read_in_their_direction(tmp_path: Path) -> None:
    made = Metathesaurus()
    made.atom("C1", "fever")
    for rel, cui1, cui2 in [("PAR", "C1", "C2"), ("RB", "C3", "C4"), ("CHD", "C6", "C5")]:
        made.relation(cui1, rel, cui2)
    made.relation("C8", "RN", "C7")
    made.relation("C2", "CHD", "C1")
    made.relation("C1", "SIB", "C9")
    made.relation("C1", "PAR", "C1")
    made.relation("C1", "PAR", "C9", suppress="O")
    made.relation("new", "RO", "old", "replaced_by")
    made.relation("C1", "SY", "C2", "same_as")
    made.relation("C1", "RQ", "C2", "possibly_equivalent_to")
    made.relation("C1", "SY", "C1", "same_as")
    terminology, tables = read_source(made.write(tmp_path))

    assert tables["is_a"].rows() == [("C1", "C2"), ("C3", "C4"), ("C5", "C6"), ("C7", "C8")]
    assert tables["association"].rows() == [
        ("C2", "C1", "possibly_equivalent_to", True),
        ("C2", "C1", "same_as", True),
        ("C2", "C1", "synonymous", True),
        ("old", "new", "replaced_by", True),
    ]
    assert n_skipped(terminology) == {
        "relation is suppressed": 1,
        "association is of an absent concept": 4,
        "is-a relationship is of an absent concept": 4,
    }


def test_the_semantic_type_is_that_of_the_smallest_identifier(tmp_path: Path) -> None:
    made = Metathesaurus()
    made.atom("C1", "fever")
    made.atom("C2", '"Quoted" cough\tback\\slash NULL')  # names are unchanged
    made.type("C1", "T184", "Sign or Symptom")
    made.type("C1", "T033", "Finding")
    made.write(tmp_path)

    tables = read_source(tmp_path)[1]
    assert tables["concept"]["semantic_tag"].to_list() == ["Finding", ""]
    assert names(tables)[1][3] == '"Quoted" cough\tback\\slash NULL'
    (tmp_path / "MRSTY.RRF").unlink()
    assert read_source(tmp_path)[1]["concept"]["semantic_tag"].to_list() == ["", ""]


def expected_names(made: Metathesaurus) -> list[tuple[str, ...]]:
    """Return the names by the rules, read row by row."""
    atoms = [row.split("|") for row in made.atoms]
    names = []
    for cui in {atom[0] for atom in atoms}:
        of_concept = [atom for atom in atoms if atom[0] == cui]
        wanted = "N" if any(atom[16] == "N" for atom in of_concept) else "O"
        for lat, language in (("ENG", "en"), ("SPA", "es")):
            kept = [atom for atom in of_concept if atom[16] == wanted and atom[1] == lat]
            kept.sort(key=lambda a: (a[2] != "P", a[4] != "PF", a[6] != "Y", a[7]))
            texts = list(dict.fromkeys(atom[14].strip() for atom in kept))
            names += [
                (cui, language, "synonym" if place else "fsn", text)
                for place, text in enumerate(texts)
            ]
    return sorted(names)


@pytest.mark.parametrize("seed", range(4))
def test_random_releases_agree_with_a_plain_reading(tmp_path: Path, seed: int) -> None:
    made = random_metathesaurus(seed)
    _, tables = read_source(made.write(tmp_path))

    assert names(tables) == expected_names(made)
    is_a = set()
    for row in made.relations:
        cui1, _, _, rel, cui2 = row.split("|")[:5]
        if rel in {"PAR", "RB"}:
            is_a.add((cui1, cui2))
        if rel in {"CHD", "RN"}:
            is_a.add((cui2, cui1))
    assert tables["is_a"].rows() == sorted(is_a)


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (
            "MRCONSO.RRF",
            lambda row: row.replace(b"|", b"", 1),
            "line 2 has 17 bars; expected 18",
        ),
        ("MRREL.RRF", lambda row: b"x|" + row, "line 2 has 17 bars; expected 16"),
        (
            "MRCONSO.RRF",
            lambda row: row.replace(b"A0000002", b""),
            "line 2 has a wrong value (no identifier)",
        ),
        (
            "MRREL.RRF",
            lambda row: row[row.index(b"|") :],
            "line 2 has a wrong value (no identifier)",
        ),
        (
            "MRREL.RRF",
            lambda row: row.replace(b"|N|", b"|Q|"),
            "line 2 has a wrong value (the SUPPRESS 'Q', other than N",
        ),
        ("MRCONSO.RRF", lambda row: b"\xff" + row, "line 2 is not UTF-8: byte 0xff"),
        ("MRCONSO.RRF", lambda row: row[:10] + b"\r" + row[10:], "line 2 has a carriage return"),
        ("MRCONSO.RRF", lambda row: row.replace(b"A0000002", b"A0000001"), "of the AUI 'A0000001'"),
    ],
)
def test_the_line_at_fault_is_named(
    tmp_path: Path, file: str, change: Callable[[bytes], bytes], said: str
) -> None:
    path = random_metathesaurus(1).write(tmp_path) / file
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = change(lines[1])
    path.write_bytes(b"".join(lines))

    with pytest.raises(InputError) as caught:
        read_source(tmp_path)
    assert said in str(caught.value)
    assert file in str(caught.value)


def split_in(path: Path, form: str) -> None:
    """Split a file within a row, into parts that are packed each, packed together, or plain."""
    content = path.read_bytes()
    content = gzip.compress(content) if form == "together" else content
    middle = len(content) // 2
    for letter, part in zip("ab", (content[:middle], content[middle:]), strict=True):
        packed = gzip.compress(part) if form == "each" else part
        ending = "" if form == "plain" else ".gz"
        path.with_name(f"{path.name}.a{letter}{ending}").write_bytes(packed)
    path.unlink()


@pytest.mark.some(3)
@pytest.mark.parametrize("form", ["each", "together", "plain"])
@pytest.mark.parametrize("archive", ["folder", "zip", "nlm"])
def test_files_in_parts_are_read_as_one(tmp_path: Path, form: str, archive: str) -> None:
    expected = read_source(random_metathesaurus(1).write(tmp_path / "whole"))
    folder = random_metathesaurus(1).write(tmp_path / "parts" / "META")
    split_in(folder / "MRCONSO.RRF", form)
    split_in(folder / "MRREL.RRF", form)
    place = folder
    if archive != "folder":
        place = tmp_path / "release" / f"2026aa-1-meta.{archive}"
        place.parent.mkdir()
        firsts = set(folder.glob("*.aa*"))
        for number, files in enumerate((firsts, {*folder.iterdir()} - firsts), 1):
            path = place.with_name(f"2026aa-{number if archive == 'nlm' else 1}-meta.{archive}")
            with zipfile.ZipFile(path, "a") as packed:
                for file in sorted(files):
                    packed.write(file, f"2026AA/META/{file.name}")
        place = place.parent if archive == "nlm" else place

    terminology, tables = read_source(place)

    for name, table in tables.items():
        assert table.equals(expected[1][name]), name
    names = {Path(file.name).name: file.sha256 for file in terminology.files}
    assert names == {file.name: file.sha256 for file in expected[0].files}


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    random_metathesaurus(1).write(tmp_path)
    split_in(tmp_path / "MRCONSO.RRF", "each")
    last = (tmp_path / "MRCONSO.RRF.ab.gz").rename(tmp_path / "MRCONSO.RRF.ac.gz")
    with pytest.raises(InputError, match=r"has MRCONSO\.RRF\.ac\.gz, but not MRCONSO\.RRF\.ab"):
        read_source(tmp_path)
    last.unlink()
    with pytest.raises(InputError, match="has no line end; is the file cut short"):
        read_source(tmp_path)


def test_archives_in_the_archive_of_a_release_must_be_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "umls-2026AA-full.zip", "w") as archive:
        archive.writestr("2026AA-full/2026aa-1-meta.nlm", b"PK")
        archive.writestr("2026AA-full/README.html", b"")
    with pytest.raises(InputError, match=r"2026aa-1-meta\.nlm; unpack it, and give the folder"):
        read_source(tmp_path / "umls-2026AA-full.zip")


@pytest.mark.parametrize("name", ["MRCONSO.RRF", "MRCONSO.RRF.gz", "META"])
def test_names_alone_give_concepts_without_parents(tmp_path: Path, name: str) -> None:
    folder = random_metathesaurus(1).write(tmp_path / "META")
    expected = read_source(folder)[1]["description"]
    for file in ("MRREL.RRF", "MRSTY.RRF"):
        (folder / file).unlink()
    place = folder if name == "META" else folder / name
    if name.endswith(".gz"):
        place.write_bytes(gzip.compress((folder / "MRCONSO.RRF").read_bytes()))

    _, tables = read_source(place)

    assert tables["description"].equals(expected)
    assert tables["is_a"].is_empty()
    assert tables["association"].is_empty()
    out = str(tmp_path / "out.zip")
    result = CliRunner().invoke(app, ["convert", str(place), "-o", out])
    assert f"{name} has no MRREL.RRF, so no parents or associations" in result.stderr


def test_retired_concepts_have_their_replacements_but_no_pairs(tmp_path: Path) -> None:
    made = random_metathesaurus(2)
    made.write(tmp_path / "META")
    before = medsim.build(tmp_path / "META", tmp_path / "before", negatives=["random"])
    rows = [
        "C0000001|1993AA|SY|||C0000002|Y",  # it has names again
        "C9000001|1993AA|SY|||C0000002|Y",
        "C9000001|1994AA|SY|||C0000002|Y",
        "C9000002|2001AB|RB|||C0000003|Y",
        "C9000002|2001AB|RN|||C0000004|Y",
        "C9000002|2001AB|RO|||C9999999|Y",  # not in this release
        "C9000003|2020AA|DEL||||",
    ]
    write_rrf(tmp_path / "META", {"MRCUI.RRF": rows})

    build = medsim.build(tmp_path / "META", tmp_path / "out", negatives=["random"])

    concept = build.table("concept").collect().filter(pl.col("concept_id") > "C9")
    assert concept.select("concept_id", "active").rows() == [
        ("C9000001", False),
        ("C9000002", False),
        ("C9000003", False),
    ]
    association = build.table("association").collect().filter(pl.col("source_id") > "C9")
    assert association.rows() == [
        ("C9000001", "C0000002", "replaced_by", True),
        ("C9000002", "C0000003", "possibly_equivalent_to", True),
        ("C9000002", "C0000004", "possibly_equivalent_to", True),
        ("C9000002", "C9999999", "possibly_equivalent_to", True),
    ]
    terminology, _ = read_source(tmp_path / "META")
    assert n_skipped(terminology)["association is of an absent concept"] == 1
    assert_frame_equal(build.pairs(), before.pairs())
