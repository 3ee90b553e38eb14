"""Tests of how a user names the columns of a rated file."""

from pathlib import Path

import pytest

from medsim.core.errors import InputError, OptionError
from medsim.evaluations.layouts import RatedColumns, parse_columns
from medsim.evaluations.ratings import COLUMNS_AS_NAMED, RatedPairs, read_rated

NAMES = "term1=a,term2=b,rating=r"
NUMBERS = "term1=1,term2=2,rating=3"
HEADED = "left,right,score,Score\nx,y,1,2\n"


def read(folder: Path, text: str, columns: str | None) -> RatedPairs:
    path = folder / "pairs.csv"
    path.write_text(text, newline="")
    return read_rated(path, parse_columns(columns) if columns else None)


def test_the_text_names_terms_ratings_separator_and_direction():
    text = "term1=Name A,term2=Name B,rating=s, t,rating=r=1,separator=tab,higher=different"

    assert parse_columns(text) == RatedColumns(
        term1="Name A",
        term2="Name B",
        ratings=("s, t", "r=1"),
        separator="\t",
        higher_is_similar=False,
    )
    assert parse_columns("higher=similar") == RatedColumns(higher_is_similar=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not NAME=VALUE"),
        ("term1=", "is not NAME=VALUE"),
        ("term1=a,term2=b", "name two terms and a rating"),
        ("term1=a,term2=b,ratng=r", "unknown option 'ratng'; did you mean rating"),
        ("term1=a,term1=b,term2=c,rating=r", "gives term1 twice"),
        ("higher=diferent", "unknown higher 'diferent'; did you mean different"),
        ("separator=tabs", "unknown separator 'tabs'; did you mean tab"),
    ],
)
def test_an_invalid_description_of_columns_is_refused_with_the_reason(text, says):
    with pytest.raises(OptionError, match=says):
        parse_columns(text)


@pytest.mark.parametrize(
    "header", ["term1,term2,rating", "Term 1, TERM_2,Rating", "x,term-1,Term2,RATING"]
)
def test_columns_term1_term2_and_rating_are_recognised_in_any_case(tmp_path, header):
    lead = "x," if header.startswith("x") else ""
    rated = read(tmp_path, f"{header}\n{lead}a,b,1\n{lead}c,d,2\n", None)

    assert rated.layout == COLUMNS_AS_NAMED
    assert rated.pairs.rows() == [("a", "b", 1.0), ("c", "d", 2.0)]


@pytest.mark.parametrize(
    ("text", "columns", "ratings", "rows"),
    [
        (
            "id,Left Term,Right Term,Score\n1,x,y,250\n2,u,v,-3.5\n",
            "term1=left term,term2=RightTerm,rating=Score",
            ["Score"],
            [("x", "y", 250.0), ("u", "v", -3.5)],
        ),
        ("5,x,y\nNA,u,v\n", "rating=1,term1=2,term2=3", ["column1"], [("x", "y", 5.0)]),
        ("x;u,y;v,7\n", f"{NUMBERS},separator=comma", ["column3"], [("x;u", "y;v", 7.0)]),
        ('"a"\t"b"\t"r"\n"x, u"\t"y"\t"1"\n', NAMES, ["r"], [("x, u", "y", 1.0)]),
        (
            "term1,Term 1,Term2,r\nx,y,z,1\n",
            "term1=Term 1,term2=term1,rating=r",
            ["r"],
            [("y", "x", 1.0)],
        ),
        ("a,b,r,s\nx,y,2,40\n", f"{NAMES},rating=s", ["r", "s"], [("x", "y", 2.0, 40.0)]),
    ],
    ids=["names", "numbers", "separator", "quoted", "exact names win", "ratings without a mean"],
)
def test_a_file_is_read_by_its_named_columns(tmp_path, text, columns, ratings, rows):
    rated = read(tmp_path, text, columns)

    assert rated.layout == COLUMNS_AS_NAMED
    assert rated.pairs.columns == ["term1", "term2", *ratings]
    assert rated.pairs.rows() == rows


@pytest.mark.parametrize(
    ("first", "rows"),
    [("x,y,", []), ("left,right,score", []), ("x,y,1", [("x", "y", 1.0)])],
    ids=["a missing rating makes no header", "a header", "a number is a position, not a name"],
)
def test_a_first_line_is_a_header_if_its_rating_is_not_a_number(tmp_path, first, rows):
    rated = read(tmp_path, f"{first}\nu,v,2\n", NUMBERS)

    assert rated.pairs.rows() == [*rows, ("u", "v", 2.0)]
    assert len(rated.skipped) == (first == "x,y,")


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        ("secret,text,3\n", NAMES, r"no column 'a': .*3 cells.*,term1=1,term2=2,rating=3"),
        (HEADED, "term1=left,term2=left,rating=score", "'left' names several columns, or a column"),
        (HEADED, None, "columns 'left', 'right', 'score', 'Score'; use FILE,term1="),
        (HEADED, "term1=left,term2=rihgt,rating=score", "column 'rihgt'; did you mean right"),
        (HEADED, "term1=left,term2=right,rating=SCORE", "'SCORE' names several columns"),
        (HEADED, "term1=left,term2=LEFT,rating=score", "'LEFT' names several columns, or a column"),
        (HEADED, "term1=left,term2=0,rating=3", "no column '0': it has the columns 'left', "),
        ("secret,text,3\n", None, "3 cells, at least one a number"),
        ("a;b;r,a;b;r\nx;1,y\n", f"{NUMBERS},separator=comma", "no column '3'"),
    ],
)
def test_a_refused_file_gets_advice_that_does_not_quote_its_content(tmp_path, text, columns, says):
    with pytest.raises((InputError, OptionError), match=says) as caught:
        read(tmp_path, text, columns)

    assert "secret" not in str(caught.value)
    assert str(tmp_path / "pairs.csv") in str(caught.value) or "term2" in str(caught.value)


def test_a_message_lists_only_some_of_many_columns(tmp_path):
    header = ",".join(f"c{number}" + "x" * 100 for number in range(30))

    with pytest.raises(InputError, match="and 20 more") as caught:
        read(tmp_path, header, None)

    assert len(str(caught.value)) < 1300
