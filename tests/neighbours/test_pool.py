"""Pools of names: nearest names and pairs, against comparing every query with every name."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import medsim
from medsim.core.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = st.lists(st.text("abAé日 \xa0", max_size=8), max_size=25)
Rows = list[tuple[str, int, str, int]]


def key(name: str, *, match_case: bool) -> str:
    return name if match_case else unicodedata.normalize("NFC", name.lower())


def cleaned(names: Sequence[str]) -> list[str]:
    """Return names without white space at their ends, and without blank ones, as of a file."""
    return [name.strip() for name in names if name.strip()]


def first_spellings(names: Sequence[str], *, match_case: bool) -> dict[str, str]:
    """Return the names by the text that is compared, in order of these texts."""
    spellings: dict[str, str] = {}
    for name in cleaned(names):
        spellings.setdefault(key(name, match_case=match_case), name)
    return dict(sorted(spellings.items()))


def brute_force(
    queries: Sequence[str] | None,
    names: Sequence[str],
    k: int,
    *,
    limit: int = 99,
    ties: bool = False,
    match_case: bool = False,
) -> Rows:
    pool, names = first_spellings(names, match_case=match_case), cleaned(names)
    own = {key(name, match_case=match_case): name for name in reversed(names)}
    given = dict.fromkeys(key(name, match_case=match_case) for name in names)
    asked = [own[text] for text in given] if queries is None else cleaned(queries)
    rows: Rows = []
    for query in asked:
        text = key(query, match_case=match_case)
        found = sorted(
            (distance, other)
            for other in pool
            if queries is not None or other != text
            if (distance := Levenshtein.distance(text, other)) <= limit
        )
        last = found[min(k, len(found)) - 1][0] if found else 0
        kept = [pair for pair in found if pair[0] <= last] if ties else found[:k]
        rows += [(query, rank, pool[other], d) for rank, (d, other) in enumerate(kept, start=1)]
    return rows


@given(NAMES, NAMES, st.integers(1, 30), st.integers(0, 9), st.booleans(), st.booleans())
def test_nearest_names_are_those_of_brute_force(
    queries: list[str],
    names: list[str],
    k: int,
    limit: int,
    match_case: bool,  # noqa: FBT001 — drawn
    ties: bool,  # noqa: FBT001 — drawn
) -> None:
    found = medsim.nearest(
        queries,
        names,
        k,
        limit,
        ties="all" if ties else "first",
        match_case=match_case,
        threads=1,
    )

    assert found.rows() == brute_force(
        queries, names, k, limit=limit, ties=ties, match_case=match_case
    )


@given(NAMES, NAMES, st.integers(1, 4), st.integers(0, 9))
def test_all_ties_are_found_however_many_there_are(
    queries: list[str], names: list[str], k: int, limit: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("medsim.neighbours.pool._MORE", (1,))
        patch.setattr("medsim.neighbours.pool._MATCHES_AT_ONCE", 7)
        pool = medsim.Pool(names, threads=2)
        found = pool.nearest(queries, k, max_distance=limit, ties="all")

    assert found.rows() == brute_force(queries, names, k, limit=limit, ties=True)


def test_queries_with_many_ties_are_yielded_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medsim.neighbours.pool._MATCHES_AT_ONCE", 10_000)
    names = [chr(0x4E00 + number) for number in range(2000)]  # no letters in common
    pool = medsim.Pool(names, threads=2)

    heights = [batch.height for batch in pool.batches(names[:100], 2, ties="all")]

    assert sum(heights) == 100 * len(names)
    assert max(heights) <= 10_000


@given(NAMES, st.integers(1, 30), st.booleans())
def test_names_of_a_list_match_the_others(names: list[str], k: int, ties: bool) -> None:  # noqa: FBT001
    found = medsim.nearest(names, k=k, ties="all" if ties else "first", threads=1)

    assert found.rows() == brute_force(None, names, k, ties=ties)


@given(NAMES, st.integers(1, 4), st.booleans())
def test_pairs_of_a_list_are_those_of_brute_force(
    names: list[str],
    limit: int,
    match_case: bool,  # noqa: FBT001 — drawn
) -> None:
    found = medsim.nearest(names, max_distance=limit, match_case=match_case, threads=1)

    pool = [*first_spellings(names, match_case=match_case).items()]
    assert found.rows() == [
        (name, pool[other][1], distance)
        for row, (text, name) in enumerate(pool)
        for other in range(row + 1, len(pool))
        if (distance := Levenshtein.distance(text, pool[other][0])) <= limit
    ]


@given(NAMES, NAMES, st.integers(1, 4))
def test_pairs_of_two_lists_are_all_matches_within_the_distance(
    queries: list[str], names: list[str], limit: int
) -> None:
    found = medsim.nearest(queries, names, max_distance=limit, threads=1)

    queries = cleaned(queries)
    asked = {key(query, match_case=False): query for query in reversed(queries)}
    order = [asked[text] for text in dict.fromkeys(key(q, match_case=False) for q in queries)]
    expected = brute_force(order, names, len(names) + 1, limit=limit)
    assert found.rows() == [(query, match, distance) for query, _, match, distance in expected]


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        pl.Series,
        lambda names: pl.Series(names, dtype=pl.Categorical),
        pd.Series,
        lambda names: pd.Series(names, dtype="category"),
        pa.array,
        lambda names: pa.chunked_array([names]),
        medsim.Pool,
    ],
)
def test_lists_series_and_arrays_are_taken(make: Any) -> None:
    names = ["heart attack", "migraine"]

    queries = ["Hart attack"] if make is medsim.Pool else make(["Hart attack"])

    found = medsim.nearest(queries, make(names))

    assert found.rows() == [("Hart attack", 1, "heart attack", 1)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], "`queries` takes strings"),
        (["a", None], "`queries` has no value in row 1"),
        (pl.Series([1.5]), "`queries` takes strings, not Float64"),
        (np.array([[1]]), "`queries` takes strings"),
        (7, "`queries` takes strings"),
        (["a\ud800"], "`queries` .* is not UTF-8"),
        (np.array("hart"), "`queries` takes strings in one dimension"),
        (pd.DataFrame({"term": ["hart"]}), "`queries` takes strings"),
        (pl.DataFrame({"term": ["hart"]}), "`queries` takes strings"),
    ],
)
def test_other_values_are_refused(given: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        medsim.nearest(given, ["a"])


@pytest.mark.parametrize("limit", [0, 5])
def test_all_pairs_take_a_distance_of_1_to_4(limit: int) -> None:
    with pytest.raises(OptionError, match="takes 1 to 4"):
        medsim.nearest(["a"], max_distance=limit)
    with pytest.raises(OptionError, match="takes 1 to 4"):
        medsim.Pool(["a"]).pairs(limit)
    with pytest.raises(OptionError, match="takes 1 to 4"):
        medsim.Pool(["a"]).pairs(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [["  Fever\xa0", "\u3000", "cough\t"], ["Fever ", "", " cough"]])
def test_names_of_lists_and_of_files_are_compared_without_white_space_at_their_ends(
    tmp_path: Path, names: list[str]
) -> None:
    (tmp_path / "names.txt").write_text("\n".join(names), encoding="utf-8")
    pl.DataFrame({"term": names}).write_parquet(tmp_path / "names.parquet")
    expected = [("Fever", 1, "fever", 0), ("cough", 1, "Cough", 0)]

    for queries in (names, tmp_path / "names.txt", tmp_path / "names.parquet"):
        assert medsim.nearest(queries, ["fever\xa0", "Cough"]).rows() == expected
        assert medsim.nearest(queries).rows() == medsim.nearest(["Fever", "cough"]).rows()


@pytest.mark.parametrize("name", ["names.txt", "names.csv", "names.parquet"])
def test_searching_no_names_of_a_file_is_an_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "names.parquet":
        pl.DataFrame({"term": ["", " "]}).write_parquet(path)
    else:
        path.write_text("term\n\n" if name == "names.csv" else "\n \n", encoding="utf-8")

    for lists in ([path], [["a"], path]):
        with pytest.raises(InputError, match=f"{name} (has no names|is empty)"):
            medsim.nearest(*lists)


def test_empty_lists_have_no_matches() -> None:
    assert medsim.nearest([], ["a"]).rows() == []
    assert medsim.nearest(["a"], []).rows() == []
    assert medsim.nearest([], max_distance=2).rows() == []
    assert medsim.nearest(["a"], [], max_distance=2).rows() == []


def test_batches_are_the_rows_of_all_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"pain of the {number}" for number in range(200)]
    pool = medsim.Pool(names)
    expected = pool.nearest(names, 3, ties="all")
    monkeypatch.setattr("medsim.neighbours.pool._QUERIES_AT_ONCE", 7)
    steps: list[int] = []

    found = [*pool.batches(names, 3, ties="all", advance=steps.append)]

    assert len(found) > 1
    assert pl.concat(found).equals(expected)
    assert sum(steps) == len(names)


def test_columns_are_found_by_usual_names_or_given(tmp_path: Path) -> None:
    rows = pl.DataFrame({"id": ["1", "2"], "Label": ["heart", "lung"], "other": ["x", "hart"]})
    rows.write_csv(tmp_path / "names.csv")
    rows.write_parquet(tmp_path / "names.parquet")
    (tmp_path / "names.txt").write_text("heart\r\n\n lung \n", encoding="utf-8")

    for file in ("names.csv", "names.parquet", "names.txt"):
        assert medsim.nearest(["hart"], tmp_path / file)["match"].to_list() == ["heart"]
    by_column = medsim.nearest(["hart"], tmp_path / "names.csv", pool_column="OTHER")
    assert by_column["distance"].to_list() == [0]


def test_a_table_without_a_usual_column_names_its_columns(tmp_path: Path) -> None:
    pl.DataFrame({"a": ["x"], "b": ["y"]}).write_csv(tmp_path / "names.csv")

    with pytest.raises(InputError, match="`pool_column`: a and b"):
        medsim.nearest(tmp_path / "names.csv")
    (tmp_path / "names.txt").write_text("x", encoding="utf-8")
    with pytest.raises(OptionError, match="is read as lines"):
        medsim.nearest(tmp_path / "names.txt", query_column="a")


@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=30))
def test_a_query_in_the_pool_is_its_own_nearest(names: list[str]) -> None:
    found = medsim.Pool(names).nearest(names)

    assert found["distance"].to_list() == [0] * len(names)
    assert Counter(found["match"]) == Counter(names)


def test_pairs_of_few_queries_in_a_large_pool_are_those_of_comparing_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"{number * 7919 % 9973} pain" for number in range(2000)]
    queries = ["17 pain", "17  pain", "none"]
    expected = medsim.Pool(names).pairs(2, queries)
    monkeypatch.setattr("medsim.neighbours.pool._NAMES_PER_QUERY", 1)

    assert expected.height > 3
    assert medsim.Pool(names).pairs(2, queries).equals(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "`k` 0 is out of range"),
        ({"k": 1.5}, "`k` takes a whole number"),
        ({"max_distance": -1}, "`max_distance` -1 is out of range"),
        ({"ties": "some"}, "ties 'some'"),
    ],
)
def test_wrong_options_of_a_pool_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        medsim.Pool(["a"]).nearest(["b"], **options)


def test_a_column_is_refused_where_there_is_none(tmp_path: Path) -> None:
    for options in ({"query_column": "a"}, {"pool_column": "a"}):
        with pytest.raises(OptionError, match="column"):
            medsim.nearest(["b"], ["c"], **options)
    pl.DataFrame({"term": [["a", "b"]]}).write_parquet(tmp_path / "lists.parquet")
    with pytest.raises(OptionError, match="takes strings, not List"):
        medsim.nearest(tmp_path / "lists.parquet")


def test_lines_end_only_at_ends_of_lines(tmp_path: Path) -> None:
    file = tmp_path / "names.txt"
    file.write_bytes("a\x0bb\rc\x85d\r\ne\u2028f\n".encode())

    assert medsim.Pool(file).names.to_list() == ["a\x0bb", "c\x85d", "e\u2028f"]
