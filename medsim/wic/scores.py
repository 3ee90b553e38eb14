"""Accuracies of models on every part of a benchmark, and differences between models."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
import polars.selectors as cs

from medsim.core.errors import counted, listed
from medsim.core.shown import MISSING, number
from medsim.evaluations.scoring import columns_of
from medsim.pages.page import with_interval
from medsim.pages.sentences import leader_sentence, ordered_differences, other_models
from medsim.statistics.bca import accuracy_of
from medsim.statistics.estimates import defined, interval_of
from medsim.statistics.significance import mcnemar_of_runs
from medsim.wic import GROUPS
from medsim.wic.dataset import SEEN
from medsim.wic.models import RANDOM
from medsim.wic.output import COMPARISONS, PREDICTIONS, RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medsim.core.kinds import Columns
    from medsim.kernels.types import FlagTable
    from medsim.wic.dataset import WicDataset
    from medsim.wic.models import ModelAnswers


HUMAN = "human"
"""The name of people in comparisons with models."""

_NAMED = 5  # models that a sentence names at most
_CHANCE = {"chance": 0.5}  # the accuracy of random answers if half of the labels are True

ALL = "all"
ACCURACY, DEVIATION, THRESHOLD = "accuracy", "deviation", "threshold"

_REPLY_LABELS = {
    "refused": "refused",
    "unclear": "unclear",
    "prompt_tokens": "tokens in",
    "completion_tokens": "tokens out",
}

_Row: TypeAlias = dict[str, str | int | float | bool | None]

_PARTS = (*GROUPS, *SEEN)
WHY_MISSING = {
    "over seeds": "a model is fitted from one seed, or not fitted",
    **dict.fromkeys(_REPLY_LABELS.values(), "a model is not a language model"),
    "p": "no test is possible",
    "p (Holm)": "no test is possible",
}
"""Reasons for missing values in columns: a clause after "where"."""


def predictions_of(
    dataset: WicDataset, answers: Mapping[str, Sequence[ModelAnswers]]
) -> pl.DataFrame:
    """Return a row per model, seed and instance: ``PREDICTIONS``."""
    tested = dataset.tested
    fold_of = np.zeros(dataset.instances.height, np.int32)
    for round_ in dataset.rounds:
        fold_of[round_.test] = round_.fold or 0
    instances = dataset.instances[tested].select(
        pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("instance"),
        "cat",
        pl.Series("seen_terms", dataset.seen_terms(), pl.Int8),
        "label",
        pl.Series("fold", fold_of[tested]).replace(0, None),
    )
    frames = [
        instances.with_columns(
            pl.lit(name).alias("model"),
            pl.Series("prediction", run.positive[tested].astype(np.int8)),
            pl.Series("score", run.scores[tested]).fill_nan(None),
            pl.Series("covered", run.covered[tested]),
            pl.lit(run.seed, pl.Int64).alias("seed"),
        )
        for name, runs in answers.items()
        for run in runs
    ]
    return pl.concat(frames).select(list(PREDICTIONS.dtypes)).cast(pl.Schema(PREDICTIONS.dtypes))


def results_of(
    dataset: WicDataset, predictions: pl.DataFrame, answers: Mapping[str, Sequence[ModelAnswers]]
) -> pl.DataFrame:
    """Return accuracies of every model, and its thresholds: ``RESULTS``.

    They are on all instances, on groups, and on instances with seen or unseen terms (``SEEN``); a
    subset without instances has no row.
    """
    rows: list[_Row] = []
    for name, runs in answers.items():
        model_predictions = predictions.filter(model=name)
        for subset, part in _subsets(model_predictions):
            correct = _correct(part)
            of_part: _Row = {
                "model": name,
                "subset": subset,
                "n_instances": correct.shape[1],
                "n_uncovered": int((~part["covered"]).sum()) // len(correct),
            }
            rows.append(of_part | {"statistic": ACCURACY, **interval_of(accuracy_of(correct))})
            if len(correct) > 1:
                deviation = float(correct.mean(axis=1).std(ddof=1))
                rows.append(of_part | {"statistic": DEVIATION, "value": deviation})
        for run in runs:
            for round_, threshold in zip(dataset.rounds, run.thresholds.tolist(), strict=False):
                parts = {"seed": run.seed if len(runs) > 1 else None, "fold": round_.fold}
                names = [f"{part} {n}" for part, n in parts.items() if n is not None]
                of_round: _Row = {
                    "model": name,
                    "subset": ", ".join(names) or ALL,
                    "n_instances": len(round_.test),
                }
                rows.append(of_round | {"statistic": THRESHOLD, "value": defined(threshold)})
        if (replies := runs[0].replies) is not None:
            verdicts = replies["verdict"].to_list()
            of_all: _Row = {"model": name, "subset": ALL, "n_instances": replies.height}
            for statistic in _REPLY_LABELS:
                is_verdict = statistic in {"refused", "unclear"}
                total = verdicts.count(statistic) if is_verdict else replies[statistic].sum()
                rows.append(of_all | {"statistic": statistic, "value": float(total)})
    return _table(dataset, rows, RESULTS.dtypes)


def comparisons_of(
    dataset: WicDataset, predictions: pl.DataFrame, people: float | None
) -> pl.DataFrame:
    """Return the differences between models, people and chance: ``COMPARISONS``.

    Two models are compared by McNemar's test on the same instances, over all their seeds, with
    p-values corrected for the number of pairs of models. If the accuracy of people is None, there
    are no comparisons with it.
    """
    references = ({} if people is None else {HUMAN: people}) | _CHANCE
    by_model = predictions.group_by("model", maintain_order=True)
    correct = {str(name): _correct(part) for (name,), part in by_model}
    rows = [*_between_models(correct), *_from_references(correct, references)]
    return _table(dataset, rows, COMPARISONS.dtypes)


def _between_models(correct: Mapping[str, FlagTable]) -> Iterator[_Row]:
    pairs = list(combinations(correct, 2))
    tests = [mcnemar_of_runs(correct[model1], correct[model2]) for model1, model2 in pairs]
    for (model1, model2), columns in zip(pairs, columns_of(tests), strict=True):
        first, second = float(correct[model1].mean()), float(correct[model2].mean())
        yield {
            "between": "models",
            "model1": model1,
            "model2": model2,
            "accuracy1": first,
            "accuracy2": second,
            "difference": first - second,
            **columns,
            "n_instances": correct[model1].shape[1],
        }


def _from_references(
    correct: Mapping[str, FlagTable], references: Mapping[str, float]
) -> Iterator[_Row]:
    for name, flags in correct.items():
        accuracy = accuracy_of(flags)
        for reference, value in references.items():
            low, high = accuracy.low - value, accuracy.high - value
            yield {
                "between": "reference",
                "model1": name,
                "model2": reference,
                "accuracy1": accuracy.value,
                "accuracy2": value,
                "difference": accuracy.value - value,
                "low": defined(low),
                "high": defined(high),
                "within": None if math.isnan(low) else low <= 0 <= high,
                "n_instances": flags.shape[1],
            }


def _subsets(predictions: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the non-empty subsets of a model's predictions, by name."""
    yield ALL, predictions
    by_group = {name: pl.col("cat") == name for name in GROUPS}
    by_terms = {name: pl.col("seen_terms").is_in(numbers) for name, numbers in SEEN.items()}
    for name, is_in in (by_group | by_terms).items():
        if (part := predictions.filter(is_in)).height:
            yield name, part


