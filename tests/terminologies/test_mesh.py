"""MeSH in NLM's XML, against records made by hand and a plain reading of invented ones."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path
from xml.dom import minidom

import polars as pl
import pytest
from fixtures.mesh import concept, descriptor, document, relation, supplement, write_mesh
from fixtures.sources import n_skipped, read_source

from medsim.core.errors import InputError


def write(path: Path, *records: str, kind: str = "Descriptor") -> Path:
    path.write_text(document(kind, records), encoding="utf-8")
    return path


FEVER = descriptor(
    "D1",
    "Fever",
    concept("2", ("Hyperthermia of ovens",), preferred=False)
    + concept(
        "1",
        ("Fever", "Pyrexia & heat", "~heat & Pyrexia", "Fever", "Pyrexia & heat", " "),
        preferred=True,
        relations=relation("NRW", "1", "2") + relation("BRD", "1", "3"),
    )
    + concept("3", ("Heat",), preferred=False, relations=relation("NRW", "4", "1"))
    + concept("4", ("Warmth",), preferred=False)
    + concept("5", ("Glow",), preferred=False),
    ["C23.888.119", "C02"],
)


def test_the_terms_of_the_preferred_concept_are_synonyms(tmp_path: Path) -> None:
    terminology, tables = read_source(write(tmp_path / "desc2026.xml", FEVER))

    assert tables["description"].rows() == [
        ("D1", "D1", "Fever", "fsn", True, "en"),
        ("D1/T1.2", "D1", "Pyrexia & heat", "synonym", True, "en"),
        ("D1/T1.2/2", "D1", "heat & Pyrexia", "synonym", True, "en"),
    ]
    assert tables["concept"].rows() == [("D1", True, "", "Diseases")]
    assert n_skipped(terminology) == {
        "description is empty": 1,
        "synonym has another scope": 4,
        "term repeats a name of its record": 2,
        "tree number is below an absent heading": 1,
    }
    assert f"{terminology.release_date}" == "2026-01-01"


@pytest.mark.parametrize(
    ("scope", "texts"),
    [("narrow", ["Hyperthermia of ovens"]), ("broad", ["Heat", "Warmth"]), ("related", ["Glow"])],
)
def test_other_concepts_have_the_scope_of_their_relation(
    tmp_path: Path, scope: str, texts: list[str]
) -> None:
    _, tables = read_source(write(tmp_path / "desc2026.xml", FEVER), synonyms=(scope,))
    assert sorted(tables["description"].filter(kind="synonym")["term"]) == texts


def test_is_a_follows_tree_numbers_and_mapped_headings(tmp_path: Path) -> None:
    headings = [
        descriptor("D1", "Top", "", ["C01", "C01.100.200"]),
        descriptor("D2", "Middle", "", ["C01.100", "F02.5"]),
        descriptor("D3", "Below itself", "", ["C01.100.200.300", "C01.100.200.300.400"]),
        descriptor("D4", "Nowhere", ""),
    ]
    write(tmp_path / "desc2026.xml", *headings)
    write(
        tmp_path / "supp2026.xml",
        supplement("C1", "Rare fever", "", ["*D3", "D1", "*D1"], kind="3"),
        supplement("C2", "Bluine", "", [], kind="9"),
        kind="Supplemental",
    )
    _, tables = read_source(tmp_path)

    assert tables["is_a"].rows() == [
        ("C1", "D1"),
        ("C1", "D3"),
        ("D1", "D2"),
        ("D2", "D1"),
        ("D3", "D1"),
    ]
    assert dict(tables["concept"].select("concept_id", "semantic_tag").rows()) == {
        "C1": "Disease",
        "C2": "",
        "D1": "Diseases",
        "D2": "Diseases",
        "D3": "Diseases",
        "D4": "",
    }


def expected_names(folder: Path) -> set[tuple[str, str, str]]:
    """Return the names in a document that is parsed as a whole."""
    names = set()
    for file, kind, ui in (
        ("desc2026.xml", "Descriptor", "DescriptorUI"),
        ("supp2026.xml", "SupplementalRecord", "SupplementalRecordUI"),
    ):
        tree = minidom.parse(str(folder / file))  # noqa: S318 — the test has made it
        for record in tree.documentElement.childNodes:
            if record.nodeType != record.ELEMENT_NODE:
                continue
            # The first identifier is the record's own; others are of headings.
            concept_id = record.getElementsByTagName(ui)[0].firstChild.data
            named = record.getElementsByTagName(f"{kind}Name")[0]
            name = named.getElementsByTagName("String")[0].firstChild.data
            names.add((concept_id, "fsn", name))
            for element in record.getElementsByTagName("Concept"):
                if element.getAttribute("PreferredConceptYN") == "Y":
                    texts = element.getElementsByTagName("String")
                    names |= {(concept_id, "synonym", text.firstChild.data) for text in texts}
            names.discard((concept_id, "synonym", name))
    return names


@pytest.mark.parametrize("seed", range(3))
def test_invented_records_agree_with_a_plain_reading(tmp_path: Path, seed: int) -> None:
    folder = write_mesh(tmp_path, seed)
    _, tables = read_source(folder)
    rows = tables["description"].select("concept_id", "kind", "term").rows()
    assert len(rows) == len(set(rows))
    assert set(rows) == expected_names(folder)


def test_records_are_read_whole_wherever_chunks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_mesh(tmp_path, 1, n_records=12)
    _, expected = read_source(folder)
    for size in (1, 7, 1000):
        monkeypatch.setattr("medsim.terminologies.sources.mesh._CHUNK_BYTES", size)
        _, tables = read_source(folder)
        for table, frame in expected.items():
            assert tables[table].equals(frame), table


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE x [\n<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;">]>\n<x>&b;</x>'
)
EXTERNAL = (
    '<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<x>&a;</x>'
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "cannot be read (its content is not as expected)"),
        (EXTERNAL, "cannot be read (its content is not as expected)"),
        ("D000001\tCalcimycin\n", "syntax error: line 1"),
        ("<rows>\n</rows>", "outermost element 'rows'; expected DescriptorRecordSet or"),
        (document("Descriptor", [FEVER]).replace("Glow", "Gl\udcff"), "not well-formed (invalid"),
        (document("Descriptor", [FEVER])[:-24], "no element found: line 52"),
        (document("Descriptor", ["&nbsp;"]), "undefined entity &nbsp;: line 4"),
        (document("Descriptor", [FEVER, FEVER]), "two records are 'D1'"),
        (document("Descriptor", [descriptor("", "x", "")]), "a record has no DescriptorUI"),
        (document("Descriptor", [descriptor("D1", " ", "")]), "a record has no DescriptorName"),
        ('<?xml version="1.0" encoding="martian"?>\n<x/>', "unknown encoding"),
    ],
)
def test_faults_of_the_xml_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "desc2026.xml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError) as caught:
        read_source(path)
    assert "desc2026.xml" in str(caught.value)
    assert said in str(caught.value)


def test_one_part_alone_is_read_from_gzip_without_xml_in_its_name(tmp_path: Path) -> None:
    _, expected = read_source(write_mesh(tmp_path / "mesh", 4))
    path = tmp_path / "desc2026.gz"
    path.write_bytes(gzip.compress((tmp_path / "mesh" / "desc2026.xml").read_bytes()))
    _, alone = read_source(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"desc2026\.gz cannot be read"):
        read_source(path)

    headings = expected["concept"].filter(pl.col("concept_id").str.starts_with("D"))
    assert headings.height > 0
    assert alone["concept"].equals(headings)


def test_two_years_side_by_side_are_refused(tmp_path: Path) -> None:
    for year in (2025, 2026):
        write(tmp_path / f"desc{year}.xml", FEVER)
    with pytest.raises(InputError, match=r"desc2025\.xml and desc2026\.xml are the same part"):
        read_source(tmp_path)


def translated(folder: Path, language: str, names: str, terms: str) -> Path:
    """Write a heading as translators publish it, in the file of a language, and return the file."""
    record = (
        f"<DescriptorRecord><DescriptorUI>D000003</DescriptorUI>"
        f"<DescriptorName>{names}</DescriptorName><ConceptList>"
        f'<Concept PreferredConceptYN="Y"><ConceptUI>M0000003</ConceptUI>'
        f"<TermList>{terms}</TermList></Concept></ConceptList></DescriptorRecord>"
    )
    folder.mkdir(exist_ok=True)
    path = folder / f"{language}desc2026.xml"
    text = document("Descriptor", [record]).replace('"eng"', f'"{language}"')
    path.write_text(text, encoding="utf-8")
    return path


def term(identifier: str, text: str, tag: str = "String") -> str:
    return f"<Term><TermUI>{identifier}</TermUI><{tag}>{text}</{tag}></Term>"


ENGLISH_TERMS = term("T000009", "Abattoirs") + term("T000010", "Slaughterhouses")


@pytest.mark.parametrize(
    ("names", "terms"),
    [
        (
            "<String>Schlachth\u00f6fe[Abattoirs]</String>",
            ENGLISH_TERMS
            + term("ger0000003", "Schlachth\u00f6fe")
            + term("ger0000003", "Schlachthoefe")
            + term("ger0027610", "Schlachth\u00e4user"),
        ),
        (
            "<StringDE>Schlachth\u00f6fe</StringDE><StringUS>Abattoirs</StringUS>",
            term("T000009", "Abattoirs", "StringUS")
            + term("T000010", "Slaughterhouses", "StringUS")
            + term("D0000003", "Schlachth\u00f6fe", "StringDE")
            + term("D0000003", "Schlachthoefe", "StringDE")
            + term("D0027610", "Schlachth\u00e4user", "StringDE"),
        ),
    ],
)
def test_names_of_a_translation_have_their_language(tmp_path: Path, names: str, terms: str) -> None:
    path = translated(tmp_path / "de", "ger", names, terms)
    expected = [
        ("de", "fsn", "Schlachth\u00f6fe"),
        ("de", "synonym", "Schlachthoefe"),
        ("de", "synonym", "Schlachth\u00e4user"),
        ("en", "fsn", "Abattoirs"),
        ("en", "synonym", "Slaughterhouses"),
    ]
    for place in (path, path.parent):
        terminology, tables = read_source(place)
        rows = tables["description"].select("language", "kind", "term").sort("language", "kind")
        assert sorted(rows.rows()) == sorted(expected)
        assert tables["description"]["description_id"].n_unique() == 5
        assert terminology.release_date == date(2026, 1, 1)
        assert terminology.redistributable is None
        assert terminology.terms_of_use.endswith("a translation has its publisher's terms of use")


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("Acide [x] y[Acid [x] y]", {"fr": "Acide [x] y", "en": "Acid [x] y"}),
        ("Acid", {"en": "Acid"}),
        ("Acid]", {"en": "Acid]"}),
        ("[Acid]", {"en": "[Acid]"}),
        ("Acide[]", {"fr": "Acide"}),
    ],
)
def test_the_english_name_is_in_the_last_brackets(
    tmp_path: Path, name: str, names: dict[str, str]
) -> None:
    _, tables = read_source(translated(tmp_path, "fre", f"<String>{name}</String>", ""))
    assert dict(tables["description"].select("language", "term").rows()) == names


def test_a_translation_beside_the_original_is_refused(tmp_path: Path) -> None:
    write_mesh(tmp_path, 1)
    translated(tmp_path, "fre", "<String>Acide[Acid]</String>", "")
    with pytest.raises(InputError, match=r"desc2026.xml and fredesc2026.xml are the same part"):
        read_source(tmp_path)
