"""Word vectors as text, with a header and without."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from fixtures.embeddings import ROWS, as_float32, as_rows, request, words_in, write_text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from medsim.core.errors import InputError, OptionError
from medsim.embeddings import FORMATS
from medsim.embeddings.formats import files

NAMES = {"word2vec-text": True, "glove": False}
"""Whether files of a format have a header."""

Words = st.text(st.characters(codec="utf-8", exclude_characters="\n\r "), min_size=1, max_size=5)
Numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)

every = pytest.mark.parametrize("name", NAMES)


@every
@pytest.mark.parametrize("file", ["vectors.txt", "vectors.vec.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_wanted_words_are_read(tmp_path: Path, name: str, file: str, end: str) -> None:
    path = write_text(tmp_path / file, ROWS, header=NAMES[name], end=end)

    found = words_in(name, path, ["asthma", "heart naïve", "lung", "心臓"])

    assert as_rows(found) == as_float32(ROWS)
    assert found.in_vocabulary.all()
    assert found.n_vocabulary == 4


@every
def test_words_that_are_not_wanted_are_left_out(tmp_path: Path, name: str) -> None:
    path = write_text(tmp_path / "vectors.txt", ROWS, header=NAMES[name])

    assert words_in(name, path, ["heart"]).words == ["heart"]
    assert words_in(name, path, ["lung"]).vectors.shape == (0, 3)


@every
def test_a_mark_of_byte_order_is_no_part_of_the_text(tmp_path: Path, name: str) -> None:
    path = write_text(tmp_path / "vectors.txt", ROWS, header=NAMES[name])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    assert FORMATS.get(name).recognises(path)
    assert as_rows(words_in(name, path, ROWS)) == as_float32(ROWS)


@every
def test_the_last_line_needs_no_end(tmp_path: Path, name: str) -> None:
    path = write_text(tmp_path / "vectors.txt", ROWS, header=NAMES[name])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))

    assert as_rows(words_in(name, path, ROWS)) == as_float32(ROWS)


@every
def test_words_with_spaces_are_told_from_their_first_word(tmp_path: Path, name: str) -> None:
    rows = {"the": [1, 2], ". . .": [3, 4], "at name@x.org": [5, 6], ".": [7, 8], "at": [9, 0.5]}
    path = write_text(tmp_path / "vectors.txt", rows, header=NAMES[name])

    found = as_rows(words_in(name, path, ["at the", "a. x"]))

    assert found == {"the": [1, 2], "at": [9, 0.5]}


@every
def test_blocks_may_end_anywhere(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_text(tmp_path / "vectors.txt", ROWS, header=NAMES[name])
    for size in (*range(1, 40), 1000):
        monkeypatch.setattr(files, "BLOCK", size)
        assert as_rows(words_in(name, path, ROWS)) == as_float32(ROWS)


@every
def test_a_word_that_is_no_utf_8_is_passed_over(tmp_path: Path, name: str) -> None:
    path = write_text(tmp_path / "vectors.txt", ROWS, header=NAMES[name])
    path.write_bytes(path.read_bytes().replace("naïve".encode(), b"na\xefve"))

    found = words_in(name, path, ["naïve", "na\ufffdve", "heart"])

    assert found.words == ["heart"]
    assert found.n_vocabulary == 4


@every
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    rows=st.dictionaries(Words, st.lists(Numbers, min_size=3, max_size=3), min_size=1),
    wanted=st.lists(Words),
)
def test_what_is_written_is_read(
    tmp_path: Path, name: str, rows: dict[str, list[float]], wanted: list[str]
) -> None:
    path = write_text(tmp_path / "vectors.txt", rows, header=NAMES[name])
    terms = {*wanted, *list(rows)[::2]}
    looked_up = request(terms).words

    found = as_rows(words_in(name, path, terms))

    expected = {word: row for word, row in as_float32(rows).items() if word in looked_up}
    # A byte order mark before the first word of a file without a header is taken for the file's.
    first = next(iter(rows))
    if not NAMES[name] and first.startswith("\ufeff"):
        found.pop(first[1:], None)
        expected = {word: row for word, row in expected.items() if word not in (first, first[1:])}
    assert found == expected


HOSTILE = {
    "a line is short": ("the 1 2 3\nlung 1 2\n", "line {2} has 2 numbers where 3 are due"),
    "a wanted line is long": ("the 1 2 3\nheart 1 2 3 4\n", "line {2} has 4 numbers where 3"),
    "a wanted word has no number": ("the 1 2 3\nheart 1 x 3\n", "line {2} has b'x' where a num"),
    "a wanted word is not finite": ("the 1 2 3\nheart 1 nan 3\n", "line {2}: .*'heart' .*finite"),
    "a number is too large": ("the 1 2 3\nheart 1 1e39 3\n", "line {2}: .*'heart' .*not finite"),
    "a wanted word comes twice": (
        "heart 1 2 3\nheart 1 2 3\n",
        "'heart' stands in line {1} and again in line {2}",
    ),
    "the file is cut off": ("the 1 2 3\nheart 1 2 3\nlung 4", "line {3} has 1 numbers where 3"),
    "separators are doubled": ("the 1 2 3\nheart 1  2  3\n", "line {2} has b'' where a number"),
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


@pytest.mark.parametrize("n_words", [3, 5])
def test_a_header_that_miscounts_is_refused(tmp_path: Path, n_words: int) -> None:
    path = write_text(tmp_path / "vectors.vec", ROWS, header=True)
    path.write_bytes(path.read_bytes().replace(b"4 3", b"%d 3" % n_words))

    with pytest.raises(InputError, match=f"has 4 rows; its header claims {n_words} rows of 3"):
        words_in("word2vec-text", path, ["heart"])


@pytest.mark.parametrize("header", ["9999999999999 300", "2 60000", "0 3"])
def test_a_header_that_claims_more_than_the_file_holds_is_refused_at_once(
    tmp_path: Path, header: str
) -> None:
    path = tmp_path / "vectors.vec"
    path.write_text(f"{header}\nthe 1 2 3\nheart 1 2 3\n", encoding="utf-8")

    tracemalloc.start()
    with pytest.raises(InputError, match=r"which a file of .* bytes does not hold"):
        words_in("word2vec-text", path, ["heart"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 1 << 23


def test_a_file_that_is_a_little_too_small_for_its_header_is_refused_at_once(
    tmp_path: Path,
) -> None:
    path = tmp_path / "vectors.vec"
    path.write_text("2 3\na 1 2 3\n", encoding="utf-8")

    with pytest.raises(InputError, match="claims 2 words of 3 numbers, which a file of 12 bytes"):
        words_in("word2vec-text", path, ["a"])


def test_the_first_row_shows_that_a_header_claims_too_few_numbers(tmp_path: Path) -> None:
    path = tmp_path / "vectors.vec"
    path.write_text("2 2\nthe 1 2 3\na 1 2 3\n", encoding="utf-8")

    with pytest.raises(InputError, match="line 2 has 3 numbers where 2 are due"):
        words_in("word2vec-text", path, ["heart"])


@pytest.mark.parametrize("n_dimensions", [0, 65_537])
def test_absurd_dimensions_are_refused(tmp_path: Path, n_dimensions: int) -> None:
    path = tmp_path / "vectors.vec"
    path.write_text(f"1 {n_dimensions}\nheart 1 2 3\n", encoding="utf-8")

    with pytest.raises(InputError, match="1 to 65,536 are accepted"):
        words_in("word2vec-text", path, ["heart"])


@every
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html>\n<html></html>\n", "looks like an HTML page"),
        (b"\x80\x04\x95\x10\x00", "looks like a pickle"),
        (b"nothing of the sort\n", "begins with b'nothing of the sort"),
    ],
)
def test_what_is_no_text_of_vectors_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)

    assert not FORMATS.get(name).recognises(path)
    with pytest.raises(InputError, match=message):
        words_in(name, path, ["heart"])


@every
def test_a_damaged_packing_is_refused(tmp_path: Path, name: str) -> None:
    path = write_text(tmp_path / "vectors.gz", ROWS, header=NAMES[name])
    path.write_bytes(path.read_bytes()[:-9])

    assert not FORMATS.get(name).recognises(path)
    with pytest.raises(InputError, match="cannot be read"):
        words_in(name, path, ["heart"])


@every
def test_a_line_without_end_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"1 2\n" * NAMES[name] + b"heart 1 2" + b"0" * 90_000)
    monkeypatch.setattr(files, "BLOCK", 1 << 10)
    monkeypatch.setattr("medsim.embeddings.formats.text.BLOCK", 1 << 10)

    with pytest.raises(InputError, match="has a line of more than 1,024 bytes"):
        words_in(name, path, ["heart"])


@every
def test_only_the_vectors_of_wanted_words_are_held(tmp_path: Path, name: str) -> None:
    numbers = " 0.125" * 300
    lines = [f"word{n}{numbers}\n" for n in range(20_000)]
    path = tmp_path / "vectors.txt"
    path.write_text("20000 300\n" * NAMES[name] + "".join(lines), encoding="utf-8")
    asked, load = request(["word7 word19999"]), FORMATS.get(name).load

    tracemalloc.start()
    found = load(path, asked)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found.vectors.shape == (2, 300)
    assert path.stat().st_size > 3 * (1 << 23)
    assert peak < 5 * (1 << 23)


@every
def test_options_of_other_embeddings_are_refused(tmp_path: Path, name: str) -> None:
    path = write_text(tmp_path / "vectors.txt", ROWS, header=NAMES[name])

    with pytest.raises(OptionError, match=r"option pooling=cls does not fit .*; accepted: case"):
        words_in(name, path, ["heart"], pooling="cls")
