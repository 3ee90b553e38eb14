"""Scores of answers to questions, and the results in sentences and tables for people."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.shown import MISSING, number, texts
from medsim.core.terms import lowered_column
from medsim.pages.sentences import (
    ALPHA,
    leader_sentence,
    ordered_differences,
    other_models,
    p_text,
)
from medsim.questions.options import ALWAYS_NO, BASELINES, CHANCE
from medsim.questions.output import AFFIRMED, COMPARISONS, RESULTS
from medsim.questions.reading import LETTERS
from medsim.statistics.estimates import Estimate, clustered_mean, defined, interval_of
from medsim.statistics.significance import holm, marginal_homogeneity, mcnemar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.kernels.types import Rows
    from medsim.questions.output import Answers

ALL, ACCURACY = "all", "accuracy"
_GROUPS = {
    ALL: pl.lit(ALL),
    "tier": pl.col("tier"),
    "negatives": pl.col("negatives"),
    "difference": pl.col("kinds"),
    "position": pl.when(ask="choice").then("right"),
}
_PARTS: Mapping[str, Mapping[str, pl.Expr | bool]] = {
    "choice": {ACCURACY: True},
    "pairs": {
        ACCURACY: True,
        "sensitivity": pl.col("is_right"),
        "specificity": ~pl.col("is_right"),
    },
}
_WITHOUT, _TOKENS = ("refused", "unclear"), ("prompt_tokens", "completion_tokens")
_SHARES = {"share_right": "right", "share_answers": "prediction"}
_IS_GUESS = pl.col("model").is_in([CHANCE, ALWAYS_NO])
_NAMED = 5  # models that a sentence names at most


def results_of(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of all models: ``RESULTS``.

    Args:
        answers: see ``medsim.questions.answers``.
    """
    rows: list[tuple[Any, ...]] = []
    keys = ("input", "ask", "model", "group")
    for by, group in _GROUPS.items():
        grouped = answers.with_columns(group=group)
        grouped = grouped.explode("group") if by == "difference" else grouped
        grouped = grouped.drop_nulls("group").sort("input", "ask", "group", maintain_order=True)
        for (input_, ask, model, name), part in grouped.group_by(keys, maintain_order=True):
            where, size = (input_, ask, model, by, name), (part.height, part["cluster"].n_unique())
            for statistic, is_in in _PARTS[str(ask)].items():
                scored = part.filter(is_in)
                estimate = clustered_mean(scored["credit"].to_numpy(), _clusters(scored))
                if model == CHANCE:
                    estimate = Estimate(value=estimate.value)
                rows.append((*where, statistic, *interval_of(estimate).values(), *size))
            if by == ALL and model not in BASELINES:
                totals = _totals(part).items()
                rows += [(*where, key, value, None, None, *size) for key, value in totals]
            if by == "position" and part["verdict"].count():  # of a language model
                whole = answers.drop_nulls("prediction").filter(input=input_, ask=ask, model=model)
                for key, column in _SHARES.items():
                    share = (whole[column] == name).mean()
                    rows.append((*where, key, share, None, None, *size))
    return pl.DataFrame(rows, RESULTS.dtypes, orient="row")


def _clusters(answers: pl.DataFrame) -> Rows:
    return answers["cluster"].rank("dense").cast(pl.Int64).to_numpy() - 1


def _totals(answers: pl.DataFrame) -> dict[str, Any]:
    """Return the statistics of all answers of a model, except scores."""
    totals: dict[str, Any] = {"not_answered": answers["prediction"].null_count()}
    if answers["verdict"].count():  # of a language model
        totals |= {name: answers.filter(verdict=name).height for name in _WITHOUT}
        totals |= {name: answers[name].sum() for name in _TOKENS}
        if answers["ask"][0] == "choice":
            given = answers.drop_nulls("prediction").group_by("right", "prediction").len()
            counts = np.zeros((len(LETTERS), len(LETTERS)), np.int64)
            for right, prediction, n in given.iter_rows():
                counts[LETTERS.index(right), LETTERS.index(prediction)] = n
            totals["position_p"] = defined(marginal_homogeneity(counts).p)
    return totals


