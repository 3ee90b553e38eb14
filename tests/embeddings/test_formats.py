"""Every registered format of word vectors keeps the contract."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import ROWS, as_float32, request, write_text, write_word2vec

from medsim.core.errors import InputError
from medsim.embeddings import FORMATS, WordVectors, find_format, fingerprint
from medsim.embeddings.options import EmbeddingOptions


def word2vec_sample(folder: Path) -> Path:
    return write_word2vec(folder / "sample.bin", ROWS)


def word2vec_text_sample(folder: Path) -> Path:
    return write_text(folder / "sample.vec", ROWS, header=True)


def glove_sample(folder: Path) -> Path:
    return write_text(folder / "sample.txt", ROWS, header=False)


def fasttext_sample(folder: Path) -> Path:
    """Write a model without n-grams, field by field."""
    options = (3, 5, 1, 1, 5, 1, 2, 1, 0, 0, 0, 100)
    content = struct.pack("<2i12id", 793712314, 12, *options, 1e-4)
    content += struct.pack("<3i2q", len(ROWS), len(ROWS), 0, 100, -1)
    for word in ROWS:
        content += word.encode() + b"\0" + struct.pack("<qb", 9, 0)
    for rows in (list(ROWS.values()), np.zeros((4, 3))):
        content += struct.pack("<?2q", 0, 4, 3) + np.array(rows, "<f4").tobytes()
    path = folder / "sample.bin"
    path.write_bytes(content)
    return path


def array_sample(folder: Path) -> Path:
    np.save(folder / "sample.npy", np.array(list(ROWS.values())))
    (folder / "sample.txt").write_text("\n".join(ROWS), encoding="utf-8")
    return folder / "sample.npy"


def table_sample(folder: Path) -> Path:
    frame = pl.DataFrame({"word": list(ROWS), "vector": list(ROWS.values())})
    frame.write_parquet(folder / "sample.parquet")
    return folder / "sample.parquet"


SAMPLES: dict[str, Callable[[Path], Path]] = {
    "word2vec": word2vec_sample,
    "word2vec-text": word2vec_text_sample,
    "glove": glove_sample,
    "fasttext": fasttext_sample,
    "array": array_sample,
    "table": table_sample,
}

every = pytest.mark.parametrize("name", SAMPLES)


@every
def test_a_sample_is_recognised_by_its_format_alone(tmp_path: Path, name: str) -> None:
    path = SAMPLES[name](tmp_path)

    assert [known for known, one in FORMATS.all().items() if one.recognises(path)] == [name]
    assert find_format(path, EmbeddingOptions()) == (name, FORMATS.get(name))


@every
def test_a_sample_is_told_by_its_content_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = SAMPLES[name](tmp_path)
    other = path.rename(tmp_path / "renamed.onnx.dat")

    assert find_format(other, EmbeddingOptions()) == (name, FORMATS.get(name))


@every
def test_all_formats_give_the_same_words(tmp_path: Path, name: str) -> None:
    found = FORMATS.get(name).load(SAMPLES[name](tmp_path), request(["Asthma heart", "心臓 lung"]))

    assert isinstance(found, WordVectors)
    rows = dict(zip(found.words, found.vectors.tolist(), strict=True))
    assert rows == {word: as_float32(ROWS)[word] for word in ("asthma", "heart", "心臓")}
    assert found.vectors.dtype == np.float32
    assert found.in_vocabulary.all()
    assert found.n_vocabulary == 4


@every
def test_the_fingerprint_changes_with_every_file(tmp_path: Path, name: str) -> None:
    path = SAMPLES[name](tmp_path)
    options = EmbeddingOptions()
    seen = {fingerprint(path, FORMATS.get(name), options)}

    for file in FORMATS.get(name).files(path, options):
        file.write_bytes(file.read_bytes() + b"x")
        seen.add(fingerprint(path, FORMATS.get(name), options))

    assert len(seen) == 1 + len(FORMATS.get(name).files(path, options))


@every
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html><body>Not found</body></html>",
        b"\x80\x04\x95\x00\x00",
        b"PK\x03\x04 and then nothing",
        b"\x1f\x8b and then nothing",
        b"one word a line\nand more\n",
        b'{"a": [1, 2]}',
        b"abcdefgh{",
        bytes(range(256)),
    ],
)
def test_what_is_no_embedding_is_not_recognised(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(content)

    assert not FORMATS.get(name).recognises(path)
    with pytest.raises(InputError, match=r"file\.txt"):
        FORMATS.get(name).load(path, request(["heart"]))


@every
def test_a_folder_without_an_embedding_is_not_recognised(tmp_path: Path, name: str) -> None:
    assert not FORMATS.get(name).recognises(tmp_path)
    with pytest.raises(InputError):
        FORMATS.get(name).load(tmp_path, request(["heart"]))