def _correct(predictions: pl.DataFrame) -> FlagTable:
    """Return a mask of a model's right answers: bool[n_seeds, n_instances]."""
    n_seeds = predictions["seed"].n_unique()
    right = predictions["prediction"] == predictions["label"]
    return right.to_numpy().reshape(n_seeds, -1)


def _table(dataset: WicDataset, rows: list[_Row], columns: Columns) -> pl.DataFrame:
    return pl.DataFrame([{"data": dataset.name, **row} for row in rows], schema=columns)


def accuracy_sentences(results: pl.DataFrame, comparisons: pl.DataFrame) -> list[str]:
    """Return which model leads on all instances, by how much, and which cannot be distinguished.

    Args:
        results: ``RESULTS``.
        comparisons: ``COMPARISONS``.
    """
    quoted = cs.starts_with("model").str.replace("(.*)", "“$1”")  # a name may be a common word
    results, comparisons = (frame.with_columns(quoted) for frame in (results, comparisons))
    whole = results.filter(statistic=ACCURACY, subset=ALL)
    ranking = whole.sort("value", "model", descending=[True, False])
    names = ranking["model"].to_list()
    tests = comparisons.filter(between="models").drop("low", "high")
    differences = ordered_differences(names, tests, "model", "holm")
    place = f"the {counted(ranking['n_instances'][0], 'instance')}"
    sentences = [
        leader_sentence(ranking.to_dicts(), differences, place, ACCURACY),
        *other_models(names[1:], differences, "instances"),
    ]
    for row in comparisons.filter(model1=names[0], model2=f"“{HUMAN}”").iter_rows(named=True):
        difference = with_interval({**row, "value": row["difference"]})
        people = f"human accuracy ({row['accuracy2']:.3f})"
        sentences.append(f"{names[0]} differs from {people} by {difference}.")
    fitted = ranking.filter(pl.col("model") != f"“{RANDOM}”")["value"]
    if len(fitted) > 2:  # noqa: PLR2004 — else the table says it
        names_of = ("min", "mean", "median", "max")
        values = ", ".join(f"{name} {getattr(fitted, name)():.3f}" for name in names_of)
        without = "" if len(fitted) == len(names) else f" except {RANDOM}"
        sentences.append(f"Over all models{without}: {values}.")
    at_chance = ranking.filter(pl.col("low") <= _CHANCE["chance"])["model"].to_list()
    if at_chance:
        sentences.append(
            f"Not significantly better than chance (0.5): {listed(at_chance, _NAMED)}."
        )
    return sentences


