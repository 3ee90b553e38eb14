"""Tables of words or terms and their vectors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fixtures.embeddings import ROWS, as_float32, as_rows, terms_in, words_in

from medsim.core.errors import InputError
from medsim.core.parquet import scan_ipc_of_users, scan_of_users
from medsim.embeddings.formats import find_format
from medsim.embeddings.formats.tables import read_vocabulary
from medsim.embeddings.options import EmbeddingOptions

WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    "v.parquet": lambda frame, path: frame.write_parquet(path, row_group_size=2),
    "v.arrow": lambda frame, path: frame.write_ipc(path),
    "v.feather": lambda frame, path: frame.write_ipc(path, compression="lz4"),
}
FRAME = pl.DataFrame({"word": list(ROWS), "vector": list(ROWS.values())})

every = pytest.mark.parametrize("file", WRITERS)


def write(folder: Path, frame: pl.DataFrame, file: str = "v.parquet") -> Path:
    WRITERS[file](frame, folder / file)
    return folder / file


@every
@pytest.mark.parametrize(
    "kind", [kind for t in (pl.Float32, pl.Float64) for kind in (pl.List(t), pl.Array(t, 3))]
)
def test_vectors_may_be_lists_or_arrays_of_single_or_double_precision(
    tmp_path: Path, file: str, kind: pl.DataType
) -> None:
    path = write(tmp_path, FRAME.with_columns(pl.col("vector").cast(kind)), file)

    assert as_rows(words_in("table", path, ROWS)) == as_float32(ROWS)


@every
def test_vectors_may_be_a_column_per_dimension(tmp_path: Path, file: str) -> None:
    columns = {f"d{at}": [row[at] for row in ROWS.values()] for at in range(3)}
    frame = pl.DataFrame({"d1": 0, "rank": [9, 8, 7, 6], "word": list(ROWS)} | columns)
    path = write(tmp_path, frame.select("rank", "d0", "word", "d1", "d2"), file)

    assert as_rows(words_in("table", path, ROWS)) == as_float32(ROWS)
    write(tmp_path, frame.with_columns(d2=pl.lit(None, pl.Float64)), file)
    with pytest.raises(InputError, match="'asthma', row 1, has a missing value"):
        words_in("table", path, ["asthma"])


def write_lines(folder: Path, *lines: str) -> Path:
    (folder / "v.jsonl").write_text("\n".join(lines))
    return folder / "v.jsonl"


@pytest.mark.parametrize(
    ("key", "is_term"), [("word", False), ("token", False), ("term", True), ("text", True)]
)
def test_lines_of_json_may_have_words_or_terms(tmp_path: Path, key: str, *, is_term: bool) -> None:
    rows = [{"id": 1, key: "Heart attack", "embedding": [1, 2.5]}, {"embedding": [0, 1], key: "a"}]
    path = write_lines(tmp_path, "", *map(json.dumps, rows), "")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    assert find_format(path, EmbeddingOptions())[0] == "table"
    if is_term:
        result = terms_in("table", path, ["a", "heart attack"])
        assert result.vectors.tolist() == [[0, 1], [1, 2.5]]
    else:
        assert as_rows(words_in("table", path, ["a", "heart attack"])) == {"a": [0, 1]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"word": "a", "vector": [1, 2', "line 2 is not JSON"),
        ("[1, 2]", "line 2 has no list 'vector'"),
        ('{"word": "a"}', "vector of 'a', row 2, has 0 numbers"),
        ('{"term": "a", "vector": [1, 2]}', "row 2 has no word"),
        ('{"word": "a", "vector": [1, "2"]}', "line 2 has '2' instead of a number"),
        ('{"word": "a", "vector": [[1], [2]]}', r"line 2 has \[1\] instead of a number"),
        ('{"word": "a", "vector": [1, NaN]}', "line 2 has nan instead of a number"),
        ('{"word": "a", "vector": [1]}', "vector of 'a', row 2, has 1 numbers; the first row has"),
        ('{"word": "a", "vector": [1, 1e99]}', "vector of 'a', row 2, is not finite"),
        ('{"word": "heart", "vector": [1, 3]}', "'heart' is in row 1 and again in row 2, with"),
    ],
)
def test_a_faulty_line_of_json_is_refused(tmp_path: Path, line: str, message: str) -> None:
    path = write_lines(tmp_path, '{"word": "heart", "vector": [1, 2]}', line)

    with pytest.raises(InputError, match=message):
        words_in("table", path, ["heart a"])


@pytest.mark.parametrize("header", ["", "word,0,1\n", ",x,y\r\n", "token;d0;d1\n"])
def test_csv_may_have_a_header(tmp_path: Path, header: str) -> None:
    rows = 'heart,0.5,-1e1\n"hand",2, 3\n\u5fc3,nan,x\n'
    rows = rows.replace(",", ";" if ";" in header else ",")
    (tmp_path / "v.csv").write_text(f"\ufeff{header}{rows}", encoding="utf-8", newline="")
    assert find_format(tmp_path / "v.csv", EmbeddingOptions())[0] == "table"
    found = as_rows(words_in("table", tmp_path / "v.csv", ["heart", "hand"]))
    assert found == {"heart": [0.5, -10], "hand": [2, 3]}
    with pytest.raises(InputError, match="'\u5fc3', row 3, has a missing value"):
        words_in("table", tmp_path / "v.csv", ["\u5fc3"])


def test_csv_may_have_terms(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text('term,0,1\n"Heart attack, acute",1,2\nNA,3,4\n', encoding="utf-8")
    vectors = terms_in("table", path, ["heart attack, acute", "NA"]).vectors
    assert vectors.tolist() == [[3, 4], [1, 2]]
    path.write_text("heart,1,2\n", encoding="utf-8")
    assert terms_in("table", path, ["heart"], keys="terms").vectors.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    "text", ["heart,1\n", "word,1,2\nid,heart,1,2\n", "a,b,c\n", "heart 1,5 2,5\n", "x,1,2,\n", ""]
)
def test_other_csv_is_not_vectors(tmp_path: Path, text: str) -> None:
    (tmp_path / "v.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"in no known format.*; in CSV a word or term is"):
        find_format(tmp_path / "v.csv", EmbeddingOptions())


def test_named_columns_come_before_others_and_whole_numbers_are_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "note": ["x", "y"],
            "Word": ["heart", "lung"],
            "counts": [[1], [2, 3]],
            "Embedding": [[1, 2], [3, 4]],
        }
    )

    assert as_rows(words_in("table", write(tmp_path, frame), ["lung"])) == {"lung": [3, 4]}


def test_a_column_of_terms_says_so_unless_the_user_does(tmp_path: Path) -> None:
    path = write(tmp_path, FRAME.rename({"word": "term"}))

    result = terms_in("table", path, ["Heart", "lung", "naïve"])
    assert result.vectors.tolist() == [
        as_float32(ROWS)["heart"],
        [0, 0, 0],
        as_float32(ROWS)["naïve"],
    ]
    assert result.covered.tolist() == [True, False, True]
    assert words_in("table", path, ["heart"], keys="words").words == ["heart"]
    assert terms_in("table", write(tmp_path, FRAME), ["heart"], keys="terms").covered.all()


@every
@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 2.0], [1.0], [3.0, 4.0]], "vector of 'lung', row 2, has 1 numbers; the first"),
        ([[1.0, 2.0], [1.0, 2.0, 3.0], None], "vector of 'lung', row 2, has 3 numbers; the first"),
        ([[1.0, 2.0], None, [3.0, 4.0]], "vector of 'lung', row 2, has 0 numbers; the first"),
        ([[1.0, 2.0], [], [3.0, 4.0]], "vector of 'lung', row 2, has 0 numbers; the first"),
        ([[1.0, 2.0], [1.0, None], [3.0, 4.0]], "'lung', row 2, has a missing value"),
        ([[1.0, 2.0], [1.0, 1e300], [3.0, 4.0]], "'lung', row 2, is not finite"),
        ([[], [], []], "vectors of 0 numbers"),
        ([None, [1.0], [1.0]], "vectors of 0 numbers"),
    ],
)
def test_a_faulty_requested_vector_is_refused(
    tmp_path: Path, file: str, vectors: list[list[float]], message: str
) -> None:
    frame = pl.DataFrame(
        {"word": ["heart", "lung", "liver"], "vector": vectors},
        schema={"word": pl.String, "vector": pl.List(pl.Float64)},
    )
    path = write(tmp_path, frame, file)

    with pytest.raises(InputError, match=message):
        words_in("table", path, ["heart lung"])
    if vectors[0]:
        assert words_in("table", path, ["heart"]).words == ["heart"]


@every
def test_a_word_that_is_null_is_refused(tmp_path: Path, file: str) -> None:
    words = pl.Series("word", ["a", "b", None, "d"])

    with pytest.raises(InputError, match="row 3 has no word"):
        words_in("table", write(tmp_path, FRAME.with_columns(words), file), ["a"])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.drop("vector"), r"columns word \(String\); expected one column of lists of numbers"),
        (FRAME.drop("word"), r"vector \(List\(Float64\)\); expected one column of text"),
        (FRAME.rename({"vector": "a"}).with_columns(b="a"), "expected one column of lists"),
        (FRAME.with_columns(vector=pl.lit([["x"]]).first()), "; expected one column of lists"),
        (FRAME.clear(), "has no rows"),
    ],
)
def test_a_table_without_its_columns_is_refused(
    tmp_path: Path, frame: pl.DataFrame, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        words_in("table", write(tmp_path, frame), ["heart"])


def test_a_name_with_the_signs_of_a_pattern_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "v[1]*.parquet"
    FRAME.write_parquet(path)

    assert words_in("table", path, ["heart"]).words == ["heart"]


def test_a_damaged_page_of_parquet_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, FRAME[:2])
    n_values = b"\x2c\x15\x04"  # of a page of words: two
    assert n_values in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(n_values, b"\x2c\x15\x7f"))

    with pytest.raises(InputError, match=r"v\.parquet cannot be read as table of words or terms"):
        words_in("table", path, ["heart"])
    with pytest.raises(InputError, match=r"v\.parquet cannot be read as a vocabulary"):
        read_vocabulary(path, None)


@pytest.mark.parametrize("file", ["v.parquet", "v.arrow"])
def test_words_that_are_not_text_are_refused(tmp_path: Path, file: str) -> None:
    path = write(tmp_path, FRAME, file)
    content = path.read_bytes()
    assert b"heart" in content
    path.write_bytes(content.replace(b"heart", b"hear\xff"))

    with pytest.raises(InputError, match=rf"{file} cannot be read .*Invalid UTF8"):
        words_in("table", path, ["lung"])


@pytest.mark.parametrize("file", ["v.parquet", "v.arrow"])
def test_only_requested_rows_are_read(tmp_path: Path, file: str) -> None:
    frame = pl.DataFrame({"row": range(40_000), "word": "a"}).with_columns(pl.col("row") % 7)
    path = tmp_path / file
    if file == "v.arrow":
        frame.write_ipc(path, record_batch_size=9_000)
        result = scan_ipc_of_users(path)
    else:
        frame.write_parquet(path, row_group_size=9_000)
        result = scan_of_users(path)

    assert result.collect().equals(frame)
    assert result.head(20_000).collect().equals(frame[:20_000])
    assert result.slice(17_000, 5).collect().equals(frame[17_000:17_005])
    assert result.filter(pl.col("row") == 3).head(4_000).select("row").collect().height == 4_000
    assert result.select(pl.len()).collect().item() == 40_000
