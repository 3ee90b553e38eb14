"""The outputs of studies: studies and their scores, each with its tables and its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.core.kinds import WIC_COLUMNS, Columns, Kind, View, columns
from medsim.core.manifest import Manifest
from medsim.core.opened import Opened
from medsim.studies import notes
from medsim.studies.score_views import score_views
from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, GRADED, JUDGEMENT

if TYPE_CHECKING:
    from collections.abc import Mapping

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

CONTEXT_ITEM_COLUMNS: Columns = (
    columns(pl.String, "item_id")
    | columns(pl.Int32, "group")
    | WIC_COLUMNS
    | columns(pl.String, "marked1", "marked2")
)
"""The columns of ``key/items.parquet`` of a study of words in context: a row per instance.

Those of group 0 are for all annotators, those of group 1 for the first alone, and so on. Marked are
the sentences as they are shown, with their targets between ``medsim.studies.sheets.MARKS``.
"""

DOMAIN_ITEM_COLUMNS: Columns = columns(pl.String, "item_id", "word", "class") | columns(
    pl.Int64, "count", "topics"
)
"""The columns of ``key/items.parquet`` of a study of words' domains: a row per word."""

ASSOCIATION_ITEM_COLUMNS: Columns = columns(pl.String, "item_id", "term1", "term2")
"""The first columns of ``key/items.parquet`` of a study of associations: a row per pair.

Further columns are those that the file of pairs had beside the terms, as text.
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
    | columns(pl.String, "topic1", "topic2")
)
"""The columns of pairs of words to rate.

topics1 is how many topics the first word occurs in, topic1 the most frequent of them; both are null
where they are not known.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyManifest(Manifest):
    """The manifest of a study.

    Attributes:
        study_id: by which answers name it; depends on its pairs and on what is shown to whom.
        scale: name of the scale of answers: judgement, graded, context, domain or association.
        title: the one that annotators see.
        instructions: paragraphs that annotators read first.
        page_size: how many pairs are shown before a pause; 0 for no pauses.
        annotators: their names.
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
        study_id: that of the study.
        answers: the names of the files of answers, and their SHA-256.
        source: that of the study; None in scores of earlier versions.
    """

    kind: ClassVar[str] = "scores"
    study_id: str
    answers: list[dict[str, str]]
    source: dict[str, object] | None = None


ITEMS, ASSIGNMENT = "key/items.parquet", "key/assignment.parquet"
"""The key of a study: the pairs, and which of them is shown to whom."""


def _items(of_items: Columns, of_notes: Mapping[str, str]) -> View:
    """Return the items of a kind of study, with their descriptions."""
    about, order = "A row per item that people are asked about.", "By item_id."
    known = {name: one for name, one in of_items.items() if name in of_notes}
    further: Columns = {"OTHER": pl.String} if "OTHER" in of_notes else {}
    return View(
        ITEMS, known, about=about, notes=of_notes, further=further, key=("item_id",), order=order
    )


_ITEMS = {
    JUDGEMENT.name: _items(JUDGED_ITEM_COLUMNS, notes.JUDGED_ITEM_NOTES),
    GRADED.name: _items(GRADED_ITEM_COLUMNS, notes.GRADED_ITEM_NOTES),
    CONTEXT.name: _items(CONTEXT_ITEM_COLUMNS, notes.CONTEXT_ITEM_NOTES),
    DOMAIN.name: _items(DOMAIN_ITEM_COLUMNS, notes.DOMAIN_ITEM_NOTES),
    ASSOCIATION.name: _items(ASSOCIATION_ITEM_COLUMNS, notes.ASSOCIATION_ITEM_NOTES),
}
"""The items of each kind of study, by its scale."""

WORD_PAIRS = View(
    "PAIRS.csv",
    WORD_PAIR_COLUMNS,
    about="A row per pair of words to rate; PAIRS.parquet has the same columns.",
    notes=notes.WORD_PAIR_NOTES,
    key=("term1", "term2"),
    order="Drawn from the seed.",
)
"""The file that ``medsim study pairs`` writes, which is no folder with a manifest."""

STUDY = Kind(
    noun="study",
    command="medsim study sample",
    manifest=StudyManifest,
    views={
        "items": View(
            ITEMS,
            about="A row per item that people are asked about, with what they must not see.",
            variants=_ITEMS,
        ),
        "assignment": View(
            ASSIGNMENT,
            ASSIGNMENT_COLUMNS,
            about="A row per annotator and item that is shown.",
            notes=notes.ASSIGNMENT_NOTES,
            key=("entry_id",),
            order="By annotator as they were named, then by position.",
        ),
    },
    others={
        "annotators/*/annotate.html": "Page on which the annotator answers; it needs no network.",
        "annotators/*/sheet-*.csv": "The same as a sheet; its column answer is to be filled in.",
        "annotators/*/instructions.txt": "The instructions, with how a sheet is filled in.",
        "annotators/*/label_studio-*.json": "The same as tasks for Label Studio.",
        "annotators/*/label_studio.xml": "The labelling interface of Label Studio.",
    },
)

SCORES = Kind(
    noun="set of scores",
    command="medsim study score",
    manifest=ScoresManifest,
    views=score_views(),
    others={"label_studio/*.json": "The answers of an annotator, as Label Studio imports them."},
)


class ScoresFolder(Opened[ScoresManifest]):
    """The scores of a study, as ``medsim study score`` writes them."""

    kind = SCORES
