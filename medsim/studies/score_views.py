"""The tables of scores of each kind of study, with their columns and what these hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from medsim.core.kinds import View
from medsim.studies.notes import OTHER, PAIR_ID, SETS, TERM1, TERM2
from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, GRADED, JUDGEMENT, Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

Described: TypeAlias = "Mapping[str, tuple[type[pl.DataType], str]]"
"""The type of each column and a note on it."""

_TEXT, _WHOLE, _NUMBER, _TRUTH = pl.String, pl.Int64, pl.Float64, pl.Boolean
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


def _note(name: str, note: str) -> str:
    """Return the note on a statistic, with when it is missing if it ever is."""
    why = WHY_MISSING.get(name)
    return f"{note}; null where {why}." if why else f"{note}."


def _estimate(name: str, note: str) -> Described:
    """Return the columns of an estimate and of the ends of its interval."""
    return {
        name: (_NUMBER, _note(name, note)),
        f"{name}_low": (_NUMBER, f"Lower end of the 95% interval of {name}; null for none."),
        f"{name}_high": (_NUMBER, f"Upper end of the 95% interval of {name}; null for none."),
    }


def _view(
    name: str, about: str, order: str, key: tuple[str, ...], of: Described, further: Described
) -> View:
    return View(
        f"{name}.csv",
        {column: kind for column, (kind, _) in of.items()},
        optional=True,
        about=about,
        notes={column: note for column, (_, note) in {**of, **further}.items()},
        further={column: kind for column, (kind, _) in further.items()},
        key=key,
        order=order,
    )


_SETS: Described = {name: (_TEXT, note) for name, note in SETS.items()}
_TERMS: Described = {"term1": (_TEXT, TERM1), "term2": (_TEXT, TERM2)}
_ANNOTATOR: Described = {"annotator": (_TEXT, "Name of the annotator.")}
_ANSWERS: Described = {
    "answer of NAME": (_TEXT, "Answer of the annotator of that name; null where there is none.")
}
_WHY_NOT_ALIKE = "Why the row is here: not answered alike, or otherwise than labelled."

MISSING = _view(
    "missing",
    "A row per entry that an annotator who answered any left open.",
    "By annotator and position.",
    ("annotator", "position"),
    {
        **_ANNOTATOR,
        "position": (pl.Int32, "Place among what the annotator sees, from 1."),
        "left": (_TEXT, "Text on the left side, or the only one."),
        "right": (_TEXT, "Text on the right side; empty where there is one text."),
    },
    {},
)


def _counts(scale: Scale) -> Described:
    """Return how often each answer of a scale is given."""
    return {f"n_{one}": (_WHOLE, f"Number of the answers {one}.") for one in scale.answers}


_QUALITY = _view(
    "quality",
    "A row per set of pairs, and one of all together: table 3 of Schulz and Juric (2020).",
    "All together, then by dataset, difficulty and negatives.",
    tuple(SETS),
    {
        "dataset": (_TEXT, f"{SETS['dataset'][:-1]}, or all."),
        "difficulty": (_TEXT, "easy or hard, of the set; null of all together."),
        "negatives": (_TEXT, "Strategy of the negatives of the set; null of all together."),
        "n_pairs": (_WHOLE, "Number of pairs that were judged."),
        **_estimate("no_ground_truth", "Share of pairs without a majority"),
        **_estimate("alpha", "Krippendorff's alpha of the judgements"),
        **_estimate("accuracy", "Share of pairs that are labelled as the majority judges"),
        **_estimate("recall", "Share of what the majority judges the same that is labelled so"),
        **_estimate("precision", "Share of what is labelled the same that the majority judges so"),
    },
    {},
)
_JUDGED = {
    "quality": _QUALITY,
    "agreement": _view(
        "agreement",
        "A row per treatment of the answer don't know, of all annotators and of every two.",
        "All annotators, then every two by name.",
        ("annotators", "dont_know"),
        {
            "annotators": (_TEXT, "Names of the annotators, with & between them."),
            "dont_know": (_TEXT, "The answer don't know is a judgement, or is left out."),
            "n_pairs": (_WHOLE, "Number of pairs that two of them judged at least."),
            **_estimate("alpha", "Krippendorff's alpha, 1 where all agree, 0 by chance"),
        },
        {},
    ),
    "annotators": _view(
        "annotators",
        "A row per annotator.",
        "By annotator.",
        ("annotator",),
        {
            **_ANNOTATOR,
            **_counts(JUDGEMENT),
            "n_missing": (_WHOLE, "Number of pairs without an answer."),
            **_estimate("with_majority", "Share of answers that are those of the majority"),
        },
        {},
    ),
    "disagreements": _view(
        "disagreements",
        "A row per pair that was judged otherwise than the build says, or not by all alike.",
        "By why, set and pair_id.",
        ("pair_id",),
        {
            "why": (_TEXT, "judged otherwise, no ground truth or not judged alike."),
            **_TERMS,
            "label": (_TEXT, "positive or negative, as the build has it."),
            "truth": (_TEXT, "same or not_same, as the majority judges; null without one."),
            **_SETS,
            "pair_id": (_TEXT, PAIR_ID),
        },
        _ANSWERS,
    ),
    "corrections": _view(
        "corrections",
        "A row per pair that was judged otherwise, as medsim build --corrections reads them.",
        "By judged, set and pair_id.",
        ("pair_id",),
        {
            **_TERMS,
            "judged": (_TEXT, "same or not_same, as the majority judges."),
            **_counts(JUDGEMENT),
            **_SETS,
            "pair_id": (_TEXT, PAIR_ID),
        },
        {},
    ),
}
_GRADED = {
    "agreement": _view(
        "agreement",
        "A row per part of the pairs, of all raters and, where some are left out, of the others.",
        "All pairs, the consistency set, the groups, their mean.",
        ("pairs", "raters"),
        {
            "pairs": (_TEXT, "all, consistency set, group N or mean of groups."),
            "raters": (_TEXT, "all, or accepted where some are left out."),
            "n_raters": (_WHOLE, "Number of raters; null of the mean."),
            "n_pairs": (_WHOLE, "Number of pairs that they rated; null of the mean."),
            **_estimate("iaa1", "Mean Spearman correlation of every two raters"),
            **_estimate("iaa2", "Mean Spearman correlation of a rater with the others' mean"),
        },
        {},
    ),
    "raters": _view(
        "raters",
        "A row per rater.",
        "By rater.",
        ("rater",),
        {
            "rater": (_TEXT, "Name of the rater."),
            "n_answers": (_WHOLE, "Number of ratings."),
            "with_others": (
                _NUMBER,
                _note("with_others", "Mean correlation with the other raters"),
            ),
            "with_mean": (_NUMBER, _note("with_mean", "Correlation with the others' mean")),
            "consistency_iaa1": (
                _NUMBER,
                _note(
                    "consistency_iaa1", "Mean correlation with the others on the consistency set"
                ),
            ),
            "others_iaa1": (_NUMBER, _note("others_iaa1", "That of the others among themselves")),
            "outlier": (_TRUTH, "Whether the rater agrees considerably less than the others."),
            "accepted": (_TRUTH, "Whether the rater counts for the rated set."),
            "longest_run": (_WHOLE, "Largest number of equal ratings in a row."),
            "longest_alternation": (
                _WHOLE,
                "Largest number of ratings in a row in which two take turns; 0 for none.",
            ),
            "n_twice": (_WHOLE, "Number of pairs rated twice."),
            "twice_equal": (_NUMBER, _note("twice_equal", "Share of those with two equal ratings")),
            "twice_within_one": (
                _NUMBER,
                _note("twice_within_one", "Share of those whose ratings differ by one at most"),
            ),
            "twice_difference": (
                _NUMBER,
                _note("twice_difference", "Mean absolute difference of both"),
            ),
            "twice_spearman": (
                _NUMBER,
                _note("twice_spearman", "Spearman's correlation of both"),
            ),
        },
        {},
    ),
    "rated": _view(
        "rated",
        "A row per pair that was rated, as medsim eval reads them.",
        "By term1 and term2.",
        ("term1", "term2"),
        {
            **_TERMS,
            "rating": (_NUMBER, "Mean rating, scaled from 0 to 6 to 0 to 10."),
            "deviation": (_NUMBER, "Standard deviation (n - 1) on the same scale; null of one."),
            "n_ratings": (pl.Int32, "Number of raters who rated the pair."),
        },
        {
            "group": (pl.Int32, "Group of raters, from 1; 0 for the consistency set."),
            "OTHER": (_TEXT, f"{OTHER[:-1]}; null where it is empty."),
        },
    ),
    "parts": _view(
        "parts",
        "A row per part of the rated set: all, bins of frequency and topics, values of columns.",
        "By what divides, then by bin or value; all first.",
        ("part",),
        {
            "part": (_TEXT, "all, or a column or property and its value, such as count=10-99."),
            "n_pairs": (pl.UInt32, "Number of its pairs."),
            "mean_rating": (_NUMBER, "Mean rating, 0 to 10."),
            "mean_deviation": (_NUMBER, "Mean deviation on that scale; null where none has one."),
            "deviation_as_rated": (_NUMBER, "The same on the scale 0 to 6; null where none."),
        },
        {},
    ),
}


def _compared(scale: Scale, first: View, shown: Described, key: tuple[str, ...]) -> dict[str, View]:
    """Return the tables of a study whose answers are compared, the first of which is its own."""
    number = f"n_{scale.noun}s"
    return {
        scale.tables[0]: first,
        "agreement": _view(
            "agreement",
            "A row per two annotators, and one of all where there are more.",
            "All annotators, then every two by name.",
            ("annotators",),
            {
                "annotators": (_TEXT, "Names of the annotators, with & between them."),
                number: (_WHOLE, "Number of items that two of them answered at least."),
                **_estimate("kappa", "Cohen's kappa of two annotators"),
                **_estimate("alpha", "Krippendorff's alpha, 1 where all agree, 0 by chance"),
            },
            {},
        ),
        "annotators": _view(
            "annotators",
            "A row per annotator.",
            "By annotator.",
            ("annotator",),
            {**_ANNOTATOR, **_counts(scale)},
            {},
        ),
        "disagreements": _view(
            "disagreements",
            "A row per item that was not answered alike, or otherwise than labelled.",
            "By why, then by what was shown.",
            key,
            {"why": (_TEXT, _WHY_NOT_ALIKE), **shown},
            _ANSWERS,
        ),
    }


SCORE_VIEWS: Mapping[str, Mapping[str, View]] = {
    JUDGEMENT.name: _JUDGED,
    GRADED.name: _GRADED,
    CONTEXT.name: _compared(
        CONTEXT,
        _view(
            "accuracy",
            "A row per annotator, and one of their mean.",
            "By annotator; the mean last.",
            ("annotator",),
            {
                "annotator": (_TEXT, "Name of the annotator, or mean."),
                "n_instances": (_WHOLE, "Number of instances that were answered."),
                **_estimate("accuracy", "Share of answers that are those of the labels"),
                "accuracy": (_NUMBER, "Share of answers that are those of the labels."),
            },
            {},
        ),
        {
            "cat": (_TEXT, "Group of the instance."),
            "label": (_TEXT, "same or not_same, as the benchmark labels it."),
            "marked1": (_TEXT, "The first sentence as it was shown."),
            "marked2": (_TEXT, "The second sentence as it was shown."),
        },
        ("marked1", "marked2"),
    ),
    DOMAIN.name: _compared(
        DOMAIN,
        _view(
            "domains",
            "A row per word that all say to be of one domain, as medsim study pairs reads them.",
            "By word.",
            ("word",),
            {
                "word": (_TEXT, "The word."),
                "domain": (_TEXT, "biomedical or general."),
                "class": (_TEXT, "Class of the word, such as noun."),
                "count": (_WHOLE, "Number of times that the corpus has it."),
                "topics": (_WHOLE, "Number of its topics; null where that is not known."),
            },
            {},
        ),
        {"word": (_TEXT, "The word.")},
        ("word",),
    ),
    ASSOCIATION.name: _compared(
        ASSOCIATION,
        _view(
            "confirmed",
            "A row per pair that all say to be associated, as medsim study pairs reads them.",
            "By term1 and term2.",
            ("term1", "term2"),
            _TERMS,
            {"OTHER": (_TEXT, OTHER)},
        ),
        _TERMS,
        ("term1", "term2"),
    ),
}
"""The tables of scores but ``MISSING``, by the scale of the study and their names."""


def score_views() -> dict[str, View]:
    """Return the views of scores, each with its variants by scale where it has several."""
    names = dict.fromkeys(name for views in SCORE_VIEWS.values() for name in views)
    found = {}
    for name in names:
        variants = {scale: views[name] for scale, views in SCORE_VIEWS.items() if name in views}
        found[name] = View(
            f"{name}.csv",
            optional=True,
            about=next(iter(variants.values())).about,
            variants=variants,
        )
    return {**found, "missing": MISSING}
