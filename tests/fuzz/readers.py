"""Readers of users' files, each with a small good file to damage."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from fixtures.corpora import invented_names, write_corpus, write_ontology
from fixtures.embeddings import (
    ROWS,
    request,
    write_array,
    write_fasttext,
    write_table,
    write_text,
    write_word2vec,
)
from fixtures.encoders import TABLE, asked, write_encoder, write_tokenizer
from fixtures.loinc import random_observations
from fixtures.mesh import write_mesh
from fixtures.omop import random_vocabularies
from fixtures.page_inputs import INVENTED
from fixtures.questions import questions_of
from fixtures.release import random_release
from fixtures.rxnorm import random_drugs
from fixtures.services import answer_to, says
from fixtures.sources import read_source
from fixtures.studies import STUDY_ID, annotated_tasks, assignment_of, sheet, written_jsonl
from fixtures.umls import random_metathesaurus, write_rrf
from fixtures.wic import invented_instances, write_instances
from openpyxl import Workbook
from typer.main import get_command

from medsim.builds.positives import read_corrections
from medsim.cli import app
from medsim.core.console import read_option_file
from medsim.core.errors import ServiceError
from medsim.core.instances import checked_terms
from medsim.core.opened import open_output
from medsim.core.reading import open_file, parsed_json
from medsim.corpora.documents import Problems, corpus_digest, documents_of, open_corpus
from medsim.decisions.files import read_decisions
from medsim.definitions.benchmark import benchmark_definitions
from medsim.definitions.definition import read_definition
from medsim.embeddings.chats import read_reply
from medsim.embeddings.formats import find_format
from medsim.embeddings.options import EmbeddingOptions
from medsim.embeddings.services import parse_vectors
from medsim.evaluations.rated_parts import read_words
from medsim.evaluations.ratings import read_rated
from medsim.evaluations.result_file import read_result
from medsim.neighbours.pool import names_of
from medsim.questions.answers import asked_of
from medsim.questions.question import read_questions
from medsim.studies.asking import read_pairs
from medsim.studies.relations import read_lexicon
from medsim.studies.sheets import JUDGEMENT, written_csv
from medsim.studies.sheets.answers import StudyIdentity, read_answers
from medsim.systems.options import system_of
from medsim.systems.predictions import number_column, predicted_table
from medsim.tagging.corpus import read_conll
from medsim.wic.dataset import read_wic
from medsim.wic.models.predicted import read_predictions
from medsim.wic.output import read_instances

TERMS = ("asthma of the heart", "naïve heart", "心臓", "acute fever", "pain")
SHEET = sheet(annotator="ada")
DECIDED = (
    "subject_id,subject_label,object_id,object_label,decision,comment,reviewer,date\n"
    "7,'=pain,'0007,\"ache, old\",broader,so,ada,2026-01-31\nHP:1,asthma,,,keep,,,\n"
)
_SIMILAR = "# a run\nterm1;term2;score\nheart attack;'=pain;0,5\nNone;naïve heart;\n"
JUDGED = "term1,term2,judged\nheart attack,infarction,same\nasthma,pain,not_same\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A reader with its good files.

    Attributes:
        write: fills a folder with them, and returns the path that is read.
        read: reads a path.
        damaged: a pattern of the files that are damaged.
    """

    write: Callable[[Path], Path]
    read: Callable[[Path], object]
    damaged: str = "**/*"


def _embedding(path: Path) -> object:
    _, form = find_format(path, EmbeddingOptions())
    return form.read(path, request(TERMS))


def _encoder(path: Path) -> object:
    _, form = find_format(path, EmbeddingOptions())
    return form.read(path, asked(TERMS))


def _answer(path: Path) -> dict[str, object]:
    with open_file(path) as stream:
        content = parsed_json("the answer", stream.read())
    if not isinstance(content, dict):
        raise ServiceError("it answered JSON that is not an object")
    return content


