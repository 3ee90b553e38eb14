"""Tests of how a user names the columns of a rated file."""

from pathlib import Path

import pytest

from medsim.core.errors import InputError, OptionError
from medsim.evaluations.ratings import OWN_COLUMNS, RatedPairs, read_rated
from medsim.evaluations.ratings.columns import RatedColumns, parse_columns


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


def test_the_direction_alone_leaves_columns_to_the_layout():
    assert parse_columns("higher=different") == RatedColumns(higher_is_similar=False)
    assert parse_columns("higher=similar") == RatedColumns(higher_is_similar=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not NAME=VALUE"),
        ("score", "is not NAME=VALUE"),
        ("term1=", "is not NAME=VALUE"),
        ("term1=a,term2=b", "need two terms and a rating"),
        ("term1=a,rating=r", "need two terms and a rating"),
        ("term1=a,term2=b,ratng=r", "unknown option 'ratng'; did you mean rating"),
        ("term1=a,term1=b,term2=c,rating=r", "gives term1 twice"),
        ("term1=a,term2=a,rating=r", "column 'a' is named twice"),
        ("term1=a,term2=b,rating=r,rating=r", "column 'r' is named twice"),
        ("higher=diferent", "unknown higher 'diferent'; did you mean different"),
        ("separator=tabs", "unknown separator 'tabs'; did you mean tab"),
    ],
)
def test_a_text_that_is_wrong_is_refused_with_the_reason(text, says):
    with pytest.raises(OptionError, match=says):
        parse_columns(text)


def test_columns_given_in_python_are_checked_too(tmp_path):
    (tmp_path / "pairs.csv").write_text("a,b,r\nx,y,1\n")
    for columns, says in (
        (RatedColumns(term1="a"), "need two terms"),
        (RatedColumns(term1="a", term2="b", ratings=("",)), "need two terms"),
        (RatedColumns(term1="a", term2="b", ratings=("r",), separator=":"), "separator ':'"),
    ):
        with pytest.raises(OptionError, match=says):
            read_rated(tmp_path / "pairs.csv", columns)


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_a_file_is_read_by_the_names_of_its_columns(tmp_path, separator):
    text = "id,Left Term,Right Term,Score\n1,x,y,250\n2,u,v,-3.5\n".replace(",", separator)

    rated = read(tmp_path, text, "term1=left term,term2=RightTerm,rating=Score")

    assert rated.layout == OWN_COLUMNS
    assert rated.pairs.columns == ["term1", "term2", "Score"]
    assert rated.pairs.rows() == [("x", "y", 250.0), ("u", "v", -3.5)]


def test_a_file_without_header_is_read_by_numbers(tmp_path):
    rated = read(tmp_path, "5,x,y\nNA,u,v\n", "rating=1,term1=2,term2=3")

    assert rated.pairs.columns == ["term1", "term2", "column1"]
    assert rated.pairs.rows() == [("x", "y", 5.0)]
    assert rated.skipped[0].n_rows == 1


@pytest.mark.parametrize(
    ("first", "rows"),
    [("x,y,", []), ("left,right,score", []), ("x,y,1", [("x", "y", 1.0)])],
    ids=["a missing rating makes no header", "a header", "a number is a position, not a name"],
)
def test_a_first_line_is_a_header_if_its_rating_is_no_number(tmp_path, first, rows):
    rated = read(tmp_path, f"{first}\nu,v,2\n", "term1=1,term2=2,rating=3")

    assert rated.pairs.rows() == [*rows, ("u", "v", 2.0)]
    assert len(rated.skipped) == (first == "x,y,")


def test_a_separator_that_is_given_is_the_one(tmp_path):
    text = "a;b;r,a;b;r\nx;1,y\n"
    columns = "term1=1,term2=2,rating=3"

    rated = read(tmp_path, "x;u,y;v,7\n", f"{columns},separator=comma")

    assert rated.pairs.rows() == [("x;u", "y;v", 7.0)]
    with pytest.raises(OptionError, match="no column 3; the first line has 2"):
        read(tmp_path, text, f"{columns},separator=comma")


