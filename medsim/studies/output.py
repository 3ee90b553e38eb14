"""The outputs of studies: studies and their scores, each with its tables and its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.core.kinds import Column, Columns, Kind, Table, columns
from medsim.core.manifest import Manifest
from medsim.core.opened import Opened
from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, GRADED, JUDGEMENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.studies.sheets import Scale

ITEMS, ASSIGNMENT = "key/items.parquet", "key/assignment.parquet"
"""The key of a study: the pairs, and which of them is shown to whom."""

ANSWER_COLUMNS: Columns = (
    columns(pl.String, "annotator", "entry_id", "item_id")
    | columns(pl.Int8, "showing")
    | columns(pl.Int32, "position")
    | columns(pl.Int8, "value")
)
"""The columns of answers that were checked: a row per entry that was answered.

The value is the answer's place in the study's scale (``medsim.studies.sheets.Scale``).
"""

_text, _whole, _number = (partial(Column, one) for one in (pl.String, pl.Int64, pl.Float64))

_ITEM_ID = _text("Identifier of the item in this study; its annotators never see it.")
_OTHER = "Any further column of the file of pairs, under its own name, as text"


def _both(name: str, about: str, dtype: type[pl.DataType] = pl.String) -> dict[str, Column]:
    """Return the columns of both sides, 1 and 2."""
    sides = {"1": "first", "2": "second"}.items()
    return {name + side: Column(dtype, about.format(which)) for side, which in sides}


_TERMS = _both("term", "The {} term or word of the pair.")
_SETS = {
    "dataset": _text("Dataset of the build that the pair was drawn from."),
    "difficulty": _text("easy or hard, of the set."),
    "negatives": _text("Strategy of the negatives of the set: random, levenshtein or embedding."),
}
_PAIR_ID = _text("Identifier of the pair in the build.")
_SHOWN = {
    "left": _text("Text on the left side, or the only one."),
    "right": _text("Text on the right side; empty where there is one text."),
}
_POSITION = Column(pl.Int32, "Place among what the annotator sees, from 1.")
_ANNOTATOR = _text("Name of the annotator.")

ASSIGNED = Table(
    ASSIGNMENT,
    "A row per annotator and item that is shown.",
    {
        "annotator": _ANNOTATOR,
        "position": _POSITION,
        "entry_id": _text("Identifier by which answers name it; it reveals nothing."),
        "item_id": _ITEM_ID,
        "showing": Column(
            pl.Int8, "1, or 2 where the annotator sees the item for the second time."
        ),
        **_SHOWN,
    },
    key=("entry_id",),
    order="By annotator as they were named, then by position.",
)


def _items(of_scale: dict[str, Column]) -> Table:
    """Return the items of a kind of study."""
    about, order = "A row per item that people are asked about.", "By item_id."
    return Table(ITEMS, about, {"item_id": _ITEM_ID, **of_scale}, key=("item_id",), order=order)


JUDGED_ITEMS = _items(
    {
        "pair_id": _PAIR_ID,
        **_TERMS,
        **_SETS,
        "label": Column(pl.Int8, "1 where the build says that the terms mean the same, else 0."),
        "concept1": _text("Concept of the first term in the build."),
        "concept2": _text("Concept of the second term in the build."),
    }
)
GRADED_ITEMS = _items(
    {
        **_TERMS,
        "group": Column(
            pl.Int32,
            "Group of raters that sees the pair, from 1; 0 for the consistency set, of all.",
        ),
        "OTHER": _text(f"{_OTHER}.", in_some_files=True),
    }
)
CONTEXT_ITEMS = _items(
    {
        "group": Column(
            pl.Int32,
            "0 where all annotators see the instance, else the number of the one who does.",
        ),
        **_both("term", "Term of the {} sentence."),
        **_both("sentence", "The {} sentence."),
        **_both(
            "start", "Where the {} term begins, in code points of its sentence from 0.", pl.Int32
        ),
        **_both("end", "Where the {} term ends, exclusive.", pl.Int32),
        "cat": _text(
            "Group of the instance: term_identity, abbreviations, synonyms or label_similarity."
        ),
        "label": Column(
            pl.Int8, "1 where both terms have the same meaning by the benchmark, else 0."
        ),
        **_both("marked", "The {} sentence as it is shown, its term between \u27e6 and \u27e7."),
    }
)
DOMAIN_ITEMS = _items(
    {
        "word": _text("The word."),
        "class": _text("Class of the word, such as noun."),
        "count": _whole("Number of times that the corpus has it, in all its forms."),
        "topics": _whole("Number of topics that it occurs in; null where that is not known."),
    }
)
ASSOCIATION_ITEMS = _items({**_TERMS, "OTHER": _text(f"{_OTHER}.", in_some_files=True)})

WORD_PAIRS = Table(
    "PAIRS.csv",
    "A row per pair of words to rate; PAIRS.parquet has the same columns.",
    {
        "term1": _text("The first word, in order of text."),
        "term2": _text("The second word."),
        "class": _text("Class of both words, such as noun."),
        "domain": _text("Domain of both words: biomedical or general."),
        "associated": Column(
            pl.Boolean, "Whether a terminology, people or norms associate the words."
        ),
        "reason": _text(
            "What associates them, such as a relation of the terminology; random of others."
        ),
        "count1": _whole("Number of times that the corpus has the first word, in all its forms."),
        "count2": _whole("The same of the second word."),
        "topics1": _whole(
            "Number of topics that the first word occurs in; null where that is not known."
        ),
        "topics2": _whole("The same of the second word; null where that is not known."),
        "topic1": _text("Most frequent topic of the first word; null where that is not known."),
        "topic2": _text("The same of the second word; null where that is not known."),
    },
    key=("term1", "term2"),
    order="Drawn from the seed.",
)
"""The file that ``medsim study pairs`` writes, which is no folder with a manifest."""

_NO_CORRELATION = "too few pairs are rated by both sides, or one side has rated all the same"

WHY_MISSING: Mapping[str, str] = {
    "alpha": "no item has two answers, or all answers are the same",
    "kappa": "both answered no item, or gave one and the same answer to all; or of more than two",
    "accuracy": "no pair has a majority",
    "recall": "the majority judges no pair the same",
    "precision": "no pair that has a majority is labelled the same",
    "with_majority": "no answer is to a pair that has a majority",
    "iaa1": _NO_CORRELATION,
    "iaa2": _NO_CORRELATION,
    "with_others": _NO_CORRELATION,
    "with_mean": _NO_CORRELATION,
    "consistency_iaa1": _NO_CORRELATION,
    "others_iaa1": f"{_NO_CORRELATION}, or no two of the others agree",
    "twice_equal": "no pair was rated twice",
    "twice_within_one": "no pair was rated twice",
    "twice_difference": "no pair was rated twice",
    "twice_spearman": "fewer than two pairs were rated twice, or all ratings are the same",
}
"""When a table has no value of a statistic, a clause after "where"."""


def _statistic(name: str, about: str) -> dict[str, Column]:
    """Return the column of a statistic, with when it is missing if it ever is."""
    why = WHY_MISSING.get(name)
    return {name: _number(f"{about}; null where {why}." if why else f"{about}.")}


def _estimate(name: str, about: str) -> dict[str, Column]:
    """Return the columns of an estimate and of the ends of its interval."""
    ends = {"low": "Lower", "high": "Upper"}
    return _statistic(name, about) | {
        f"{name}_{end}": _number(f"{which} end of the 95% interval of {name}; null for none.")
        for end, which in ends.items()
    }


def _counts(scale: Scale) -> dict[str, Column]:
    """Return how often each answer of a scale is given."""
    return {f"n_{one}": _whole(f"Number of the answers {one}.") for one in scale.answers}


def _scored(
    name: str, about: str, of: dict[str, Column], *, key: tuple[str, ...], order: str
) -> dict[str, Table]:
    """Return a table of scores by its name."""
    return {name: Table(f"{name}.csv", about, of, optional=True, key=key, order=order)}


_ANSWERS = {
    "answer of NAME": _text(
        "Answer of the annotator of that name; null where there is none.", in_some_files=True
    )
}
_ALPHA = _estimate("alpha", "Krippendorff's alpha, 1 where all agree, 0 by chance")
_NAMES = _text("Names of the annotators, with & between them.")

_JUDGED = {
    **_scored(
        "quality",
        "A row per set of pairs, and one of all together: table 3 of Schulz and Juric (2020).",
        {
            "dataset": _text("Dataset of the build that the pair was drawn from, or all."),
            "difficulty": _text("easy or hard, of the set; null of all together."),
            "negatives": _text("Strategy of the negatives of the set; null of all together."),
            "n_pairs": _whole("Number of pairs that were judged."),
            **_estimate("no_ground_truth", "Share of pairs without a majority"),
            **_estimate("alpha", "Krippendorff's alpha of the judgements"),
            **_estimate("accuracy", "Share of pairs that are labelled as the majority judges"),
            **_estimate("recall", "Share of what the majority judges the same that is labelled so"),
            **_estimate(
                "precision", "Share of what is labelled the same that the majority judges so"
            ),
        },
        key=tuple(_SETS),
        order="All together, then by dataset, difficulty and negatives.",
    ),
    **_scored(
        "agreement",
        "A row per treatment of the answer don't know, of all annotators and of every two.",
        {
            "annotators": _NAMES,
            "dont_know": _text("The answer don't know is a judgement, or is left out."),
            "n_pairs": _whole("Number of pairs that two of them judged at least."),
            **_ALPHA,
        },
        key=("annotators", "dont_know"),
        order="All annotators, then every two by name.",
    ),
    **_scored(
        "annotators",
        "A row per annotator.",
        {
            "annotator": _ANNOTATOR,
            **_counts(JUDGEMENT),
            "n_missing": _whole("Number of pairs without an answer."),
            **_estimate("with_majority", "Share of answers that are those of the majority"),
        },
        key=("annotator",),
        order="By annotator.",
    ),
    **_scored(
        "disagreements",
        "A row per pair that was judged otherwise than the build says, or not by all alike.",
        {
            "why": _text("judged otherwise, no ground truth or not judged alike."),
            **_TERMS,
            "label": _text("positive or negative, as the build has it."),
            "truth": _text("same or not_same, as the majority judges; null without one."),
            **_SETS,
            "pair_id": _PAIR_ID,
            **_ANSWERS,
        },
        key=("pair_id",),
        order="By why, set and pair_id.",
    ),
    **_scored(
        "corrections",
        "A row per pair that was judged otherwise, as medsim build --corrections reads them.",
        {
            **_TERMS,
            "judged": _text("same or not_same, as the majority judges."),
            **_counts(JUDGEMENT),
            **_SETS,
            "pair_id": _PAIR_ID,
        },
        key=("pair_id",),
        order="By judged, set and pair_id.",
    ),
}

_RATED = _scored(
    "rated",
    "A row per pair that was rated, as medsim eval reads them.",
    {
        **_TERMS,
        "rating": _number("Mean rating, scaled from 0 to 6 to 0 to 10."),
        "deviation": _number("Standard deviation (n - 1) on the same scale; null of one."),
        "n_ratings": Column(pl.Int32, "Number of raters who rated the pair."),
        "group": Column(
            pl.Int32, "Group of raters, from 1; 0 for the consistency set.", in_some_files=True
        ),
        "OTHER": _text(f"{_OTHER}; null where it is empty.", in_some_files=True),
    },
    key=("term1", "term2"),
    order="By term1 and term2.",
)
RATED_COLUMNS = _RATED["rated"].dtypes
"""The first columns of a rated set; others are those that the file of pairs had."""

_GRADED = {
    **_scored(
        "agreement",
        "A row per part of the pairs, of all raters and, where some are left out, of the others.",
        {
            "pairs": _text("all, consistency set, group N or mean of groups."),
            "raters": _text("all, or accepted where some are left out."),
            "n_raters": _whole("Number of raters; null of the mean."),
            "n_pairs": _whole("Number of pairs that they rated; null of the mean."),
            **_estimate("iaa1", "Mean Spearman correlation of every two raters"),
            **_estimate("iaa2", "Mean Spearman correlation of a rater with the others' mean"),
        },
        key=("pairs", "raters"),
        order="All pairs, the consistency set, the groups, their mean.",
    ),
    **_scored(
        "raters",
        "A row per rater.",
        {
            "rater": _text("Name of the rater."),
            "n_answers": _whole("Number of ratings."),
            **_statistic("with_others", "Mean correlation with the other raters"),
            **_statistic("with_mean", "Correlation with the others' mean"),
            **_statistic(
                "consistency_iaa1", "Mean correlation with the others on the consistency set"
            ),
            **_statistic("others_iaa1", "That of the others among themselves"),
            "outlier": Column(
                pl.Boolean, "Whether the rater agrees considerably less than the others."
            ),
            "accepted": Column(pl.Boolean, "Whether the rater counts for the rated set."),
            "longest_run": _whole("Largest number of equal ratings in a row."),
            "longest_alternation": _whole(
                "Largest number of ratings in a row in which two take turns; 0 for none."
            ),
            "n_twice": _whole("Number of pairs rated twice."),
            **_statistic("twice_equal", "Share of those with two equal ratings"),
            **_statistic("twice_within_one", "Share of those whose ratings differ by one at most"),
            **_statistic("twice_difference", "Mean absolute difference of both"),
            **_statistic("twice_spearman", "Spearman's correlation of both"),
        },
        key=("rater",),
        order="By rater.",
    ),
    **_RATED,
    **_scored(
        "parts",
        "A row per part of the rated set: all, bins of frequency and topics, values of columns.",
        {
            "part": _text("all, or a column or property and its value, such as count=10-99."),
            "n_pairs": Column(pl.UInt32, "Number of its pairs."),
            "mean_rating": _number("Mean rating, 0 to 10."),
            "mean_deviation": _number("Mean deviation on that scale; null where none has one."),
            "deviation_as_rated": _number("The same on the scale 0 to 6; null where none."),
        },
        key=("part",),
        order="By what divides, then by bin or value; all first.",
    ),
}


def _compared(
    scale: Scale, first: dict[str, Table], shown: dict[str, Column], key: tuple[str, ...]
) -> dict[str, Table]:
    """Return the tables of a study whose answers are compared, the first of which is its own."""
    return first | {
        **_scored(
            "agreement",
            "A row per two annotators, and one of all where there are more.",
            {
                "annotators": _NAMES,
                f"n_{scale.noun}s": _whole("Number of items that two of them answered at least."),
                **_estimate("kappa", "Cohen's kappa of two annotators"),
                **_ALPHA,
            },
            key=("annotators",),
            order="All annotators, then every two by name.",
        ),
        **_scored(
            "annotators",
            "A row per annotator.",
            {"annotator": _ANNOTATOR, **_counts(scale)},
            key=("annotator",),
            order="By annotator.",
        ),
        **_scored(
            "disagreements",
            "A row per item that was not answered alike, or otherwise than labelled.",
            {
                "why": _text(
                    "Why the row is here: not answered alike, or otherwise than labelled."
                ),
                **shown,
                **_ANSWERS,
            },
            key=key,
            order="By why, then by what was shown.",
        ),
    }


SCORE_TABLES: Mapping[str, Mapping[str, Table]] = {
    JUDGEMENT.name: _JUDGED,
    GRADED.name: _GRADED,
    CONTEXT.name: _compared(
        CONTEXT,
        _scored(
            "accuracy",
            "A row per annotator, and one of their mean.",
            {
                "annotator": _text("Name of the annotator, or mean."),
                "n_instances": _whole("Number of instances that were answered."),
                **_estimate("accuracy", ""),
                "accuracy": _number("Share of answers that are those of the labels."),
            },
            key=("annotator",),
            order="By annotator; the mean last.",
        ),
        {
            "cat": _text("Group of the instance."),
            "label": _text("same or not_same, as the benchmark labels it."),
            **_both("marked", "The {} sentence as it was shown."),
        },
        ("marked1", "marked2"),
    ),
    DOMAIN.name: _compared(
        DOMAIN,
        _scored(
            "domains",
            "A row per word that all say to be of one domain, as medsim study pairs reads them.",
            {
                "word": _text("The word."),
                "domain": _text("biomedical or general."),
                "class": _text("Class of the word, such as noun."),
                "count": _whole("Number of times that the corpus has it."),
                "topics": _whole("Number of its topics; null where that is not known."),
            },
            key=("word",),
            order="By word.",
        ),
        {"word": _text("The word.")},
        ("word",),
    ),
    ASSOCIATION.name: _compared(
        ASSOCIATION,
        _scored(
            "confirmed",
            "A row per pair that all say to be associated, as medsim study pairs reads them.",
            {**_TERMS, "OTHER": _text(f"{_OTHER}.", in_some_files=True)},
            key=("term1", "term2"),
            order="By term1 and term2.",
        ),
        _TERMS,
        ("term1", "term2"),
    ),
}
"""The tables of scores but "missing", by the scale of the study and their names.

