"""Digests are of the parsed bytes, even if the file changes afterwards."""

from __future__ import annotations

import gzip
import hashlib
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.files import HashedReader, open_hashed
from medsim.core.store import Store
from medsim.core.tables import read_table
from medsim.corpora.documents import Problems
from medsim.evaluations import rated_parts
from medsim.evaluations.rated_parts import read_words
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import obo
from medsim.terminologies.sources.ontology_rows import OntologyRows
from medsim.wic.mentions import read_mentions

OBO = b"format-version: 1.2\n\n! a comment\n[Term]\nid: X:1\nname: zirel fever\n"
PUBTATOR = b"7|t|Zirel fever.\n7|a|It came.\n7\t0\t11\tZirel fever\tDisease\tD000001\n\n"
OTHER = b"something else altogether"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@given(st.binary(max_size=500), st.lists(st.integers(0, 60), max_size=8))
def test_hash_is_of_the_whole_file_in_any_way_of_reading(data: bytes, sizes: list[int]) -> None:
    with HashedReader(io.BytesIO(data)) as reader:
        parts = [reader.read(size) if size % 2 else reader.readline(size) for size in sizes]

        assert data.startswith(b"".join(parts))
        assert reader.finish() == digest(data)
        assert reader.n_bytes == len(data)


def test_hash_is_of_the_bytes_before_and_after_a_change(tmp_path: Path) -> None:
    path = tmp_path / "large"
    first, second = b"a" * 100_000, b"b" * 100_000
    path.write_bytes(first + first)
    with open_hashed(path) as reader:
        before = reader.read(len(first))
        with path.open("r+b") as writer:
            writer.seek(len(first))
            writer.write(second)
        rest = reader.read()
        assert reader.finish() == digest(before + rest)


def test_replaced_ontology_has_the_digest_of_the_parsed_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.obo"
    path.write_bytes(OBO)
    fill = OntologyRows.fill

    def replaced(rows: OntologyRows, store: Store) -> None:
        path.write_bytes(OTHER)
        fill(rows, store)

    monkeypatch.setattr(OntologyRows, "fill", replaced)
    with Store(threads=1) as store:
        (file,) = obo.read_obo(path, store, ReadingOptions()).files

    assert (file.sha256, file.size) == (digest(OBO), len(OBO))


@pytest.mark.parametrize("packed", [False, True])
def test_replaced_corpus_has_the_digest_of_the_parsed_bytes(
    tmp_path: Path, *, packed: bool
) -> None:
    pytest.importorskip("pysbd", reason="the extra wic is not installed")
    data = gzip.compress(PUBTATOR) if packed else PUBTATOR
    path = tmp_path / "corpus.txt"
    path.write_bytes(data)

    mentions, facts = read_mentions(
        [path], Problems(), threads=1, advance=lambda _n: path.write_bytes(OTHER) and None
    )

    assert mentions["term"].to_list() == ["Zirel fever"]
    assert [each["sha256"] for each in facts] == [digest(data)]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_replaced_word_table_has_the_digest_of_the_parsed_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"words{suffix}"
    table = pl.DataFrame({"word": ["fever"], "count": [3]})
    table.write_csv(path) if suffix == ".csv" else table.write_parquet(path)
    data = path.read_bytes()

    def replaced(*arguments: object) -> object:
        result = read_table(*arguments)  # type: ignore[arg-type]  # as they came
        path.write_bytes(OTHER)
        return result

    monkeypatch.setattr(rated_parts, "read_table", replaced)

    assert read_words(path).digest == digest(data)
