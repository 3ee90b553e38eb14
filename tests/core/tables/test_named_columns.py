"""Tables by the names of their columns; all readers of users' tables accept the same forms."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.builds.positives import read_corrections
from medsim.core.errors import InputError
from medsim.core.progress import Progress
from medsim.core.reading import Text
from medsim.core.tables import read_table, table_of
from medsim.evaluations.correlate import read_model_scores
from medsim.evaluations.rated_parts import read_words
from medsim.evaluations.ratings import read_rated
from medsim.studies.asking import read_pairs
from medsim.studies.relations import read_norms
from medsim.studies.words import read_frequencies

CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6).map(str.strip)
_ANY = {"participants": 0, "one_way": True}
READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "rated": (lambda path: read_rated(path).pairs.rows(), "term1,term2,rating\né,b,1\n"),
    "words": (lambda path: read_words(path).frame.rows(), "Word,count,topics\né,2,3\n"),
    "frequencies": (lambda path: read_frequencies(path, None).rows(), "word,class,Count\né,n,2\n"),
    "norms": (lambda path: read_norms([path], **_ANY)[0].rows(), "CUE,TARGET,FSG\né,b,0.5\n"),
    "corrections": (read_corrections, "Term1,term2,judged\né,b,same\n"),
    "pairs": (lambda path: read_pairs(path).frame.rows(), "term1,term2,reason\né,b,why\n"),
    "scores": (lambda path: read_model_scores(path, Progress()).rows(), "model,ner\né,0.5\n"),
}


def put(folder: Path, text: str, encoding: str = "utf-8", name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def written(rows: Iterable[Iterable[str]], separator: str, end: str) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows(rows)
    return file.getvalue()


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_accepts_every_separator_encoding_and_line_end(
    tmp_path: Path, reader: str
) -> None:
    reader_function, text = READERS[reader]
    expected = reader_function(put(tmp_path, text))

    assert "é" in str(expected)
    for separator in ",;\t|":
        for encoding in ("utf-8-sig", "utf-16", "latin-1"):
            other = "\r\n" + text.replace(",", separator).replace("\n", "\r\n")
            assert reader_function(put(tmp_path, other, encoding)) == expected
    rows = list(csv.reader(text.splitlines()))
    assert reader_function(put(tmp_path, written(rows, ";", "\r"))) == expected
    page = f"<HTML>\n<BODY>\n<pre>\n{text}</pre>\n</HTML>\n"
    assert reader_function(put(tmp_path, page)) == expected


@pytest.mark.parametrize("reader", sorted(READERS.keys() - {"rated"}))
def test_every_reader_except_of_ratings_accepts_parquet(tmp_path: Path, reader: str) -> None:
    reader_function, text = READERS[reader]
    path = tmp_path / "table.PARQUET"
    pl.read_csv(io.StringIO(text)).write_parquet(path)

    assert reader_function(path) == reader_function(put(tmp_path, text))


@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS).filter(any), min_size=1, max_size=8),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
def test_tables_round_trip_by_column_names(
    rows: list[tuple[str, str, str]], separator: str, end: str
) -> None:
    text = written([("a", "Needed ", "may be"), *rows], separator, end)

    table = table_of(Text(path=Path("x"), content=text), ("needed",), ("may be", "absent"))

    assert table.frame.columns == ["needed", "may be"]
    assert table.frame.rows() == [row[1:] for row in rows]
    assert table.at.to_list() == list(range(2, len(rows) + 2))


def test_all_other_columns_are_kept_under_their_own_names(tmp_path: Path) -> None:
    path = put(tmp_path, "Rank;;Term;at\n1;x;a;y\n")

    table = read_table(path, ("term",), extra=None)

    assert table.frame.rows(named=True) == [{"term": "a", "Rank": "1", "column2": "x", "at": "y"}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n", "has no column 'term'; it needs term and has 'a, b'"),
        ("\x1b[2J\n", r"has no column 'term'; it needs term and has '\x1b[2j'"),
        ("term,TERM\n", "has two columns 'term'; names must be unique"),
        ("term,x,x\n", "has two columns 'x'; names must be unique"),
        ("term,,column2\n", "has two columns 'column2'; names must be unique"),
        ('term,x\n"a\nb",c\n\nd\n', "line 5 has 1 cells, the header 2"),
        ("term,x\na,b,c\n", "line 2 has 3 cells, the header 2"),
        ('term,x\na,b\n"c,d\n', "line 3 cannot be cut into cells (unexpected end of data)"),
    ],
)
def test_errors_in_a_table_are_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(put(tmp_path, text), ("term",), extra=None)

    assert says in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("content", "needed", "extra", "row"),
    [
        # The needed names decide the separator, then the number of names.
        ("term,x;y;z\na,b\n", ("term",), (), ("a",)),
        ("term,x;y;z\na;b;c\n", (), None, ("a", "b", "c")),
        # A quoted cell may follow a space.
        ('term, "x"\na, "b, c"\n', ("term", "x"), (), ("a", "b, c")),
        # A duplicate name that is not requested does not matter.
        ("x,term,x\n1,a,2\n", ("term",), (), ("a",)),
    ],
)
def test_cells_are_read_by_the_names_in_the_first_line(
    content: str, needed: tuple[str, ...], extra: tuple[str, ...] | None, row: tuple[str, ...]
) -> None:
    assert table_of(Text(path=Path("x"), content=content), needed, extra).frame.rows() == [row]


def test_a_cell_is_refused_with_its_line_or_row(tmp_path: Path) -> None:
    text = put(tmp_path, 'term\n\n"a"\nb\n')
    parquet = tmp_path / "table.parquet"
    pl.DataFrame({"Term": [None, "b"]}).write_parquet(parquet)

    for path, at in ((text, "line 4"), (parquet, "row 2")):
        table = read_table(path, ("term",))
        with pytest.raises(InputError, match=f"{path.name}: {at}: term 'b' is no a"):
            table.refuse(table.frame["term"] == "b", "term", "is no a")
        table.refuse(table.frame["term"] == "c", "term", "is no a")
    assert [at for at, _ in table.rows()] == ["row 1", "row 2"]


def test_lists_of_parquet_are_joined_and_other_types_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    frame = pl.DataFrame({"a": [[1, 2], None, []], "b": [b"\xff", b"", b""]})
    frame.write_parquet(path)

    assert read_table(path, ("a",)).frame["a"].to_list() == ["1;2", "", ""]
    with pytest.raises(InputError, match=r"table\.parquet cannot be read"):
        read_table(path, ("b",))


def test_filled_in_sheet_may_lack_cells_and_keeps_white_space() -> None:
    text = Text(path=Path("x"), content="note, A ,b\n1, a\n2,'b , c \n,,\n3,d,e,f\n")

    table = table_of(text, ("a", "b"), filled_in=True)

    assert table.frame.rows() == [(" a", ""), ("'b ", " c "), ("d", "e")]
    assert table.at.to_list() == [2, 3, 5]


def test_a_damaged_page_of_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pl.DataFrame({"term1": ["a", "b"], "term2": ["c", "d"], "judged": ["same"] * 2}).write_parquet(
        path
    )
    begin = b"\x2c\x15\x04"  # in the header of a page: it has two values
    assert begin in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(begin, b"\x2c\x15\x7f"))

    with pytest.raises(InputError, match=r"table\.parquet cannot be read as Parquet"):
        read_corrections(path)
