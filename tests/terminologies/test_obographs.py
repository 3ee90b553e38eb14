"""OBO graphs give what the OBO file of the same release gives."""

from __future__ import annotations

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any, get_args

import pytest
from fixtures.sources import n_skipped, read_source

from medsim.core.errors import InputError
from medsim.core.identifiers import curie
from medsim.terminologies.options import SynonymScope

OBO = r"""format-version: 1.2
data-version: invented/2026-01-31
ontology: invented
property_value: http://purl.org/dc/terms/license https://invented.example/free

[Term]
id: IN:1
name: Alder (red)
synonym: "alderling" EXACT layperson [IN:a]
synonym: "Alders" BROAD []
synonym: "Ærle \"wild\" {red} ! here" RELATED []
xref: DPNL 2003:13063
xref: https://invented.example/alder
xref: MESH:D000001
xref: Wiki:Alder\:red
is_a: IN:2 ! Birch
is_a: Other:7

[Term]
id: IN:2
alt_id: IN:9
name: Birch

[Term]
id: IN:3
name: Cedar
is_obsolete: true
replaced_by: IN:1
consider: IN:2
consider: in_wood:12

[Term]
id: IN:4
name: obsolete in name only
xref: Old:4

[Term]
id: IN:5
name: Elder
synonym: "bourtree" EXACT []
is_a: IN:2

[Term]
id: IN:6
relationship: part_of IN:2

[Term]
id: https://invented.example/ids/7
name: obsolete Dogwood
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""
IN = "http://purl.obolibrary.org/obo/IN_"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
IAO = "http://purl.obolibrary.org/obo/IAO_"


def synonym(scope: str, text: str, **others: object) -> dict[str, object]:
    return {"pred": f"has{scope}Synonym", "val": text, **others}


def properties(**values: str) -> list[dict[str, str]]:
    known = {"replaced": f"{IAO}0100001", "reason": f"{IAO}0000231", "license": "dc:license"}
    return [
        {"pred": known.get(name, f"{OBO_IN_OWL}{name}"), "val": value}
        for name, value in values.items()
    ]


def values(*texts: str) -> list[dict[str, str]]:
    return [{"val": text} for text in texts]


def term(iri: str, label: str, **meta: object) -> dict[str, Any]:
    return {"id": iri, "type": "CLASS", "lbl": label} | ({"meta": meta} if meta else {})


def edge(sub: str, pred: str, obj: str) -> dict[str, str]:
    return {"sub": sub, "pred": pred, "obj": obj}


def graphs() -> list[dict[str, Any]]:
    """Return the ontology of ``OBO`` as two graphs, with the variants that versions have."""
    exact = synonym("Exact", "alderling", synonymType="http://x/layperson", xrefs=["IN:a"])
    red = synonym("Related", 'Ærle "wild" {red} ! here')
    alder = term(
        f"{IN}1",
        "Alder (red)",
        definition={"val": "A tree.", "xrefs": ["IN:a"]},
        synonyms=[red, synonym("Broad", "Alders"), exact, dict(exact)],
        xrefs=values("Wiki:Alder:red", "MESH:D000001", "DPNL 2003:13063")
        + values("https://invented.example/alder"),
    )
    stands_for = properties(replaced=f"{IN}1", consider=f"{IN}2")
    stands_for += properties(consider="http://invented.example/in_wood_12")
    cedar = term(f"{IN}3", "obsolete Cedar", deprecated=True, basicPropertyValues=stands_for)
    into = properties(replaced="IN:2", reason=f"{IAO}0000227")
    merged = term(f"{IN}9", "obsolete Birken", deprecated=True, basicPropertyValues=into)
    nodes: list[dict[str, Any]] = [
        *(alder, term(f"{IN}2", "Birch"), cedar, merged),
        {"id": f"{IN}6", "type": "CLASS"},
        {"id": f"{IN}8", "type": "CLASS"},
        {"id": f"{IN}P", "type": "PROPERTY", "lbl": "part of"},
        {"id": f"{IN}I", "type": "INDIVIDUAL", "lbl": "this tree"},
        {"id": f"{IN}#slim", "lbl": "a slim"},
        {"id": f"{IN}5", "lbl": "Elder", "meta": {"synonyms": [synonym("Exact", "bourtree")]}},
    ]
    edges = [
        edge(f"{IN}1", "is_a", f"{IN}2"),
        edge(f"{IN}1", "is_a", "http://www.other.example/Other_7"),
        edge(f"{IN}1", f"{IN}P", f"{IN}8"),
        edge(f"{IN}P", "subPropertyOf", f"{IN}P"),
        edge(f"{IN}5", "is_a", f"{IN}2"),
    ]
    only = [edge(f"{IN}6", f"{IN}P", f"{IN}2")]
    old = properties(hasDbXref="http://old.example/x/Old_4")
    dogwood = [{"pred": "http://www.w3.org/2002/07/owl#deprecated", "val": "true"}]
    more = [
        term(f"{IN}4", "obsolete in name only", basicPropertyValues=old),
        term("https://invented.example/ids/7", "Obsolete Dogwood", basicPropertyValues=dogwood),
    ]
    licence = properties(license="https://invented.example/free")
    version = "http://invented.example/releases/2026-01-31/in.owl"
    first = {
        "id": "http://invented.example/in.owl",
        "meta": {"version": version, "basicPropertyValues": licence},
        "nodes": nodes,
        "edges": edges,
        "domainRangeAxioms": [{"predicateId": f"{IN}P", "allValuesFromEdges": only}],
        "logicalDefinitionAxioms": [{"definedClassId": f"{IN}1"}],
    }
    return [first, {"nodes": more}]


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_obo_graphs_and_obo_give_the_same_tables(tmp_path: Path) -> None:
    (tmp_path / "in.obo").write_text(OBO, encoding="utf-8")
    write(tmp_path / "in.json", {"meta": {}, "graphs": graphs()})

    obo, tables = read_source(tmp_path / "in.obo", synonyms=get_args(SynonymScope))
    graph, from_graph = read_source(tmp_path / "in.json", synonyms=get_args(SynonymScope))

    for table, frame in tables.items():
        assert from_graph[table].rows() == frame.rows(), table
        assert frame.height > 1
    assert graph.release_date == obo.release_date == date(2026, 1, 31)
    assert graph.terms_of_use == obo.terms_of_use
    assert n_skipped(graph) == {
        "id of a term that was merged into another": 1,
        "malformed xref": 1,
        "association is of an absent concept": 1,
        "is-a relationship is of an absent concept": 1,
    }
    exact = read_source(tmp_path / "in.json")[1]["description"]
    assert exact.rows() == read_source(tmp_path / "in.obo")[1]["description"].rows()


@pytest.mark.parametrize(
    ("iri", "expected"),
    [
        ("http://purl.obolibrary.org/obo/HP_0000001", "HP:0000001"),
        ("http://www.orpha.net/ORDO/Orphanet_5", "Orphanet:5"),
        ("http://purl.obolibrary.org/obo/in_wood_12", "in_wood:12"),
        ("http://purl.obolibrary.org/obo/in_wood_x", "http://purl.obolibrary.org/obo/in_wood_x"),
        ("http://purl.obolibrary.org/obo/ONT#_7", "ONT:7"),
        ("http://purl.obolibrary.org/obo/ont#part_of", "part_of"),
        ("http://www.w3.org/2002/07/owl#Thing", "owl:Thing"),
        ("http://x.example/IN_a%20b", "IN:a b"),
        ("https://x.example/ids/7", "https://x.example/ids/7"),
        ("HP:0000001", "HP:0000001"),
        ("in_wood", "in_wood"),
    ],
)
def test_an_iri_has_the_identifier_of_obo(iri: str, expected: str) -> None:
    assert curie(iri) == expected


@pytest.mark.parametrize(("text", "n_odd"), [("TRUE", 0), (" true ", 0), ("since 2020", 1)])
def test_any_text_retires_a_term_and_a_substitute_may_have_another_name(
    tmp_path: Path, text: str, n_odd: int
) -> None:
    retired = properties(replacedBy=f"{IN}2")
    retired.append({"pred": "http://www.w3.org/2002/07/owl#deprecated", "val": text})
    other = [{"pred": "http://www.w3.org/2002/07/owl#deprecated", "val": "False"}]
    nodes = [
        term(f"{IN}1", "old", basicPropertyValues=retired),
        term(f"{IN}2", "new", basicPropertyValues=other),
    ]
    terminology, tables = read_source(write(tmp_path / "in.json", {"graphs": [{"nodes": nodes}]}))
    assert tables["concept"]["active"].to_list() == [False, True]
    assert tables["association"].rows() == [("IN:1", "IN:2", "replaced_by", True)]
    assert sum(n_skipped(terminology).values()) == n_odd


def node(**changes: object) -> str:
    return json.dumps({"graphs": [{"nodes": [{"id": "IN:1", "type": "CLASS", **changes}]}]})


DEEP = '{"graphs": [{"nodes": [{"id": "IN:1", "type": "CLASS", "meta": %s}]}]}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"graphs": [\n{]}', "Expecting property name enclosed in double quotes: line 2"),
        ('{"graphs": []}', "has no node that is a class"),
        ('{"graphs": 7}', "its content is not as expected"),
        ('{"graphs": [[]]}', "its content is not as expected"),
        ('{"graphs": [{"edges": [{"pred": "is_a"}]}]}', "(its content is not as expected)"),
        ('{"graphs": [{"nodes": [{"type": "CLASS"}]}]}', "(its content is not as expected)"),
        (node(lbl=7), "its content is not as expected"),
        (node(lbl="\ud800"), "surrogates not allowed"),
        (node(meta=["x"]), "its content is not as expected"),
        (node(meta={"synonyms": [synonym("Odd", "x")]}), "a synonym with the 'pred' 'hasOdd"),
        (node(meta={"xrefs": ["MESH:D1"]}), "its content is not as expected"),
        (f'{{"graphs": [{"9" * 5000}]}}', "its content is not as expected"),
        (DEEP % ("[" * 100_000 + "]" * 100_000), "nested too deeply"),
        (b'{"graphs":\n [\n"\xff"]}', "line 3 is not UTF-8: byte 0xff"),
    ],
    ids=range(14),
)
def test_other_json_is_refused_in_one_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = tmp_path / "in.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    with pytest.raises(InputError) as error:
        read_source(path)

    assert str(path) in str(error.value)
    assert said in str(error.value)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 300 + len(str(path))


def test_a_file_is_recognised_by_its_content(tmp_path: Path) -> None:
    packed = tmp_path / "in.gz"
    packed.write_bytes(gzip.compress(("\ufeff" + json.dumps({"graphs": graphs()})).encode()))
    other = write(tmp_path / "other.json", {"nodes": graphs()})
    (tmp_path / "torn.gz").write_bytes(packed.read_bytes()[:20])

    assert read_source(packed)[0].source == "obographs"
    with pytest.raises(InputError, match=r"in no format .* OBO graphs \(\.json"):
        read_source(other)
    with pytest.raises(InputError, match=r"torn\.gz is packed by gzip; unpack it"):
        read_source(tmp_path / "torn.gz")
