"""Files that would hang or crash a reader or exhaust memory are refused in one line."""

from __future__ import annotations

import gzip
import json
import os
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fixtures.corpora import read_pubtator
from fixtures.embeddings import ROWS, request, write_array
from fixtures.mesh import concept, descriptor, document
from fixtures.release import Release, random_release
from fixtures.sources import read_source
from fixtures.wic import invented_instances
from fuzz.readers import READERS
from typer.testing import CliRunner

import medsim
from medsim.builds.positives import read_corrections
from medsim.cli import app
from medsim.core.errors import InputError
from medsim.core.instances import published_instances
from medsim.core.reading import MIB
from medsim.core.tables import read_table
from medsim.corpora.documents import Problems
from medsim.embeddings.formats import files_fingerprint, find_format
from medsim.embeddings.options import EmbeddingOptions
from medsim.wic.models.predicted import read_predictions

CROWDED = "format-version: 1.2\n\n[Term]\nid: V:1\nname: fever\n"
NPY = b"\x93NUMPY\x01\x00"


pytestmark = pytest.mark.usefixtures("alarm")


def refused(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return the short error line for a refused file."""
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    return message


def embedding(path: Path) -> object:
    _, reader = find_format(path, EmbeddingOptions())
    files_fingerprint(path, reader, EmbeddingOptions())
    return reader.read(path, request(["heart"]))


@pytest.mark.parametrize("name", sorted({*READERS} - {"manifest", "model2vec", "onnx"}))
def test_pipe_instead_of_any_file_is_refused(tmp_path: Path, name: str) -> None:
    reader = READERS[name]
    path = reader.write(tmp_path)
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file():
            file.unlink()
            os.mkfifo(file)

    message = refused(reader.read, path)

    if not path.is_dir():  # a folder of pipes has no file to read
        assert "is a pipe, socket or device; save its output to a file" in message


@pytest.mark.parametrize("name", ["npy", "vectors-text", "rated", "obo", "pubtator", "wic"])
def test_folder_instead_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    path = READERS[name].write(tmp_path)
    path.unlink()
    path.mkdir()

    refused(READERS[name].read, path)


def test_too_long_line_of_a_terminology_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, content = tmp_path / "release", random_release(6, 15)
    content.named("9000000", "invented (finding)", "x" * 2 * MIB)
    content.write_folder(release, "Snapshot")

    terminology, _ = read_source(release)
    assert "first of 9000000" in terminology.warnings[-1]  # read, but too long for a name

    monkeypatch.setattr("medsim.terminologies.sources.text_rows.MAX_LINE_BYTES", MIB)
    assert "has more than" in refused(read_source, release)


def test_a_comment_without_an_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "desc2026.xml").write_text(
        "<?xml version='1.0'?><!--" + " " * (2 * MIB) + "--><a/>"
    )
    assert "unclosed token" in refused(read_source, tmp_path)


def test_zip_bomb_is_refused(tmp_path: Path) -> None:
    records = [descriptor("D000001", "fever", concept("1", ["fever"], preferred=True))]
    text = document("Descriptor", records).replace("</DescriptorRecordSet>", "\n" * (1 << 21))
    content = f"{text}</DescriptorRecordSet>".encode()
    (tmp_path / "desc2026.xml.gz").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(tmp_path / "mesh.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("desc2026.xml", content)

    for name in ("desc2026.xml.gz", "mesh.zip"):
        assert "if you trust it, unpack it yourself" in refused(read_source, tmp_path / name)


@pytest.mark.parametrize("name", ["v.txt.gz", "v.bin.gz", "corpus.txt.gz"])
def test_bombs_in_other_files_must_be_unpacked(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    row = {"v.txt.gz": b"a 0.0 0.0 0.0\n", "v.bin.gz": b"a " + bytes(12)}.get(name, b" " * 14)
    head = b"7|t|Heart\n" if name.startswith("corpus") else b"900000 3\n"
    path.write_bytes(gzip.compress(head + row * 900_000, 9))

    def read_embedding(path: Path) -> object:
        if name.startswith("corpus"):
            return list(read_pubtator(path, Problems()))
        return embedding(path)

    assert "unpack it yourself" in refused(read_embedding, path)


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 5000,
        b"{[]: 1}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,3)",
        b"{'descr': [('a', '<f4')] * 9, 'fortran_order': False, 'shape': (2, 3)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (10**9, 3)}",
        b"{'descr': 'O', 'fortran_order': False, 'shape': (2, 3)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': '\\d'}",
        b"lambda: 0",
        b"\xff\xfe",
    ],
)
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_invalid_header_is_refused(tmp_path: Path, suffix: str, header: bytes) -> None:
    path = write_array(tmp_path / f"v{suffix}", [*ROWS], np.zeros((4, 3), np.float32))
    content = NPY + struct.pack("<H", len(header)) + header + bytes(48)
    if suffix == ".npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("v.npy", content)
    else:
        path.write_bytes(content)

    assert f"v{suffix}" in refused(embedding, path)


def changed_zip(path: Path, damage: str) -> Path:
    """Return a zipped release with changed bytes."""
    kind = zipfile.ZIP_LZMA if damage == "lzma" else zipfile.ZIP_STORED
    content = Release()
    content.named("9000000", "invented (finding)", "invented")
    folder = path.parent / "release"
    content.write_folder(folder, "Snapshot")
    with zipfile.ZipFile(path, "w", kind) as archive:
        for file in sorted(folder.rglob("*.txt")):
            archive.write(file, file.name)
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    if damage == "version":
        data[central + 6] = 99
    elif damage == "lzma":
        # After the name and the LZMA header.
        at = data.index(b".txt", data.index(b"sct2_Concept")) + 4 + 4
        data[at : at + 5] = b"\xff" * 5
    else:
        for start in (0, central):
            data[start + (7 if start == 0 else 9)] |= 0x08  # flag for names in UTF-8
        at = data.index(b"sct2", central)
        data[at] = 0xFF
        data[data.index(b"sct2")] = 0xFF
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("damage", ["version", "lzma", "name"])
def test_unsupported_zip_is_refused(tmp_path: Path, damage: str) -> None:
    refused(read_source, changed_zip(tmp_path / "release.zip", damage))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"cut"])
def test_empty_or_truncated_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "v.parquet"
    frame = pl.DataFrame({"word": ["heart"], "vector": [[1.0]], "term1": "a", "term2": "b"})
    frame.with_columns(judged=pl.lit("same")).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-9] if content == b"cut" else content)

    refused(read_table, path, ("term1",))
    refused(read_corrections, path)
    refused(embedding, path)
    refused(read_predictions, path, invented_instances(1, 1))


def test_a_table_of_more_rows_than_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    pl.DataFrame({"term1": ["x"], "term2": "x", "word": "x", "vector": [[1.0]]}).select(
        pl.all().repeat_by(100_000).explode()
    ).write_parquet(path)

    assert "100,000 rows in" in refused(read_table, path, ("term1",))
    assert "100,000 rows in" in refused(embedding, path)


def test_concept_with_too_many_names_is_refused_before_pairing(tmp_path: Path) -> None:
    path, out = tmp_path / "o.obo", str(tmp_path / "out")
    names = [f'synonym: "fever {number}" EXACT []\n' for number in range(5_000)]

    for count, options, message in (
        (5_000, [], "'V:1' has 5,001 names, but the limit is"),
        (5, ["--max-names", "5"], "has 6 names, but the limit is 5"),
        (5, ["--max-names", "6"], ""),
    ):
        path.write_text(CROWDED + "".join(names[:count]))
        ask = ["build", str(path), "-o", out, "--negatives", "random", *options]
        result = CliRunner().invoke(app, ask)
        assert message in result.stderr
        assert (result.exit_code == 0) == (not message), result.output
        assert ("raise --max-names if this is intended" in result.stderr) == bool(message)
    assert medsim.open(out).manifest.options["max_names"] == 6


DEEP = "[" * 100_000


def test_deep_json_is_refused_everywhere(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(DEEP)
    (tmp_path / "p.jsonl").write_text(f'{{"prediction": {DEEP}\n')
    array = write_array(tmp_path / "v.npy", [*ROWS], np.zeros((4, 3), np.float32))
    array.with_suffix(".txt").unlink()
    array.with_suffix(".json").write_text(DEEP)
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.onnx").write_bytes(b"")
    (model / "tokenizer.json").write_text("{}")

    assert "nested too deeply" in refused(published_instances, tmp_path / "t.json")
    assert "nested too deeply" in refused(
        read_predictions, tmp_path / "p.jsonl", invented_instances(1, 1)
    )
    assert "nested too deeply" in refused(embedding, array)
    for name in ("modules.json", "config.json"):
        (model / name).write_text(DEEP)
        assert "nested too deeply" in refused(embedding, model)
        (model / name).unlink()


@pytest.mark.parametrize(
    "damage",
    [
        {"model": {"type": "WordPiece", "vocab": {"a": 2**40}}},
        {"added_tokens": [{"id": 2**70, "content": "x"}]},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"}},
    ],
)
def test_tokenizer_that_fails_to_load_is_refused(tmp_path: Path, damage: dict[str, object]) -> None:
    path = READERS["onnx"].write(tmp_path)
    content = json.loads((path / "tokenizer.json").read_text())
    (path / "tokenizer.json").write_text(json.dumps(content | damage))

    assert "tokenizer.json" in refused(READERS["onnx"].read, path)


@pytest.mark.parametrize("day", ["2020-02-30", "9999-99-99", "0000-00-00"])
def test_impossible_date_of_an_ontology_is_no_traceback(tmp_path: Path, day: str) -> None:
    path = tmp_path / "o.obo"
    path.write_text(f"format-version: 1.2\ndata-version: {day}\n\n[Term]\nid: V:1\nname: x\n")
    with suppress(InputError):
        read_source(path)
