"""Binary files of the program word2vec."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.embeddings import ROWS, as_float32, as_rows, words_in, write_word2vec

from medsim.core.errors import InputError
from medsim.embeddings.formats import word2vec


@pytest.mark.parametrize("file", ["vectors.bin", "vectors.bin.gz"])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_file_may_be_packed_and_rows_may_end_in_a_line_feed(
    tmp_path: Path, file: str, end: bytes
) -> None:
    path = write_word2vec(tmp_path / file, ROWS, end)

    assert as_rows(words_in("word2vec", path, ROWS)) == as_float32(ROWS)


def test_blocks_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS)
    for size in range(4, 60):
        monkeypatch.setattr(word2vec, "BLOCK", size)
        assert as_rows(words_in("word2vec", path, ROWS)) == as_float32(ROWS)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"3 3", "goes on after the 3 rows that its header claims"),
        (b"5 3", "ends in row 5; its header claims 5 rows"),
        (b"9999999999999 3", "does not hold"),
        (b"4 60000", "does not hold"),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path: Path, header: bytes, message: str) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS, b"")
    path.write_bytes(path.read_bytes().replace(b"4 3", header, 1))

    with pytest.raises(InputError, match=message):
        words_in("word2vec", path, ["heart"])


def test_a_row_without_a_word_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"2 1\n" + b"\xff" * 70_000)

    with pytest.raises(InputError, match="row 1 has no word"):
        words_in("word2vec", path, ["heart"])
