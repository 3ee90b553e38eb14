"""Code systems of FHIR, and the concept maps beside them."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fixtures.sources import n_skipped, read_source

import medsim
from medsim.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://invented.example/CodeSystem/trees"
PROPERTIES = "http://hl7.org/fhir/concept-properties#"
STANDARDS_STATUS = "http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status"
SYNONYM = {"system": "http://snomed.info/sct", "code": "900000000000013009"}
MAIN = {"code": "preferredForLanguage"}


def designation(value: str, language: str | None = None, use: object = None) -> dict[str, Any]:
    item = {"value": value, "language": language, "use": use}
    return {key: part for key, part in item.items() if part is not None}


def system(**changes: object) -> dict[str, Any]:
    """Return a code system with every part that is read."""
    birch = {
        "code": "b",
        "display": "Birch ",
        "designation": [
            designation("silver birch", use=SYNONYM),
            designation("Birch", "en-GB"),
            designation("white birch", "en"),
            designation("Weißbirke", "de-CH", SYNONYM),
            designation("Birke", "de-CH", MAIN),
            designation("Sandbirke", "de", MAIN),
            designation("alternative", use={"display": "Alternative term"}),
        ],
        "concept": [{"code": "d", "display": "Downy birch"}],
    }
    old = {
        "code": "o",
        "display": "Old birch",
        "property": [
            {"code": "state", "valueCode": "Retired"},
            {"code": "broader", "valueCode": "a"},
            {"code": "child", "valueCode": "d"},
            {"code": "alias", "valueCode": "b"},
            {"code": "inactive", "valueBoolean": False},
        ],
        "extension": [
            {
                "url": "http://hl7.org/fhir/StructureDefinition/codesystem-replacedby",
                "valueCoding": {"code": "b"},
            }
        ],
    }
    flags = [
        {"code": "i", "display": "Iron", "property": [{"code": "inactive", "valueBoolean": True}]},
        {"code": "x", "display": "", "property": [{"code": "deprecated", "valueDateTime": "2020"}]},
        {"display": "a concept without a code"},
    ]
    return {
        "resourceType": "CodeSystem",
        "url": URL,
        "date": "2026-01-31T10:00:00Z",
        "copyright": "free to use",
        "content": "complete",
        "property": [
            {"code": "state", "uri": f"{PROPERTIES}status"},
            {"code": "broader", "uri": f"{PROPERTIES}parent"},
            {"code": "alias", "uri": f"{PROPERTIES}synonym"},
            {"code": "replaced"},
        ],
        "concept": [{"code": "a", "display": "Tree", "concept": [birch]}, old, *flags],
    } | changes


def concept_map(*targets: tuple[str, str, str], **group: object) -> dict[str, Any]:
    """Return a concept map of source code, relation and target code."""
    elements = [
        {
            "code": code,
            "target": [{"code": target, "relationship": relation, "equivalence": relation}],
        }
        for code, relation, target in targets
    ]
    groups = [{"source": f"{URL}|1.0", "target": URL, "element": elements} | group]
    return {"resourceType": "ConceptMap", "copyright": "map's own", "group": groups}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def packed(path: Path, files: dict[str, object]) -> Path:
    """Write a package of FHIR, a packed tar."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            text = json.dumps(content).encode()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    return path


def test_every_part_of_a_code_system_is_read(tmp_path: Path) -> None:
    terminology, tables = read_source(write(tmp_path / "trees.json", system()))

    assert tables["concept"].select("concept_id", "active").rows() == [
        ("a", True),
        ("b", True),
        ("d", True),
        ("i", False),
        ("o", False),
        ("x", False),
    ]
    names = tables["description"].select("concept_id", "language", "kind", "term")
    assert sorted(names.filter(concept_id="b").rows()) == [
        ("b", "de", "fsn", "Birke"),
        ("b", "de", "synonym", "Sandbirke"),
        ("b", "de", "synonym", "Weißbirke"),
        ("b", "en", "fsn", "Birch"),
        ("b", "en", "synonym", "alternative"),
        ("b", "en", "synonym", "silver birch"),
        ("b", "en", "synonym", "white birch"),
    ]
    assert tables["description"].height == 7 + 4
    assert tables["is_a"].rows() == [("b", "a"), ("d", "b"), ("d", "o"), ("o", "a")]
    assert tables["association"].rows() == [
        ("o", "b", "replaced_by", True),
        ("o", "b", "same_as", True),
    ]
    assert terminology.release_date == date(2026, 1, 31)
    assert terminology.vocabulary == URL
    assert terminology.terms_of_use == "as stated by the code system: free to use"
    assert (terminology.warnings, terminology.redistributable) == ((), None)
    assert n_skipped(terminology) == {
        "concept has no code": 1,
        "description is empty": 1,
        "description is repeated": 1,
    }


