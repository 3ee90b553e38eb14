"""The outputs of studies: studies and their scores, with tables and manifests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.core.kinds import Column, Kind, Table, both
from medsim.core.manifest import Manifest
from medsim.core.opened import Opened
from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, GRADED, JUDGEMENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.studies.sheets import Scale

ITEMS, ASSIGNMENT = "key/items.parquet", "key/assignment.parquet"
"""The key of a study: the pairs, and the annotators who see them."""

_text, _whole, _number = (partial(Column, dtype) for dtype in (pl.String, pl.Int64, pl.Float64))
_short, _flag, _place = (partial(Column, dtype) for dtype in (pl.Int8, pl.Boolean, pl.Int32))

_ITEM_ID = _text("Identifier of the item in this study; annotators never see it.")
_OTHERS = {"OTHER": _text("Any other column of the file of pairs, as text.", in_some_files=True)}


_TERMS = both("term", "The {} term or word of the pair.")
_SETS = {
    "dataset": _text("Dataset of the build that the pair was drawn from; null of a table."),
    "difficulty": _text("easy or hard, of the set; null of a table."),
    "negatives": _text("Strategy of the negatives of the set, such as random; null of a table."),
}
_PAIR_ID = _text("Identifier of the pair in the build; null of a table.")
_COMMENTS = {
    "comments": _text(
        "Comments, each after its annotator's name; null if none.", in_some_files=True
    )
}
_OF_BUILDS = {
    name: replace(column, in_some_files=True)
    for name, column in {**_SETS, "pair_id": _PAIR_ID}.items()
}
_SHOWN = {
    "left": _text("Text on the left side, or the only text."),
    "right": _text("Text on the right side; empty if there is one text."),
}
_POSITION = _place("Position in what the annotator sees, from 1.")
_ANNOTATOR = _text("Name of the annotator.")

ASSIGNED = Table(
    ASSIGNMENT,
    "A row per annotator and item shown.",
    {
        "annotator": _ANNOTATOR,
        "position": _POSITION,
        "entry_id": _text("Identifier of the row in answers; it reveals nothing."),
        "item_id": _ITEM_ID,
        "showing": _short("1, or 2 if the annotator sees the item for the second time."),
        **_SHOWN,
    },
    key=("entry_id",),
    order="By annotator as they were named, then by position.",
)


def _items(columns: dict[str, Column]) -> Table:
    """Return the items of a kind of study."""
    about, order = "A row per item of the study.", "By item_id."
    return Table(ITEMS, about, {"item_id": _ITEM_ID, **columns}, key=("item_id",), order=order)


JUDGED_ITEMS = _items(
    {
        "pair_id": _PAIR_ID,
        **_TERMS,
        **_SETS,
        "label": _short("1 if the terms mean the same, else 0; null if it is not known."),
        **both("concept", "Concept of the {} term in the build; null of a table."),
        **_OTHERS,
    }
)
GRADED_ITEMS = _items(
    {
        **_TERMS,
        "group": _place("Group of raters that sees the pair, from 1; 0 for the consistency set."),
        **_OTHERS,
    }
)
CONTEXT_ITEMS = _items(
    {
        "group": _place("0 if all annotators see the instance, else the number of its annotator."),
        **both("term", "Term of the {} sentence."),
        **both("sentence", "The {} sentence."),
        **both("start", "Start of the {} term in code points of its sentence, from 0.", _place),
        **both("end", "End of the {} term, exclusive.", _place),
        "cat": _text("Group: term_identity, abbreviations, synonyms or label_similarity."),
        "label": _short("1 if the terms have the same meaning in the benchmark, else 0."),
        **both("marked", "The {} sentence as it is shown, its term between \u27e6 and \u27e7."),
    }
)
_WORD = {
    "word": _text("The word."),
    "class": _text("Class of the word, such as noun."),
    "count": _whole("Count of the word in the corpus, in all its forms."),
    "topics": _whole("Number of topics that the word occurs in; null if not known."),
}
DOMAIN_ITEMS = _items(_WORD)
ASSOCIATION_ITEMS = _items({**_TERMS, **_OTHERS})

WORD_PAIRS = Table(
    "PAIRS.csv",
    "A row per pair of words to rate; PAIRS.parquet has the same columns.",
    {
        "term1": _text("The first word, in order of text."),
        "term2": _text("The second word."),
        "class": _text("Class of both words, such as noun."),
        "domain": _text("Domain of both words: biomedical or general."),
        "associated": _flag("Whether a terminology, people or norms associate the words."),
        "reason": _text("Why they are associated, such as a relation; random if they are not."),
        **both("count", "Count of the {} word in the corpus, in all its forms.", _whole),
        **both("topics", "Number of topics that the {} word occurs in; null if not known.", _whole),
        **both("topic", "Most frequent topic of the {} word; null if not known."),
    },
    key=("term1", "term2"),
    order="Drawn from the seed.",
)
"""The file that ``medsim study pairs`` writes; it is not a folder with a manifest."""

_NO_CORRELATION = "too few pairs are rated by both, or one gave the same rating to all"
_NOT_TWICE = "no pair was rated twice"

WHY_MISSING: Mapping[str, str] = {
    "alpha": "no item has two answers, or all answers are the same",
    "kappa": "both answered no item, or always the same; and for more than two annotators",
    "accuracy": "no pair has a majority",
    "recall": "the majority judges no pair the same",
    "precision": "no pair with a majority is labelled the same",
    "with_majority": "no answered pair has a majority",
    **dict.fromkeys(("iaa1", "iaa2", "with_others", "with_mean"), _NO_CORRELATION),
    "consistency_iaa1": _NO_CORRELATION,
    "others_iaa1": f"{_NO_CORRELATION}, or no two of the others agree",
    **dict.fromkeys(("twice_equal", "twice_within_one", "twice_difference"), _NOT_TWICE),
    "twice_spearman": "fewer than two pairs were rated twice, or all ratings are the same",
}
"""Reasons for missing values of statistics: a clause after "where"."""


def _statistic(name: str, about: str) -> dict[str, Column]:
    """Return the column of a statistic, with the reason if it can be missing."""
    why = WHY_MISSING.get(name)
    return {name: _number(f"{about}; null where {why}." if why else f"{about}.")}


def _estimate(name: str, about: str) -> dict[str, Column]:
    """Return the columns of an estimate and its confidence interval."""
    return _statistic(name, about) | {
        f"{name}_{end}": _number(f"{which} end of {name}'s 95% confidence interval, or null.")
        for end, which in (("low", "Lower"), ("high", "Upper"))
    }


def _counts(scale: Scale) -> dict[str, Column]:
    """Return the columns with the count of each answer of a scale."""
    return {f"n_{answer}": _whole(f"Number of answers {answer}.") for answer in scale.answers}


def _scored(
    name: str, about: str, columns: dict[str, Column], key: tuple[str, ...], order: str = ""
) -> dict[str, Table]:
    """Return a table of scores by its name, by default in order of its key."""
    order = order or f"By {' and '.join(key)}."
    return {name: Table(f"{name}.csv", about, columns, optional=True, key=key, order=order)}


_ANSWERS = {
    "answer of NAME": _text("Answer of that annotator; null if there is none.", in_some_files=True)
}
_VOTES = _counts(JUDGEMENT) | {
    "n_missing": _whole("Number of people who were asked and have not answered.")
}
_ALPHA = _estimate("alpha", "Krippendorff's alpha, 1 if all agree, 0 by chance")
_NAMES = _text("Names of the annotators, separated by &.")

_JUDGED = {
    **_scored(
        "quality",
        "A row per set of pairs, and one for all sets: table 3 of Schulz and Juric (2020).",
        {
            "dataset": _text("Dataset of the build that the pair was drawn from, or all."),
            "difficulty": _text("easy or hard, of the set; null for all sets."),
            "negatives": _text("Strategy of the negatives of the set; null for all sets."),
            "n_pairs": _whole("Number of pairs that were judged."),
            **_estimate("no_ground_truth", "Share of pairs without a majority"),
            **_estimate("alpha", "Krippendorff's alpha of the judgements"),
            **_estimate("accuracy", "Share of pairs whose label is the majority's judgement"),
            **_estimate("recall", "Share of pairs judged the same that are labelled the same"),
            **_estimate("precision", "Share of pairs labelled the same that are judged the same"),
        },
        key=tuple(_SETS),
        order="All sets, then by dataset, difficulty and negatives.",
    ),
    **_scored(
        "agreement",
        "A row per treatment of the answer don't know, for all annotators and for every two.",
        {
            "annotators": _NAMES,
            "dont_know": _text("Whether the answer don't know is a judgement or left out."),
            "n_pairs": _whole("Number of pairs that at least two of them judged."),
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
            **_estimate(
                "with_majority", "Share of answers same and not same that are the majority's"
            ),
        },
        key=("annotator",),
    ),
    **_scored(
        "judged",
        "A row per pair that was judged.",
        {
            **_TERMS,
            "judged": _text("Judgement of the majority, same or not_same; null if there is none."),
            **_VOTES,
            **{
                name: replace(column, in_some_files=True)
                for name, column in JUDGED_ITEMS.columns.items()
                if name not in {"item_id", *_TERMS}
            },
            **_COMMENTS,
        },
        key=("term1", "term2"),
    ),
    **_scored(
        "disagreements",
        "A row per pair whose judgement contradicts the label, or is not unanimous.",
        {
            "why": _text("contradicts the label, no ground truth or not unanimous."),
            **_TERMS,
            "label": _text("positive or negative; null if it is not known.", in_some_files=True),
            "truth": _text("Judgement of the majority, same or not_same; null if there is none."),
            **_OF_BUILDS,
            **_COMMENTS,
            **_ANSWERS,
        },
        key=("term1", "term2"),
        order="By why, set and pair_id, then by terms.",
    ),
    **_scored(
        "corrections",
        "A row per pair whose judgement contradicts the label, for medsim build --corrections. "
        "Pairs with missing answers are left out, unless incomplete is set.",
        {
            **_TERMS,
            "judged": _text("Judgement of the majority, same or not_same."),
            **_VOTES,
            **_OF_BUILDS,
        },
        key=("term1", "term2"),
        order="By judged, set and pair_id, then by terms.",
    ),
}

_RATED = _scored(
    "rated",
    "A row per pair that was rated, for medsim eval.",
    {
        **_TERMS,
        "rating": _number("Mean rating, scaled from 0-6 to 0-10."),
        "deviation": _number("Standard deviation (n - 1) on that scale; null for one rating."),
        "n_ratings": _place("Number of raters who rated the pair."),
        "group": _place("Group of raters, from 1; 0 for the consistency set.", in_some_files=True),
        "OTHER": _text(
            "Any other column of the file of pairs, as text; null if empty.", in_some_files=True
        ),
    },
    key=("term1", "term2"),
)
RATING_COLUMNS = _RATED["rated"].dtypes
"""The first columns of a rated set; the others are columns of the file of pairs."""

_GRADED = {
    **_scored(
        "agreement",
        "A row per part of the pairs, for all raters and, if some are left out, for the others.",
        {
            "pairs": _text("all, consistency set, group N or mean of groups."),
            "raters": _text("all, or accepted if some are left out."),
            "n_raters": _whole("Number of raters; null for the mean."),
            "n_pairs": _whole("Number of pairs that they rated; null for the mean."),
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
            **_statistic("consistency_iaa1", "Mean correlation with others on the consistency set"),
            **_statistic("others_iaa1", "Mean correlation among the others"),
            "outlier": _flag("Whether the rater agrees considerably less than the others."),
            "accepted": _flag("Whether the rater counts for the rated set."),
            "longest_run": _whole("Largest number of equal ratings in a row."),
            "longest_alternation": _whole("Longest alternation of two ratings; 0 if none."),
            "n_twice": _whole("Number of pairs rated twice."),
            **_statistic("twice_equal", "Share of these pairs with two equal ratings"),
            **_statistic(
                "twice_within_one", "Share of these pairs whose ratings differ by at most one"
            ),
            **_statistic("twice_difference", "Mean absolute difference of both ratings"),
            **_statistic("twice_spearman", "Spearman's correlation of both ratings"),
        },
        key=("rater",),
    ),
    **_RATED,
    **_scored(
        "parts",
        "A row per part of the rated set: all, bins of frequency and topics, values of columns.",
        {
            "part": _text("all, or a column or property and its value, such as count=10-99."),
            "n_pairs": Column(pl.UInt32, "Number of pairs in the part."),
            "mean_rating": _number("Mean rating, 0 to 10."),
            "mean_deviation": _number("Mean deviation on that scale; null if no pair has one."),
            "deviation_as_rated": _number(
                "Mean deviation on the scale 0 to 6; null if no pair has one."
            ),
        },
        key=("part",),
        order="All, then by column or property, then by bin or value.",
    ),
}


def _compared(
    scale: Scale, first: dict[str, Table], shown: dict[str, Column], key: tuple[str, ...]
) -> dict[str, Table]:
    """Return the tables of a study whose answers are compared, its specific table first."""
    return first | {
        **_scored(
            "agreement",
            "A row per two annotators, and one for all if there are more.",
            {
                "annotators": _NAMES,
                f"n_{scale.noun}s": _whole("Number of items that at least two of them answered."),
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
        ),
        **_scored(
            "disagreements",
            "A row per item with different answers, or whose answer contradicts the label.",
            {"why": _text("not unanimous, or contradicts the label."), **shown, **_ANSWERS},
            key=key,
            order="By why, then by the texts shown.",
        ),
    }


SCORE_TABLES: Mapping[str, Mapping[str, Table]] = {
    JUDGEMENT.name: _JUDGED,
    GRADED.name: _GRADED,
    CONTEXT.name: _compared(
        CONTEXT,
        _scored(
            "accuracy",
            "A row per annotator, and one for their mean.",
            {
                "annotator": _text("Name of the annotator, or mean."),
                "n_instances": _whole("Number of answered instances."),
                **_estimate("accuracy", ""),
                "accuracy": _number("Share of answers that equal the labels."),
            },
            key=("annotator",),
            order="By annotator; the mean last.",
        ),
        {
            "cat": _text("Group of the instance."),
            "label": _text("same or not_same in the benchmark."),
            **both("marked", "The {} sentence as it was shown."),
        },
        ("marked1", "marked2"),
    ),
    DOMAIN.name: _compared(
        DOMAIN,
        _scored(
            "domains",
            "A row per word that all assign to one domain, for medsim study pairs.",
            {"word": _WORD["word"], "domain": _text("biomedical or general.")} | _WORD,
            key=("word",),
        ),
        {"word": _WORD["word"]},
        ("word",),
    ),
    ASSOCIATION.name: _compared(
        ASSOCIATION,
        _scored(
            "confirmed",
            "A row per pair that all call associated, for medsim study pairs.",
            {**_TERMS, **_OTHERS},
            key=("term1", "term2"),
        ),
        _TERMS,
        ("term1", "term2"),
    ),
}
"""The tables of scores, except "missing", by the scale of the study and the name of the table.

