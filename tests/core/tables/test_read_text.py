"""Text files of unknown origin: their encoding, and files that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.errors import InputError
from medsim.core.reading import Text
from medsim.core.tables import cells_of_lines, first_lines, lines_of, read_text, table_of

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff<"))
PAGE = "<HTML>\r\n<BODY>\r\n<pre>\r\ncue,target\r\na,b\r\n</pre>\r\n</BODY>\r\n</HTML>\r\n"


def put(folder: Path, data: bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(data)
    return path


@given(WORDS.filter(str.strip), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_text_is_read_as_it_was_written(tmp_path_factory, content: str, encoding: str) -> None:
    path = put(tmp_path_factory.getbasetemp(), content.encode(encoding))

    for guess in (True, False):
        assert read_text(path, guess=guess) == Text(path=path, content=content)


def test_windows_1252_is_guessed_with_a_warning_or_refused(tmp_path: Path) -> None:
    path = put(tmp_path, b"Sj\xf6gren\x92s\nill\n\x80 \x93a\x94 \x96 \x9cdema\n")

    result = read_text(path)

    assert result.content == "Sjögren’s\nill\n€ “a” – œdema\n"  # noqa: RUF001 — as it is written
    assert result.encoding == "Windows-1252"
    has = "2 lines are not UTF-8, the first is line 1"
    assert result.warnings == (f"table.csv: {has}; read as Windows-1252",)
    with pytest.raises(InputError, match="is not in UTF-8: byte 3 is 0xf6; save it as UTF-8"):
        read_text(path, guess=False)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_of_joined_files_have_their_own_encodings(tmp_path: Path, end: bytes) -> None:
    lines = [b"\xef\xbb\xbf\xc3\xa9", b"\xe9\x92", b"plain", "漢".encode()]

    result = read_text(put(tmp_path, end.join(lines)))

    assert result.content.split(end.decode()) == ["é", "é’", "plain", "漢"]  # noqa: RUF001
    assert result.encoding == "UTF-8 and Windows-1252"
    assert "1 line is not UTF-8, the first is line 2" in result.warnings[0]


def test_a_byte_of_neither_encoding_is_refused(tmp_path: Path) -> None:
    for byte in (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"):
        with pytest.raises(InputError, match="line 2 is neither UTF-8 nor Windows-1252; save it"):
            read_text(put(tmp_path, b"a\n" + byte))


@pytest.mark.parametrize("first", ["sep=;\r\n", '"sep=;"\n', "SEP=;\r"])
def test_a_first_line_with_the_separator_is_not_a_row(tmp_path: Path, first: str) -> None:
    text = read_text(put(tmp_path, f"{first}a,b;c,d\n1;2\n".encode()))

    assert first_lines(text) == {";": ["a,b", "c,d"]}
    assert [number for number, _ in cells_of_lines(text, ";")] == [2, 3]
    table = table_of(text, ["c,d"])
    assert table.frame.rows() == [("2",)]
    assert list(table.at) == [3]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_control_character_is_named_with_its_line(tmp_path: Path, end: str) -> None:
    ends = end.encode()
    for data, shown in ((b"a" + ends + b"\0", r"'\\x00'"), (b"\xe9" + ends + b"\x1f", r"'\\x1f'")):
        with pytest.raises(InputError, match=f"is not text: line 2 has the character {shown}"):
            read_text(put(tmp_path, data))


@pytest.mark.parametrize("guess", [True, False])
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04rest", "is a zip; unpack it"),
        (
            b"\xd0\xcf\x11\xe0rest",
            "is an old Office file such as .xls, or has a password; save the sheet",
        ),
        (b"PAR1rest", "is a Parquet file; expected text"),
        (b"\xff\xfea\x00b", "is not in UTF-16: byte 5 is 0x62"),
        (b"\xff\xfe", "is empty"),
        (b"<html><head><title>Sign in</title></head><pre>a,b</pre>", "is an HTML page"),
        (b"<html>" * 30 + b"<pre>a,b", "is an HTML page"),
    ],
)
def test_binary_files_are_refused_with_their_kind(
    tmp_path: Path, data: bytes, says: str, *, guess: bool
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_text(put(tmp_path, data), guess=guess)

    assert str(tmp_path / "table.csv") in str(caught.value)


@pytest.mark.parametrize("page", [PAGE, PAGE.split("</pre>", maxsplit=1)[0]])
def test_a_text_in_a_web_page_keeps_the_numbers_of_its_lines(tmp_path: Path, page: str) -> None:
    text = read_text(put(tmp_path, page.encode()))

    assert list(cells_of_lines(text, ",")) == [(4, ["cue", "target"]), (5, ["a", "b"])]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))))
def test_lines_end_only_with_cr_lf_or_both(lines: list[str]) -> None:
    ends = ["\n", "\r\n", "\r"]
    parts = [f"{line}|{ends[at % 3]}" for at, line in enumerate(lines)]

    assert list(lines_of(Text(path=Path("x"), content="".join(parts)))) == parts