The first of a scale is shown by default.
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
        source: that of the study.
    """

    kind: ClassVar[str] = "scores"
    study_id: str
    answers: list[dict[str, str]]
    source: dict[str, object]


STUDY = Kind(
    noun="study",
    command="medsim study sample",
    manifest=StudyManifest,
    views={
        "items": Table(
            ITEMS,
            "A row per item that people are asked about, with what they must not see.",
            variants={
                JUDGEMENT.name: JUDGED_ITEMS,
                GRADED.name: GRADED_ITEMS,
                CONTEXT.name: CONTEXT_ITEMS,
                DOMAIN.name: DOMAIN_ITEMS,
                ASSOCIATION.name: ASSOCIATION_ITEMS,
            },
        ),
        "assignment": ASSIGNED,
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
    views={
        **{
            name: Table(
                f"{name}.csv",
                next(of[name].about for of in SCORE_TABLES.values() if name in of),
                optional=True,
                variants={one: of[name] for one, of in SCORE_TABLES.items() if name in of},
            )
            for of in SCORE_TABLES.values()
            for name in of
        },
        **_scored(
            "missing",
            "A row per entry that an annotator who answered any left open.",
            {"annotator": _ANNOTATOR, "position": _POSITION, **_SHOWN},
            key=("annotator", "position"),
            order="By annotator and position.",
        ),
    },
    others={"label_studio/*.json": "The answers of an annotator, as Label Studio imports them."},
)


class ScoresFolder(Opened[ScoresManifest]):
    """The scores of a study, as ``medsim study score`` writes them."""

    kind = SCORES
