"""Tests of rated files with the ratings of individual raters."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.raters import mean, mean_of_others, rated, spearman, with_gaps

from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.evaluations.inputs import EvaluationInput, read_inputs
from medsim.evaluations.layouts import parse_columns
from medsim.evaluations.options import EvaluateOptions
from medsim.evaluations.ratings import RatedPairs, read_rated

RATERS = [f"rater_{letter}" for letter in "ABCDE"]


def write(path: Path, ratings: np.ndarray, header: list[str], *more: str) -> Path:
    """Write a row per item: its terms, a rating per rater, and more cells."""
    lines = ["\t".join(header)]
    for item, item_ratings in enumerate(ratings.T):
        cells = ["" if math.isnan(rating) else f"{rating:g}" for rating in item_ratings]
        lines.append("\t".join([f"left {item}", f"right {item}", *cells, *more]))
    path.write_text("\n".join(lines) + "\n")
    return path


def inputs(paths: list[str | Path]) -> list[EvaluationInput]:
    return read_inputs(EvaluateOptions(paths, {"one": "one.vec"}, "out"), Progress())


def ehr_rel(path: Path, ratings: np.ndarray) -> Path:
    header = ["snomed_label_1", "snomed_label_2", *RATERS, "mean_rating"]
    return write(path, ratings, header, "2")


def test_agreement_is_computed_from_individual_ratings(tmp_path: Path) -> None:
    ratings = np.minimum(with_gaps(rated(5, 40, seed=1), seed=2), 3)

    agreement = read_rated(ehr_rel(tmp_path / "pairs.tsv", ratings)).agreement

    pairs = [spearman(first, second) for first, second in combinations(ratings, 2)]
    with_others = [spearman(ratings[at], mean_of_others(ratings, at)) for at in range(5)]
    assert len(agreement.with_mean) == 5
    assert agreement.iaa1.value == pytest.approx(mean(pairs))
    assert agreement.iaa2.value == pytest.approx(mean(with_others))


def test_without_a_rating_the_mean_over_raters_is_the_rating(tmp_path: Path) -> None:
    ratings = np.array([[1, 2, math.nan], [math.nan, 4, math.nan], [3, 4, math.nan]])
    path = write(tmp_path / "own.tsv", ratings, ["a", "b", "one", "two", "three"])

    file = read_rated(path, parse_columns("term1=a,term2=b,rater=one,rater=two,rater=three"))

    assert file.pairs.rows() == [("left 0", "right 0", 2), ("left 1", "right 1", 10 / 3)]
    assert [(skip.reason, skip.n_rows) for skip in file.skipped] == [("a rating is missing", 1)]
    assert len(file.agreement.with_mean) == 3
    assert math.isnan(file.agreement.iaa2.value)  # undefined for two pairs


def test_a_named_rating_is_used_beside_raters(tmp_path: Path) -> None:
    path = write(tmp_path / "own.tsv", np.ones((2, 1)), ["a", "b", "one", "two", "all"], "7")

    file = read_rated(path, parse_columns("term1=a,term2=b,rating=all,rater=one,rater=two"))

    assert file.pairs.rows() == [("left 0", "right 0", 7)]
    with pytest.raises(OptionError, match="agreement needs two raters"):
        parse_columns("term1=a,term2=b,rater=one")


def test_rows_with_equal_means_of_different_ratings_are_kept(tmp_path: Path) -> None:
    header = "snomed_label_1\tsnomed_label_2\t" + "\t".join(RATERS) + "\tmean_rating\n"
    rows = ["1\t\t3\t\t\t2", "1\t\t3\t\t\t2", "2\t\t2\t\t\t2"]
    path = tmp_path / "pairs.tsv"
    path.write_text(header + "".join(f"a\tb\t{row}\n" for row in rows))

    assert read_rated(path).pairs.rows() == [("a", "b", 2), ("a", "b", 2)]


def test_cells_of_raters_are_checked_like_ratings(tmp_path: Path) -> None:
    for value, says in (("4", "rating '4' is outside 0 to 3"), ("x", "rating 'x' is not a number")):
        path = ehr_rel(tmp_path / "pairs.tsv", np.ones((5, 2)))
        path.write_text(path.read_text().replace("left 1\tright 1\t1", f"left 1\tright 1\t{value}"))
        with pytest.raises(InputError, match=f"line 3: {says}"):
            read_rated(path)


def test_other_raters_change_the_fingerprint(tmp_path: Path) -> None:
    path = write(tmp_path / "own.tsv", np.ones((3, 1)), ["a", "b", "one", "two", "three"])
    named = [f"{path},term1=a,term2=b,rater=one,rater={other}" for other in ("two", "three")]

    prints = {inputs([text])[0].provenance["fingerprint"] for text in named}

    assert len(prints) == 2


def sentences(folder: Path, text: str) -> RatedPairs:
    (folder / "sts.tsv").write_text(text, newline="")
    return read_rated(folder / "sts.tsv")


HEADER = "sentence1\tsentence2\tscore\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # Quoting would merge these two rows into one with as many cells.
        ('"A\tb\t1\nc\td"\t2\n', [('"A', "b", 1), ("c", 'd"', 2)]),
        ('"Yes" he said.\tb\t1\n', [('"Yes" he said.', "b", 1)]),
        ('"Oh, ""yes"""\tb\t1\n', [('Oh, "yes"', "b", 1)]),
        ("It's 5\" long.\tb\t1\n", [("It's 5\" long.", "b", 1)]),
    ],
    ids=["across lines", "in a cell", "as spreadsheets write them", "inside"],
)
def test_quotes_in_sentences_between_tabs_are_kept(tmp_path: Path, text, rows) -> None:
    assert sentences(tmp_path, HEADER + text).pairs.rows() == rows


