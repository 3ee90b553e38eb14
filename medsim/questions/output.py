"""Questions and the output of asking them: its kind, its tables, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.core.kinds import Column, Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.embeddings.replies import reply_columns

AFFIRMED_CSV = "affirmed.csv"

TIERS = {"1": 1, "2-3": 3, "4-5": 5, "6+": None}
"""The tiers of questions, each with its largest distance between a term and a wrong name."""

_TIER = f"Levenshtein distance of the term and its nearest wrong name: {', '.join(TIERS)}."
_PREDICTION = "Letter of the answer, or yes or no; null if it is not clear."

_TABLES = declared_tables(
    __package__,
    tier={"tier": Column(pl.String, _TIER)},
    reply=reply_columns(Column(pl.String, _PREDICTION)),
)
QUESTION, AFFIRMED = _TABLES["question"], _TABLES["affirmed"]
RESULTS, REPLIES = _TABLES["results"], _TABLES["replies"]
CHOSEN_KINDS = _TABLES["chosen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersManifest(RunManifest):
    """The manifest of answers to questions.

    Attributes:
        questions: by name: path, split, SHA-256 of the file, and the source of the export.
        models: by name: path, options and other facts that decide the answers.
    """

    kind: ClassVar[str] = "answers"
    questions: dict[str, dict[str, object]]
    models: dict[str, dict[str, object]]


ANSWERED = Kind(
    noun="folder of answers",
    command="medsim eval",
    manifest=AnswersManifest,
    views={"results": RESULTS, "chosen": CHOSEN_KINDS, "replies": REPLIES, "affirmed": AFFIRMED},
)


class Answers(Opened[AnswersManifest]):
    """Answers to multiple-choice questions, as ``medsim eval`` writes them."""

    kind = ANSWERED

    def _summary(self) -> Summary:
        facts = [*self.manifest.questions, *self.manifest.models]
        return Summary(facts, [".results()", ".affirmed()"], self.results)

    def results(self) -> pl.DataFrame:
        """Return a row per folder, way of asking, model and group: ``RESULTS``."""
        return self.read_checked(RESULTS.files)

    def chosen(self) -> pl.DataFrame:
        """Return how often models chose wrong names of each kind: ``CHOSEN_KINDS``."""
        return self.read_checked(CHOSEN_KINDS.files)

    def affirmed(self) -> pl.DataFrame:
        """Return the wrong names that language models take for synonyms: ``AFFIRMED``."""
        return self.read_checked(AFFIRMED.files)
