"""Names of annotators, instructions and files of pairs, as users give them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixtures.studies import put

from medsim.core.errors import InputError, OptionError
from medsim.studies.inputs import instructions_of, read_pairs
from medsim.studies.people import annotators_of
from medsim.studies.sheets import GRADED, SCALES


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
def test_names_that_cannot_be_those_of_folders_are_refused(named: str) -> None:
    with pytest.raises(OptionError):
        annotators_of(named, stem="annotator")


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_every_scale_has_instructions(scale) -> None:
    paragraphs = instructions_of(scale, None)

    assert len(paragraphs) >= 2
    assert all(len(paragraph) > 50 for paragraph in paragraphs)


def test_instructions_of_ones_own_are_cut_at_empty_lines(tmp_path: Path) -> None:
    file = put(tmp_path, "told.txt", "\ufeffOne\r\nline.\r\n  \r\n\r\nÄnother <b>.\r\n")

    assert instructions_of(GRADED, file) == ("One line.", "Änother <b>.")


@pytest.mark.parametrize(
    ("content", "says"),
    [(b" \n\n", "holds no text"), (b"\xff\xfe", "not UTF-8"), (b"a" * 20_001, "20,001 characters")],
)
def test_instructions_that_are_none_are_refused(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        instructions_of(GRADED, put(tmp_path, "told.txt", content))


def test_pairs_keep_their_other_columns_as_text(tmp_path: Path) -> None:
    text = 'reason;term2;term1;count1\n"a; b";cat;dog;007\nnone;ö;x;\n'

    found = read_pairs(put(tmp_path, "pairs.csv", text)).frame

    assert found.columns == ["term1", "term2", "reason", "count1"]
    assert found.rows() == [("dog", "cat", "a; b", "007"), ("x", "ö", "none", "")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("one,two\na,b\n", "no column 'term1'; it needs term1, term2 and has 'one, two'"),
        ("term1,term2\n", "has no pairs"),
        ("term1,term2\na,b\nB,A\n", "line 2 and line 3 have the same pair"),
        ("term1,term2\na,\n", "line 2: term2 '' is empty"),
        ("term1,term2\na,A\n", "line 2: both terms are 'a'"),
        ("term1,term2,group\na,b,1\n", "'group' has a name that medsim gives"),
        ("term1,term2,count1\na,b,3\nc,d,many\n", "line 3: count1 'many' is no count"),
        ("term1,term2,associated\na,b,perhaps\n", "associated 'perhaps' is neither yes nor no"),
    ],
)
def test_a_wrong_file_of_pairs_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        read_pairs(put(tmp_path, "pairs.csv", text))
