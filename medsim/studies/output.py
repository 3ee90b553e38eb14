"""The outputs of studies: studies and their scores, each with its tables and its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import polars as pl

from medsim.core.kinds import Kind, View
from medsim.core.manifest import Manifest
from medsim.core.opened import Opened
from medsim.core.schema import Columns, columns
from medsim.studies.sheets import GRADED, JUDGEMENT

ASSIGNMENT_COLUMNS: Columns = (
    columns(pl.String, "annotator")
    | columns(pl.Int32, "position")
    | columns(pl.String, "entry_id", "item_id")
    | columns(pl.Int8, "showing")
    | columns(pl.String, "left", "right")
)
"""The columns of a study's ``key/assignment.parquet``: a row per annotator and pair that is shown.

Positions count from 1; a pair that an annotator sees twice has showings 1 and 2.
"""

JUDGED_ITEM_COLUMNS: Columns = (
    columns(pl.String, "item_id", "pair_id", "term1", "term2", "dataset", "difficulty", "negatives")
    | columns(pl.Int8, "label")
    | columns(pl.String, "concept1", "concept2")
)
"""The columns of ``key/items.parquet`` of a study of a build: a row per pair."""

GRADED_ITEM_COLUMNS: Columns = columns(pl.String, "item_id", "term1", "term2") | columns(
    pl.Int32, "group"
)
"""The first columns of ``key/items.parquet`` of a graded study: a row per pair.

Groups of raters count from 1; group 0 is the consistency set, which all rate. Further columns are
those that the file of pairs had beside the terms, as text.
"""

ANSWER_COLUMNS: Columns = (
    columns(pl.String, "annotator", "entry_id", "item_id")
    | columns(pl.Int8, "showing")
    | columns(pl.Int32, "position")
    | columns(pl.Int8, "value")
)
"""The columns of answers that were checked: a row per entry that was answered.

The value is the answer's place in the study's scale (``medsim.studies.sheets.Scale``).
"""

RATED_COLUMNS: Columns = (
    columns(pl.String, "term1", "term2")
    | columns(pl.Float64, "rating", "deviation")
    | columns(pl.Int32, "n_ratings")
)
"""The first columns of a rated set that a graded study makes; ratings are from 0 to 10.

Further columns are those that the file of pairs had beside the terms, as text.
"""

WORD_PAIR_COLUMNS: Columns = (
    columns(pl.String, "term1", "term2", "class", "domain")
    | columns(pl.Boolean, "associated")
    | columns(pl.String, "reason")
    | columns(pl.Int64, "count1", "count2", "topics1", "topics2")
)
"""The columns of pairs of words to rate; topics are null where they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyManifest(Manifest):
    """The manifest of a study.

    Attributes:
        study_id: by which answers name it; depends on its pairs and on what is shown to whom.
        instructions: paragraphs that annotators read first.
        page_size: how many pairs are shown before a pause; 0 for no pauses.
        source: where its pairs were drawn from, with its fingerprint.
        notice: to be read before anything is passed on; None where there is nothing.
    """

    kind: ClassVar[str] = "study"
    study_id: str
    scale: str
    title: str
    instructions: list[str]
    page_size: int
    annotators: list[str]
    source: dict[str, object]
    notice: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresManifest(Manifest):
    """The manifest of a study's scores.

    Attributes:
        answers: the names of the files of answers, and their SHA-256.
    """

    kind: ClassVar[str] = "scores"
    study_id: str
    answers: list[dict[str, str]]


ITEMS, ASSIGNMENT = "key/items.parquet", "key/assignment.parquet"
"""The key of a study: the pairs, and which of them is shown to whom."""

SCORE_TABLES = {
    JUDGEMENT.name: ("quality", "agreement", "annotators", "disagreements", "corrections"),
    GRADED.name: ("agreement", "raters", "rated", "parts"),
}
"""The tables of scores by the name of the study's scale, beside "missing"."""

STUDY = Kind(
    noun="study",
    command="medsim study sample",
    manifest=StudyManifest,
    views={
        "items": View(ITEMS),  # the columns of the pairs that it was made of
        "assignment": View(ASSIGNMENT, ASSIGNMENT_COLUMNS),
    },
)

SCORES = Kind(
    noun="set of scores",
    command="medsim study score",
    manifest=ScoresManifest,
    views={
        name: View(f"{name}.csv", optional=True)
        for name in (*chain.from_iterable(SCORE_TABLES.values()), "missing")
    },
)


class ScoresFolder(Opened[ScoresManifest]):
    """The scores of a study, as ``medsim study score`` writes them."""

    kind = SCORES
