"""The output of asking questions: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import polars as pl

from medsim.core.kinds import Column, Kind, Table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.embeddings.replies import reply_columns

AFFIRMED_CSV = "affirmed.csv"

_text, _number, _whole = (partial(Column, dtype) for dtype in (pl.String, pl.Float64, pl.Int64))
_MODEL = {
    "input": _text("Name of the folder of questions."),
    "ask": _text("choice: all names of a question; pairs: the term with one name at a time."),
    "model": _text("Name of the model; levenshtein chooses the nearest name by edit distance."),
}
RESULTS = Table(
    "results.parquet",
    "A row per folder of questions, way of asking, model and group.",
    {
        **_MODEL,
        "by": _text("How questions are grouped: all, tier, negatives, difference or answer."),
        "group": _text(
            "all; tier; strategy of the wrong names; kind of difference of a wrong name; or the "
            "right answer: a letter, or with pairs yes (sensitivity) or no (specificity)."
        ),
        "accuracy": _number("Share of right answers; no clear answer is wrong."),
        "low": _number("Lower end of the 95% confidence interval by concept; null if none."),
        "high": _number("Upper end of the 95% confidence interval; null if there is none."),
        "n_asked": _whole("Number of questions, or with pairs of pairs."),
        "n_concepts": _whole("Number of the concepts of their terms."),
        "chance": _number("Accuracy of a name at random, or with pairs of no for all."),
        "refused": _whole("Number of refusals of a language model."),
        "unclear": _whole("Number of other unclear replies, or of questions without vectors."),
        "prompt_tokens": _whole("Tokens of chats, as the service counted; else 0."),
        "completion_tokens": _whole("Tokens of replies, as the service counted; else 0."),
        "p": _number(
            "Of all questions, p-value of the difference from the highest accuracy: McNemar's test "
            "by concept, with Holm's correction; null if there are too few concepts."
        ),
        "position_p": _number(
            "Of all questions, p-value of position bias of a language model: the test of Stuart "
            "and Maxwell, whether positions of answers and of right names differ; null with pairs."
        ),
    },
    key=("input", "ask", "model", "by", "group"),
    order="By folder, way of asking and model; all questions first.",
)

REPLIES = Table(
    "replies.parquet",
    "A row per language model and question, or with pairs per name of a question.",
    {
        **_MODEL,
        "id": _text("Identifier of the question."),
        "term": _text("Term of the question."),
        "name": _text("Name that is asked about with pairs, or chosen; null if no name is chosen."),
        "is_correct": Column(pl.Boolean, "Whether the answer is right; an unclear one is not."),
        **reply_columns(_text("Letter of the answer, or yes or no; null if it is not clear.")),
    },
    key=("input", "model", "id", "name"),
    order="By folder and model in the order given, then as in the questions.",
)

AFFIRMED = Table(
    "affirmed.parquet",
    "A row per wrong name that language models take for a synonym: at least two, or the only one.",
    {
        "term1": _text("Term of the question."),
        "term2": _text("The wrong name."),
        "label": Column(pl.Int8, "0, since the questions have it as a wrong name."),
        "n_models": _whole("Number of language models that chose or affirmed it."),
        "models": _text("Their names, joined by a bar."),
        "concept": _text("Concept of the question."),
    },
    key=("term1", "term2"),
    order="By n_models, the most first, then by terms.",
)


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
    views={"results": RESULTS, "replies": REPLIES, "affirmed": AFFIRMED},
    others={AFFIRMED_CSV: "The rows of affirmed as CSV, which medsim study sample reads."},
)


class Answers(Opened[AnswersManifest]):
    """Answers to multiple-choice questions, as ``medsim eval`` writes them."""

    kind = ANSWERED

    def _summary(self) -> Summary:
        facts = [*self.manifest.questions, *self.manifest.models]
        return self._summarized(facts, [".results()", ".affirmed()"], self.results)

    def results(self) -> pl.DataFrame:
        """Return a row per folder, way of asking, model and group: ``RESULTS``."""
        return self._checked(RESULTS.files)

    def affirmed(self) -> pl.DataFrame:
        """Return the wrong names that language models take for synonyms: ``AFFIRMED``."""
        return self._checked(AFFIRMED.files)
