"""Kinds of files, identified by their first bytes, in the errors of every reader."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import zipfile
from pathlib import Path

import polars as pl
import pytest

import medsim
from medsim.core.errors import InputError
from medsim.core.reading import file_kind

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
HTML = b"<!DOCTYPE html>\n<html><body>Not found</body></html>\n"
OWL = (
    b'<?xml version="1.0"?>\n<rdf:RDF xmlns:owl="http://www.w3.org/2002/07/owl#">\n'
    b"<owl:Class/>\n</rdf:RDF>\n"
)
OBO = 'format-version: 1.2\n\n[Term]\nid: T:1\nname: orl\nsynonym: "dup" EXACT []\n'


def named(value: object) -> str:
    """Return the name of a parameter; packed content differs with the time."""
    return value if isinstance(value, str) else "content"


def zipped(name: str, content: bytes = b"content") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (LFS, "a Git LFS pointer"),
        (HTML, "an HTML page"),
        (b"\xef\xbb\xbf  " + HTML, "an HTML page"),
        (OWL, "an ontology in OWL or RDF"),
        (b"<rdf:RDF xmlns='x'>", "an ontology in OWL or RDF"),
        (b"<!DOCTYPE rdf:RDF [\n<!ENTITY a 'b'>]>\n<rdf:RDF\n>", "an ontology in OWL or RDF"),
        (b"# of trees\n\n@prefix a: <http://x.example/> .\n", "an ontology in Turtle"),
        (b"PREFIX : <http://x.example/>\n", "an ontology in Turtle"),
        (b"<http://x.example/a> <http://x.example/b> 1 .\n", "an ontology in Turtle"),
        (b"_:a <http://x.example/b> 1 .\n", "an ontology in Turtle"),
        (b"Prefix(:=<http://x.example/>)\nOntology(<http://x.example/>)\n", "but not in RDF"),
        (b"Prefix: : <http://x.example/>\nOntology: <http://x.example/>\n", "but not in RDF"),
        (b'<?xml version="1.0"?>\n<Ontology xmlns="http://x.example/">', "but not in RDF"),
        (b'{"graphs": []}', "JSON"),
        (b'\n[\n  {"id": 1}\n]', "JSON"),
        (b"[[0.1, 0.2]]", "JSON"),
        (gzip.compress(b"text"), "packed by gzip"),
        (zipped("a.txt"), "a zip"),
        (zipped("[Content_Types].xml"), "a workbook"),
        (b"PAR1....", "a Parquet file"),
        *((begin, "HDF5 or PDF") for begin in (b"\x89HDF\r\n", b"%PDF-")),
        (b"SQLite format 3\0", "an SQLite database"),
        (bytes(8) + b"DUCK", "a DuckDB database"),
        *(
            (begin, "packed by lz4, 7z or RAR")
            for begin in (b"7z\xbc\xaf\x27\x1c\0\4", b"Rar!\x1a\x07\1\0")
        ),
        (b"\xfd7zXZ\0", "packed by xz"),
        (b"BZh11AY&SY", "packed by bzip2"),
        (bytes(257) + b"ustar", "a tar"),
        (b"\x28\xb5\x2f\xfd\0", "packed by zstd"),
        (pickle.dumps({"heart": [0.1]}, protocol=4), "a pickle"),
        ("text".encode("utf-16"), "UTF-16 text"),
    ],
    ids=named,
)
def test_first_bytes_identify_the_kind_of_a_file(content: bytes, name: str) -> None:
    assert name in str(file_kind(content))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"heart 0.1 0.2\n",
        b"2 3\nheart 0.1 0.2 0.3\n",
        OBO.encode(),
        b"format-version: 1.2\nremark: <html> is only named\n",
        struct.pack("<Q", 642) + b'{"vectors":{"dtype":"F32"}}',  # safetensors
        b"[\t[\tO\norl\torl\tB-Disease\n",  # CoNLL's layout, with a lemma
        b"[[\tO\norl\tB-Disease\n",
        b"{}\tO\norl\tB-Disease\n",
    ],
    ids=named,
)
def test_other_content_has_no_known_kind(content: bytes) -> None:
    assert file_kind(content) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HTML, r"onto\.obo is an HTML page; save the file itself"),
        (OWL, r"onto\.obo is an ontology in OWL or RDF; .* its name ends in \.owl"),
        (LFS, r"onto\.obo is a Git LFS pointer, not the file itself; run: git lfs pull"),
        (OBO.encode("utf-16"), r"onto\.obo is UTF-16 text; convert it to UTF-8"),
    ],
    ids=named,
)
def test_file_of_another_kind_is_named_instead_of_an_ontology(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "onto.obo"
    path.write_bytes(content)

    with pytest.raises(InputError, match=message):
        medsim.build(path, tmp_path / "build")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.txt", HTML, r"v\.txt is an HTML page"),
        ("v.pkl", pickle.dumps([1], protocol=4), r"v\.pkl is a pickle, which could run any code"),
        ("v.npy", LFS, r"v\.npy is a Git LFS pointer"),
    ],
    ids=named,
)
def test_file_of_another_kind_is_named_instead_of_vectors(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    rated = tmp_path / "rated.csv"
    rated.write_text("term1,term2,rating\nheart,lung,1\nheart,liver,2\nlung,liver,3\n")

    with pytest.raises(InputError, match=message):
        medsim.evaluate(rated, {"one": tmp_path / name}, tmp_path / "results")


def test_paths_of_a_zip_may_have_backslashes(tmp_path: Path) -> None:
    medsim.synth(tmp_path / "release.zip", concepts=30, seed=1)
    with (
        zipfile.ZipFile(tmp_path / "release.zip") as archive,
        zipfile.ZipFile(tmp_path / "windows.zip", "w") as other,
    ):
        for entry in archive.infolist():
            named = zipfile.ZipInfo("x")
            named.filename = entry.filename.replace("/", "\\")
            other.writestr(named, archive.read(entry))

    builds = [
        medsim.build(tmp_path / name, tmp_path / f"{name}.build", negatives=["random"])
        for name in ("release.zip", "windows.zip")
    ]

    first, second = (build.pairs().sort(pl.all()) for build in builds)
    assert len(first) > 0
    assert first.equals(second)


def test_zip_with_unsupported_compression_must_be_unpacked(tmp_path: Path) -> None:
    method = 9  # Deflate64
    medsim.synth(tmp_path / "release.zip", concepts=30, seed=1)
    data = (tmp_path / "release.zip").read_bytes()
    for header, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):  # the position of the method
        start = data.find(header)
        while start >= 0:
            data = data[: start + at] + struct.pack("<H", method) + data[start + at + 2 :]
            start = data.find(header, start + 4)
    path = tmp_path / "other.zip"
    path.write_bytes(data)

    with pytest.raises(InputError, match=r"method is not supported.; .* unpack it first"):
        medsim.build(path, tmp_path / "build")
