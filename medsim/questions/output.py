"""The output of asking questions: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.core.kinds import Column, Kind, Table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.embeddings.replies import reply_columns

if TYPE_CHECKING:
    from medsim.core.shown import Summary

CSV = "affirmed.csv"

_text, _number, _whole = (partial(Column, dtype) for dtype in (pl.String, pl.Float64, pl.Int64))
_MODEL = {
    "input": _text("Name of the folder of questions."),
    "ask": _text(
        "choice: which of the names of a question; pairs: whether the term and one name mean the "
        "same."
    ),
    "model": _text(
        "Name of the model, or of a baseline: chance; levenshtein, which chooses the name with the "
        "smallest edit distance from the term, divided by the length of the longer; always_no."
    ),
}
RESULTS = Table(
    "results.parquet",
    "A row per folder of questions, way of asking, model, group and statistic.",
    {
        **_MODEL,
        "by": _text("How questions are grouped: all, tier, negatives, difference or position."),
        "group": _text(
            "all; the tier of the question; the strategy of its wrong names; the kind of "
            "difference of one of them, or with pairs of the name; or the letter of the right name."
        ),
        "statistic": _text(
            "accuracy; with pairs sensitivity and specificity; of all questions not_answered, "
            "which count as wrong. Of language models also refused, unclear, prompt_tokens and "
            "completion_tokens; by position share_right and share_answers, the shares of answered "
            "questions with the right and with the chosen name there; and position_p, the p-value "
            "of the test of Stuart and Maxwell whether these shares differ."
        ),
        "value": _number("The statistic; null if it is undefined."),
        "low": _number("Lower end of the 95% confidence interval by concept; null if none."),
        "high": _number("Upper end of the 95% confidence interval; null if there is none."),
        "n_asked": _whole("Number of questions, or with pairs of pairs."),
        "n_concepts": _whole(
            "Number of their concepts; concepts that a question links count as one."
        ),
    },
    key=("input", "ask", "model", "by", "group", "statistic"),
    order="By folder and way of asking; all questions first; then by group and model.",
)

COMPARISONS = Table(
    "comparisons.parquet",
    "A row per folder of questions, way of asking and two models, by McNemar's test by concept.",
    {
        **{name: _MODEL[name] for name in ("input", "ask")},
        "model1": _text("Name of the first model."),
        "model2": _text("Name of the second model."),
        "difference": _number("Accuracy of the first minus accuracy of the second."),
        "p": _number("p-value of the test; null if there are too few concepts."),
        "p_holm": _number("p-value with Holm's correction for the same questions; null as p."),
        "n_asked": RESULTS.columns["n_asked"],
    },
    key=("input", "ask", "model1", "model2"),
    order="By folder and way of asking, then by model in the order given.",
)

REPLIES = Table(
    "replies.parquet",
    "A row per language model and question, or with pairs per name of a question.",
    {
        **_MODEL,
        "id": _text("Identifier of the question."),
        "term": _text("Term of the question."),
        "position": _text("Letter of the name that is asked about; null with choice."),
        "is_correct": Column(pl.Boolean, "Whether the answer is right; an unclear one is not."),
        **reply_columns(
            _text("Letter of the answer, or yes or no; null unless the verdict is answered.")
        ),
    },
    key=("input", "model", "id", "position"),
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
        "negatives": _text("Strategy of the wrong names of the question; null if unknown."),
    },
    key=("term1", "term2"),
    order="By n_models, the most first, then by terms.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersManifest(RunManifest):
    """The manifest of answers to questions.

    Attributes:
        questions: by name: path, split, SHA-256 of the file, number of questions, and the source
            of the export.
        models: by name: path, options and other facts that decide the answers.
    """

    kind: ClassVar[str] = "answers"
    questions: dict[str, dict[str, object]]
    models: dict[str, dict[str, object]]


ANSWERED = Kind(
    noun="folder of answers",
    command="medsim eval",
    manifest=AnswersManifest,
    views={
        "results": RESULTS,
        "comparisons": COMPARISONS,
        "replies": REPLIES,
        "affirmed": AFFIRMED,
    },
    others={CSV: "The rows of affirmed as CSV, which medsim study sample reads."},
)


class Answers(Opened[AnswersManifest]):
    """Answers to multiple-choice questions, as ``medsim eval`` writes them."""

    kind = ANSWERED

    def _summary(self) -> Summary:
        facts = [*self.manifest.questions, *self.manifest.models]
        return self._summarized(facts, [".results()", ".affirmed()"], self.results)

    def results(self) -> pl.DataFrame:
        """Return a row per folder, way of asking, model, group and statistic: ``RESULTS``."""
        return self._checked(RESULTS.files)

    def affirmed(self) -> pl.DataFrame:
        """Return the wrong names that language models take for synonyms: ``AFFIRMED``."""
        return self._checked(AFFIRMED.files)
