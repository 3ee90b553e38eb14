"""Mappings that are read together with a terminology."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from fixtures.mesh import write_mesh
from fixtures.release import small_release
from fixtures.sources import n_skipped, read_source
from polars.testing import assert_frame_equal

import medsim
from medsim.core.errors import InputError, OptionError

OBO = """ontology: in

[Term]
id: HP:1
name: Fever
xref: MESH:D1

[Term]
id: HP:2
name: Heat
is_obsolete: true
replaced_by: HP:1

[Term]
id: HP:3
name: Warmth
"""
METADATA = """#curie_map:
#  HP: http://purl.obolibrary.org/obo/HP_
#license: "https://invented.example/free"
"""
HEADER = "subject_id\tsubject_label\tpredicate_id\tobject_id\tmapping_justification"


def mapped(*rows: str, header: str = HEADER, metadata: str = METADATA) -> str:
    """Return mappings in SSSOM, whose rows are subject, predicate and object."""
    lines = []
    for row in rows:
        subject, predicate, target, *more = row.split(" ")
        lines.append("\t".join([subject, "a label", predicate, target, "semapv:Manual", *more]))
    return metadata + "\n".join([header, *lines]) + "\n"


@pytest.fixture
def fever(tmp_path: Path) -> Path:
    """Return an invented ontology."""
    (tmp_path / "in.obo").write_text(OBO, encoding="utf-8")
    return tmp_path / "in.obo"


def test_mappings_add_associations_and_codes(fever: Path) -> None:
    path = fever.with_name("in.sssom.tsv")
    rows = (
        "HP:2 skos:exactMatch HP:3",
        "hp:2 skos:exactMatch hp:3",
        "HP:2 IAO:0100001 HP:1",
        "HP:3 skos:closeMatch HP:1",
        "HP:1 skos:exactMatch mesh:D2",
        "SCTID:77 owl:equivalentClass HP:3",
        "HP:1 oboInOwl:hasDbXref MESH:D1",
        "HP:3 oboInOwl:hasDbXref HP:1",
        "HP:3 skos:exactMatch HP:3",
        "HP:1 skos:broadMatch HP:3",
        "HP:1 skos:closeMatch MESH:D3",
        "HP:1 skos:exactMatch sssom:NoTermFound",
        "HP:1 skos:exactMatch heat",
        "HP:1 skos:exactMatch http://invented.example/1",
        "X:1 skos:exactMatch Y:2",
    )
    path.write_text(mapped(*rows), encoding="utf-8")
    terminology, tables = read_source(fever, extensions=[path])

    assert tables["association"].rows() == [
        ("HP:2", "HP:1", "replaced_by", True),
        ("HP:2", "HP:3", "same_as", True),
        ("HP:3", "HP:1", "possibly_equivalent_to", True),
    ]
    assert tables["code"].rows() == [
        ("HP:1", "MSH", "D1"),
        ("HP:1", "MSH", "D2"),
        ("HP:3", "SNOMEDCT_US", "77"),
    ]
    assert n_skipped(terminology) == {
        f"{reason} in {path}": n_rows
        for reason, n_rows in {
            "cross-reference is within the terminology": 1,
            "mapping has no identifier with a prefix": 2,
            "mapping has the predicate skos:broadMatch": 1,
            "mapping is negated or has no object": 1,
            "mapping is of a concept to itself": 1,
            "mapping is of no concept": 1,
            "mapping to another vocabulary is not exact": 1,
        }.items()
    }
    assert terminology.name == "in.obo + in.sssom.tsv"
    assert terminology.terms_of_use.endswith("in.sssom.tsv: https://invented.example/free")
    assert [file.name for file in terminology.files] == ["in.obo", "in.sssom.tsv"]


@pytest.mark.parametrize(
    ("metadata", "rows"),
    [
        (METADATA, ("HP:2 oio:hasDbXref MESH:D5", "HP:2 SKOS:exactMatch HP:3")),
        (
            "",
            (
                "http://purl.obolibrary.org/obo/HP_2 http://any.example/oboInOwl#hasDbXref MSH:D5",
                "obo:HP_2 http://www.w3.org/2004/02/skos/core#exactMatch HP_3",
            ),
        ),
        (
            """# curie_map:
