"""Folders of multiple-choice questions, with a file of JSON lines per split."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import polars as pl

from medsim.core.errors import InputError
from medsim.core.files import digest_of
from medsim.core.manifest import MANIFEST
from medsim.core.opened import Opened, open_output
from medsim.core.reading import check_file, json_lines, reading
from medsim.questions.output import QUESTION

LETTERS = ascii_uppercase
"""The letters of choices."""

_WITH_CONCEPTS = ("relations", "concepts")  # questions of others may lack these
_SPLITS = ("test", "validation", "train")  # the first that exists is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The questions of a folder.

    Attributes:
        asked: the questions to ask, of test, or else of validation or train, with the columns
            ``QUESTION``, and input.
        examples: the questions of train if another split is asked, with the same columns.
        provenance: for the manifest.
    """

    name: str
    asked: pl.DataFrame
    examples: pl.DataFrame
    provenance: dict[str, object]


def question_files(folder: Path) -> dict[str, Path]:
    """Return the files of the splits of a folder of questions; none if it has no questions."""
    if not os.path.isdir(folder):  # noqa: PTH112 — a path with columns may be too long for Path
        return {}
    paths = {split: folder / f"{split}.jsonl" for split in _SPLITS}
    existing = {split: path for split, path in paths.items() if path.exists()}
    for path in existing.values():
        check_file(path)
    return {split: path for split, path in existing.items() if path.stat().st_size}


def read_questions(folder: Path, sample: int | None = None) -> Questions:
    """Return the questions of a folder, or a sample: the first ones, whose order was drawn.

    Raises:
        InputError: it has no questions, or its files are damaged.
    """
    files, name = question_files(folder), folder.resolve().name
    if not files:
        raise InputError(
            f"{folder} has no questions; make some with medsim export --for jsonl and --choices"
        )
    split = next(iter(files))
    asked = _read(files[split], name)[:sample]
    has_examples = "train" in files and split != "train"
    opened: Opened[Any] | None = open_output(folder) if (folder / MANIFEST).exists() else None
    return Questions(
        name=name,
        asked=asked,
        examples=_read(files["train"], name) if has_examples else asked.clear(),
        provenance={
            "path": str(folder),
            "split": split,
            "sha256": digest_of(files[split]),
            "source": opened and opened.manifest.source,
        },
    )


def _read(path: Path, name: str) -> pl.DataFrame:
    with reading(path, "questions"):
        data = path.read_bytes()
        json_lines(path, data)  # names a line that is not JSON
        questions = pl.read_ndjson(data, schema=QUESTION.dtypes)
    n_names = pl.col("choices").list.len()
    is_question = pl.all_horizontal(
        pl.exclude(_WITH_CONCEPTS).is_not_null(),
        pl.col("id").is_first_distinct(),
        pl.col("choices").list.n_unique() == n_names,
        pl.col("differences").list.len() == n_names,
        *((pl.col(name).list.len() == n_names).fill_null(value=True) for name in _WITH_CONCEPTS),
        pl.col("answer").is_between(0, n_names - 1),
        n_names <= len(LETTERS),
    )
    if questions["choices"].null_count() == questions.height:
        raise InputError(
            f"{path} has pairs or other rows, not multiple-choice questions; to score embeddings "
            "give the build, and for questions export it with medsim export --for jsonl and "
            "--choices"
        )
    for row in questions.select((~is_question).fill_null(value=True).arg_true()).to_series():
        raise InputError(f"{path}: question {row + 1:,} is damaged or repeated; export it again")
    return questions.with_columns(input=pl.lit(name))
