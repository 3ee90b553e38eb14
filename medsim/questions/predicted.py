"""Answers to questions by systems without vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.manifest import fingerprint
from medsim.core.progress import Progress
from medsim.questions.answers import (
    answers_by_similarity,
    answers_given,
    asked_of,
    parse_choice,
)
from medsim.systems.scorers import PAIR_TERMS, score_pairs

if TYPE_CHECKING:
    from medsim.core.tables import TextTable
    from medsim.questions.question import Questions
    from medsim.systems.predictions import System

_ANSWERS = ("id", "answer")
_SIDES = dict(zip(("term", "name"), PAIR_TERMS, strict=True))


def answers_of(
    system: System, inputs: Sequence[Questions], progress: Progress
) -> tuple[str, list[pl.DataFrame]]:
    """Return the fingerprint of a system's predictions, and its answers to questions.

    A table has the answer to each question, a letter or a name, or else similarities of terms and
    names. By similarities a system answers like an embedding.

    Raises:
        InputError: a table has an unknown or a repeated question, or an answer that is not a
            choice; or see ``score_pairs``.
    """
    # A table of pairs may have ids of these.
    if system.has_table and PAIR_TERMS[0] not in system.table((), PAIR_TERMS).frame.columns:
        table = system.table(_ANSWERS, ())
        progress.warn(*table.warnings)
        return table.sha256 or fingerprint(table.frame), [*_chosen(system, table, inputs, progress)]
    pairs = [asked_of(each.asked, "pairs").select(*_SIDES).rename(_SIDES) for each in inputs]
    known = pl.concat(pairs).unique(maintain_order=True)
    scored = score_pairs(system, known, progress, known=known)
    frames = list[pl.DataFrame]()
    for each, of_each in zip(inputs, pairs, strict=True):
        similarity = scored.of(of_each, f"pairs of {each.name}", progress).fill_null(np.nan)
        frames += answers_by_similarity(each.asked, system.name, similarity.to_numpy())
    return scored.fingerprint, frames


def _chosen(
    system: System, table: TextTable, inputs: Sequence[Questions], progress: Progress
) -> Iterator[pl.DataFrame]:
    """Yield the answers in a table to the questions of each folder."""
    ids = table.frame["id"]
    every = pl.concat([each.asked["id"] for each in inputs])
    table.refuse(~ids.is_in(every.implode()), "id", "is not a question of any input")
    table.refuse(~ids.is_first_distinct(), "id", "is given again")
    said_to = dict(zip(ids, table.frame["answer"], strict=True))
    for each in inputs:
        asked = asked_of(each.asked, "choice")
        said = asked.select("id", text=asked["id"].replace_strict(said_to, default=""))
        rows = zip(said["text"], asked["term"], asked["choices"].to_list(), strict=True)
        letters = pl.Series([parse_choice(*row) for row in rows], dtype=pl.String)
        wrong = said.filter(letters.is_null(), pl.col("text") != "")["id"]
        table.refuse(ids.is_in(wrong.implode()), "answer", "is not a letter or name of the choices")
        if n_missing := letters.null_count():
            of_all = f"{n_missing:,} of {asked.height:,} questions of {each.name}"
            progress.warn(f"{system.name} has no answer to {of_all}")
        yield answers_given(asked.with_columns(prediction=letters), "choice", system.name)
