"""OWL in RDF and databases of semantic-sql give what the OBO file gives; thesauri are read too."""

from __future__ import annotations

import gzip
import re
import shutil
import sqlite3
import sys
import zipfile
from contextlib import closing
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from fixtures.sources import n_skipped, read_source

import medsim
from medsim.core.errors import InputError
from medsim.terminologies.options import SynonymScope

OBO = r"""format-version: 1.2
data-version: invented/2026-01-31
import: http://invented.example/other.owl
ontology: invented
property_value: http://purl.org/dc/terms/license https://invented.example/free

[Term]
id: IN:1
name: Alder (red)
synonym: "alder of reds" NARROW []
synonym: "alderling" EXACT layperson [IN:a]
synonym: "Alders" BROAD []
synonym: "Ærle \"wild\" {red} ! here" RELATED []
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

[Term]
id: IN:5
is_a: IN:2
"""

PREFIXES = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix IN: <http://purl.obolibrary.org/obo/IN_> .
"""

TURTLE = (
    PREFIXES
    + r"""
<http://invented.example/in.owl> a owl:Ontology ;
  owl:versionIRI <http://invented.example/releases/2026-01-31/in.owl> ;
  owl:imports <http://invented.example/other.owl> ;
  dct:license <https://invented.example/free> .
IN:1 a owl:Class ; rdfs:label "Alder (red)", "Alder (red)"@en ; skos:prefLabel "Alder (red)" ;
  oio:hasExactSynonym "alderling" ; oio:hasBroadSynonym "Alders" ; oio:id "IN:1" ;
  oio:hasRelatedSynonym "Ærle \"wild\" {red} ! here" ; oio:hasNarrowSynonym "alder of reds" ;
  skos:hiddenLabel "hidden" ; skos:exactMatch <http://id.nlm.nih.gov/mesh/D2> ;
  oio:hasDbXref "MESH:D000001", "Wiki:Alder:red", "Wiki" ;
  rdfs:subClassOf IN:2, obo:Other_7, owl:Thing, [ a owl:Restriction ; owl:onProperty obo:part_of ] .
[] a owl:Axiom ; owl:annotatedSource IN:1 ; owl:annotatedProperty oio:hasExactSynonym ;
  owl:annotatedTarget "alderling" ; oio:hasDbXref "IN:a" .
IN:2 a owl:Class ; rdfs:label "Birch"@en .
IN:3 a owl:Class ; rdfs:label "obsolete Cedar" ; owl:deprecated true ;
  obo:IAO_0100001 IN:1 ; oio:consider "IN:2" .
IN:4 a owl:Class .
IN:5 rdfs:subClassOf IN:2 .
IN:9 a owl:Class ; rdfs:label "Birken" ; owl:deprecated true ;
  obo:IAO_0100001 IN:2 ; obo:IAO_0000231 obo:IAO_0000227 .
obo:part_of a owl:ObjectProperty ; rdfs:label "part of" .
IN:7 a owl:NamedIndividual ; rdfs:label "this tree" .
"""
)

THESAURUS = (
    PREFIXES
    + """
@base <http://invented.example/t/> .
<scheme> a skos:ConceptScheme ; dct:modified "2026-02-03" ; dct:rights "free" .
<c_1> a skos:Concept ; skos:prefLabel "colour"@en-GB, "color"@en, "Farbe"@de ;
  skos:altLabel "tint"@en-US ; rdfs:label "another name"@en ; skos:hiddenLabel "colur"@en ;
  skos:narrower <2> ; skos:exactMatch <http://id.nlm.nih.gov/mesh/D003116> ,
  <http://other.example/v/9> .
<2> a skos:Concept ; xl:prefLabel <label> ; skos:altLabel "rood"@nl ; skos:broader <http://a.b/8> .
<label> xl:literalForm "red"@en .
<http://else.example/3> a skos:Concept ; skos:prefLabel "old"@en ; owl:deprecated true ;
  dct:isReplacedBy <2> .