@pytest.mark.parametrize(
    ("concept", "is_active"),
    [
        ({"property": [{"code": "status", "valueCode": "D"}]}, False),  # as HL7 v2 has it
        ({"property": [{"code": "status", "valueCode": "R"}]}, False),
        ({"property": [{"code": "status", "valueCode": "A"}]}, True),
        ({"extension": [{"url": STANDARDS_STATUS, "valueCode": "deprecated"}]}, False),
        ({"extension": [{"url": STANDARDS_STATUS, "valueCode": "trial-use"}]}, True),
    ],
)
def test_a_status_retires_a_concept(
    tmp_path: Path, concept: dict[str, Any], *, is_active: bool
) -> None:
    concepts = [{"code": "a", "display": "Alder"}, {"code": "b", "display": "Birch"} | concept]
    _, tables = read_source(write(tmp_path / "trees.json", system(concept=concepts)))
    assert tables["concept"]["active"].to_list() == [True, is_active]


def test_the_language_and_the_hierarchy_are_those_of_the_code_system(tmp_path: Path) -> None:
    changes = {"language": "nl-NL", "hierarchyMeaning": "part-of", "url": "http://snomed.info/sct"}
    changes |= {"version": "2026-02-01", "date": None, "copyright": None, "content": "fragment"}
    terminology, tables = read_source(write(tmp_path / "trees.json", system(**changes)))

    assert set(tables["description"]["language"]) == {"nl", "en", "de"}
    assert tables["is_a"].rows() == [("d", "o"), ("o", "a")]
    assert n_skipped(terminology)["hierarchy is not of is-a relationships"] == 2
    assert terminology.vocabulary == "SNOMEDCT_US"
    assert terminology.release_date == date(2026, 2, 1)
    assert terminology.terms_of_use == "the file names no licence"
    part = "trees.json has only a part of the code system http://snomed.info/sct"
    assert terminology.warnings == (f"{part} (its content is fragment)",)


@pytest.mark.parametrize("form", ["folder", "zip", "tgz", "with"])
def test_concept_maps_beside_a_code_system_are_read(tmp_path: Path, form: str) -> None:
    within = concept_map(
        ("o", "equal", "b"), ("i", "equivalent", "b"), ("i", "inexact", "d"), ("i", "wider", "a")
    )
    to_snomed = concept_map(
        ("b", "equivalent", "123"),
        ("b", "source-is-narrower-than-target", "124"),
        ("zz", "equivalent", "125"),
        target="http://snomed.info/sct",
    )
    back = concept_map(("77", "equivalent", "d"), source="https://other.example/cs")
    unmapped = {"resourceType": "ConceptMap"}
    files = {
        "CodeSystem-trees.json": system(),
        "ConceptMap-within.json": within,
        "ConceptMap-out.json": {
            "resourceType": "Bundle",
            "entry": [{"resource": to_snomed}, {"resource": back}, {"resource": unmapped}],
        },
    }
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, content in files.items():
        write(folder / name, content)
    options = {}
    if form == "zip":
        location = tmp_path / "trees.zip"
        with zipfile.ZipFile(location, "w") as archive:
            for name in files:
                archive.write(folder / name, name)
    elif form == "tgz":
        location = packed(tmp_path / "package.tgz", {"package.json": {"name": "x"}, **files})
    else:
        location = folder
    if form == "with":
        location = folder / "CodeSystem-trees.json"
        options = {"extensions": [folder / name for name in list(files)[1:]]}

    terminology, tables = read_source(location, **options)

    assert tables["association"].rows() == [
        ("i", "b", "same_as", True),
        ("i", "d", "possibly_equivalent_to", True),
        ("o", "b", "replaced_by", True),
        ("o", "b", "same_as", True),
    ]
    assert tables["code"].rows() == [
        ("b", "SNOMEDCT_US", "123"),
        ("d", "https://other.example/cs", "77"),
    ]
    assert len(terminology.files) == 3
    assert terminology.terms_of_use.count("map's own") == 2
    counts = [n for why, n in n_skipped(terminology).items() if why.startswith("mapping ")]
    assert sorted(counts) == [1, 1, 1]