def comparisons_of(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the paired differences between models: ``COMPARISONS``."""
    frames = [pl.DataFrame(schema=COMPARISONS.dtypes)]
    compared = answers.filter(~_IS_GUESS)
    for key, part in compared.group_by("input", "ask", maintain_order=True):
        models = part.partition_by("model", as_dict=True, maintain_order=True)
        rows = []
        for ((model1,), first), ((model2,), second) in combinations(models.items(), 2):
            correct1, correct2 = (one["is_correct"].to_numpy() for one in (first, second))
            test = mcnemar(correct1, correct2, _clusters(first))
            difference = float(correct1.mean() - correct2.mean())
            rows.append((*key, model1, model2, difference, test.p, None, first.height))
        frame = pl.DataFrame(rows, COMPARISONS.dtypes, orient="row")
        corrected = pl.Series(holm(frame["p"].to_numpy()))
        frames.append(
            frame.with_columns(pl.col("p").fill_nan(None), p_holm=corrected.fill_nan(None))
        )
    return pl.concat(frames)


def affirmed_of(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the wrong names that several language models affirm, or the only one: ``AFFIRMED``."""
    wrong = answers.drop_nulls("affirmed")
    lower1, lower2 = (lowered_column(wrong[name]) for name in ("term", "affirmed"))
    ends = pl.min_horizontal("lower1", "lower2"), pl.max_horizontal("lower1", "lower2")
    models = pl.col("model").unique(maintain_order=True)
    return (
        wrong.with_columns(lower1.alias("lower1"), lower2.alias("lower2"))
        .group_by(end1=ends[0], end2=ends[1])
        .agg(
            pl.col("term", "affirmed", "concept1", "negatives").first(),
            n_models=models.len().cast(pl.Int64),
            models=models.str.join("|"),
        )
        .filter(pl.col("n_models") >= min(answers["model"].n_unique(), 2))
        .with_columns(label=pl.lit(0, pl.Int8))
        .rename({"term": "term1", "affirmed": "term2", "concept1": "concept"})
        .select(*AFFIRMED.dtypes)
        .sort("n_models", "term1", "term2", descending=[True, False, False])
    )


def sentences_of(opened: Answers) -> list[str]:
    """Return who leads, who is not better than guessing, and which positions models prefer."""
    results, comparisons = (opened.read(table.files) for table in (RESULTS, COMPARISONS))
    sentences: list[str] = []
    for (name, ask), rows in results.group_by("input", "ask", maintain_order=True):
        whole = rows.filter(by=ALL)
        scores = whole.filter(statistic=ACCURACY)
        ranking = scores.filter(~_IS_GUESS).sort("value", descending=True, maintain_order=True)
        models, what = ranking["model"].to_list(), "questions" if ask == "choice" else "pairs"
        tests = comparisons.filter(input=name, ask=ask)
        differences = ordered_differences(models, tests, "model", "holm")
        place = f"the {ranking['n_asked'][0]:,} {what} of {name}"
        sentences.append(leader_sentence(ranking.to_dicts(), differences, place, ACCURACY))
        sentences += other_models(models[1:], differences, what)
        guess, value = scores.filter(_IS_GUESS).select("model", "value").row(0)
        if low := ranking.filter(pl.col("low") <= value)["model"].to_list():
            guessed = f"{guess.replace('_', ' ')} ({number(value, '.3f')})"
            sentences.append(f"Not significantly better than {guessed}: {listed(low, _NAMED)}.")
        none = whole.filter(pl.col("value") > 0, statistic="not_answered")
        for model, n in none.select("model", "value").iter_rows():
            asked = counted(int(n), what[:-1])
            sentences.append(f"{model} has no clear answer to {asked}, which count as wrong.")
        biased = whole.filter(pl.col("value") < ALPHA, statistic="position_p")
        for model, p in biased.select("model", "value").iter_rows():
            shares = rows.filter(by="position", model=model)
            table = shares.pivot("statistic", index="group", values="value")
            excess = pl.col("share_answers") - pl.col("share_right")
            most = table.sort(excess, descending=True).row(0, named=True)
            sentences.append(
                f"{model} prefers the position {most['group']}: it has "
                f"{most['share_answers']:.1%} of the answers and {most['share_right']:.1%} of the "
                f"right names (p {p_text(p)})."
            )
    return sentences


def readable_results(results: pl.DataFrame) -> Sequence[pl.DataFrame]:
    """Return a table of all questions for each way of asking, and accuracies by group."""
    value, low, high = (
        texts(results[name], lambda value: number(value, ".3f"))
        for name in ("value", "low", "high")
    )
    is_count = pl.col("statistic").is_in(["not_answered", *_WITHOUT, *_TOKENS])
    cell = pl.coalesce(
        pl.when(is_count).then(texts(results["value"], lambda value: f"{value:,.0f}")),
        pl.format("{} [{}, {}]", value, low, high),
        value,
    )
    shown = results.rename({"n_asked": "asked"}).with_columns(cell=cell)
    index = ["input", "ask", "asked"]
    frames = [
        rows.pivot("statistic", index=[*index, "model"], values="cell")
        for rows in shown.filter(by=ALL).partition_by("ask", maintain_order=True)
    ]
    of_groups = shown.filter(~pl.col("by").is_in([ALL, "position"]), statistic=ACCURACY)
    frames.append(of_groups.pivot("model", index=[*index, "by", "group"], values="cell"))
    chosen = shown.filter(pl.col("statistic").is_in([ACCURACY, *_SHARES]), by="position")
    chosen = chosen.filter((pl.col("statistic") == "share_answers").any().over("input", "model"))
    positions = chosen.sort("input", "model", maintain_order=True)
    frames.append(positions.pivot("statistic", index=["input", "model", "group"], values="cell"))
    return [frame.fill_null(MISSING) for frame in frames if frame.height]