def _zipped(path: Path, folder: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return path


def _rf2(folder: Path) -> Path:
    return random_release(1, 20).write_folder(folder / "rf2")


def _rf2_zip(folder: Path) -> Path:
    return _zipped(folder / "release.zip", _rf2(folder.parent / f"{folder.name}.whole"))


def _rf2_delta(folder: Path) -> Path:
    random_release(1, 20).write_folder(folder / "edition", "Snapshot")
    for file in random_release(2, 20).write_folder(folder / "delta").rglob("*.txt"):
        later = file.read_bytes().replace(b"\t20", b"\t21")
        file.with_name(file.name.replace("Full", "Delta")).write_bytes(later)
        file.unlink()
    return folder / "delta"


def _with_edition(path: Path) -> object:
    return read_source(path.with_name("edition"), extensions=[path])


def _umls_parts(folder: Path) -> Path:
    path = random_metathesaurus(1, 15).write(folder / "META") / "MRCONSO.RRF"
    write_rrf(folder / "META", {"MRCUI.RRF": ["C9000001|1993AA|SY|||C0000002|Y"] * 9})
    content = path.read_bytes()
    for letter, part in (("a", content[:700]), ("b", content[700:])):
        path.with_name(f"{path.name}.a{letter}.gz").write_bytes(gzip.compress(part, mtime=0))
    path.unlink()
    return path.parent


def _omop_csv(folder: Path) -> Path:
    tabs = random_vocabularies(1).write(folder / "athena")
    for file in tabs.iterdir():
        text = file.read_text(encoding="utf-8").replace("\t", '","').replace("\n", '"\n"')
        file.write_text(f'"{text}'[:-1], encoding="utf-8")
    return tabs


def _mesh_translated(folder: Path) -> Path:
    INVENTED["an invented MeSH"](folder)
    return folder / "fredesc2026.xml"


def _with_mappings(name: str, content: str, location: str, source: str) -> Reader:
    """Return a reader of a file of mappings, with its terminology."""

    def write(folder: Path) -> Path:
        _file(location, source)(folder)
        return _file(name, content)(folder)

    return Reader(
        write=write, read=lambda path: read_source(path.with_name(location), extensions=[path])
    )


def _packed(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content, mtime=0))
    return path


def _mesh(folder: Path) -> Path:
    return write_mesh(folder / "mesh", 1, 12)


def _mesh_gz(folder: Path) -> Path:
    whole = _mesh(folder.parent / f"{folder.name}.whole") / "desc2026.xml"
    return _packed(folder / "desc2026.xml.gz", whole.read_bytes())


def _obo(folder: Path) -> Path:
    return write_ontology(folder, invented_names(1, 8))


