"""Tests of which lines of a rated file are used, left out or refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.core import tables
from medsim.core.errors import InputError, OptionError
from medsim.core.manifest import Skipped
from medsim.evaluations.layouts import parse_columns
from medsim.evaluations.ratings import RatedPairs, read_rated

COLUMNS = parse_columns("term1=a,term2=b,rating=r")
REPEATED = "the pair occurs before with the same ratings"


def read(folder: Path, content: str | bytes, columns=COLUMNS) -> RatedPairs:
    path = folder / "pairs.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_rated(path, columns)


def read_without_header(folder: Path, content: str | bytes) -> RatedPairs:
    return read(folder, content, parse_columns("term1=1,term2=2,rating=3"))


def test_lines_without_all_ratings_or_a_term_are_left_out_and_counted(tmp_path):
    columns = parse_columns("term1=a,term2=b,rating=r,rating=s")
    content = "a,b,r,s|x,y,1,4|x,z,,4|x,u,4,NA|,v,2,1|w, ,3,2| , ,n/a,-|||  |,,,|".replace(
        "|", "\n"
    )

    rated = read(tmp_path, content, columns)

    assert rated.pairs.rows(named=True) == [{"term1": "x", "term2": "y", "r": 1.0, "s": 4.0}]
    assert rated.skipped == (
        Skipped(reason="a rating is missing", n_rows=3),
        Skipped(reason="a term is empty", n_rows=2),
    )


@pytest.mark.parametrize(
    ("lines", "n_pairs", "n_repeated", "warnings"),
    [
        ("x,y,1 u,v,2 x,y,1.0 y,x,1", 2, 2, ()),
        ("x,y,1 X,y,1 u,v,2", 3, 0, ()),
        ("x,x,1", 1, 0, ()),
        (
            "x,y,1 Y,X,2 x,y,3 u,v,1 u,w,2 p,q,1 p,q,2",
            7,
            0,
            ("2 pairs have several ratings; all are kept",),
        ),
    ],
    ids=["one rating, either direction", "letter case differs", "one term", "contradictory"],
)
def test_a_repeated_pair_with_the_same_rating_is_used_once(
    tmp_path, lines, n_pairs, n_repeated, warnings
):
    rated = read(tmp_path, "\n".join(["a,b,r", *lines.split()]))

    assert rated.pairs.height == n_pairs
    assert sum(skip.n_rows for skip in rated.skipped) == n_repeated
    assert all(skip.reason == REPEATED for skip in rated.skipped)
    assert rated.warnings == warnings


def test_a_file_that_is_not_utf_8_is_read_as_latin_1_with_a_warning(tmp_path):
    rated = read(tmp_path, "a,b,r\nSjögren,É,1\n".encode("latin-1"))

    assert rated.pairs.rows() == [("Sjögren", "É", 1.0)]
    has = "1 line is not UTF-8, the first is line 2"
    assert rated.warnings == (f"pairs.csv: {has}; read as Windows-1252",)


@pytest.mark.parametrize(
    ("cell", "value"), [("1e3", 1000.0), ("+.5", 0.5), ("-2", -2.0), ("3.", 3.0), ("007", 7.0)]
)
def test_a_users_own_ratings_may_be_any_numbers(tmp_path, cell, value):
    rated = read(tmp_path, f"a,b,r\nx,y,{cell}\n")

    assert rated.pairs["r"].to_list() == [value]
    assert rated.range is None


@pytest.mark.parametrize("cell", ["high", "1_0", "inf", "1e999", "0x1", "1 2", "٣", "1/2"])
def test_a_rating_that_is_not_a_number_is_refused_with_line_and_value(tmp_path, cell):
    with pytest.raises(InputError, match=r"pairs\.csv: line 3: rating ") as caught:
        read(tmp_path, f"a,b,r\nx,y,1\nx,z,{cell}\n")

    assert repr(cell) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        # Lines are counted as an editor counts them.
        (b'a,b,r\r\n\r\n"x\r\nx",y,1\r\n\r\nx,z,high\r\n', "line 6: rating 'high'"),
        (b"a,b,r\nx,y\n", "line 2: 2 cells, but the first line has 3"),
        (b"a,b,r\nx,y,z,1\n", "line 2: 4 cells, but the first line has 3"),
        (b'a,b,r\n"x" z,y,1\n', "line 2 cannot be cut"),
        (b'a,b,r\n"x,y,1\nu,v,2\n', "line 2 cannot be cut"),
    ],
)
def test_invalid_lines_are_refused_with_their_number(tmp_path, content, says):
    with pytest.raises(InputError, match=says):
        read(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \r\n\r\n", "is empty"),
        (b"\x80\x04\x95", "is a pickle"),
        (b"{}", "is in no known layout"),
        (b'[{"term1": "a", "term2": "b", "rating": 1}]', "row 1 is not an object"),
        (b'{\n"term1": "a"\n}', "line 1 is not JSON .*; write one object per line"),
        (b'[\n{"term1": "a"}\n]', "line 1 is not JSON .*; write one object per line"),
        (b'"[D]Fever","a b",high\n', "is in no known layout"),
        (b"Mean,CUI1,CUI2,TERM1,TERM2\n", "has a header but no pairs"),
        (b"Mean,CUI1,CUI2,TERM1,TERM2\n,C1,C2,a,b\n", r"a rating is missing \(1\)"),
    ],
)
def test_invalid_files_are_refused_with_the_reason(tmp_path, content, says):
    with pytest.raises(InputError, match=says) as caught:
        read(tmp_path, content, None)

    assert str(tmp_path / "pairs.csv") in str(caught.value)


@pytest.mark.parametrize(
    ("module", "limit", "most", "says"),
    [
        (tables, "_MAX_CHARACTERS", len("x,y,100\n"), "line 2 has more than 7 characters"),
        (tables, "_MAX_CHARACTERS", len("a,b,r,longest\n"), "line 1 has more than 13 characters"),
        (tables, "LARGEST_FILE", len("a,b,r\nx,y,100\n"), "larger than the limit of 0 MiB"),
    ],
)
def test_lines_and_files_have_a_maximum_length(tmp_path, monkeypatch, module, limit, most, says):
    content = "a,b,r,longest\nx,y,1,\n" if "line 1" in says else "a,b,r\nx,y,100\n"
    monkeypatch.setattr(module, limit, most)
    assert read(tmp_path, content).pairs.height == 1
    monkeypatch.setattr(module, limit, most - 1)
    with pytest.raises(InputError, match=says):
        read(tmp_path, content)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    try:
        rated = read_without_header(tmp_path_factory.getbasetemp(), content)
    except (InputError, OptionError):
        return
    assert rated.pairs.height > 0
