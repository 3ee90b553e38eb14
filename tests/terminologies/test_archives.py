"""A terminology is the same however it is packed, and damaged archives are refused in one line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from fixtures.corpora import invented_names, write_ontology
from fixtures.mesh import write_mesh
from fixtures.omop import random_vocabularies
from fixtures.release import small_release
from fixtures.sources import Read, read_source
from fixtures.umls import random_metathesaurus

from medsim.core.errors import InputError
from medsim.terminologies.sources.archive import release_files

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}
GRAPHS = '{"graphs": [{"nodes": [{"id": "IN:1", "type": "CLASS", "lbl": "fever"}]}]}'


def tar_of(files: dict[str, bytes], end: str = ".tar") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return PACK.get(end.removeprefix(".tar"), bytes)(out.getvalue())


def zip_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def assert_same(actual: Read, expected: Read) -> None:
    assert expected[1]["description"].height > 0
    for table, frame in expected[1].items():
        assert actual[1][table].equals(frame), table
    digests = [{(file.size, file.sha256) for file in read[0].files} for read in (actual, expected)]
    assert digests[0] == digests[1]


def sample(kind: str, folder: Path) -> Path:
    if kind == "obo":
        return write_ontology(folder, invented_names(1, 8))
    if kind == "obographs":
        return put(folder / "in.json", GRAPHS.encode())
    return (write_mesh(folder, 1, 12) / "desc2026.xml").rename(folder / "headings.xml")


@pytest.mark.some(1)
@pytest.mark.parametrize("kind", ["obo", "obographs", "mesh"])
def test_one_file_is_the_same_however_it_is_packed(tmp_path: Path, kind: str) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    path = sample(kind, whole)
    expected, content = read_source(path), path.read_bytes()
    notes = {"readme.txt": b"see the web", "__MACOSX/._" + path.name: b"\0"}

    for end, pack in PACK.items():
        packed = put(tmp_path / f"{path.name}{end}", pack(content))
        assert_same(read_source(packed), expected)
    put(tmp_path / "folder" / "deep" / f"{path.name}.xz", lzma.compress(content))
    put(tmp_path / "folder" / "licence.md", b"free")
    assert_same(read_source(tmp_path / "folder"), expected)
    files = {f"in/{path.name}": content, **notes}
    assert_same(read_source(put(tmp_path / "one.zip", zip_of(files))), expected)
    for end in (".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"):
        read = read_source(put(tmp_path / f"one{end}", tar_of(files, end)))
        assert_same(read, expected)
        assert [file.name for file in read[0].files] == [f"in/{path.name}"]


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["rf2", "umls", "omop"])
def test_a_release_in_a_tar_is_read_like_its_folder(tmp_path: Path, name: str) -> None:
    write = {
        "rf2": lambda folder: small_release().write_folder(folder, "Full"),
        "umls": random_metathesaurus(1).write,
        "omop": random_vocabularies(1).write,
    }[name]
    folder = write(tmp_path / "release")
    expected = read_source(folder)
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    files = {f"r/{path.relative_to(folder)}": path.read_bytes() for path in paths}

    for end in (".tar", ".tar.gz", ".tgz", ".tar.zst"):
        content = tar_of(files, end.replace(".tgz", ".tar.gz"))
        assert_same(read_source(put(tmp_path / f"release{end}", content)), expected)
    for path in paths:
        put(path.with_name(f"{path.name}.bz2"), bz2.compress(path.read_bytes()))
        path.unlink()
    assert_same(read_source(folder), expected)


def test_nothing_of_a_tar_is_written_or_followed(tmp_path: Path) -> None:
    content = write_ontology(tmp_path, invented_names(1, 8)).read_bytes()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in (("link.obo", tarfile.SYMTYPE), ("hard.obo", tarfile.LNKTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
        entry = tarfile.TarInfo("../../up.obo")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    path = put(tmp_path / "in" / "deep" / "evil.tar", out.getvalue())

    assert [file.inner for file in release_files(path)] == ["../../up.obo"]
    assert read_source(path)[1]["concept"].height == 8
    assert sorted(file.name for file in tmp_path.rglob("*.*")) == ["evil.tar", "velpish.obo"]


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_source(path)
    message = str(error.value)
    assert str(path) in message
    assert message.isprintable()
    return message


def test_several_files_are_not_chosen_from(tmp_path: Path) -> None:
    put(tmp_path / "two" / "a.obo", b"")
    put(tmp_path / "two" / "b.obo.gz", b"")
    assert "has a.obo and b.obo.gz; give one of them" in refused(tmp_path / "two")


@pytest.mark.parametrize("end", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_cut_or_damaged_tar_is_refused(tmp_path: Path, end: str) -> None:
    files = {"a.txt": os.urandom(5000), "in.obo": b"format-version: 1.2\n" + os.urandom(3000)}
    whole = tar_of(files, f".tar{end}")
    for n_kept in (len(whole) // 2, 700, 0):
        path = put(tmp_path / f"cut{n_kept}.tar{end}", whole[:n_kept])
        assert "cannot be read as a tar" in refused(path) or n_kept == 0
    if not end:
        at_the_end = put(tmp_path / "end.tar", whole[: 512 + 5120])  # of the first entry
        assert "it is cut short or damaged: empty header" in refused(at_the_end)
        put(tmp_path / "bad.tar", whole[: 512 + 5120] + b"x" * 512)
        assert "it is cut short or damaged: invalid header" in refused(tmp_path / "bad.tar")


@pytest.mark.parametrize(
    ("end", "said"), [(".bz2", "BZ2|bz2|EOF|Truncated"), (".zst", "Truncated")]
)
def test_a_cut_file_is_refused(tmp_path: Path, end: str, said: str) -> None:
    content = write_ontology(tmp_path, invented_names(1, 8)).read_bytes()
    packed = PACK[end](content)
    message = refused(put(tmp_path / f"in.obo{end}", packed[: len(packed) // 2]))
    assert "cannot be read" in message
    assert any(word in message for word in said.split("|"))


def test_an_archive_in_an_archive_must_be_unpacked(tmp_path: Path) -> None:
    inner = zip_of({"in.obo": b"format-version: 1.2\n"})
    for name in ("out.zip", "out.tar.gz"):
        pack = zip_of if name == "out.zip" else lambda files: tar_of(files, ".tar.gz")
        message = refused(put(tmp_path / name, pack({"release.zip": inner})))
        assert message.endswith("has only another archive, release.zip; unpack it first")
    twice = gzip.compress(gzip.compress(b"format-version: 1.2\n"))
    assert "is packed by gzip; unpack it" in refused(put(tmp_path / "in.obo.gz", twice))
    hidden = put(tmp_path / "tar.obo.gz", tar_of({"in.obo": b""}, ".tar.gz"))
    assert "is a tar; unpack it" in refused(hidden)


@pytest.mark.some(2)
@pytest.mark.parametrize("end", [".gz", ".bz2", ".xz", ".zst"])
def test_a_bomb_must_be_unpacked(tmp_path: Path, end: str) -> None:
    content = b"format-version: 1.2\n" + b"\n" * (6 << 20)
    path = put(tmp_path / f"in.obo{end}", PACK[end](content))
    assert "if you trust it, unpack it yourself" in refused(path)
    path = put(tmp_path / f"in.tar{end}", tar_of({"in.obo": content}, f".tar{end}"))
    assert "if you trust it, unpack it yourself" in refused(path)


def test_an_archive_of_very_many_files_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(10_001):
            archive.writestr(f"{number}.txt", "")

    with pytest.raises(InputError, match="has 10,001 files; a release has at most 10,000"):
        release_files(path)
