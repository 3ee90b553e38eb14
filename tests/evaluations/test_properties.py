"""Tests of the properties of words and pairs in rated files and in tables of words."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

from medsim.core.errors import InputError
from medsim.evaluations.layouts import parse_columns
from medsim.evaluations.rated_parts import WordTable, read_words
from medsim.evaluations.ratings import RatedPairs, read_rated

PAIRS = "term1,term2,rating,class,domain,associated,count1,Count 2,topics1,topics2\n"


def read(folder: Path, text: str) -> RatedPairs:
    (folder / "pairs.csv").write_text(text, encoding="utf-8")
    return read_rated(folder / "pairs.csv")


def words_of(folder: Path, text: str, name: str = "words.csv") -> WordTable:
    (folder / name).write_text(text, encoding="utf-8")
    return read_words(folder / name)


def test_properties_are_read_from_their_own_columns(tmp_path: Path) -> None:
    lines = "a,b,1,noun,general,true,12,1.5,3,x; y ;x\nc,d,2,noun,,No,,7,NA,\n"

    rated = read(tmp_path, PAIRS + lines)

    assert rated.pairs.columns == ["term1", "term2", "rating"]
    assert rated.properties.rows(named=True) == [
        {"count1": 12, "count2": 1.5, "topics1": 3, "topics2": 2}
        | {"domain": "general", "associated": "yes"},
        {"count1": None, "count2": 7, "topics1": None, "topics2": None}
        | {"domain": None, "associated": "no"},
    ]


def test_properties_stay_with_their_pairs_when_lines_are_left_out(tmp_path: Path) -> None:
    lines = "a,b,1,,one,,,,,\nx,y,,,two,many,,,,\nb,a,1,,three,,,,,\nc,d,1,,four,,,,,\n"

    rated = read(tmp_path, PAIRS + lines)

    assert rated.pairs["term1"].to_list() == ["a", "c"]
    assert rated.properties["domain"].to_list() == ["one", "four"]


def test_a_column_that_holds_ratings_is_not_a_property(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("a,b,count1\nx,y,-3\n", encoding="utf-8")
    rated = read_rated(tmp_path / "pairs.csv", parse_columns("term1=a,term2=b,rating=count1"))

    assert rated.properties.width == 0
    assert rated.pairs["count1"].to_list() == [-3]


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (",,many,,,", "line 2: count1 'many' is not a count such as 120"),
        (",,,-1,,", "line 2: count2 '-1' is not a count"),
        (",,,,,-2", "line 2: topics2 '-2' is not a count"),
        (",maybe,,,,", "line 2: associated 'maybe' is not yes or no"),
    ],
)
def test_an_invalid_cell_is_named(tmp_path: Path, cells: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(tmp_path, f"{PAIRS}a,b,1,noun,{cells}\n")


def test_rows_of_a_word_are_combined_ignoring_case(tmp_path: Path) -> None:
    text = (
        "Word\tclass\tcount\ttopics\tdomain\n"
        "Ache\tnoun\t7\theart;skin\tmedical\n"
        "ache\tverb\t5\tskin; bone\tmedical\n"
        "run\tverb\t1\t3\tmedical\n"
        "run\tnoun\t2\t2\tgeneral\n"
        "calm\tnoun\t\t\t\n"
    )

    table = words_of(tmp_path, text, "words.tsv")

    assert table.name == "words.tsv"
    assert table.digest == hashlib.sha256(text.encode()).hexdigest()
    assert table.frame.rows() == [
        ("ache", 12.0, 3.0, "medical"),
        ("run", 3.0, 3.0, None),
        ("calm", None, None, None),
    ]


def test_parquet_and_text_give_the_same_table(tmp_path: Path) -> None:
    frame = pl.DataFrame({"word": ["Ache", "run"], "count": [7, None], "topics": [["a", "b"], []]})
    frame.write_parquet(tmp_path / "words.parquet")

    parquet = read_words(tmp_path / "words.parquet").frame

    text = words_of(tmp_path, "word,count,topics\nAche,7,a;b\nrun,,\n").frame
    assert parquet.equals(text)
    assert parquet.rows() == [("ache", 7.0, 2.0), ("run", None, None)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("word,freq\na,1\n", "has none of the columns count, topics, domain beside word"),
        ("term,count\na,1\n", "has no column 'word'; it needs word and has 'term, count'"),
        ("word,count\na,x\n", "line 2: count 'x' is not a count"),
    ],
)
def test_invalid_tables_of_words_are_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        words_of(tmp_path, text)
