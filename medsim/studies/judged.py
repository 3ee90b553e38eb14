"""Tables of a study of a build: the quality of datasets, and agreement of annotators."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from medsim.evaluations.sets import SET_COLUMNS
from medsim.statistics.estimates import Estimate, share_of
from medsim.studies.agreement import nominal_alpha
from medsim.studies.score_tables import Row, answer_table, table_of, with_ends
from medsim.studies.sheets import DONT_KNOW, JUDGEMENT, NOT_SAME, SAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from medsim.kernels.types import Rows
    from medsim.statistics.resampling import Resampling
    from medsim.studies.agreement import Judgements


FEWEST_PAIRS = 10
"""Of fewer no interval of alpha is made: their resamples say little."""

_ALL = "all"
_NONE = -1


def judged_tables(
    items: pl.DataFrame, answers: pl.DataFrame, resampling: Resampling
) -> dict[str, pl.DataFrame]:
    """Return tables of a study of a build.

    Pairs that nobody answered count as missing, and in nothing else; there is one answer at least.

    Returns:
        quality: table 3 of Schulz and Juric (2020), a row per dataset and statistic, and of all
        together. agreement: Krippendorff's alpha of all annotators and of any two. annotators: how
        often each gave which answer. disagreements: pairs that were judged otherwise than the
        dataset says, have no ground truth, or were not judged alike by all. corrections: the first
        of these, as ``medsim build --corrections`` reads them.
    """
    names = answers["annotator"].unique().sort().to_list()
    n_shown = items.height
    items = items.filter(items["item_id"].is_in(answers["item_id"].implode()))
    values = answer_table(items, answers, names)
    table = np.ascontiguousarray(np.nan_to_num(values, nan=_NONE).astype(np.int8).T)
    truth = majority(table)
    items = items.with_columns(pl.Series("truth", truth))
    return {
        "quality": _quality(items, table, resampling),
        "agreement": _agreement(table, names, resampling),
        "annotators": _annotators(table, truth, names, n_shown),
        "disagreements": _disagreements(items, table, names),
        "corrections": _corrections(items, table),
    }


def _quality(items: pl.DataFrame, table: Judgements, resampling: Resampling) -> pl.DataFrame:
    numbered = items.select(*SET_COLUMNS, "label", "truth").with_row_index("row")
    groups = [((_ALL, None, None), numbered)]
    groups += sorted(numbered.group_by(SET_COLUMNS), key=lambda group: group[0])
    rows: list[Row] = []
    for named, group in groups:
        of = table[group["row"].to_numpy().astype(np.int64)]
        found = quality(group["label"].to_numpy(), group["truth"].to_numpy())
        rows.append(
            dict(zip(SET_COLUMNS, named, strict=True))
            | {"n_pairs": group.height}
            | with_ends("no_ground_truth", found.no_ground_truth)
            | with_ends("alpha", _alpha(of, resampling))
            | with_ends("accuracy", found.accuracy)
            | with_ends("recall", found.recall)
            | with_ends("precision", found.precision)
        )
    return table_of(rows)


def _alpha(table: Judgements, resampling: Resampling) -> Estimate:
    n_units = int(((table != _NONE).sum(axis=1) > 1).sum())
    return nominal_alpha(
        table,
        len(JUDGEMENT),
        seed=resampling.seed,
        resamples=resampling.resamples if n_units >= FEWEST_PAIRS else 0,
        threads=resampling.threads,
    )


def _agreement(table: Judgements, names: Sequence[str], resampling: Resampling) -> pl.DataFrame:
    """Return alpha with "don't know" as a judgement of its own, and as none."""
    everyone = list(range(len(names)))
    two = combinations(everyone, 2) if len(names) > 2 else ()  # noqa: PLR2004 — else they are all
    rows: list[Row] = []
    for members in (everyone, *two):
        for dont_know, kept in (
            ("a judgement", table),
            ("left out", np.where(table == DONT_KNOW, np.int8(_NONE), table)),
        ):
            part = np.ascontiguousarray(kept[:, list(members)])
            rows.append(
                {
                    "annotators": " & ".join(names[at] for at in members),
                    "dont_know": dont_know,
                    "n_pairs": int(((part != _NONE).sum(axis=1) > 1).sum()),
                }
                | with_ends("alpha", _alpha(part, resampling))
            )
    return table_of(rows)


def _annotators(table: Judgements, truth: Rows, names: Sequence[str], n_shown: int) -> pl.DataFrame:
    rows: list[Row] = []
    for column, name in enumerate(names):
        own = table[:, column]
        decided = (truth != NO_TRUTH) & (own != _NONE) & (own != DONT_KNOW)
        n_alike = int((own == truth)[decided].sum())
        counts = {
            f"n_{answer}": int((own == value).sum())
            for value, answer in enumerate(JUDGEMENT.answers)
        }
        rows.append(
            {"annotator": name, **counts, "n_missing": n_shown - int((own != _NONE).sum())}
            | with_ends("with_majority", share_of(n_alike, int(decided.sum())))
        )
    return table_of(rows)


def _disagreements(items: pl.DataFrame, table: Judgements, names: Sequence[str]) -> pl.DataFrame:
    answers = pl.DataFrame(table, [f"answer of {name}" for name in names])
    given = np.ma.masked_equal(table, _NONE)
    differ = pl.Series(np.asarray(given.min(axis=1) != given.max(axis=1)))
    label = pl.when(label=1).then(pl.lit("positive")).otherwise(pl.lit("negative")).alias("label")
    judged = pl.col("truth") != NO_TRUTH
    why = (
        pl.when(judged & (pl.col("truth") != pl.col("label")))
        .then(pl.lit("judged otherwise"))
        .when(~judged)
        .then(pl.lit("no ground truth"))
        .when(differ)
        .then(pl.lit("not judged alike"))
    )
    return (
        items.with_columns(why.alias("why"), _answer_of("truth"), label)
        .select("why", "term1", "term2", "label", "truth", *SET_COLUMNS, "pair_id")
        .hstack(answers.select(_answer_of(name) for name in answers.columns))
        .drop_nulls("why")
        .sort("why", *SET_COLUMNS, "pair_id")
    )


def _corrections(items: pl.DataFrame, table: Judgements) -> pl.DataFrame:
    votes = {
        f"n_{answer}": (table == value).sum(axis=1)
        for value, answer in enumerate(JUDGEMENT.answers)
    }
    return (
        items.with_columns(
            pl.Series(name, counts, dtype=pl.Int64) for name, counts in votes.items()
        )
        .filter(pl.col("truth") != NO_TRUTH, pl.col("truth") != pl.col("label"))
        .with_columns(_answer_of("truth").alias("judged"))
        .select("term1", "term2", "judged", *votes, *SET_COLUMNS, "pair_id")
        .sort("judged", *SET_COLUMNS, "pair_id")
    )


def _answer_of(column: str) -> pl.Expr:
    """Return values as files have the answers; null where there is none."""
    known = range(len(JUDGEMENT))
    return pl.col(column).replace_strict(known, JUDGEMENT.answers, default=None)


NO_TRUTH = -1
"""The value of pairs that have no ground truth."""


class Quality(NamedTuple):
    """The quality of labels against a ground truth, with Wilson's intervals; NaN of no pairs.

    Attributes:
        no_ground_truth: the share of pairs that have none, and count in none of the others.
        accuracy: of pairs with a ground truth, the share that is labelled as it says.
        recall: of pairs that are the same, the share that is labelled positive.
        precision: of pairs that are labelled positive, the share that is the same.
    """

    no_ground_truth: Estimate
    accuracy: Estimate
    recall: Estimate
    precision: Estimate


def majority(table: Judgements) -> NDArray[np.int8]:
    """Return the judgement that more than half of the annotators gave of each unit.

    Ground truth is a majority vote (Schulz and Juric 2020, section 3.3): here of more than half of
    those who took part in the study, whether they judged the unit or not. "Don't know" and no
    answer, -1, are votes for neither.

    Returns:
        int8[n_units], SAME or NOT_SAME, or ``NO_TRUTH``.
    """
    n_annotators = table.shape[1]
    truth = np.full(len(table), NO_TRUTH, np.int8)
    for judgement in (NOT_SAME, SAME):
        truth[2 * (table == judgement).sum(axis=1) > n_annotators] = judgement
    return truth


def quality(labels: NDArray[np.int8], truth: NDArray[np.int8]) -> Quality:
    """Return the quality of labels, 1 for positives and 0 for negatives, beside ``majority``."""
    known = truth != NO_TRUTH
    positive, same = labels[known] == 1, truth[known] == SAME
    n_found = int((positive & same).sum())
    return Quality(
        no_ground_truth=share_of(int((~known).sum()), len(labels)),
        accuracy=share_of(int((positive == same).sum()), int(known.sum())),
        recall=share_of(n_found, int(same.sum())),
        precision=share_of(n_found, int(positive.sum())),
    )
