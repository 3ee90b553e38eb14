"""Binary files of the program word2vec."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fixtures.embeddings import (
    ROWS,
    as_float32,
    as_rows,
    request,
    words_in,
    write_word2vec,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from medsim.core.errors import InputError, OptionError
from medsim.embeddings import FORMATS
from medsim.embeddings.formats import files

Words = st.text(st.characters(codec="utf-8", exclude_characters="\n "), min_size=1, max_size=5)
Numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("file", ["vectors.bin", "vectors.bin.gz"])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_wanted_words_are_read(tmp_path: Path, file: str, end: bytes) -> None:
    path = write_word2vec(tmp_path / file, ROWS, end)

    found = words_in("word2vec", path, ["asthma", "heart naïve", "lung", "心臓"])

    assert as_rows(found) == as_float32(ROWS)
    assert found.in_vocabulary.all()
    assert found.n_vocabulary == 4
    assert words_in("word2vec", path, ["heart"]).words == ["heart"]
    assert words_in("word2vec", path, ["lung"]).vectors.shape == (0, 3)


def test_blocks_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS)
    for size in range(4, 60):
        monkeypatch.setattr(files, "BLOCK", size)
        assert as_rows(words_in("word2vec", path, ROWS)) == as_float32(ROWS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(rows=st.dictionaries(Words, st.lists(Numbers, min_size=2, max_size=2), min_size=1))
@pytest.mark.parametrize("end", [b"\n", b""])
def test_what_is_written_is_read(tmp_path: Path, end: bytes, rows: dict[str, list[float]]) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", rows, end)
    looked_up = request(rows).words

    found = as_rows(words_in("word2vec", path, rows))

    assert found == {word: row for word, row in as_float32(rows).items() if word in looked_up}


def test_a_word_that_is_no_utf_8_is_passed_over(tmp_path: Path) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS)
    path.write_bytes(path.read_bytes().replace("naïve".encode(), b"na\xefve"))

    assert words_in("word2vec", path, ["naïve", "heart"]).words == ["heart"]


@pytest.mark.parametrize("n_cut", [1, 2, 13, 14, 20, 60])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, n_cut: int) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS, b"")
    path.write_bytes(path.read_bytes()[:-n_cut])

    with pytest.raises(InputError, match=r"ends in row \d|does not hold"):
        words_in("word2vec", path, ["heart"])


def test_a_header_that_claims_too_few_rows_is_refused(tmp_path: Path) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS)
    path.write_bytes(path.read_bytes().replace(b"4 3", b"3 3", 1))

    with pytest.raises(InputError, match="goes on after the 3 rows that its header claims"):
        words_in("word2vec", path, ["heart"])


@pytest.mark.parametrize("header", [b"9999999999999 3", b"4 60000", b"5 3"])
def test_a_header_that_claims_too_much_is_refused(tmp_path: Path, header: bytes) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS, b"")
    path.write_bytes(path.read_bytes().replace(b"4 3", header, 1))

    with pytest.raises(InputError, match=r"does not hold|ends in row 5; its header claims 5"):
        words_in("word2vec", path, ["heart"])


def test_a_row_without_a_word_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"2 1\n" + b"x" * 70_000)

    with pytest.raises(InputError, match="row 1 has no word"):
        words_in("word2vec", path, ["heart"])


def test_a_wanted_word_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", {**ROWS, "HEART": [1, 2, 3]})
    path.write_bytes(path.read_bytes().replace(b"HEART", b"heart"))

    with pytest.raises(InputError, match="'heart' stands in row 4 and again in row 5"):
        words_in("word2vec", path, ["heart"])
    assert words_in("word2vec", path, ["asthma"]).words == ["asthma"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_wanted_vector_that_is_not_finite_is_refused(tmp_path: Path, value: float) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", {**ROWS, "lung": [1, value, 3]})

    with pytest.raises(InputError, match="row 5: the vector of 'lung' has a value that is not"):
        words_in("word2vec", path, ["heart", "lung"])
    assert words_in("word2vec", path, ["heart"]).words == ["heart"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"<html>", "HTML"),
        (b"\x80\x04\x95", "pickle"),
        (b"2 0\n", "1 to 65,536 are accepted"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(content)

    with pytest.raises(InputError, match=message):
        words_in("word2vec", path, ["heart"])


def test_options_of_other_embeddings_are_refused(tmp_path: Path) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS)

    with pytest.raises(OptionError, match="option keys=terms does not fit"):
        FORMATS.get("word2vec").load(path, request(["heart"], keys="terms"))
