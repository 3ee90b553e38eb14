"""Scores of answers to questions, and the results in sentences and tables for people."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl

from medsim.core.errors import counted
from medsim.core.printing import print_table, quoted, say_next, say_signs
from medsim.core.shown import number
from medsim.embeddings.replies import COUNTED
from medsim.kernels.types import Rows
from medsim.pages.sentences import ALPHA, accuracy_sentences, p_text
from medsim.questions.output import AFFIRMED, CHOSEN_KINDS, RESULTS, Answers
from medsim.questions.question import LETTERS
from medsim.questions.rules import RULES
from medsim.statistics.estimates import clustered_mean, defined, interval_of
from medsim.statistics.significance import against_best, marginal_homogeneity, mcnemar

_ALL = "all"
_GROUPS = {
    _ALL: pl.lit(_ALL),
    "tier": pl.col("tier"),
    "negatives": pl.col("negatives"),
    "difference": pl.col("kinds"),
    "answer": pl.col("right"),
}
_COUNTS = {
    "n_asked": pl.len(),
    "n_concepts": pl.col("concept1").n_unique(),
    "chance": pl.col("chance").mean(),
    **COUNTED,
}


def results_of(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of all models: ``RESULTS``.

    Args:
        answers: see ``medsim.questions.answers``.
    """
    rows = []
    for (input_, ask), asked in answers.group_by("input", "ask", maintain_order=True):
        models = asked.partition_by("model", maintain_order=True)
        accuracy = pl.col("is_correct").mean().alias("accuracy")
        compared = _compared(asked.group_by("model", maintain_order=True).agg(accuracy))
        correct = {model["model"][0]: model["is_correct"].to_numpy() for model in models}
        test = partial(mcnemar, clusters=_clusters(models[0]))
        p = against_best([correct[name] for name in compared], test)
        p_of = dict(zip(compared, p, strict=True))
        for whole in models:
            of_all = {"p": p_of.get(whole["model"][0]), "position_p": _position_p(whole)}
            for by, group in _GROUPS.items():
                grouped = whole.with_columns(group=pl.concat_list(group)).explode("group")
                grouped = grouped.drop_nulls("group").sort("group", maintain_order=True)
                for (name,), group_rows in grouped.group_by("group", maintain_order=True):
                    is_correct = group_rows["is_correct"].cast(pl.Float64).to_numpy()
                    estimate = clustered_mean(is_correct, _clusters(group_rows))
                    row = {"input": input_, "ask": ask, "model": whole["model"][0], "by": by}
                    row |= {"group": name} | interval_of(estimate, "accuracy")
                    row |= group_rows.select(**_COUNTS).row(0, named=True)
                    rows.append(row | of_all if by == _ALL else row)
    return pl.DataFrame(rows, RESULTS.dtypes)


LOOSE_KINDS = ("other", "category", "unrelated")
"""The kinds of wrong names and negatives that sentences leave out."""

_MIN_OFFERED = 30  # wrong names of a kind; of fewer a share is too uncertain
_ASKED = ("input", "ask")
_KINDS = {"difference": "differences", "relation": "relations"}


def chosen_of(answers: pl.DataFrame) -> pl.DataFrame:
    """Return how often models chose the wrong names of each kind: ``CHOSEN_KINDS``.

    Args:
        answers: see ``medsim.questions.answers``.
    """
    rows = []
    key = ("input", "ask", "model")
    for names, asked in answers.group_by(key, maintain_order=True):
        ask = names[1]
        offered = asked
        if ask == "choice":
            positions = pl.int_ranges(pl.col("choices").list.len())
            offered = asked.with_columns(position=positions).explode("position")
        affirmed = pl.col("name") == pl.col("choices").list.get(pl.col("position"))
        affirmed &= pl.lit(ask == "choice") | (pl.col("prediction") == "yes")
        wrong = offered.filter(pl.col("position") != pl.col("answer")).with_columns(
            affirmed.fill_null(value=False).cast(pl.Float64).alias("is_chosen")
        )
        for by, column in _KINDS.items():
            kinds = wrong.with_columns(kind=pl.col(column).list.get(pl.col("position")))
            kinds = kinds.drop_nulls("kind").sort("kind", maintain_order=True)
            for (kind,), of_kind in kinds.group_by("kind", maintain_order=True):
                is_chosen = of_kind["is_chosen"].to_numpy()
                row = dict(zip(key, names, strict=True)) | {"by": by, "kind": kind}
                row |= {"n_offered": len(is_chosen), "n_chosen": int(is_chosen.sum())}
                row |= interval_of(clustered_mean(is_chosen, _clusters(of_kind)), "share")
                rows.append(row | {"chance": None if ask == "pairs" else of_kind["chance"].mean()})
    return pl.DataFrame(rows, CHOSEN_KINDS.dtypes)


def _compared(accuracies: pl.DataFrame) -> list[str]:
    """Return the models, and of the rules of spelling only the first of the most accurate.

    Args:
        accuracies: model and accuracy.
    """
    is_rule = pl.col("model").is_in([*RULES])
    best = accuracies.filter(is_rule).sort("accuracy", descending=True, maintain_order=True)
    others = accuracies.filter(~is_rule)
    return [*others["model"], *best["model"].head(1)]


