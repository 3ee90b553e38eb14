"""Word vectors of word2vec, fastText and GloVe, as text and in word2vec's binary format."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from fixtures.embeddings import (
    ROWS,
    as_float32,
    as_rows,
    request,
    words_in,
    write_text,
    write_word2vec,
)

from medsim.core.errors import InputError
from medsim.embeddings.formats import FORMATS, word2vec

NAMES = {"word2vec-text": True, "glove": False}
"""Whether files of each format have a header."""

every = pytest.mark.parametrize("name", NAMES)


@every
@pytest.mark.parametrize("file", ["vectors.txt", "vectors.vec.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_a_file_may_be_packed_and_lines_may_end_in_several_ways(
    tmp_path: Path, name: str, file: str, end: str
) -> None:
    path = write_text(tmp_path / file, ROWS, header=NAMES[name], end=end)

    assert as_rows(words_in(name, path, ROWS)) == as_float32(ROWS)


@every
def test_a_byte_order_mark_and_a_missing_last_line_end_are_accepted(
    tmp_path: Path, name: str
) -> None:
    path = write_text(tmp_path / "vectors.txt", ROWS, header=NAMES[name])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().rstrip(b"\n"))

    assert FORMATS.get(name).recognises(path)
    assert as_rows(words_in(name, path, ROWS)) == as_float32(ROWS)


@every
def test_words_with_spaces_differ_from_their_first_word(tmp_path: Path, name: str) -> None:
    rows = {"the": [1, 2], ". . .": [3, 4], "at name@x.org": [5, 6], ".": [7, 8], "at": [9, 0.5]}
    path = write_text(tmp_path / "vectors.txt", rows, header=NAMES[name])

    result = as_rows(words_in(name, path, ["at the", "a. x"]))

    assert result == {"the": [1, 2], "at": [9, 0.5]}


@every
@pytest.mark.parametrize(
    "line", ["heart\t1\t2\t3", "heart\t1 2 3", "heart  1   2 3 ", "heart \t1\t 2  3\t"]
)
def test_tabs_and_several_spaces_separate_fields(tmp_path: Path, name: str, line: str) -> None:
    path = tmp_path / "vectors.txt"
    others = f"{line.replace('heart', 'the')}\nlung 4 5 6\n{line.replace('heart', 'heart sound')}"
    path.write_text("4\t3\n" * NAMES[name] + f"{others}\n{line}\n")

    assert FORMATS.get(name).recognises(path)
    result = words_in(name, path, ["heart lung"])
    assert as_rows(result) == {"heart": [1, 2, 3], "lung": [4, 5, 6]}
    assert result.vocabulary.decode().split("\n") == ["the", "lung", "heart sound", "heart", ""]


@pytest.mark.parametrize("name", [*NAMES, "word2vec"])
def test_repeated_rows_must_have_the_same_vector(tmp_path: Path, name: str) -> None:
    path = tmp_path / "vectors.txt"
    rows = {"heart": [1, 2], "lung": [3, 4], "hearT": [1, 2], "lunG": [3, 5]}
    if name in NAMES:
        write_text(path, rows, header=NAMES[name])
    else:
        write_word2vec(path, rows)
    content = path.read_bytes().replace(b"hearT", b"heart").replace(b"lunG", b"lung")
    path.write_bytes(content)

    result = words_in(name, path, ["heart"])
    assert as_rows(result) == {"heart": [1, 2]}
    with pytest.raises(InputError, match=r"'lung' is in (line|row) \d and again in (line|row) \d"):
        words_in(name, path, ["lung"])


@pytest.mark.parametrize("name", [*NAMES, "word2vec"])
def test_keys_of_conceptnet_are_of_one_language(tmp_path: Path, name: str) -> None:
    path = tmp_path / "vectors.txt"
    rows = {"/c/de/hand": [1, 2], "/c/en/hand": [3, 4], "/c/de/herz": [5, 6]}
    if name in NAMES:
        write_text(path, rows, header=NAMES[name])
    else:
        write_word2vec(path, rows)

    assert as_rows(words_in(name, path, ["hand herz"])) == {"hand": [3, 4]}
    german = words_in(name, path, ["hand herz"], language="de")
    assert as_rows(german) == {"hand": [1, 2], "herz": [5, 6]}


@pytest.mark.parametrize("name", [*NAMES, "word2vec"])
def test_blocks_may_end_anywhere(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vectors.txt"
    if name in NAMES:
        write_text(path, ROWS, header=NAMES[name])
    else:
        write_word2vec(path, ROWS)
    for size in (*range(1 if name in NAMES else 4, 60), 1000):
        monkeypatch.setattr(word2vec, "_READ_BYTES", size)
        assert as_rows(words_in(name, path, ROWS)) == as_float32(ROWS)


HOSTILE = {
    "a line is short": ("the 1 2 3\nlung 1 2\n", "line {2} has 2 numbers, not 3"),
    "a wanted line is long": ("the 1 2 3\nheart 1 2 3 4\n", "line {2} has 4 numbers, not 3"),
    "a wanted word has no number": ("the 1 2 3\nheart 1 x 3\n", "line {2} has b'x' instead of a"),
    "a number is too large": ("the 1 2 3\nheart 1 1e39 3\n", "line {2}: .*'heart' .*not finite"),
    "the file is cut off": ("the 1 2 3\nheart 1 2 3\nlung 4", "line {3} has 1 numbers, not 3"),
    "a number is missing": ("the 1 2 3\nheart 1  2\n", "line {2} has 2 numbers, not 3"),
    "a number is missing after a tab": ("the 1 2 3\nlung\t1 2\n", "line {2} has 2 numbers, not 3"),
}


@every
@pytest.mark.parametrize("fault", HOSTILE)
def test_a_faulty_line_is_named(tmp_path: Path, name: str, fault: str) -> None:
    content, message = HOSTILE[fault]
    path = tmp_path / "vectors.txt"
    n_lines = NAMES[name]
    header = f"{len(content.splitlines())} 3\n" if NAMES[name] else ""
    path.write_text(header + content, encoding="utf-8")
    numbers = [0, 1 + n_lines, 2 + n_lines, 3 + n_lines]

    with pytest.raises(InputError, match=r"vectors\.txt.*" + message.format(*numbers)):
        words_in(name, path, ["heart"])


FOUR_ROWS = "".join(f"word{row} 1 2 3\n" for row in range(4))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"3 3\n{FOUR_ROWS}", "has 4 rows; its header claims 3 rows"),
        (f"5 3\n{FOUR_ROWS}", "has 4 rows; its header claims 5 rows"),
        (f"9999999999999 300\n{FOUR_ROWS}", "line 2 has 3 numbers, not 300"),
        (f"0 3\n{FOUR_ROWS}", "has 4 rows; its header claims 0 rows"),
        (f"4 2\n{FOUR_ROWS}", "line 2 has 3 numbers, not 2"),
        (f"4 0\n{FOUR_ROWS}", "expected 1 to 65,536"),
        (f"4 65537\n{FOUR_ROWS}", "expected 1 to 65,536"),
    ],
)
def test_a_false_header_is_refused_without_much_memory(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "vectors.vec"
    path.write_text(content, encoding="utf-8")

    tracemalloc.start()
    with pytest.raises(InputError, match=message):
        words_in("word2vec-text", path, ["heart"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 1 << 24


@every
def test_a_damaged_packing_is_refused(tmp_path: Path, name: str) -> None:
    path = write_text(tmp_path / "vectors.gz", ROWS, header=NAMES[name])
    path.write_bytes(path.read_bytes()[:-9])

    with pytest.raises(InputError, match="cannot be read"):
        words_in(name, path, ["heart"])


@every
def test_a_line_without_end_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"1 2\n" * NAMES[name] + b"heart 1 2" + b"0" * 90_000)
    monkeypatch.setattr(word2vec, "_READ_BYTES", 1 << 10)
    monkeypatch.setattr(word2vec, "_LONGEST_LINE", 1 << 10)

    with pytest.raises(InputError, match="has a line of more than 1,024 bytes"):
        words_in(name, path, ["heart"])


@every
def test_only_the_vectors_of_requested_words_are_in_memory(tmp_path: Path, name: str) -> None:
    numbers = " 0.125" * 300
    lines = [f"word{n}{numbers}\n" for n in range(20_000)]
    path = tmp_path / "vectors.txt"
    path.write_text("20000 300\n" * NAMES[name] + "".join(lines), encoding="utf-8")
    asked, load = request(["word7 word19999"]), FORMATS.get(name).load

    tracemalloc.start()
    result = load(path, asked)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert result.vectors.shape == (2, 300)
    assert path.stat().st_size > 3 * (1 << 23)
    assert peak < 5 * (1 << 23)


@pytest.mark.parametrize("file", ["vectors.bin", "vectors.bin.gz"])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_binary_file_may_be_packed_and_rows_may_end_in_a_line_feed(
    tmp_path: Path, file: str, end: bytes
) -> None:
    path = write_word2vec(tmp_path / file, ROWS, end)

    assert as_rows(words_in("word2vec", path, ROWS)) == as_float32(ROWS)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"3 3", "has more than the 3 rows that its header claims"),
        (b"5 3", "ends in row 5; its header claims 5 rows"),
        (b"9999999999999 3", "ends in row 5; its header claims 9,999,999,999,999 rows"),
        (b"4 60000", "ends in row 1; its header claims 4 rows"),
    ],
)
def test_a_false_binary_header_is_refused(tmp_path: Path, header: bytes, message: str) -> None:
    path = write_word2vec(tmp_path / "vectors.bin", ROWS, b"")
    path.write_bytes(path.read_bytes().replace(b"4 3", header, 1))

    with pytest.raises(InputError, match=message):
        words_in("word2vec", path, ["heart"])
    path.write_bytes(b"2 1\n" + b"\xff" * 70_000)
    with pytest.raises(InputError, match="row 1 has no space after a word"):
        words_in("word2vec", path, ["heart"])