def test_a_tab_separated_file_may_be_quoted(tmp_path):
    rated = read(tmp_path, '"a"\t"b"\t"r"\n"x, u"\t"y"\t"1"\n', "term1=a,term2=b,rating=r")

    assert rated.pairs.rows() == [("x, u", "y", 1.0)]


def test_an_exact_name_wins_over_names_that_are_alike(tmp_path):
    rated = read(tmp_path, "term1,Term 1,Term2,r\nx,y,z,1\n", "term1=Term 1,term2=term1,rating=r")

    assert rated.pairs.rows() == [("y", "x", 1.0)]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("term1=left,term2=rihgt,rating=score", "unknown column 'rihgt'; did you mean right"),
        ("term1=left,term2=right,rating=q", "unknown column 'q'; known: left, right, score, Score"),
        ("term1=left,term2=right,rating=SCORE", "several columns are named 'SCORE'"),
        ("term1=left,term2=LEFT,rating=score", "'LEFT' names a column that another"),
        ("term1=left,term2=2,rating=5", "there is no column 5; the first line has 4"),
        ("term1=left,term2=0,rating=3", "there is no column 0"),
        ("term1=left,term2=right,rating=term2", "unknown column 'term2'"),
    ],
)
def test_columns_that_the_file_does_not_have_are_refused(tmp_path, columns, says):
    with pytest.raises(OptionError, match=says) as caught:
        read(tmp_path, "left,right,score,Score\nx,y,1,2\n", columns)

    assert str(tmp_path / "pairs.csv") in str(caught.value)


def test_names_for_a_file_without_header_are_refused_with_what_helps(tmp_path):
    with pytest.raises(OptionError, match=r"no column 'a': .*3 cells .*,term1=1,term2=2,rating=3"):
        read(tmp_path, "secret,text,3\n", "term1=a,term2=b,rating=r")


def test_a_rating_cannot_take_the_name_of_a_term(tmp_path):
    with pytest.raises(OptionError, match="cannot be named 'term2'"):
        read(tmp_path, "a,b,term2\nx,y,1\n", "term1=a,term2=b,rating=term2")


def test_a_file_in_no_layout_says_its_columns_and_how_to_name_them(tmp_path):
    with pytest.raises(InputError, match="columns 'left', 'right', 'score'; say FILE,term1="):
        read(tmp_path, "left,right,score\nx,y,1\n", None)


def test_a_file_in_no_layout_that_has_no_header_shows_none_of_its_content(tmp_path):
    with pytest.raises(InputError, match="3 cells with a number among them") as caught:
        read(tmp_path, "secret,text,3\n", None)

    assert "secret" not in str(caught.value)


def test_a_file_with_many_columns_shows_some(tmp_path):
    header = ",".join(f"c{number}" + "x" * 100 for number in range(30))

    with pytest.raises(InputError, match="and 10 more") as caught:
        read(tmp_path, header, None)

    assert len(str(caught.value)) < 1300


def test_ratings_of_difference_are_turned_round(tmp_path):
    rated = read(tmp_path, "a,b,r\nx,y,2\nu,v,0\n", "term1=a,term2=b,rating=r,higher=different")

    assert rated.pairs["r"].to_list() == [-2, 0]
    assert not rated.higher_is_similar
    assert len(rated.warnings) == 1


def test_several_ratings_of_a_users_own_have_no_mean(tmp_path):
    rated = read(tmp_path, "a,b,r,s\nx,y,2,40\n", "term1=a,term2=b,rating=s,rating=r")

    assert rated.pairs.columns == ["term1", "term2", "s", "r"]
    assert rated.pairs.row(0) == ("x", "y", 40.0, 2.0)