def _clusters(answers: pl.DataFrame) -> Rows:
    return answers["concept1"].rank("dense").cast(pl.Int64).to_numpy() - 1


def _position_p(answers: pl.DataFrame) -> float | None:
    """Return the p-value of position bias of a language model; None for others, and with pairs."""
    if answers["ask"][0] == "pairs" or not answers["verdict"].count():
        return None
    counts = np.zeros((len(LETTERS), len(LETTERS)), np.int64)
    for right, prediction in answers.select("right", "prediction").drop_nulls().iter_rows():
        counts[LETTERS.index(right), LETTERS.index(prediction)] += 1
    return defined(marginal_homogeneity(counts).p)


def affirmed_of(replies: pl.DataFrame) -> pl.DataFrame:
    """Return the wrong names that several language models affirm, or the only one: ``AFFIRMED``."""
    models = pl.col("model").unique().sort()
    return (
        replies.filter(~pl.col("is_correct"), pl.col("prediction") != "no")
        .group_by(pair=pl.concat_list("term", "name").list.sort())
        .agg(
            term1=pl.col("term").first(),
            term2=pl.col("name").first(),
            label=pl.lit(0, pl.Int8),
            n_models=models.len().cast(pl.Int64),
            models=models.str.join("|"),
            concept=pl.col("concept1").first(),
        )
        .filter(pl.col("n_models") >= min(replies["model"].n_unique(), 2))
        .select(*AFFIRMED.dtypes)
        .sort("n_models", "term1", "term2", descending=[True, False, False])
    )


def compared_rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of all questions, of the models and the best rule of each folder and ask."""
    groups = results.filter(by=_ALL).partition_by("input", "ask", maintain_order=True)
    return pl.concat(rows.filter(pl.col("model").is_in(_compared(rows))) for rows in groups)


def answer_sentences(results: pl.DataFrame) -> list[str]:
    """Return who leads, who is not better than guessing, and who has a position bias."""
    sentences = []
    for (name, ask), rows in compared_rows(results).group_by("input", "ask", maintain_order=True):
        item, guessing = ("question", "guessing") if ask == "choice" else ("pair", "always no")
        asked = f"the {counted(rows['n_asked'][0], item)} of {name}"
        sentences += accuracy_sentences(rows, asked, guessing)
        for rule, accuracy in rows.select("model", "accuracy").rows():
            if rule in RULES:
                right = f"{rule} is right most often ({number(accuracy, '.3f')})"
                sentences.append(f"Of the {len(RULES)} rules of spelling, {right}.")
        biased = rows.filter(pl.col("position_p") < ALPHA).select("model", "position_p")
        sentences += [f"{model} has a position bias (p {p_text(p)})." for model, p in biased.rows()]
    return sentences


def chosen_sentences(answers: Answers) -> list[str]:
    """Return which wrong names the most accurate model chose most often."""
    sentences = []
    whole = answers.results().filter(pl.col("by") == _ALL, ~pl.col("model").is_in([*RULES]))
    best = whole.sort("accuracy", descending=True).unique(_ASKED, maintain_order=True, keep="first")
    enough = pl.col("n_offered") >= _MIN_OFFERED
    chosen = answers.chosen().filter(enough, ~pl.col("kind").is_in(LOOSE_KINDS)).sort("share")
    for row in best.sort(_ASKED).iter_rows(named=True):
        of_best = chosen.filter(**{name: row[name] for name in (*_ASKED, "model")})
        kinds = of_best.sort("by").group_by("by", maintain_order=True).last()
        for by, kind, share, n_offered in kinds.select("by", "kind", "share", "n_offered").rows():
            verb = "chose" if row["ask"] == "choice" else "affirmed"
            named = f"wrong names of the kind {kind.replace('_', ' or ')}"
            often = f"most often: {share:.0%} of {n_offered:,}"
            sentences.append(f"By {by}, {row['model']} {verb} {named} {often}.")
    return sentences


def readable_results(results: pl.DataFrame) -> list[pl.DataFrame]:
    """Return a table of all questions, and accuracies by group of the models in comparisons."""
    whole = results.filter(by=_ALL).drop("by", "group", "n_concepts")
    compared = compared_rows(results)["model"].implode()
    parts = results.filter(pl.col("by") != _ALL, pl.col("model").is_in(compared))
    index = ["input", "ask", "by", "group", "n_asked"]
    return [whole, parts.pivot("model", index=index, values="accuracy")]


def print_answers(answers: Answers, form: str, options: Any) -> None:
    """Print the scores of answers to questions."""
    results = answers.results()
    opening = [*answer_sentences(results), *chosen_sentences(answers)]
    print_table(results, form, readable=readable_results, opening=opening)
    say_signs(options, form, "low, high: 95% confidence interval by concept; p: of differences")
    folder = quoted(answers.folder)
    say_next(
        options,
        f'for wrong names that models take for synonyms, run medsim sql {folder} "from affirmed"',
        f"for a report, run medsim report {folder} -o report.html",
    )
