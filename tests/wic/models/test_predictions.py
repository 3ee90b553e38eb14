"""Predictions of any model, read from files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.wic import invented_instances

from medsim.core.errors import InputError
from medsim.wic.models.predicted import read_predictions

INSTANCES = invented_instances(1, 4, reuse=0)
IDENTITY = ["sentence1", "sentence2", "start1", "start2"]


def write(path: Path, frame: pl.DataFrame) -> Path:
    """Return the file after writing a frame in the format of its suffix."""
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("\n\n".join(map(json.dumps, frame.to_dicts())) + "\n", encoding="utf-8")
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        frame.write_csv(path, separator=separator)
    return path


@pytest.fixture(params=["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / request.param


@pytest.mark.parametrize(
    "cells",
    [
        [1, 0, 0, 1],
        [True, False, False, True],
        ["T", "F", "f", "t"],
        ["Yes", "no", "NO", "yes"],
        ["true", "FALSE", "0", " 1 "],
    ],
)
def test_answers_are_read_in_the_order_of_the_instances(path: Path, cells: list) -> None:
    answers, scores, _ = read_predictions(
        write(path, pl.DataFrame({"prediction": cells})), INSTANCES
    )

    assert np.array_equal(answers, [True, False, False, True])
    assert scores is None


def test_rows_that_identify_instances_may_come_in_any_order(path: Path) -> None:
    rows = INSTANCES.select(IDENTITY).with_columns(
        prediction=pl.Series([1, 0, 1, 1]), score=pl.Series([0.5, -1.0, 2.0, 3.0])
    )

    answers, scores, _ = read_predictions(write(path, rows[[2, 0, 3, 1]]), INSTANCES)

    assert np.array_equal(answers, [True, False, True, True])
    assert np.array_equal(scores, [0.5, -1, 2, 3])


def test_a_repeated_instance_has_one_row(path: Path) -> None:
    rows = INSTANCES.select(IDENTITY).with_columns(score=pl.Series([1.0, 2.0, 3.0, 4.0]))

    answers, scores, _ = read_predictions(write(path, rows), INSTANCES[[0, 1, 2, 3, 1]])

    assert answers is None
    assert np.array_equal(scores, [1, 2, 3, 4, 2])


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pl.DataFrame({"label": [1] * 4}), "neither a column 'prediction' nor a column 'score'"),
        (pl.DataFrame({"prediction": [1, 0, 1]}), "3 rows for 4 instances"),
        (pl.DataFrame({"prediction": [1] * 5}), "5 rows for 4 instances"),
        (pl.DataFrame({"prediction": ["T", "F", "maybe", "T"]}), r"prediction 'maybe' is not 1, 0"),
        (pl.DataFrame({"score": ["1", "2", "nan", "4"]}), r"score 'nan' is not a finite number"),
        (pl.DataFrame({"score": ["1", "2", "x", "4"]}), r"score 'x' is not a finite number"),
        (
            INSTANCES.select("sentence1", "start1").with_columns(prediction=1),
            "has sentence1, start1; give all of",
        ),
        (INSTANCES[:3].select(IDENTITY).with_columns(prediction=1), "has no instance 4"),
        (
            INSTANCES[[0, 1, 2, 3, 0]].select(IDENTITY).with_columns(prediction=1),
            "is of an instance that several rows have",
        ),
        (
            invented_instances(2, 4).select(IDENTITY).with_columns(prediction=1),
            r"(line|row) [12]: sentence1 .* is not of an instance",
        ),
    ],
)
def test_rows_that_do_not_match_are_refused(path: Path, frame: pl.DataFrame, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_predictions(write(path, frame), INSTANCES)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "a.jsonl: line 2 is not JSON"),
        ("3", "a.jsonl: row 2 is not an object"),
        ("{}", "row 2: prediction '' is not 1"),
    ],
)
def test_a_wrong_line_of_json_is_named(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"prediction": 1}}\n{line}\n' + '{"prediction": 0}\n' * 2, encoding="utf-8")

    with pytest.raises(InputError, match=says):
        read_predictions(path, INSTANCES)


def test_a_line_separator_inside_json_does_not_end_a_line(tmp_path: Path) -> None:
    instances = INSTANCES[:1].with_columns(sentence1=pl.lit("a\u2028pain"))
    row = instances.select(IDENTITY).row(0, named=True) | {"prediction": "T"}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")

    answers, *_ = read_predictions(path, instances)

    assert np.array_equal(answers, [True])
