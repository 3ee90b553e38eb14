"""Similarities of pairs, from the tables and the Python objects of systems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rapidfuzz import fuzz

from medsim.core.errors import InputError
from medsim.core.progress import Progress
from medsim.systems.options import system_of
from medsim.systems.scorers import pair_scores, score_pairs

PAIRS = [("hand", "foot"), ("foot", "hand"), ("heart", "eye"), ("None", "eye")]
KNOWN = pl.DataFrame(PAIRS, ["term1", "term2"], orient="row")


def read(source: Any, known: pl.DataFrame | None = KNOWN) -> list[float | None]:
    """Return the similarities of ``PAIRS`` in a table."""
    scored = score_pairs(system_of(source, "ranker"), KNOWN, Progress(), known=known)
    return scored.of(KNOWN, "pairs", Progress()).to_list()


def lengths(first: str, second: str) -> float:
    return float(len(first) - len(second))


def asked(answer: Callable[..., Any], pairs: list[tuple[str, str]] = PAIRS) -> list[float]:
    return pair_scores(system_of(answer, "ranker"), pairs, lambda _n: None).tolist()


ROWS = [("foot", "hand", "0.25"), ("eye", "heart", "-1"), ("None", "eye", "")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bom.csv", "\ufeffterm1,term2,similarity\nfoot,hand,0.25\neye,heart,-1\nNone,eye,\n"),
        ("de.csv", "term1;term2;Score\nfoot;hand;0,25\neye;heart;-1\nNone;eye;NaN\n"),
        ("title.tsv", "# a run\nterm1\tterm2\tcosine\nfoot\thand\t0.25\neye\theart\t-1\n"),
        ("repeated.csv", "text1,text2,sim\nfoot,hand,.25\nfoot,hand,0.250\neye,heart,-1\n"),
        (
            "lines.jsonl",
            "".join(
                json.dumps({"term1": a, "term2": b, "similarity": float(s or "nan")}) + "\n"
                for a, b, s in ROWS
            ).replace("NaN", "null"),
        ),
    ],
)
def test_tables_give_similarities_in_either_order(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert read(path) == [0.25, 0.25, -1, None]


def test_frames_and_parquet_give_the_same(tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS, ["term1", "term2", "similarity"], orient="row")
    frame = frame.with_columns(pl.col("similarity").cast(pl.Float64, strict=False))
    frame.write_parquet(tmp_path / "p.parquet")
    named = frame.rename({"similarity": "logit"})
    for source in (frame, frame.to_pandas(), tmp_path / "p.parquet"):
        assert read(source) == [0.25, 0.25, -1, None]
    named.write_csv(tmp_path / "n.csv")
    assert read(f"{tmp_path / 'n.csv'},similarity=logit") == [0.25, 0.25, -1, None]


def test_a_table_may_have_both_orders_of_a_pair(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("term1,term2,similarity\nhand,foot,1\nfoot,hand,2\n'=x,eye,3\n")
    assert read(path, None) == [1, 2, None, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("term1,term2\nhand,foot\n", "has no column similarity, but term1 and term2; name it"),
        ("term1,term2,score\nhand,foot,high\n", "line 2: similarity 'high' is not a finite number"),
        ("term1,term2,score\nhand,foot,1e99\n", "line 2: similarity '1e99' is not a finite"),
        (
            "term1,term2,score\nhand,foot,1\nhand,toe,2\n",
            r"line 3: pair 'hand \| toe' is not a pair of any input",
        ),
        (
            "term1,term2,score\nhand,foot,1\nhand,foot,2\n",
            r"line 3: pair 'hand \| foot' is given again, with another similarity",
        ),
        (
            "term1,term2,score\nhand,foot,\nhand,foot,2\n",
            r"line 3: pair 'hand \| foot' is given again, with another similarity",
        ),
        ("\n", "is empty"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read(path)


class Ranker:
    """A model like the cross-encoders of sentence-transformers."""

    def predict(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """Return a column of scores."""
        return np.array([[lengths(*pair)] for pair in pairs], np.float16)


def test_objects_and_functions_score_pairs() -> None:
    expected = [0.0, 0.0, 2.0, 1.0]
    assert asked(Ranker()) == expected
    assert asked(lengths) == expected
    assert asked(lambda pairs: [lengths(*pair) for pair in pairs]) == expected
    assert asked(fuzz.ratio) == [fuzz.ratio(*pair) for pair in PAIRS]
    many = [(f"{at}", "x" * at) for at in range(1200)]
    assert asked(lengths, many) == [len(a) - len(b) for a, b in many]
    assert asked(lengths, []) == []


def test_scores_that_differ_only_in_later_batches_are_refused() -> None:
    sizes = list[int]()

    def drifting(pairs: list[tuple[str, str]]) -> list[float]:
        sizes.append(len(pairs))
        return [len(b) + 100.0 * (len(sizes) == 5) for _, b in pairs]

    many = [(f"{at}", "x" * (at % 9)) for at in range(1200)]
    with pytest.raises(InputError, match=r"returned a different score for .* in another batch"):
        asked(drifting, many)
    assert sizes == [512, 3, 512, 3, 176, 3]


def test_none_and_nan_are_no_score() -> None:
    answers = asked(lambda a, b: None if a == "None" else 1 if b == "eye" else np.nan)
    assert np.array_equal(answers, [np.nan, np.nan, 1, np.nan], equal_nan=True)


def fails(first: str, second: str) -> float:
    raise ValueError(f"no {first} {second}")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda pairs: [*range(len(pairs))], r"returned a different score for \('None', 'eye'\)"),
        (lambda pairs: [1.0] * (len(pairs) - 1), r"shape \(3,\); expected a number for each of 4"),
        (lambda pairs: np.ones((len(pairs), 2)), r"array of shape \(4, 2\)"),
        (lambda pairs: [True, *range(1, len(pairs))], "values of type object, not numbers"),
        (lambda first, _second: first == "hand" or 0.5, "values of type object, not numbers"),
        (lambda _first, _second: "high", "values of type text, not numbers"),
        (lambda _first, _second: 1e300, r"the score of \('hand', 'foot'\) is too large"),
        (lambda _first, _second: 1j, "values of type complex128, not numbers"),
        (lambda _pairs: 0.5, r"array of shape \(\)"),
        (
            fails,
            r"fails\) failed on 4 pairs, \('hand', 'foot'\) the first: no hand foot",
        ),
    ],
)
def test_wrong_scores_are_refused(answer: Callable[..., Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        asked(answer)