<x/2> a skos:Collection ; skos:prefLabel "no concept"@en .
"""
)


def written(folder: Path, form: str, turtle: str = TURTLE) -> Path:
    """Write triples as a file in a form: ttl, nt, owl (XML) or db (semantic-sql)."""
    rdf = pytest.importorskip("pyoxigraph", reason="the extra owl is not installed")
    path = folder / f"in.{form}"
    if form == "ttl":
        path.write_text(turtle, encoding="utf-8")
        return path
    triples = list(rdf.parse(turtle.encode(), format=rdf.RdfFormat.TURTLE))
    if form != "db":
        rdf_form = {"nt": rdf.RdfFormat.N_TRIPLES, "owl": rdf.RdfFormat.RDF_XML}[form]
        rdf.serialize((it.triple for it in triples), str(path), format=rdf_form)
        return path
    bases = re.findall(r"@prefix (\w+): <(.+)>", PREFIXES)

    def short(node: object) -> str | None:
        if isinstance(node, rdf.BlankNode):
            return str(node)
        if isinstance(node, rdf.Literal):
            return None
        known = [
            (len(base), f"{name}:{node.value.removeprefix(base)}")
            for name, base in bases
            if node.value.startswith(base)
        ]
        return max(known)[1] if known else str(node)

    with closing(sqlite3.connect(path)) as database, database:
        database.execute("create table prefix (prefix text, base text)")
        database.executemany("insert into prefix values (?, ?)", bases)
        columns = "stanza, subject, predicate, object, value, datatype, language"
        database.execute(f"create table statements ({columns})")
        for it in triples:
            target = short(it.object)
            literal = (None, None) if target else (it.object.value, it.object.language)
            row = (None, short(it.subject), short(it.predicate), target, literal[0], None)
            database.execute(
                "insert into statements values (?, ?, ?, ?, ?, ?, ?)", (*row, literal[1])
            )
    return path


@pytest.mark.parametrize("form", ["ttl", "nt", "owl", "db"])
def test_each_form_and_obo_give_the_same_tables(tmp_path: Path, form: str) -> None:
    (tmp_path / "in.obo").write_text(OBO, encoding="utf-8")
    path = written(tmp_path, form)

    obo, tables = read_source(tmp_path / "in.obo", synonyms=get_args(SynonymScope))
    terminology, from_rdf = read_source(path, synonyms=get_args(SynonymScope))

    for table, frame in tables.items():
        assert from_rdf[table].rows() == frame.rows(), table
        assert frame.height > 1
    assert terminology.source == "owl"
    assert terminology.release_date == obo.release_date == date(2026, 1, 31)
    assert terminology.terms_of_use == obo.terms_of_use
    assert n_skipped(terminology) == {
        "id of a term that was merged into another": 1,
        "import is not followed, first http://invented.example/other.owl": 1,
        "malformed xref": 1,
        "is-a relationship is of an absent concept": 1,
    }


@pytest.mark.parametrize("form", ["ttl", "nt", "owl", "db"])
def test_a_thesaurus_has_names_in_its_languages(tmp_path: Path, form: str) -> None:
    terminology, tables = read_source(written(tmp_path, form, THESAURUS))

    names = tables["description"].select("description_id", "term", "kind", "language")
    assert names.rows() == [
        ("2/1", "red", "fsn", "en"),
        ("2/2", "rood", "synonym", "nl"),
        ("c_1/1", "color", "fsn", "en"),
        ("c_1/2", "colour", "synonym", "en"),
        ("c_1/3", "tint", "synonym", "en"),
        ("c_1/4", "Farbe", "fsn", "de"),
        ("http://else.example/3/1", "old", "fsn", "en"),
    ]
    assert tables["is_a"].rows() == [("2", "c_1"), ("2", "http://a.b/8")]
    assert tables["association"].rows() == [("http://else.example/3", "2", "replaced_by", True)]
    assert tables["code"].rows() == [
        ("c_1", "MSH", "D003116"),
        ("c_1", "http://other.example/v/", "9"),
    ]
    assert tables["concept"].filter(active=False)["concept_id"].to_list() == [
        "http://else.example/3"
    ]
    assert terminology.release_date == date(2026, 2, 3)
    assert terminology.terms_of_use == "as stated by the ontology: free"
    assert n_skipped(terminology) == {
        "preferred label is not of a concept, first http://invented.example/t/x/2": 1,
        "term has a second name": 1,
        "is-a relationship is of an absent concept": 1,
    }


def test_properties_of_other_ontologies_are_synonyms(tmp_path: Path) -> None:
    ncit = "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#"
    text = f"""{PREFIXES}
    <{ncit}C1> a owl:Class ; rdfs:label "Fever" ; <{ncit}P90> "pyrexia" ; <{ncit}P108> "Fever" ;
      obo:IAO_0000118 "heat" ; <http://www.ebi.ac.uk/efo/alternative_term> "high temperature" .
    <http://www.ebi.ac.uk/efo/EFO_0000001> a owl:DeprecatedClass ; rdfs:label "a"@en, "b"@en .
    <http://www.ebi.ac.uk/x/EFO_0000001> a owl:Class ; rdfs:label "c"@en .
    """
    terminology, tables = read_source(written(tmp_path, "ttl", text))
    names = tables["description"].filter(concept_id="C1", kind="synonym")["term"]
    assert names.to_list() == ["Fever", "heat", "high temperature", "pyrexia"]
    assert tables["concept"].select("concept_id", "active").rows() == [
        ("C1", True),
        ("http://www.ebi.ac.uk/efo/EFO_0000001", False),  # their identifiers would be the same
        ("http://www.ebi.ac.uk/x/EFO_0000001", True),
    ]
    assert n_skipped(terminology) == {"term has a second name": 1}


def test_a_thesaurus_is_built_and_verified_in_a_language(tmp_path: Path) -> None:
    concepts = "\n".join(
        f'<http://x/{n}> a skos:Concept; skos:prefLabel "Ast {n}"@de; skos:altLabel "Zweig {n}"@de.'
        for n in range(9)
    )
    path = written(tmp_path, "ttl", PREFIXES + concepts)
    build = medsim.build(path, tmp_path / "out", language="de", negatives=["random"], threads=1)

    assert build.pairs(dataset="fsn_syn").height == 18
    assert medsim.verify(build, threads=1).holds
    with pytest.raises(InputError, match=r"no active descriptions in language 'en'; .* found: de"):
        medsim.build(path, tmp_path / "en")


@pytest.mark.parametrize(
    ("form", "name"), [("owl", "in.xml"), ("nt", "in"), ("db", "in.db"), ("db", "in.db.gz")]
)
def test_a_file_is_recognised_by_its_content(tmp_path: Path, form: str, name: str) -> None:
    content = written(tmp_path, form).read_bytes()
    other = tmp_path / f"other-{name}"
    other.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    assert read_source(other)[0].source == "owl"


def test_a_folder_or_archive_may_have_a_database(tmp_path: Path) -> None:
    path = written(tmp_path, "db")
    expected = read_source(path)[1]
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "in.db.gz").write_bytes(gzip.compress(path.read_bytes()))
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.write(path, "release/in.db")

    for place in (folder, tmp_path / "in.zip"):
        assert read_source(place)[1]["description"].equals(expected["description"])


def test_entities_of_xml_may_only_abbreviate(tmp_path: Path) -> None:
    path = written(tmp_path, "owl")
    text = path.read_text(encoding="utf-8").replace("http://purl.obolibrary.org/obo/", "&o;")
    head, root, body = text.partition("<rdf:RDF")
    expected = read_source(path)[1]
    entity = '<!ENTITY o "http://purl.obolibrary.org/obo/">'

    path.write_text(f"{head}<!DOCTYPE rdf:RDF [{entity}]>{root}{body}", encoding="utf-8")
    for table, frame in read_source(path)[1].items():
        assert frame.equals(expected[table]), table

    nested = "<!ENTITY o '&purl;obo/'><!ENTITY purl 'http://purl.obolibrary.org/'>"
    quoted = """<!ENTITY q 'a "quoted" &amp; long'>"""
    path.write_text(f"{head}<!DOCTYPE rdf:RDF [{quoted}\n{nested}]>{root}{body}", encoding="utf-8")
    for table, frame in read_source(path)[1].items():
        assert frame.equals(expected[table]), table

    laughs = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 9}">' for before, name in pairwise("abcdefghij")
    )
    cycle = "<!ENTITY a '&b;'><!ENTITY b '&a;'>"
    late = f"{head}{root}{body}<!--{' ' * 70_000}--><!DOCTYPE rdf:RDF [{entity}]>"
    for bomb in (
        f"{head}<!DOCTYPE rdf:RDF [{entity}{laughs}]>{root}{body}",
        f"{head}<!DOCTYPE rdf:RDF [{entity}{cycle}]>{root}{body}",
        f"{head}<!DOCTYPE rdf:RDF [<!ENTITY a '&#38;b;'>{entity}]>{root}{body}",
        f"{head}<!DOCTYPE rdf:RDF [<!ENTITY a SYSTEM 'other.xml'>{entity}]>{root}{body}",
        f"{head}<!DOCTYPE rdf:RDF [<!ENTITY a 'x{'&amp;' * 60}'>{entity}]>{root}{body}",
        f'{head}<!DOCTYPE rdf:RDF [<!ENTITY a "{"ha" * 200}">]>{root}{body}',
        late.replace("&o;", "http://x/"),
    ):
        path.write_text(bomb, encoding="utf-8")
        with pytest.raises(InputError, match=r"in\.owl declares an XML entity that is long"):
            read_source(path)


ODD = """
IN:1 a owl:Class ; rdfs:label "alder", <http://invented.example/label>, [] ;
  oio:hasExactSynonym obo:XL_1, "http://invented.example/name" .