def readable_accuracies(results: pl.DataFrame, people: float | None = None) -> pl.DataFrame:
    """Return accuracies for reading: a row per model, a column per subset of the benchmark.

    The accuracy on all instances has its 95% confidence interval, and if human accuracy is known,
    its difference, with ≈ if the interval includes it. With several seeds, a column has the
    standard deviation over them. Language models have columns for unclear replies and for tokens.
    Subsets without instances have no column.
    """
    accuracies = results.filter(statistic=ACCURACY)
    whole_only = results.filter(pl.col("statistic") != ACCURACY, subset=ALL)
    of_seeds = dict(whole_only.filter(statistic=DEVIATION).select("model", "value").rows())
    parts = [part for part in _PARTS if part in accuracies["subset"]]
    table = []
    for (model,), model_rows in accuracies.group_by("model", maintain_order=True):
        by_part = {row["subset"]: row for row in model_rows.iter_rows(named=True)}
        whole = by_part[ALL]
        cells = {part.replace("_", " "): f"{by_part[part]['value']:.3f}" for part in parts}
        accuracy = f"{whole['value']:.3f}"
        if whole["low"] is not None:
            accuracy += f" [{whole['low']:.3f}, {whole['high']:.3f}]"
        row = {"model": model, "accuracy": accuracy}
        if of_seeds:
            row["over seeds"] = f"± {of_seeds[model]:.3f}" if model in of_seeds else MISSING
        if people is not None:
            is_near = whole["low"] is not None and whole["low"] <= people <= whole["high"]
            row["to people"] = f"{'≈ ' if is_near else ''}{number(whole['value'] - people, '+.3f')}"
        values = dict(whole_only.filter(model=model).select("statistic", "value").iter_rows())
        columns = [(name, label) for name, label in _REPLY_LABELS.items() if name in values]
        replies = {label: f"{values[name]:,.0f}" for name, label in columns}
        table.append(row | cells | replies)
    labels = [label for label in _REPLY_LABELS.values() if any(label in row for row in table)]
    rows = [row | {label: row.get(label, MISSING) for label in labels} for row in table]
    return pl.DataFrame(rows, infer_schema_length=None)


def readable_comparisons(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Return comparisons of models for reading: McNemar's p-values with Holm's correction."""
    between = comparisons.filter(between="models")
    return pl.DataFrame(
        {
            "model": between["model1"],
            "other": between["model2"],
            "difference": [number(value, "+.3f") for value in between["difference"]],
            "p": [_p(value) for value in between["p"]],
            "p (Holm)": [_p(value) for value in between["p_holm"]],
        },
        schema_overrides=dict.fromkeys(("difference", "p", "p (Holm)"), pl.String),
    )


def _p(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:.3f}" if value >= 0.001 else "<0.001"  # noqa: PLR2004 — three digits
