"""Tables of studies with named answers: judgements, labels, domains and associations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from medsim.core.config import SET_COLUMNS
from medsim.kernels.types import Rows
from medsim.statistics.bca import accuracy_of
from medsim.statistics.estimates import Estimate, share_of
from medsim.statistics.options import Resampling
from medsim.studies.agreement import (
    NONE,
    Judgements,
    ScoreRow,
    agreements,
    answer_table,
    cohens_kappa,
    estimate_columns,
    mean_accuracy,
    nominal_alpha,
    score_table,
)
from medsim.studies.output import JUDGED_ITEMS, MAX_PARTS, SCORE_TABLES
from medsim.studies.sheets import (
    ASSOCIATED,
    ASSOCIATION,
    CONTEXT,
    DONT_KNOW,
    JUDGEMENT,
    NOT_SAME,
    SAME,
    Scale,
)
from medsim.studies.words import AMBIGUOUS

MEAN = "mean"
"""The name of the mean over annotators in the table of accuracies."""

NO_TRUTH = -1
"""The value of pairs without ground truth."""

FEWEST_PAIRS = 10
"""The minimum number of units for a confidence interval."""

_TWO = 2
_ORDER = (*SET_COLUMNS, "pair_id", "term1", "term2")


def judged_tables(
    items: pl.DataFrame, answers: pl.DataFrame, resampling: Resampling, *, incomplete: bool = False
) -> dict[str, pl.DataFrame]:
    """Return tables of a study of judgements.

    Pairs without an answer only count as missing; there is at least one answer.

    Args:
        items: items of the study.
        answers: annotator, item_id and value of all who were asked; null if missing.
        resampling: settings of the bootstrap intervals.
        incomplete: whether corrections also have pairs with missing answers.

    Returns:
        quality: table 3 of Schulz and Juric (2020), a row per dataset, and a row for all together,
            of the pairs with a label; left out if there are none. parts: the same of the pairs with
            each value of the table's other columns; left out if no column has few values.
            agreement: alpha, kappas and AC1 of all annotators and of every two. annotators: counts
            of each annotator's answers. judged: the judgement of each pair. disagreements: pairs
            whose judgement contradicts the label, pairs without ground truth, and pairs without
            unanimous judgement. corrections: the pairs whose judgement contradicts the label, for
            ``medsim build --corrections``; left out without labels.
    """
    late, answers = answers.filter(pl.col("value").is_null()), answers.drop_nulls("value")
    names = answers["annotator"].unique().sort().to_list()
    asked, items = items, items.filter(items["item_id"].is_in(answers["item_id"].implode()))
    table, n_late = _table(items, answers, names), Counter(late["item_id"])
    n_missing = np.array([n_late[item_id] for item_id in items["item_id"]], np.int64)
    truth = majority(table, (table != NONE).sum(axis=1) + n_missing)
    verdicts = {"truth": truth, "judged": pl.Series(_named(JUDGEMENT, truth), dtype=pl.String)}
    votes = {f"n_{name}": (table == at).sum(axis=1) for at, name in enumerate(JUDGEMENT.answers)}
    items = items.with_columns(
        pl.DataFrame({**verdicts, **votes, "n_missing": n_missing}).get_columns()
    )
    is_wrong = (pl.col("truth") != NO_TRUTH) & (pl.col("truth") != pl.col("label"))
    items = items.with_columns(wrong=is_wrong.fill_null(False))
    judged = SCORE_TABLES[JUDGEMENT.name]["judged"].dtypes
    dropped = {"item_id", "truth", "wrong", *judged}
    tables = {
        "agreement": _agreement(JUDGEMENT, table, names, resampling),
        "annotators": _judges(table, truth, Counter(late["annotator"]), names),
        "judged": _known(items.select(*judged, pl.exclude(dropped)).sort("term1", "term2")),
        "disagreements": _known(_misjudged(items, table, names)),
    }
    numbered = items.with_row_index("row")
    if (parts := _quality(_by_column(numbered, asked.columns), table, resampling)).height > 1:
        tables["parts"] = parts
    if (labelled := numbered.drop_nulls("label")).is_empty():
        return tables
    quality = _quality(_by_set(labelled), table, resampling).drop(pl.selectors.matches("^same"))
    wrong = items.filter("wrong", (pl.col("n_missing") == 0) | incomplete).sort("judged", *_ORDER)
    return {
        "quality": quality,
        **tables,
        "corrections": _known(wrong.select(*judged, *SET_COLUMNS, "pair_id")),
    }


def compared_tables(
    scale: Scale, items: pl.DataFrame, answers: pl.DataFrame, resampling: Resampling
) -> dict[str, pl.DataFrame]:
    """Return the tables of a study, the main one first.

    Args:
        scale: CONTEXT, DOMAIN or ASSOCIATION.
        items: items of the study.
        answers: annotator, item_id and value of all who were asked; null if missing.
        resampling: settings of the bootstrap intervals.

    Returns:
        accuracy: of each annotator and their mean against the labels of instances. domains: the
            words that all who were asked assign to one domain. confirmed: the pairs that they all
            call associated. agreement: Cohen's kappa of every two annotators, and Krippendorff's
            alpha of every two and of all. annotators: counts of each annotator's answers.
            disagreements: items with different answers, or whose answers contradict the label.
    """
    late, answers = answers.filter(pl.col("value").is_null()), answers.drop_nulls("value")
    names = answers["annotator"].unique().sort().to_list()
    table = _table(items, answers, names)
    if scale is CONTEXT:
        first = _accuracy(items, table, names, resampling)
    else:
        is_whole = ~items["item_id"].is_in(late["item_id"].implode())
        first = _agreed(scale, items.filter(is_whole), table[is_whole.to_numpy()])
    by_name = zip(names, table.T, strict=True)
    return {
        next(iter(SCORE_TABLES[scale.name])): first,
        "agreement": _agreement(scale, table, names, resampling),
        "annotators": score_table(
            [{"annotator": name, **_counts(scale, a)} for name, a in by_name]
        ),
        "disagreements": _contested(scale, items, table, names),
    }


def majority(table: Judgements, n_asked: Rows) -> NDArray[np.int8]:
    """Return the judgement of each unit by more than half of the annotators who were asked.

    Ground truth is a majority vote (Schulz and Juric 2020, section 3.3): here more than half of
    these annotators, whether they have answered or not. "Don't know" and a missing answer, -1, are
    votes for neither.

    Returns:
        int8[n_units], SAME or NOT_SAME, or ``NO_TRUTH``.
    """
    truth = np.full(len(table), NO_TRUTH, np.int8)
    for judgement in (NOT_SAME, SAME):
        truth[2 * (table == judgement).sum(axis=1) > n_asked] = judgement
    return truth


def _table(items: pl.DataFrame, answers: pl.DataFrame, names: Sequence[str]) -> Judgements:
    values = np.nan_to_num(answer_table(items, answers, names), nan=NONE)
    return np.ascontiguousarray(values.astype(np.int8).T)


def _judges(table: Judgements, truth: Rows, late: Counter[str], names: list[str]) -> pl.DataFrame:
    """Return the counts of each annotator's answers, and how often they are the majority's."""
    judges: list[ScoreRow] = []
    for name, own_answers in zip(names, table.T, strict=True):
        decided = (truth != NO_TRUTH) & (own_answers != NONE) & (own_answers != DONT_KNOW)
        n_alike = int((own_answers == truth)[decided].sum())
        judges.append(
            {"annotator": name, **_counts(JUDGEMENT, own_answers), "n_missing": late[name]}
            | estimate_columns("with_majority", share_of(n_alike, int(decided.sum())))
        )
    return score_table(judges)


_Group: TypeAlias = tuple[ScoreRow, pl.DataFrame]
"""The first columns of a row, and the items that it is about, with their row in a table."""


def _by_set(items: pl.DataFrame) -> Iterator[_Group]:
    """Yield all items, and those of each set of a build."""
    yield {"dataset": "all", "difficulty": None, "negatives": None}, items
    ordered = items.drop_nulls("dataset").sort(*SET_COLUMNS, "row", nulls_last=True)
    for named, group in ordered.group_by(SET_COLUMNS, maintain_order=True):
        yield dict(zip(SET_COLUMNS, named, strict=True)), group


def _by_column(items: pl.DataFrame, columns: Sequence[str]) -> Iterator[_Group]:
    """Yield all items, and those with each value of the table's own columns with few values."""
    yield {"part": "all"}, items
    for name in columns:
        is_own = name not in {*JUDGED_ITEMS.dtypes, "comments"}
        if is_own and 1 < items[name].n_unique() <= MAX_PARTS:
            for (value,), group in items.sort(name, "row").group_by(name, maintain_order=True):
                yield {"part": f"{name}={value}"}, group