IN:2 a owl:Class ; rdfs:label "birch" ; owl:deprecated %s .
IN:10 a rdfs:Class ; rdfs:label "root" .
IN:11 a rdfs:Class ; rdfs:label "leaf" ; rdfs:subClassOf IN:10 .
"""


@pytest.mark.parametrize(
    ("value", "is_active", "n_odd"),
    [
        *((text, False, 0) for text in ("true", '"TRUE"', '" true "', '"1"^^<x:y>', '"true"@en')),
        *((text, False, 1) for text in ('"yes"', '"since 2020"', "IN:1")),
        *((text, True, 0) for text in ("false", '"False"', '" 0 "', '""', '"no"')),
    ],
)
def test_a_term_is_retired_by_any_text_but_false(
    tmp_path: Path, value: str, n_odd: int, *, is_active: bool
) -> None:
    terminology, tables = read_source(written(tmp_path, "ttl", PREFIXES + ODD % value))
    active = dict(tables["concept"].select("concept_id", "active").iter_rows())
    assert active == {"IN:1": True, "IN:2": is_active, "IN:10": True, "IN:11": True}
    odd = [n for why, n in n_skipped(terminology).items() if "owl:deprecated is not a boo" in why]
    assert sum(odd) == n_odd


@pytest.mark.parametrize("form", ["ttl", "db"])
def test_addresses_and_nodes_are_no_names_and_roots_are_kept(tmp_path: Path, form: str) -> None:
    terminology, tables = read_source(written(tmp_path, form, PREFIXES + ODD % "false"))
    assert sorted(tables["description"]["term"]) == ["alder", "birch", "leaf", "root"]
    assert tables["is_a"].rows() == [("IN:11", "IN:10")]
    assert n_skipped(terminology) == {"name is an IRI or a blank node": 4}


def test_concepts_may_lack_a_type_and_other_names_are_counted(tmp_path: Path) -> None:
    text = f"""{PREFIXES}
    <http://x/1> skos:prefLabel "alder" ; skos:altLabel "alder tree" .
    <http://x/2> skos:narrower <http://x/1> .
    <http://x/3> a skos:Concept ; skos:prefLabel "cedar" ; <http://x/Synonym> "cedar tree" .
    <http://x/4> a <http://x/Tree> ; skos:prefLabel "elder" .
    <http://x/5> a skos:Collection ; skos:prefLabel "trees" .
    <http://x/6> a skos:ConceptScheme ; skos:prefLabel "thesaurus" .
    """
    terminology, tables = read_source(written(tmp_path, "ttl", text))
    names = tables["description"].select("concept_id", "kind", "term")
    assert names.rows() == [
        ("1", "fsn", "alder"),
        ("1", "synonym", "alder tree"),
        ("3", "fsn", "cedar"),
    ]
    assert tables["is_a"].rows() == [("1", "2")]
    assert n_skipped(terminology) == {
        "preferred label is not of a concept, first http://x/4": 2,
        "synonym has another property, first http://x/Synonym": 1,
    }


@pytest.mark.parametrize(
    "statement",
    [
        "IN:1 obo:IAO_0100001 IN:2",
        'IN:1 obo:IAO_0100001 "IN:2"',
        'IN:1 obo:IAO_0100001 " IN_2 "',
        'IN:1 obo:IAO_0100001 "obo:IN_2"',
        'IN:1 obo:IAO_0100001 "in:2"',
        'IN:1 obo:IAO_0100001 "<http://purl.obolibrary.org/obo/IN_2>"',
        'IN:1 obo:IAO_0100001 "http://purl.obolibrary.org/obo/IN_2"',
        "IN:1 oio:replacedBy IN:2",
        'IN:1 oio:replacedBy "IN:2"',
        "IN:1 dct:isReplacedBy IN:2",
        "IN:2 dct:replaces IN:1",
    ],
)
def test_a_substitute_may_be_an_address_or_a_text(tmp_path: Path, statement: str) -> None:
    terms = 'IN:1 a owl:Class ; rdfs:label "old" . IN:2 a owl:Class ; rdfs:label "new" .'
    turtle = f"{PREFIXES}{terms}\n{statement} ."
    association = read_source(written(tmp_path, "ttl", turtle))[1]["association"]
    assert association.rows() == [("IN:1", "IN:2", "replaced_by", True)]


def test_a_substitute_in_a_thesaurus_may_have_the_prefix_of_the_file(tmp_path: Path) -> None:
    turtle = (
        PREFIXES
        + """
    @prefix ex: <http://invented.example/t/> .
    ex:a1 a skos:Concept ; skos:prefLabel "old"@en ; dct:isReplacedBy "ex:a2" .
    ex:a2 a skos:Concept ; skos:prefLabel "new"@en .
    """
    )
    association = read_source(written(tmp_path, "ttl", turtle))[1]["association"]
    assert association.rows() == [("a1", "a2", "replaced_by", True)]


@pytest.mark.parametrize("form", ["owl", "db"])
def test_a_language_may_have_an_underscore(tmp_path: Path, form: str) -> None:
    path = written(tmp_path, form, THESAURUS)
    if form == "owl":
        text = path.read_text(encoding="utf-8")
        assert "en-gb" in text.lower()
        path.write_text(re.sub("(?i)en-(gb|us)", r"en_\1", text), encoding="utf-8")
    else:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("update statements set language = replace(language, '-', '_')")
    names = read_source(path)[1]["description"].filter(concept_id="c_1", language="en")
    assert sorted(names["term"]) == ["color", "colour", "tint"]


XML = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.ttl",
            b"@prefix a: <http://a/> .\na:b a:c d:e .",
            "is not valid RDF: .* at line 2 .* d:",
        ),
        ("a.ttl", b'<http://a> <http://b> "\xff" .', r"is not valid RDF: .* at line 1 .* UTF-8"),
        (
            "a.owl",
            XML + b"<rdf:a></rdf:b>",
            r"is not valid RDF: .*</rdf:b>` was found, in line 2 or before",
        ),
        ("a.owl", XML + b"<rdf:a></%s>" % (b"b " * 999), "is not valid RDF: .{200}, in line 2"),
        ("a.owl", XML + b"\xff</rdf:RDF>", "is not valid RDF: .* in line 2 or before"),
        ("a.owl", XML + b"</rdf:RDF>", "no owl:Class or skos:Concept has properties"),
        ("a.ttl", b"", "no owl:Class or skos:Concept has properties"),
        ("a.owl", b"Prefix(:=<http://x/>)\nOntology(<http://x/>)", "is an ontology in .* robot"),
        (
            "a.owl",
            b'<?xml version="1.0"?>\n<Ontology xmlns="http://x">',
            "is an ontology in .* robot",
        ),
        ("a.owl", b"<!DOCTYPE html><html></html>", "is an HTML page"),
        ("a.owl", b"SQLite format 3\0" + b"x" * 500, "a.owl is not a database of semantic-sql: "),
    ],
    ids=range(11),
)
def test_a_malformed_file_ends_in_one_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    pytest.importorskip("pyoxigraph", reason="the extra owl is not installed")
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(InputError, match=said) as error:
        read_source(path)

    assert str(path) in str(error.value)
    assert str(error.value).isprintable()


def test_the_log_beside_a_database_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "db", THESAURUS)
    (tmp_path / "copy").mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("update statements set value = 'newest' where value = 'tint'")
        database.commit()
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", tmp_path / "copy" / f"a.db{end}")

    terminology, tables = read_source(tmp_path / "copy" / "a.db")

    assert "newest" in tables["description"]["term"]
    assert [file.name for file in terminology.files] == ["a.db", "a.db-wal"]
    assert sorted(each.name for each in (tmp_path / "copy").iterdir()) == ["a.db", "a.db-wal"]


def test_another_database_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.owl")) as database:
        database.execute("create table x (y)")
    with pytest.raises(
        InputError, match=r"a\.owl is not a database of semantic-sql: no such table"
    ):
        read_source(tmp_path / "a.owl")


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.ttl").write_text(TURTLE, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(InputError, match=r"in\.ttl is RDF; install medsim with its extra owl"):
        read_source(tmp_path / "in.ttl")
