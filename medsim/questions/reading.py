"""Reads folders of multiple-choice questions: a file of JSON lines per split."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError
from medsim.core.files import digest_of
from medsim.core.manifest import MANIFEST
from medsim.core.opened import Opened, open_output
from medsim.core.reading import json_lines, open_file, reading
from medsim.kernels.components import components
from medsim.questions.question import QUESTION

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = ascii_uppercase
"""The letters of choices."""

_NEEDED = ("id", "question", "term", "choices", "answer", "concept1", "concept2")
_SPLITS = ("test", "validation", "train")  # the first that exists is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The questions of a folder.

    Attributes:
        tables: the questions to ask, of test, or else of validation or train; and the questions of
            train if another split is asked, for examples. Both have the columns ``QUESTION``,
            input, and cluster, equal for questions whose concepts are linked by questions.
        provenance: for the manifest.
    """

    name: str
    tables: tuple[pl.DataFrame, pl.DataFrame]
    provenance: dict[str, object]


def is_questions(place: Path) -> bool:
    """Return whether a place is a folder whose first split has questions."""
    for path in _files_in(place).values():
        with reading(path), open_file(path) as stream:
            return b'"choices"' in stream.readline()
    return False


def _files_in(folder: Path) -> dict[str, Path]:
    """Return the files of the splits of a folder that are not empty."""
    paths = {split: folder / f"{split}.jsonl" for split in _SPLITS}
    with suppress(OSError):  # of a name that is too long
        return {at: path for at, path in paths.items() if path.is_file() and path.stat().st_size}
    return {}


def read_questions(folder: Path) -> Questions:
    """Return the questions of a folder.

    Raises:
        InputError: it has no questions, or a question lacks a key or has an unexpected value.
    """
    files = _files_in(folder)
    if not is_questions(folder):
        raise InputError(
            f"{folder} has no questions; make some with medsim export --for jsonl and --choices"
        )
    split = next(iter(files))
    name = folder.resolve().name
    asked = _read(files[split], name)
    examples = (
        _read(files["train"], name) if "train" in files and split != "train" else asked.clear()
    )
    opened: Opened[Any] | None = open_output(folder) if (folder / MANIFEST).exists() else None
    return Questions(
        name=name,
        tables=(asked, examples),
        provenance={
            "path": str(folder),
            "split": split,
            "sha256": digest_of(files[split]),
            "n_questions": asked.height,
            "source": opened and opened.manifest.source,
        },
    )


def _read(path: Path, name: str) -> pl.DataFrame:
    with reading(path, "questions"), open_file(path) as stream:
        questions = pl.DataFrame(json_lines(path, stream.read()), QUESTION.dtypes)
    n_names = pl.col("choices").list.len()
    is_question = pl.all_horizontal(
        *(pl.col(name).is_not_null() for name in _NEEDED),
        pl.col("id").is_first_distinct(),
        pl.col("choices").list.n_unique() == n_names,
        n_names.is_between(2, len(LETTERS)),
        pl.col("answer").is_between(0, n_names - 1),
    )
    if (wrong := ~questions.select(is_question.fill_null(value=False)).to_series()).any():
        raise InputError(
            f"{path}: line {wrong.arg_true()[0] + 1} is not a question: it lacks a value, has the "
            f"id of an earlier line, or its answer is not the number of one of 2 to {len(LETTERS)} "
            "different choices, from 0"
        )
    concepts = pl.concat([questions["concept1"], questions["concept2"].alias("concept1")])
    ids = concepts.rank("dense").cast(pl.Int32).to_numpy() - 1
    first, second = ids.reshape(2, -1)
    linked = components(int(ids.max(initial=-1)) + 1, first, second)
    return questions.with_columns(
        input=pl.lit(name), cluster=pl.Series(linked[first], dtype=pl.Int64)
    )