def _quality(groups: Iterable[_Group], table: Judgements, resampling: Resampling) -> pl.DataFrame:
    """Return the quality of labels beside ``majority``, with Wilson's intervals of shares."""
    rows: list[ScoreRow] = []
    for named, group in groups:
        judgements = table[group["row"].to_numpy().astype(np.int64)]
        settings = _for_units(resampling, _n_shared(judgements))
        judged = group.filter(pl.col("truth") != NO_TRUTH)
        decided = judged.drop_nulls("label")
        positive, same = decided["label"] == 1, decided["truth"] == SAME
        n_found = int((positive & same).sum())
        shares = {
            "same": share_of(int((judged["truth"] == SAME).sum()), judged.height),
            "no_ground_truth": share_of(group.height - judged.height, group.height),
            "alpha": nominal_alpha(judgements, len(JUDGEMENT), settings),
            "accuracy": share_of(int((positive == same).sum()), decided.height),
            "recall": share_of(n_found, int(same.sum())),
            "precision": share_of(n_found, int(positive.sum())),
        }
        row = named | {"n_pairs": group.height}
        for name, share in shares.items():
            row |= estimate_columns(name, share)
        rows.append(row)
    return score_table(rows)


def _agreement(
    scale: Scale, table: Judgements, names: Sequence[str], resampling: Resampling
) -> pl.DataFrame:
    """Return the agreement of all annotators, and of every two if there are more.

    Judgements are compared once with "don't know" as a judgement and once without it.
    """
    tables = {"": (table, len(scale))}
    if scale is JUDGEMENT:
        decided = np.where(table == DONT_KNOW, np.int8(NONE), table)
        tables = {"a judgement": (table, len(scale)), "left out": (decided, DONT_KNOW)}
    everyone = list(range(len(names)))
    pairs = combinations(everyone, _TWO) if len(names) > _TWO else ()
    rows: list[ScoreRow] = []
    for members in (everyone, *map(list, pairs)):
        for dont_know, (values, n_values) in tables.items():
            columns = np.ascontiguousarray(values[:, members])
            row: ScoreRow = {"annotators": " & ".join(names[member] for member in members)}
            row |= {"dont_know": dont_know} if scale is JUDGEMENT else {}
            row[f"n_{scale.noun}s"] = n_shared = _n_shared(columns)
            settings, kappa = _for_units(resampling, n_shared), Estimate(value=math.nan)
            if len(members) == _TWO:
                kappa = cohens_kappa(columns, n_values, settings)
            estimates = agreements(columns, n_values, settings)
            estimates |= {"kappa": kappa, "alpha": nominal_alpha(columns, n_values, settings)}
            for name in ("alpha", "kappa", "fleiss_kappa", "ac1", "percent_agreement"):
                row |= estimate_columns(name, estimates[name])
            rows.append(row)
    return score_table(rows)