def _obo_packed(pack: Callable[[bytes], bytes], name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = _obo(folder)
        content = path.read_bytes()
        path.unlink()
        return _file(name, pack(content))(folder)

    return write


def _tarred(content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("readme.txt", "in.obo"):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def _numbers(folder: Path) -> Path:
    lines = (" ".join(map(repr, row)) for row in ROWS.values())
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "types.txt").write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    return folder


def _array(suffix: str) -> Callable[[Path], Path]:
    vectors = np.array(list(ROWS.values()), np.float32)
    return lambda folder: write_array(folder / f"v{suffix}", list(ROWS), vectors)


def _columns(folder: Path) -> Path:
    columns = {f"d{at}": [row[at] for row in ROWS.values()] for at in range(3)}
    pl.DataFrame({"term": list(ROWS), **columns}).write_parquet(folder / "v.parquet")
    return folder / "v.parquet"


def _own_words(folder: Path) -> Path:
    np.savez(folder / "v.npz", words=list(ROWS), vectors=list(ROWS.values()))
    return folder / "v.npz"


def _halves(folder: Path) -> Path:
    path = write_array(folder / "v.safetensors", list(ROWS), np.ones((len(ROWS), 2), "<u2"))
    content = path.read_bytes().replace(b'"U16"', b'"BF16"')
    path.write_bytes(bytes([content[0] + 1]) + content[1:])
    return path


def _model2vec(folder: Path) -> Path:
    import model2vec
    from tokenizers import Tokenizer

    write_tokenizer(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    config = {"model_type": "model2vec", "normalize": False}
    model2vec.StaticModel(TABLE, tokenizer, config, normalize=False).save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    return folder


def _file(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def _corpus(path: Path) -> object:
    problems = Problems()
    with open_corpus(path) as file:
        documents = list(documents_of(file, path, problems))
        return documents, problems.warnings(), corpus_digest(file, path)


def _tagged(path: Path) -> object:
    with open_corpus(path) as file:
        return read_conll(file, path)


def _pubtator(folder: Path) -> Path:
    return write_corpus(folder, invented_names(1, 8), "corpus", 1, 4)


def _brat(folder: Path) -> Path:
    _file("a.txt", "Naïve heart\n心臓 pain\n")(folder)
    lines = "T1\tOrgan 6 11\theart\nT2\tDisease 15 19\tpain\nN1\tReference T2 MESH:D010146\tPain\n"
    _file("a.ann", f"{lines}R1\tPart Arg1:T1 Arg2:T2\n")(folder)
    return folder


def _pubtator_gz(folder: Path) -> Path:
    plain = _pubtator(folder)
    content = plain.read_bytes()
    plain.unlink()
    return _packed(folder / "corpus.txt.gz", content)


def _names(path: Path) -> object:
    column = "term1" if path.suffix in {".csv", ".parquet"} else None
    return names_of(path, "queries", column, warn=str)


def _answers(path: Path) -> object:
    study = StudyIdentity(study_id=STUDY_ID, scale=JUDGEMENT)
    return read_answers([path], assignment_of([SHEET]), study)


def _instances(path: Path) -> object:
    return checked_terms(path, read_instances(path))


def _general(folder: Path) -> Path:
    line = "book\tN\t1-2\tThe book is here .\tHe read a book .\n"
    (folder / "test.gold.txt").write_text("T\nF\n", encoding="utf-8")
    return _file("test.data.txt", line + line.replace("1-2", "1-3"))(folder)


def _predictions(path: Path) -> object:
    return read_predictions(path, invented_instances(1, 3))


def _similarities(path: Path) -> object:
    table = predicted_table(system_of(path, "ranker"), ("term1", "term2", "similarity"))
    return number_column(table, "similarity")


def _build(folder: Path) -> Path:
    from medsim.builds.build import build

    whole = folder.parent / f"{folder.name}.whole"
    whole.mkdir(parents=True, exist_ok=True)
    build(_obo(whole), folder / "out", negatives=["random"], threads=1)
    return folder / "out"


def _opened(path: Path) -> object:
    return open_output(path).manifest


_VALUES = {entry: at % 3 for at, entry in enumerate(SHEET.entries["entry_id"])}
_RATED = "term1,term2,rating\nheart,asthma,3.5\npain,acute fever,1\nheart attack,infarction,4\n"
_SENTENCES = '{"sentence1": "A heart.", "sentence2": "The heart", "score": 4.5}\n' * 2
_BY_RATERS = (
    "snomed_id_1,snomed_label_1,snomed_id_2,snomed_label_2,rater_A,rater_B,rater_C,rater_D,rater_E,"
    "mean_rating,CUI_1,CUI_2\n1,heart,2,asthma,0,1,0,1,2,0.8,C1,C2\n3,pain,4,ache,3,3,2,3,3,2.8,C3,C4\n"
)
_FILLED = "".join(
    f"{line.removesuffix(',')}not_same,a sign\r\n" if at else f"{line}\r\n"
    for at, line in enumerate(written_csv(SHEET).splitlines())
)


def _workbook(folder: Path, text: str = _FILLED) -> Path:
    book = Workbook()
    for line in csv.reader(text.removeprefix("\ufeff").splitlines()):
        book.active.append(line)
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def _names_workbook(folder: Path) -> Path:
    return _workbook(folder, _TABLE)


_PURL = "http://purl.obolibrary.org/obo/IN_"
_META = {"synonyms": [{"pred": "hasExactSynonym", "val": "heat"}], "xrefs": [{"val": "MESH:D1"}]}
_NODES = [
    {"id": f"{_PURL}{number}", "lbl": f"fever {number}", "type": "CLASS", "meta": _META}
    for number in range(4)
]
_EDGES = [{"sub": f"{_PURL}1", "pred": "is_a", "obj": f"{_PURL}2"}]
_RESULT = json.dumps(
    {"schema": 3, "headline": {"statistic": "auc_beyond_spelling", "version": 2}}
    | {"medsim": "0.2.0", "libraries": {}, "options": {"seed": 0}, "scores": []}
    | {
        "models": [
            {"name": "m", "fingerprint": "0a", "kind": "static", "options": ""}
            | dict.fromkeys(("address", "size", "n_dimensions", "n_vocabulary", "trained_on"))
        ],
        "builds": [
            {"name": "b", "fingerprint": "1b", "source": "hpo", "vocabulary": None, "version": None}
        ],
        "headlines": [
            {"build": "b", "model": "m", "metric": "cos", "value": 0.5, "low": None, "high": None}
            | {"n_pairs": 9, "n_covered": 9, "effective": 5, "changes": [0, 0, 0, 0, 0]}
            | dict.fromkeys(("baseline", "gain", "gain_low", "gain_high"))
        ],
    }
)
_TURTLE = f"""@prefix : <{_PURL}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . # trees
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:1 a owl:Class ; rdfs:label "alder", '''Erle'''@de ; owl:deprecated true ; rdfs:subClassOf :2 .
:2 a skos:Concept ; skos:prefLabel "elder"@en-GB ; skos:altLabel "naïve elder" ; skos:narrower :1 ;
  skos:exactMatch <http://id.nlm.nih.gov/mesh/D1> ; rdfs:seeAlso [ owl:x ( 1 2.5 ) ] .
"""


def _rdf(form: str, name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        from pyoxigraph import RdfFormat, parse, serialize

        triples = (it.triple for it in parse(_TURTLE, format=RdfFormat.TURTLE))
        content = serialize(triples, format=getattr(RdfFormat, form))
        head = f'<!DOCTYPE rdf:RDF [<!ENTITY o "{_PURL}">]>\n<rdf:RDF'.encode()
        return _file(name, content.replace(b"<rdf:RDF", head))(folder)

    return write


def _semantic_sql(folder: Path) -> Path:
    from pyoxigraph import Literal, RdfFormat, parse

    with closing(sqlite3.connect(folder / "o.db")) as database, database:
        database.execute("create table prefix (prefix, base)")
        database.execute("insert into prefix values ('IN', ?)", (_PURL,))
        database.execute("create table statements (subject, predicate, object, value, language)")
        for it in parse(_TURTLE, format=RdfFormat.TURTLE):
            literal = it.object if isinstance(it.object, Literal) else None
            subject, predicate = (str(node) for node in (it.subject, it.predicate))
            values = (literal.value, literal.language) if literal else (None, None)
            row = (subject, predicate, None if literal else str(it.object), *values)
            database.execute("insert into statements values (?, ?, ?, ?, ?)", row)
    return folder / "o.db"


_GRAPHS = json.dumps({"graphs": [{"id": f"{_PURL}.json", "nodes": _NODES, "edges": _EDGES}]})
_CONCEPTS = [
    {
        "code": f"{number}",
        "display": f"fever {number}",
        "designation": [{"value": "heat", "language": "de", "use": {"code": "display"}}],
        "property": [{"code": "status", "valueCode": "retired"}],
        "concept": [{"code": f"{number}a", "display": "pain"}],
    }
    for number in range(4)
]
_FHIR = json.dumps(
    {"resourceType": "CodeSystem", "url": "https://in.example", "date": "2026-01-31"}
    | {"content": "complete", "concept": _CONCEPTS}
)
_MAP = json.dumps(
    {
        "resourceType": "ConceptMap",
        "group": [
            {
                "source": "https://in.example",
                "target": target,
                "element": [{"code": "1", "target": [{"code": "2", "relationship": "equivalent"}]}],
            }
            for target in ("https://in.example", "http://snomed.info/sct")
        ],
    }
)
_SSSOM = "#license: free\nsubject_id\tpredicate_id\tpredicate_modifier\tobject_id\n" + "".join(
    f"IN:{number}\tskos:exactMatch\t\t{to}\n" for number in range(4) for to in ("IN:1", "mesh:D1")
)
_WORDS = "word,frequency,topics,domain\nheart,12,3,medicine\nasthma,2.5,1,\n"
_TABLE = "id,name,synonyms,type,obsolete,parent\n" + "".join(
    f'C{at},"{name}, the ""new"" one",{name} ache|{name} pain,PT,{at % 2},C{at // 2}\n'
    for at, name in enumerate(("asthma", "naïve", "心臓", "fever"))
)
_LEXICON = "E1|hearts|noun|count(thr_plur)|heart|heart|\nE2|pains|noun|x|pain|pain|\n"

_BIOC = {
    "documents": [
        {
            "id": str(number),
            "passages": [
                {"offset": 0, "text": "Naïve heart"},
                {
                    "offset": 12,
                    "text": "心臓 pain",
                    "annotations": [
                        {
                            "infons": {"type": "Disease", "identifier": "MESH:D010146|-1"},
                            "text": "pain",
                            "locations": [{"offset": 15, "length": 4}],
                        }
                    ],
                },
            ],
        }
        for number in range(2)
    ]
}
_BIOC_XML = (
    '<?xml version="1.0"?><!DOCTYPE collection SYSTEM "BioC.dtd"><collection><document><id>1</id>'
    "<passage><offset>0</offset><text>Naïve heart</text></passage><passage><offset>12</offset>"
    '<text>心臓 pain</text><annotation id="1"><infon key="type">Disease</infon><infon key="MESH">'
    'D010146</infon><location offset="15" length="4"/><text>pain</text></annotation></passage>'
    "</document></collection>"
)
READERS: dict[str, Reader] = {
    "rf2": Reader(write=_rf2, read=read_source),
    "rf2-zip": Reader(write=_rf2_zip, read=read_source),
    "rf2-delta": Reader(write=_rf2_delta, read=_with_edition),
    "umls": Reader(
        write=lambda folder: random_metathesaurus(1, 15).write(folder / "META"), read=read_source
    ),
    "umls-parts": Reader(write=_umls_parts, read=read_source),
    "mesh": Reader(write=_mesh, read=read_source),
    "mesh-translated": Reader(write=_mesh_translated, read=read_source),
    "mesh-gz": Reader(write=_mesh_gz, read=read_source),
    "obo": Reader(write=_obo, read=read_source),
    "obo-bz2": Reader(write=_obo_packed(bz2.compress, "in.obo.bz2"), read=read_source),
    "obo-xz": Reader(write=_obo_packed(lzma.compress, "in.obo.xz"), read=read_source),
    "obo-zst": Reader(
        write=_obo_packed(lambda content: pa.compress(content, "zstd", asbytes=True), "in.obo.zst"),
        read=read_source,
    ),
    "obo-tar": Reader(write=_obo_packed(_tarred, "in.tar"), read=read_source),
    "obo-tar-gz": Reader(
        write=_obo_packed(lambda content: gzip.compress(_tarred(content)), "in.tar.gz"),
        read=read_source,
    ),
    "obographs": Reader(write=_file("o.json", _GRAPHS), read=read_source),
    "table-csv": Reader(write=_file("names.csv", _TABLE), read=read_source),
    "table-tsv-gz": Reader(
        write=_file("names.tsv.gz", gzip.compress(_TABLE.replace(",", "\t").encode())),
        read=read_source,
    ),
    "table-utf-16": Reader(write=_file("names.csv", _TABLE.encode("utf-16")), read=read_source),
    "table-jsonl": Reader(
        write=_file(
            "names.jsonl", '{"id": 1, "name": "naïve", "synonyms": ["a", "b"], "parent": 2.5}\n' * 3
        ),
        read=read_source,
    ),
    "table-parquet": Reader(
        write=lambda folder: _table_in(folder / "names.parquet"), read=read_source
    ),
    "table-xlsx": Reader(write=_names_workbook, read=read_source),
    "table-duckdb": Reader(
        write=lambda folder: _table_in(folder / "names.duckdb"), read=read_source
    ),
    "table-sqlite": Reader(write=lambda folder: _table_in(folder / "names.db"), read=read_source),
    "owl": Reader(write=_rdf("RDF_XML", "o.owl"), read=read_source),
    "turtle": Reader(write=_file("o.ttl", _TURTLE), read=read_source),
    "n-triples": Reader(write=_rdf("N_TRIPLES", "o.nt"), read=read_source),
    "semantic-sql": Reader(write=_semantic_sql, read=read_source),
    "fhir": Reader(write=_file("trees.json", _FHIR), read=read_source),
    "concept-map": _with_mappings("map.json", _MAP, "trees.json", _FHIR),
    "sssom": _with_mappings("in.sssom.tsv", _SSSOM, "o.json", _GRAPHS),
    "rxnorm": Reader(write=lambda folder: random_drugs(1).write(folder / "rrf"), read=read_source),
    "omop": Reader(
        write=lambda folder: random_vocabularies(1).write(folder / "athena"), read=read_source
    ),
    "omop-csv": Reader(write=_omop_csv, read=read_source),
    "loinc": Reader(
        write=lambda folder: random_observations(1).write(folder / "loinc"), read=read_source
    ),
    "vectors-text": Reader(
        write=lambda folder: write_text(folder / "v.txt", ROWS, header=True), read=_embedding
    ),
    "vectors-gz": Reader(
        write=lambda folder: write_text(folder / "v.txt.gz", ROWS, header=False), read=_embedding
    ),
    "word2vec": Reader(
        write=lambda folder: write_word2vec(folder / "v.bin", ROWS), read=_embedding
    ),
    "fasttext": Reader(
        write=lambda folder: write_fasttext(folder / "model.bin", ROWS, 7), read=_embedding
    ),
    "definition": Reader(
        write=_file("definition.json", json.dumps(benchmark_definitions()["hpo-splits"])),
        read=read_definition,
    ),
    "result": Reader(write=_file("result.json", _RESULT), read=read_result),
    "npy": Reader(write=_array(".npy"), read=_embedding),
    "npz": Reader(write=_array(".npz"), read=_embedding),
    "safetensors": Reader(write=_array(".safetensors"), read=_embedding),
    "numbers": Reader(write=_numbers, read=_embedding),
    "parquet-vectors": Reader(
        write=lambda folder: write_table(folder / "v.parquet", ROWS), read=_embedding
    ),
    "arrow-vectors": Reader(
        write=lambda folder: write_table(folder / "v.arrow", ROWS), read=_embedding
    ),
    "vectors-tabs": Reader(
        write=_file("v.txt", "heart\t0.5  1\nnaïve heart\t1 -2\npain  3\t4\n"), read=_embedding
    ),
    "vectors-csv": Reader(
        write=lambda folder: write_table(folder / "v.csv", ROWS), read=_embedding
    ),
    "vectors-jsonl": Reader(
        write=lambda folder: write_table(folder / "v.jsonl", ROWS), read=_embedding
    ),
    "vectors-columns": Reader(write=_columns, read=_embedding),
    "npz-words": Reader(write=_own_words, read=_embedding),
    "safetensors-bf16": Reader(write=_halves, read=_embedding),
    "model2vec": Reader(write=_model2vec, read=_encoder),
    "onnx": Reader(write=write_encoder, read=_encoder),
    "rated": Reader(write=_file("rated.csv", _RATED), read=read_rated),
    "rated-jsonl": Reader(write=_file("rated.jsonl", _SENTENCES), read=read_rated),
    "rated-raters": Reader(write=_file("rated.csv", _BY_RATERS), read=read_rated),
    "words": Reader(write=_file("words.csv", _WORDS), read=read_words),
    "pairs": Reader(write=_file("pairs.csv", _RATED.replace("rating", "note")), read=read_pairs),
    "lexicon": Reader(write=_file("LRAGR", _LEXICON), read=lambda path: read_lexicon([path])),
    "corrections": Reader(write=_file("judged.csv", JUDGED), read=read_corrections),
    "decisions": Reader(
        write=_file("decisions.csv", DECIDED), read=lambda path: read_decisions([path])
    ),
    "corrections-parquet": Reader(
        write=lambda folder: _parquet(folder / "judged.parquet"), read=read_corrections
    ),
    "names": Reader(write=_file("names.txt", "\n".join(TERMS)), read=_names),
    "names-csv": Reader(write=_file("names.csv", JUDGED), read=_names),
    "names-parquet": Reader(write=lambda folder: _parquet(folder / "n.parquet"), read=_names),
    "pubtator": Reader(write=_pubtator, read=_corpus),
    "pubtator-gz": Reader(write=_pubtator_gz, read=_corpus),
    "bioc-xml": Reader(write=_file("c.xml", _BIOC_XML), read=_corpus),
    "bioc-json": Reader(write=_file("c.json", json.dumps(_BIOC)), read=_corpus),
    "brat": Reader(write=_brat, read=_corpus),
    "conll": Reader(
        write=_file("train.tsv", "naïve\tB-X\nheart\tI-X\n.\tO\n\npain S-Y\n"), read=_tagged
    ),
    "answers-jsonl": Reader(write=_file("a.jsonl", written_jsonl(SHEET, _VALUES)), read=_answers),
    "answers-csv": Reader(write=_file("a.csv", _FILLED), read=_answers),
    "answers-xlsx": Reader(write=_workbook, read=_answers),
    "answers-json": Reader(write=_file("a.json", annotated_tasks(SHEET, _VALUES)), read=_answers),
    "wic": Reader(
        write=lambda folder: write_instances(folder / "t.json", invented_instances(1, 3)),
        read=_instances,
    ),
    "wic-general": Reader(write=_general, read=read_wic),
    "similarities": Reader(write=_file("p.csv", _SIMILAR), read=_similarities),
    "similarities-jsonl": Reader(
        write=_file("p.jsonl", '{"text1": "a", "text2": "b", "score": 0.5}\n' * 3),
        read=_similarities,
    ),
    "predictions": Reader(
        write=_file("p.jsonl", '{"prediction": 1, "score": 0.5}\n' * 3), read=_predictions
    ),
    "service-vectors": Reader(
        write=_file("v.json", json.dumps(answer_to({"model": "m", "input": list(TERMS)}))),
        read=lambda path: parse_vectors(_answer(path), len(TERMS), "the service"),
    ),
    "service-chat": Reader(
        write=_file("c.json", json.dumps(says("The answer is TRUE."))),
        read=lambda path: read_reply(_answer(path), "the service").content,
    ),
    "questions": Reader(
        write=_file("test.jsonl", "".join(f"{json.dumps(row)}\n" for row in questions_of(3, 1))),
        read=lambda path: asked_of(read_questions(path.parent).asked, "pairs"),
    ),
    "options": Reader(
        write=_file("medsim.toml", "[build]\nseed = 1\n[eval]\nmetric = ['cos', 'naïve']\n"),
        read=lambda path: read_option_file(get_command(app), path.parent),
    ),
    "manifest": Reader(write=_build, read=_opened, damaged="manifest.json"),
}
"""Readers by name."""


def _table_in(path: Path) -> Path:
    frame = pl.DataFrame({"id": [1, 2], "name": ["naïve", "fever"], "parents": [[2], [3, 4]]})
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".duckdb":
        with duckdb.connect(path) as database:
            database.register("frame", frame.to_arrow())
            database.execute("create table names as from frame")
    else:
        with closing(sqlite3.connect(path)) as database:
            database.execute("create table names (id integer, name text)")
            database.executemany("insert into names values (?, ?)", frame.drop("parents").rows())
            database.commit()
    return path


def _parquet(path: Path) -> Path:
    rows = [line.split(",") for line in JUDGED.splitlines()]
    pl.DataFrame(rows[1:], schema=rows[0], orient="row").write_parquet(path)
    return path