The first of a scale is shown by default.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyManifest(Manifest):
    """The manifest of a study.

    Attributes:
        study_id: identifier of the study in answers; it depends on the pairs and who sees them.
        scale: name of the scale of answers: judgement, graded, context, domain or association.
        title: title of the page that annotators see.
        instructions: paragraphs that annotators read first.
        page_size: the number of pairs before a pause; 0 for no pauses.
        annotators: names of the annotators.
        source: source of the pairs, with its fingerprint.
        notice: notice about sharing the study; None without one.
        question: question that annotators see; None for the scale's.
    """

    kind: ClassVar[str] = "study"
    study_id: str
    scale: str
    title: str
    instructions: list[str]
    annotators: list[str]
    source: dict[str, object]
    notice: str | None
    page_size: int = 0
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresManifest(Manifest):
    """The manifest of a study's scores.

    Attributes:
        study_id: ``study_id`` of the study.
        answers: name and SHA-256 of each file of answers.
        source: ``source`` of the study.
        question: the question that annotators answered.
    """

    kind: ClassVar[str] = "scores"
    study_id: str
    question: str
    answers: list[dict[str, str]]
    source: dict[str, object]


STUDY = Kind(
    noun="study",
    command="medsim study sample",
    manifest=StudyManifest,
    views={
        "items": Table(
            ITEMS,
            "A row per item of the study, with columns that annotators must not see.",
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
        "annotators/*/sheet-*.csv": "The same as a sheet, with a column answer to fill in.",
        "annotators/*/instructions.txt": "The instructions, also for filling in a sheet.",
        "annotators/*/label_studio-*.json": "The same as tasks for Label Studio.",
        "annotators/*/label_studio.xml": "The labelling interface of Label Studio.",
    },
)

STUDY_SCORES = Kind(
    noun="set of scores",
    command="medsim study score",
    manifest=ScoresManifest,
    views={
        **{
            name: Table(
                f"{name}.csv",
                next(tables[name].about for tables in SCORE_TABLES.values() if name in tables),
                optional=True,
                variants={
                    scale: tables[name] for scale, tables in SCORE_TABLES.items() if name in tables
                },
            )
            for tables in SCORE_TABLES.values()
            for name in tables
        },
        **_scored(
            "missing",
            "A row per entry without an answer, of all annotators who are not left out.",
            {"annotator": _ANNOTATOR, "position": _POSITION, **_SHOWN}
            | {"comment": _text("Comment of the annotator; null if none.")},
            key=("annotator", "position"),
        ),
    },
)


class ScoresFolder(Opened[ScoresManifest]):
    """The scores of a study, as ``medsim study score`` writes them."""

    kind = STUDY_SCORES