def test_a_bundle_with_one_code_system_is_read(tmp_path: Path) -> None:
    others = [{"resource": {"resourceType": "ValueSet"}}, {"resource": system()}]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": others}
    read = read_source(write(tmp_path / "bundle.json", bundle))[1]
    expected = read_source(write(tmp_path / "trees.json", system()))[1]
    for table, frame in expected.items():
        assert read[table].equals(frame), table


def test_a_german_build_keeps_its_promises(tmp_path: Path) -> None:
    location = write(tmp_path / "trees.json", system())
    build = medsim.build(location, tmp_path / "out", language="de", negatives=["random"], threads=1)
    pairs = build.pairs()
    assert {"Birke", "Sandbirke", "Weißbirke"} <= {*pairs["term1"], *pairs["term2"]}
    assert medsim.verify(build, threads=1).holds


def text_of(**changes: object) -> str:
    return json.dumps(system(**changes))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"resourceType": "CodeSystem",\n "url": }', "line 2"),
        (
            text_of(content="not-present", concept=None),
            "has no concepts of its own .*content is not-present",
        ),
        (text_of(content="supplement"), "has no concepts of its own .*content is supplement"),
        (
            json.dumps({"resourceType": "Bundle", "entry": [{"resource": system()}] * 2}),
            f"needs one code system, but has {URL} and {URL}",
        ),
        ('{"resourceType": "Bundle"}', "needs one code system, but has none"),
        ('{"resourceType": "Bundle", "entry": [{"fullUrl": "x"}, {}]}', "but has none"),
        (
            json.dumps({"resourceType": "Bundle", "entry": [{"resource": system(url=None)}] * 2}),
            "needs one code system, but has one without url and one without url",
        ),
        ('{"resourceType": "Bundle", "entry": [{"resource": "CodeSystem"}]}', "cannot be read"),
        (
            '{"resourceType": "CodeSystem", "concept": 7}',
            "the code system without url has no concepts of its own .its content is not stated",
        ),
        (text_of(concept=7), "has no concepts of its own"),
        (text_of(concept=["x", [], None]), "has no concepts of its own"),
        (text_of(copyright="\ud800"), "surrogates not allowed"),
        (text_of(x=float("nan")), "not JSON compliant"),
        ('{"resourceType": "CodeSystem", "x": ' + "[" * 100_000 + "]" * 100_000, "too deeply"),
    ],
    ids=range(14),
)
def test_other_json_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "trees.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said) as error:
        read_source(path)
    assert "\n" not in str(error.value)
    assert "trees.json" in str(error.value)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize("missing", ["url", "content"])
def test_a_code_system_may_lack_its_address_or_its_content(tmp_path: Path, missing: str) -> None:
    whole = read_source(write(tmp_path / "whole.json", system()))[1]
    content = {key: value for key, value in system(version=7).items() if key != missing}
    terminology, tables = read_source(write(tmp_path / "part.json", content))
    assert terminology.vocabulary == (None if missing == "url" else URL)
    assert terminology.warnings == ()
    for table, frame in whole.items():
        assert tables[table].equals(frame), table


@pytest.mark.parametrize("root", ["CodeSystem", "Bundle"])
def test_fhir_in_xml_is_refused_in_words(tmp_path: Path, root: str) -> None:
    path = tmp_path / f"{root}.xml"
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- a comment -->\n'
    path.write_text(f'{head}<{root} xmlns="http://hl7.org/fhir"><id value="x"/></{root}>')
    with pytest.raises(InputError, match=r"is FHIR in XML, which is not read; give its JSON form"):
        read_source(path)
    path.write_text(f"<{root}/>")
    with pytest.raises(InputError, match="expected DescriptorRecordSet"):
        read_source(path)


@pytest.mark.parametrize("make", [lambda folder: folder, None])
def test_several_code_systems_are_listed(
    tmp_path: Path, make: Callable[[Path], Path] | None
) -> None:
    names = [f"CodeSystem-{name}.json" for name in "abcd"]
    location = tmp_path
    if make:
        for name in names:
            write(tmp_path / name, system())
    else:
        location = packed(tmp_path / "package.tgz", dict.fromkeys(names, system()))
    said = r"has (package/)?CodeSystem-a\.json, .*CodeSystem-c\.json and 1 more; (unpack|give)"
    with pytest.raises(InputError, match=said):
        read_source(location)
