"""Tables of studies whose answers are compared: on instances, on domains, on associations."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.statistics.accuracies import accuracy_of
from medsim.statistics.estimates import Estimate
from medsim.studies.agreement import cohens_kappa, mean_accuracy, nominal_alpha
from medsim.studies.score_tables import Row, answer_table, table_of, with_ends
from medsim.studies.sheets import ASSOCIATED, ASSOCIATION, CONTEXT, DOMAIN
from medsim.studies.words.frequencies import AMBIGUOUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.statistics.resampling import Resampling
    from medsim.studies.agreement import Judgements
    from medsim.studies.sheets import Scale

MEAN = "mean"
"""The name that stands for all annotators in the table of accuracies."""

_NONE = -1
_FEWEST = 10  # units of which an interval is made
_TWO = 2
_SHOWN = {
    CONTEXT.name: ["cat", "label", "marked1", "marked2"],
    DOMAIN.name: ["word"],
    ASSOCIATION.name: ["term1", "term2"],
}


def compared_tables(
    scale: Scale, items: pl.DataFrame, answers: pl.DataFrame, resampling: Resampling
) -> dict[str, pl.DataFrame]:
    """Return the tables of a study, the first of which is what it was made for.

    Args:
        scale: of instances, domains or associations.
        items: of the study.
        answers: ``ANSWER_COLUMNS``, at least one.
        resampling: of bootstrap intervals.

    Returns:
        accuracy: of each annotator and their mean against the labels of instances. domains: the
        words that all annotators say to be of one domain. confirmed: the pairs that all say to be
        associated. agreement: Cohen's kappa of every two annotators, and Krippendorff's alpha of
        these and of all. annotators: how often each gave which answer. disagreements: what was not
        answered alike, or otherwise than a label says.
    """
    names = answers["annotator"].unique().sort().to_list()
    values = np.nan_to_num(answer_table(items, answers, names), nan=_NONE)
    table = np.ascontiguousarray(values.astype(np.int8).T)
    return {
        scale.tables[0]: _accuracy(items, table, names, resampling)
        if scale is CONTEXT
        else _agreed(scale, items, table),
        "agreement": _agreement(scale, table, names, resampling),
        "annotators": _annotators(scale, answers),
        "disagreements": _disagreements(scale, items, table, names),
    }


def _accuracy(
    items: pl.DataFrame, table: Judgements, names: Sequence[str], resampling: Resampling
) -> pl.DataFrame:
    labels = items["label"].to_numpy()[:, None]
    correct = np.where(table == _NONE, _NONE, table == labels).astype(np.int8)
    answered = correct != _NONE
    found = [accuracy_of(own[given] == 1) for own, given in zip(correct.T, answered.T, strict=True)]
    found.append(mean_accuracy(correct, _for_units(resampling, int(answered.any(axis=1).sum()))))
    counts = [*answered.sum(axis=0).tolist(), int(answered.any(axis=1).sum())]
    return table_of(
        [
            {"annotator": name, "n_instances": n} | with_ends("accuracy", one)
            for name, n, one in zip([*names, MEAN], counts, found, strict=True)
        ]
    )


def _agreed(scale: Scale, items: pl.DataFrame, table: Judgements) -> pl.DataFrame:
    """Return the words that all say to be of one domain, or the pairs that all say to be so."""
    first = table[:, 0]
    alike = (table == first[:, None]).all(axis=1) & (first != _NONE)
    if scale is ASSOCIATION:
        return items.filter(alike & (first == ASSOCIATED)).drop("item_id").sort("term1", "term2")
    domain = pl.Series("domain", _named(scale, first), pl.String)
    return (
        items.select("word", domain, pl.exclude("item_id", "word"))
        .filter(pl.Series(alike), pl.col("domain") != AMBIGUOUS)
        .sort("word")
    )


def _agreement(
    scale: Scale, table: Judgements, names: Sequence[str], resampling: Resampling
) -> pl.DataFrame:
    everyone = tuple(range(len(names)))
    all_of_them = () if len(names) == _TWO else (everyone,)
    rows: list[Row] = []
    for members in (*all_of_them, *combinations(everyone, _TWO)):
        part = np.ascontiguousarray(table[:, list(members)])
        n_shared = int(((part != _NONE).sum(axis=1) > 1).sum())
        drawn = _for_units(resampling, n_shared)
        kappa = Estimate(value=math.nan)
        if len(members) == _TWO:
            kappa = cohens_kappa(part, len(scale), drawn)
        alpha = nominal_alpha(
            part,
            len(scale),
            seed=drawn.seed,
            resamples=drawn.resamples,
            threads=drawn.threads,
        )
        named = {
            "annotators": " & ".join(names[at] for at in members),
            f"n_{scale.noun}s": n_shared,
        }
        rows.append(named | with_ends("kappa", kappa) | with_ends("alpha", alpha))
    return table_of(rows)


def _for_units(resampling: Resampling, n_units: int) -> Resampling:
    """Return a resampling that makes no intervals of few units: their resamples say little."""
    return resampling if n_units >= _FEWEST else replace(resampling, resamples=0)


def _annotators(scale: Scale, answers: pl.DataFrame) -> pl.DataFrame:
    """Return how often each annotator gave which answer."""
    counts = [
        (pl.col("value") == value).sum().cast(pl.Int64).alias(f"n_{answer}")
        for value, answer in enumerate(scale.answers)
    ]
    return answers.group_by("annotator").agg(*counts).sort("annotator")


def _disagreements(
    scale: Scale, items: pl.DataFrame, table: Judgements, names: Sequence[str]
) -> pl.DataFrame:
    """Return items with unlike answers, and instances with another label than the answer."""
    given = np.ma.masked_equal(table, _NONE)
    least, most = given.min(axis=1).filled(_NONE), given.max(axis=1).filled(_NONE)
    shown, otherwise = items.select(_SHOWN[scale.name]), np.zeros(len(table), np.bool_)
    if scale is CONTEXT:
        labels = items["label"].to_numpy()
        otherwise = (least != _NONE) & (most != labels)
        shown = shown.with_columns(pl.Series("label", _named(scale, labels)))
    why = (
        pl.when(pl.Series(least != most))
        .then(pl.lit("not answered alike"))
        .when(pl.Series(otherwise))
        .then(pl.lit("otherwise than labelled"))
    )
    said = {
        f"answer of {name}": _named(scale, own) for name, own in zip(names, table.T, strict=True)
    }
    return (
        shown.select(why.alias("why"), pl.all())
        .hstack(pl.DataFrame(said, dict.fromkeys(said, pl.String)))
        .drop_nulls("why")
        .sort("why", *shown.columns)
    )


def _named(scale: Scale, values: np.ndarray) -> list[str | None]:
    """Return values as files have the answers; None where there is none."""
    return [None if value == _NONE else scale.answers[value] for value in values.tolist()]