#   x: http://purl.obolibrary.org/obo/HP_
#   "m": "http://id.nlm.nih.gov/mesh/"
#   o: http://purl.obolibrary.org/obo/
""",
            ("x:2 oio:xref m:D5", "o:HP_2 owl:sameAs x:3"),
        ),
        (
            '# curie_map: {"x": "http://purl.obolibrary.org/obo/HP_", m: http://id.nlm.nih.gov/mesh/}\n',
            ("x:2 oio:xref m:D5", "x:2 owl:sameAs x:3"),
        ),
        (
            "#curie_map:\n#  mesh: http://purl.bioontology.org/ontology/MESH/\n",
            ("hp:2 oio:hasDbXref mesh:D5", "hp:2 owl:sameAs hp:3"),
        ),
    ],
    ids=range(5),
)
def test_prefixes_may_have_other_names_or_be_declared(
    fever: Path, metadata: str, rows: tuple[str, ...]
) -> None:
    path = fever.with_name("in.sssom.tsv")
    path.write_text(mapped(*rows, metadata=metadata), encoding="utf-8")
    terminology, tables = read_source(fever, extensions=[path])
    assert tables["code"].rows() == [("HP:1", "MSH", "D1"), ("HP:2", "MSH", "D5")]
    assert ("HP:2", "HP:3", "same_as", True) in tables["association"].rows()
    assert n_skipped(terminology) == {}
    assert terminology.warnings == ()


def test_an_unknown_declared_prefix_stays(fever: Path) -> None:
    path = fever.with_name("in.sssom.tsv")
    metadata = "#curie_map:\n#  FOO: https://foo.example/x/\n"
    path.write_text(mapped("HP:2 skos:exactMatch FOO:7", metadata=metadata), encoding="utf-8")
    assert ("HP:2", "FOO", "7") in read_source(fever, extensions=[path])[1]["code"].rows()


@pytest.mark.parametrize(
    "ids",
    [("http://purl.obolibrary.org/obo/HP_1", "HP_2"), ("hp:1", "http://identifiers.org/HP:2")],
)
def test_ids_of_a_table_may_be_addresses(tmp_path: Path, ids: tuple[str, str]) -> None:
    table = "id,name\n{},Fever\n{},Heat\n".format(*ids)
    (tmp_path / "names.csv").write_text(table, encoding="utf-8")
    path = tmp_path / "in.sssom.tsv"
    path.write_text(mapped("HP:1 skos:exactMatch HP:2"), encoding="utf-8")
    _, tables = read_source(tmp_path / "names.csv", extensions=[path])
    assert tables["association"].rows() == [(*ids, "same_as", True)]


def test_declared_prefixes_name_addresses_that_are_ids(tmp_path: Path) -> None:
    ids = ("http://a.example/t/7", "http://b.example/#8")
    table = "id,name\n{},Fever\n{},Heat\n".format(*ids)
    (tmp_path / "names.csv").write_text(table, encoding="utf-8")
    path = tmp_path / "in.sssom.tsv"
    metadata = "#curie_map:\n#  a: http://a.example/t/\n#  b: http://b.example/#\n"
    path.write_text(mapped("a:7 owl:sameAs b:8", metadata=metadata), encoding="utf-8")
    _, tables = read_source(tmp_path / "names.csv", extensions=[path])
    assert tables["association"].rows() == [(*ids, "same_as", True)]


def test_a_file_whose_mappings_are_all_left_out_is_a_warning(fever: Path) -> None:
    path = fever.with_name("in.sssom.tsv")
    rows = ("HP:1 x:isLike HP:2", "HP:2 x:isLike HP:3", "X:1 skos:exactMatch X:2")
    path.write_text(mapped(*rows), encoding="utf-8")
    terminology, _ = read_source(fever, extensions=[path])
    reasons = "mapping has the predicate x:isLike: 2; mapping is of no concept: 1"
    assert terminology.warnings == (f"{path}: none of its 3 mappings is used ({reasons})",)
    path.write_text(mapped(*rows, "HP:1 owl:sameAs HP:2"), encoding="utf-8")
    assert read_source(fever, extensions=[path])[0].warnings == ()


def test_a_quoted_cell_may_have_a_line_that_begins_like_a_comment(fever: Path) -> None:
    path = fever.with_name("in.sssom.tsv")
    header = "subject_id\tpredicate_id\tobject_id\tcomment"
    rows = 'HP:2\tskos:exactMatch\tHP:3\t"a ""first"" line\n#second"\n# left out\nHP:3\towl:sameAs'
    path.write_text(f"{METADATA}{header}\n{rows}\tHP:1\t#7\n", encoding="utf-8")
    terminology, tables = read_source(fever, extensions=[path])
    assert tables["association"].filter(kind="same_as").height == 2
    assert n_skipped(terminology) == {}
    path.write_text(f'{METADATA}{header}\n{rows}\tHP:1\t"a"b\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 8 cannot be cut"):
        read_source(fever, extensions=[path])


def test_negated_mappings_are_left_out_and_files_may_be_packed(fever: Path) -> None:
    header = f"{HEADER}\tpredicate_modifier"
    text = mapped("HP:2 skos:exactMatch HP:3 Not", "HP:3 skos:exactMatch HP:2 ", header=header)
    path = fever.with_name("in.sssom.csv.gz")
    path.write_bytes(gzip.compress(text.replace("\t", ",").encode()))
    terminology, tables = read_source(fever, extensions=[path])

    assert ("HP:3", "HP:2", "same_as", True) in tables["association"].rows()
    assert tables["association"].height == 2
    assert sum(n_skipped(terminology).values()) == 1


def test_a_vocabulary_without_prefixes_in_its_ids_is_mapped(tmp_path: Path) -> None:
    mesh = write_mesh(tmp_path / "mesh", 1)
    first, second = read_source(mesh)[1]["concept"]["concept_id"][:2]
    path = tmp_path / "mesh.sssom.tsv"
    rows = [f"mesh:{first} skos:exactMatch MESH:{second}", f"doid:1 skos:exactMatch mesh:{first}"]
    path.write_text(mapped(*rows, metadata=""))
    terminology, tables = read_source(mesh, extensions=[path])

    assert tables["association"].filter(kind="same_as").rows() == [(first, second, "same_as", True)]
    assert (first, "doid", "1") in tables["code"].rows()
    assert terminology.redistributable is None  # that of MeSH alone is True
    assert terminology.terms_of_use.endswith("mesh.sssom.tsv: names no licence")


def test_mappings_and_concept_maps_are_read_with_an_rf2_release(tmp_path: Path) -> None:
    release = small_release().write_folder(tmp_path / "release", "Full")
    _, before = read_source(release)
    first, second = before["concept"]["concept_id"][:2]
    (tmp_path / "in.tsv").write_text(mapped(f"snomed:{first} skos:exactMatch SNOMEDCT:{second}"))
    element = {"code": second, "target": [{"code": first, "equivalence": "equal"}]}
    group = {"element": [element]} | dict.fromkeys(("source", "target"), "http://snomed.info/sct")
    content = {"resourceType": "ConceptMap", "group": [group]}
    (tmp_path / "map.json").write_text(json.dumps(content))
    _, tables = read_source(release, extensions=[tmp_path / "in.tsv", tmp_path / "map.json"])

    added = tables["association"].join(
        before["association"], on=before["association"].columns[:3], how="anti"
    )
    pairs = [(first, second), (second, first)]
    assert added.select("source_id", "target_id", "kind").rows() == [
        (*pair, "same_as") for pair in sorted(pairs)
    ]
    assert added["effective_time"].null_count() == 2
    for table in ("concept", "description", "is_a"):
        assert_frame_equal(tables[table], before[table])


def test_a_build_has_pairs_of_mappings(fever: Path) -> None:
    path = fever.with_name("in.sssom.tsv")
    path.write_text(mapped("HP:2 skos:exactMatch HP:3"))
    build = medsim.build(
        fever, fever.with_name("out"), negatives=["random"], threads=1, extensions=[path]
    )
    pairs = build.pairs()
    same = pairs.filter(dataset="same_as", label=1)
    assert same.select("term1", "term2").rows() == [("Heat", "Warmth")]
    assert medsim.verify(build, threads=1).holds


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("m.tsv", "id\tname\nHP:1\tFever\n", "m.tsv has no column 'subject_id'"),
        ("m.tsv", mapped("HP:1 a HP:2 b"), "m.tsv: line 5 has 6 cells, the header 5"),
        ("m.tsv", METADATA, "m.tsv is empty"),
        ("m.tsv", METADATA + HEADER + '\n"HP:1"x\ta\tb\tc\td\n', "m.tsv: line 5 cannot be cut"),
        (
            "m.json",
            '{"resourceType": "ConceptMap",\n"a" 1}',
            "m.json cannot be read as mappings .*line 2",
        ),
        ("m.json", '{"resourceType": "ValueSet"}', "m.json: has no ConceptMap of FHIR"),
        ("m.json", '{"resourceType": "ConceptMap", "x": "\ud800"}', "m.json: line 1 is not UTF-8"),
        ("nowhere.tsv", None, "no file or folder .*nowhere.tsv"),
    ],
    ids=range(8),
)
def test_a_malformed_file_of_mappings_is_refused_with_its_place(
    fever: Path, name: str, text: str | None, said: str
) -> None:
    path = fever.with_name(name)
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=said) as error:
        read_source(fever, extensions=[path])
    assert "\n" not in str(error.value)


def test_cells_that_are_cut_from_the_end_of_a_row_are_empty(fever: Path) -> None:
    header = "subject_id\tpredicate_id\tobject_id\tpredicate_modifier\tcomment"
    text = f"{header}\nHP:1\tskos:exactMatch\tHP:3\n"
    path = fever.with_name("in.sssom.tsv")
    path.write_text(text)
    tables = read_source(fever, extensions=[path])[1]
    assert ("HP:1", "HP:3", "same_as", True) in tables["association"].rows()
    path.write_text(f"{header}\nHP:1\tskos:exactMatch\n")
    with pytest.raises(InputError, match="line 2 has 2 cells, the header 5"):
        read_source(fever, extensions=[path])


def test_a_release_is_read_once(fever: Path) -> None:
    for twice in (["a.tsv", "a.tsv"], [fever]):
        with pytest.raises(OptionError, match=r"two releases are named .*; names must be unique"):
            read_source(fever, extensions=twice)


def test_other_extensions_of_an_ontology_are_refused(fever: Path) -> None:
    with pytest.raises(OptionError, match=r"other\.zip: .*in\.obo.* takes only mappings: SSS"):
        read_source(fever, extensions=["other.zip", "in.sssom.tsv"])