def test_a_line_of_the_benchmark_may_have_more_cells_but_not_fewer(tmp_path: Path) -> None:
    line = "main-news\tx\t2012\t1\t3\tOne.\tTwo.\n"
    assert sentences(tmp_path, line + line.replace("Two.\n", "2.\tmore\n")).pairs.height == 2
    with pytest.raises(InputError, match="line 2: 6 cells, but the first line has 7"):
        sentences(tmp_path, line + "main-news\tx\t2012\t1\t3\tOne.\n")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[1]", "row 2 is not an object, as in"),
        ('{"sentence1": "a"', "line 3 is not JSON .*; write one object per line"),
        ('{"a":' * 100_000, "line 3 is not JSON"),
        ('{"sentence1":["a"],"sentence2":"b","score":1}', "row 2: 'sentence1' is not text"),
        ('{"sentence1":"a","sentence2":"b","score":true}', "row 2: 'score' is not text"),
        ('{"sentence1":"a","sentence2":"b","score":"high"}', "row 2: rating 'high' is not"),
        ('{"sentence1":"a","sentence2":"b","score":Infinity}', "rating 'inf' is not a number"),
    ],
)
def test_an_invalid_line_of_json_is_named(tmp_path: Path, line: str, says: str) -> None:
    good = '{"sentence1":"a","sentence2":"b","score":1}\n'
    with pytest.raises(InputError, match=says):
        sentences(tmp_path, good + "\n" + line)


def test_parquet_files_are_read(tmp_path: Path) -> None:
    scores = pl.Series([3.5, 4], dtype=pl.Float32)
    rows = pl.DataFrame({"sentence1": ["a", 'b "c"'], "sentence2": ["d", "e"], "score": scores})
    rows.write_parquet(tmp_path / "sts.parquet")

    file = read_rated(tmp_path / "sts.parquet")

    assert file.layout == "STS"
    assert file.pairs.rows() == [("a", "d", 3.5), ('b "c"', "e", 4)]
    assert len(file.sha256) == 64
    rows.clear().write_parquet(tmp_path / "none.parquet")
    with pytest.raises(InputError, match=r"none\.parquet has a header but no pairs"):
        read_rated(tmp_path / "none.parquet")


def test_json_lines_are_read_by_named_columns(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(
        '{"x":"a","y":"b","s":2}\n{"y":"d","x":"c","s":null}\n{"x":"e","s":4.50}\n'
    )
    file = read_rated(tmp_path / "own.jsonl", parse_columns("term1=x,term2=y,rating=s"))
    assert file.pairs.rows() == [("a", "b", 2)]
    assert {skip.reason: skip.n_rows for skip in file.skipped} == {
        "a rating is missing": 1,
        "a term is empty": 1,
    }


def test_means_of_equal_ratings_tie_in_any_order(tmp_path: Path) -> None:
    ratings = np.array([[0.1, 0.3, 0.2], [0.2, 0.2, 0.2], [0.3, 0.1, 0.2]])
    path = write(tmp_path / "own.tsv", ratings, ["a", "b", "one", "two", "three"])
    file = read_rated(path, parse_columns("term1=a,term2=b,rater=one,rater=two,rater=three"))
    assert file.pairs["mean"].n_unique() == 1

    header = "Term1\tTerm2\tPhysicians\tCoders\n"
    published = tmp_path / "published.tsv"
    published.write_text(header + "a\tb\t1.1\t2.2\nc\td\t1.0\t2.3\n")
    assert read_rated(published).pairs["mean"].n_unique() == 1


def test_json_names_that_are_numbers_are_not_a_pair(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text('{"0":"hand","1":"foot","2":4.0}\n')
    file = read_rated(tmp_path / "own.jsonl", parse_columns("term1=1,term2=2,rating=3"))
    assert file.pairs.rows() == [("hand", "foot", 4)]


@pytest.mark.parametrize("name", ["row", "pair_id", "dataset"])
def test_a_rating_can_have_the_name_of_a_column_of_results(tmp_path: Path, name: str) -> None:
    path = tmp_path / "own.csv"
    path.write_text(f"a,b,{name}\nx,y,3\n")
    (input_,) = inputs([f"{path},term1=a,term2=b,rating={name}"])
    assert input_.frame.select("dataset", "rating").rows() == [(name, 3)]


def test_a_description_of_many_raters_is_not_taken_for_a_path(tmp_path: Path) -> None:
    names = [f"annotator number {number}" for number in range(20)]
    path = write(tmp_path / "own.tsv", np.ones((20, 2)), ["a", "b", *names])
    named = ",".join(f"rater={name}" for name in names)
    (input_,) = inputs([f"{path},term1=a,term2=b,{named}"])
    assert input_.frame.height == 2