def _n_shared(table: Judgements) -> int:
    """Return the number of units with two answers or more."""
    return int(((table != NONE).sum(axis=1) > 1).sum())


def _for_units(resampling: Resampling, n_units: int) -> Resampling:
    """Return a resampling without intervals for few units."""
    return resampling if n_units >= FEWEST_PAIRS else replace(resampling, resamples=0)


def _counts(scale: Scale, column: Rows) -> dict[str, int]:
    """Return the counts of an annotator's answers."""
    return {f"n_{name}": int((column == value).sum()) for value, name in enumerate(scale.answers)}


def _misjudged(items: pl.DataFrame, table: Judgements, names: Sequence[str]) -> pl.DataFrame:
    """Return pairs whose judgement contradicts the label or is not unanimous."""
    lowest, highest = _ends(table)
    labels = {1: "positive", 0: "negative"}
    label = pl.col("label").replace_strict(labels, return_dtype=pl.String)
    reasons = {
        "contradicts the label": items["wrong"],
        "no ground truth": items["judged"].is_null(),
        "not unanimous": pl.Series(lowest != highest),
    }
    shown = items.with_columns(label, truth="judged")
    return _disagreements(JUDGEMENT, shown, reasons, table, names).sort("why", *_ORDER)


def _known(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table without columns of a build that are null, as the pairs are of a table."""
    return table.drop(
        name
        for name in JUDGED_ITEMS.dtypes
        if name in table.columns and table.height and table[name].null_count() == table.height
    )


def _accuracy(
    items: pl.DataFrame, table: Judgements, names: Sequence[str], resampling: Resampling
) -> pl.DataFrame:
    labels = items["label"].to_numpy()[:, None]
    correct = np.where(table == NONE, NONE, table == labels).astype(np.int8)
    answered = correct != NONE
    n_answered = int(answered.any(axis=1).sum())
    accuracies = [
        accuracy_of(right[mask] == 1) for right, mask in zip(correct.T, answered.T, strict=True)
    ]
    accuracies.append(mean_accuracy(correct, _for_units(resampling, n_answered)))
    counts = [*answered.sum(axis=0).tolist(), n_answered]
    return score_table(
        [
            {"annotator": name, "n_instances": n} | estimate_columns("accuracy", estimate)
            for name, n, estimate in zip([*names, MEAN], counts, accuracies, strict=True)
        ]
    )


def _agreed(scale: Scale, items: pl.DataFrame, table: Judgements) -> pl.DataFrame:
    """Return the words with the same domain, or the pairs associated, in all their answers."""
    first, last = _ends(table)
    alike = first == last
    if scale is ASSOCIATION:
        return items.filter(alike & (first == ASSOCIATED)).drop("item_id").sort("term1", "term2")
    domain = pl.Series("domain", _named(scale, first), pl.String)
    return (
        items.select("word", domain, pl.exclude("item_id", "word"))
        .filter(pl.Series(alike), pl.col("domain") != AMBIGUOUS)
        .sort("word")
    )


def _contested(
    scale: Scale, items: pl.DataFrame, table: Judgements, names: Sequence[str]
) -> pl.DataFrame:
    """Return items with different answers, and instances whose answer contradicts the label."""
    lowest, highest = _ends(table)
    reasons = {"not unanimous": pl.Series(lowest != highest)}
    if scale is CONTEXT:
        labels = items["label"].to_numpy()
        reasons["contradicts the label"] = pl.Series((lowest != NONE) & (highest != labels))
        items = items.with_columns(pl.Series("label", _named(scale, labels)))
    listed = _disagreements(scale, items, reasons, table, names)
    return listed.sort(listed.columns[: -len(names)])


def _disagreements(
    scale: Scale,
    items: pl.DataFrame,
    reasons: Mapping[str, pl.Series],
    table: Judgements,
    names: Sequence[str],
) -> pl.DataFrame:
    """Return the items with a reason: the first one, what the table declares, and all answers."""
    _, *declared = SCORE_TABLES[scale.name]["disagreements"].columns  # without why
    why = pl.coalesce(pl.when(which).then(pl.lit(text)) for text, which in reasons.items())
    by_name = zip(names, table.T, strict=True)
    answers = {f"answer of {name}": _named(scale, column) for name, column in by_name}
    shown = items.select(why.alias("why"), *(name for name in declared if name in items.columns))
    return shown.hstack(pl.DataFrame(answers, dict.fromkeys(answers, pl.String))).drop_nulls("why")


def _ends(table: Judgements) -> tuple[Rows, Rows]:
    """Return the lowest and the highest answer to each unit."""
    answered = np.ma.masked_equal(table, NONE)
    return answered.min(axis=1).filled(NONE), answered.max(axis=1).filled(NONE)


def _named(scale: Scale, values: np.ndarray) -> list[str | None]:
    """Return values as the answers in files; None if missing."""
    return [None if value == NONE else scale.answers[value] for value in values.tolist()]
