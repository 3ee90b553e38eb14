"""Presentations of pairs, instructions, names of annotators, and files of pairs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from fixtures.studies import put
from hypothesis import given, settings
from hypothesis import strategies as st

from medsim.core.errors import InputError, OptionError
from medsim.studies.asking import read_pairs
from medsim.studies.folder import instructions_of, presentations_of
from medsim.studies.options import annotators_of
from medsim.studies.output import ASSIGNED
from medsim.studies.sheets import GRADED, SCALES


def items(number: int) -> pl.DataFrame:
    rows = [(f"{at:016x}", f"term {at}", f"other {at}") for at in range(number)]
    return pl.DataFrame(rows, ["item_id", "term1", "term2"], orient="row")


@settings(max_examples=40)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 6), st.integers(0, 2**63 - 1))
def test_every_pair_is_shown_once_and_repeated_ones_twice(
    n_items: int, n_twice: int, n_pages: int, seed: int
) -> None:
    shown = items(n_items)

    result = presentations_of(seed, "ada", shown, n_twice, n_pages)

    assert result.schema == pl.Schema(ASSIGNED.dtypes)
    assert result["position"].to_list() == list(range(1, result.height + 1))
    assert result["entry_id"].is_unique().all()
    first, second = (result.filter(showing=showing)["item_id"] for showing in (1, 2))
    assert sorted(first) == shown["item_id"].to_list()
    assert second.n_unique() == len(second) == min(n_twice, n_items)
    terms_of = {item_id: {*terms} for item_id, *terms in shown.iter_rows()}
    for item_id, left, right in result.select("item_id", "left", "right").iter_rows():
        assert {left, right} == terms_of[item_id]


def test_about_half_of_the_others_are_between_two_presentations() -> None:
    result = presentations_of(3, "ada", items(300), 50)

    places = result.filter(pl.len().over("item_id") == 2).group_by("item_id")
    between = places.agg(pl.col("position").diff().last())["position"]
    assert len(between) == 50
    assert between.is_between(140, 210).all()
    assert 165 < between.mean() < 185


@pytest.mark.parametrize(("n_pages", "n_own", "n_common"), [(5, 500, 50), (4, 400, 0), (3, 90, 30)])
def test_every_page_has_its_share_of_each_kind(n_pages: int, n_own: int, n_common: int) -> None:
    shown = items(n_own + n_common).with_columns(
        pl.int_range(pl.len()).ge(n_common).cast(pl.Int32).mul(2).alias("group")
    )

    result = presentations_of(1, "eva", shown, 10 * n_pages, n_pages)

    common = set(shown["item_id"].head(n_common))
    size = (n_own + n_common) // n_pages + 10
    pages = [result["item_id"][at : at + size].to_list() for at in range(0, result.height, size)]
    assert [len(page) for page in pages] == [size] * n_pages
    twice = {item_id for item_id, n in Counter(result["item_id"]).items() if n == 2}
    assert len(twice) == 10 * n_pages
    for at, page in enumerate(pages):
        assert len(set(page)) == len(page)
        assert sum(item_id in common for item_id in page) == n_common // n_pages
        # Ten are also half of all pages further on, and ten half of all pages before.
        assert len(twice & set(page)) == 20
        assert len(twice & set(page) & set(pages[(at + n_pages // 2) % n_pages])) >= 10


def test_order_sides_and_entries_depend_on_seed_and_annotator_only() -> None:
    shown = items(1200)

    ada, ben = presentations_of(0, "ada", shown), presentations_of(0, "ben", shown)

    assert ada["item_id"].to_list() != ben["item_id"].to_list()
    assert not set(ada["entry_id"]) & set(ben["entry_id"])
    assert ada.equals(presentations_of(0, "ada", shown[::-1]))
    assert not ada.equals(presentations_of(1, "ada", shown))
    # If a class were drawn together or put on one side, its mean place would not be the middle.
    even = ada.filter(pl.col("item_id").str.to_integer(base=16) % 2 == 0)
    assert abs(even["position"].mean() - 600.5) < 40
    assert abs(even["left"].str.starts_with("term").mean() - 0.5) < 0.06


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (10, (*(f"annotator-0{at}" for at in range(1, 10)), "annotator-10")),
        ("1", ("annotator-1",)),
        ("ada, Ben C.-D, éva_2", ("ada", "Ben C.-D", "éva_2")),
        (["ada", "ben"], ("ada", "ben")),
    ],
)
def test_annotators_are_counted_or_named(named: object, expected: tuple[str, ...]) -> None:
    assert annotators_of(named, stem="annotator") == expected


@pytest.mark.parametrize(
    "named",
    [
        *("0", "1001", "", "ada,", "ada,ADA", "../up", "a/b", ".hidden", "a" * 41),
        *("con:", "-x", "3.5", "CON", "outliers"),
    ],
)
def test_names_unfit_for_folders_are_refused(named: str) -> None:
    with pytest.raises(OptionError):
        annotators_of(named, stem="annotator")


def test_instructions_come_from_the_scale_or_the_paragraphs_of_a_file(tmp_path) -> None:
    for scale in SCALES.values():
        paragraphs = instructions_of(scale, None, is_own=False)
        assert len(paragraphs) >= 2
        assert all(len(paragraph) > 50 for paragraph in paragraphs)
    file = put(tmp_path, "told.txt", "\ufeffOne\r\nline.\r\n  \r\n\r\nÄnother <b>.\r\n")
    assert instructions_of(GRADED, file, is_own=True) == ["One line.", "Änother <b>."]


@pytest.mark.parametrize(
    ("content", "says"),
    [(b" \n\n", "is empty"), (b"\xe9", "not in UTF-8"), (b"PK\x03\x04", "is a zip")],
)
def test_instructions_that_are_none_are_refused(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        instructions_of(GRADED, put(tmp_path, "told.txt", content), is_own=False)


def test_pairs_keep_their_other_columns_as_text(tmp_path: Path) -> None:
    text = 'reason;term2;term1;count1\n"a; b";cat;dog;007\nnone;ö;x;\n'

    result = read_pairs(put(tmp_path, "pairs.csv", text)).frame

    assert result.columns == ["term1", "term2", "reason", "count1"]
    assert result.rows() == [("dog", "cat", "a; b", "007"), ("x", "ö", "none", "")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("one,two\na,b\n", "no column 'term1'; it needs term1, term2 and has 'one, two'"),
        ("term1,term2\n", "has no pairs"),
        ("term1,term2\na,b\nB,A\n", "line 2 and line 3 have the same pair"),
        ("term1,term2\na,\n", "line 2: term2 '' is empty"),
        ("term1,term2\na,A\n", "line 2: both terms are 'a'"),
        ("term1,term2,group\na,b,1\n", "medsim writes a column 'group' itself"),
        ("term1,term2,count1\na,b,3\nc,d,many\n", "line 3: count1 'many' is not a count"),
        ("term1,term2,associated\na,b,perhaps\n", "associated 'perhaps' is not yes or no"),
    ],
)
def test_a_wrong_file_of_pairs_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        read_pairs(put(tmp_path, "pairs.csv", text))
