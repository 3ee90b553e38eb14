"""Systems without vectors on multiple-choice questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fixtures.questions import questions_of, write_questions

import medsim
from medsim.core.errors import InputError, OptionError

ROWS = questions_of(40, 1)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "mcq", test=ROWS)


def run(questions: Path, source: Any, **options: Any) -> medsim.Answers:
    out = questions.parent / "out"
    predictions = {"ranker": source}
    return medsim.evaluate(questions, {}, out, predictions=predictions, threads=1, **options)


def accuracy(answers: medsim.Answers, ask: str = "choice", **where: str) -> float:
    where = {"by": "all", "model": "ranker", "ask": ask} | where
    return answers.results().filter(**where)["accuracy"].item()


def test_a_table_of_answers_has_letters_and_names(questions: Path, tmp_path: Path) -> None:
    given = []
    for at, row in enumerate(ROWS[:32]):
        right = row["choices"][row["answer"]]
        wrong = "ABCD"[(row["answer"] + 1) % 4]
        answers = (row["label"], row["label"].lower(), right.upper(), wrong, "")
        given.append((row["id"], answers[at % 5]))
    pl.DataFrame(given, ["question_id", "choice"], orient="row").write_csv(tmp_path / "a.csv")

    answers = run(questions, tmp_path / "a.csv")

    assert accuracy(answers) == sum(at % 5 < 3 for at in range(32)) / 40
    assert answers.manifest.warnings == ["ranker has no answer to 14 of 40 questions of mcq"]
    about = answers.manifest.models["ranker"]
    assert (about["path"], about["format"]) == (str(tmp_path / "a.csv"), "predictions")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1-9999,A", "line 3: id '1-9999' is not a question of any input"),
        ("1-0000,B", "line 3: id '1-0000' is given again"),
        ("1-0001,E", "line 3: answer 'E' is not a letter or name of the choices"),
    ],
)
def test_wrong_answers_are_refused(questions: Path, tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(f"id,answer\n1-0000,A\n{row}\n")
    with pytest.raises(InputError, match=message):
        run(questions, tmp_path / "a.csv")


def test_similarities_answer_both_ways(questions: Path, tmp_path: Path) -> None:
    right = {(row["term"], row["choices"][row["answer"]]) for row in ROWS}

    def knows(first: str, second: str) -> float:
        return float((first, second) in right)

    answers = run(questions, knows)
    assert (accuracy(answers), accuracy(answers, "pairs")) == (1.0, 1.0)
    assert answers.manifest.models["ranker"]["format"] == "python"

    pairs = [(name, row["term"]) for row in ROWS[:30] for name in row["choices"]]
    table = pl.DataFrame(pairs, ["term1", "term2"], orient="row").with_columns(
        similarity=pl.Series([knows(term, name) for name, term in pairs]), id=pl.lit("p")
    )
    table.write_csv(tmp_path / "pairs.csv")
    answers = run(questions, tmp_path / "pairs.csv", overwrite=True)
    assert (accuracy(answers), accuracy(answers, "pairs")) == (0.75, 0.75)
    assert "ranker has no similarity for 40 of 160 pairs of mcq" in answers.manifest.warnings


def test_a_system_has_its_own_name(questions: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="two models are named 'nearest'"):
        medsim.evaluate(questions, {}, tmp_path / "o", predictions={"nearest": min})
