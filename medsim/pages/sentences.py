"""Sentences on models: which leads, by how much, and which cannot be distinguished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from medsim.core.errors import listed
from medsim.core.shown import number
from medsim.pages.page import with_interval

Row: TypeAlias = dict[str, Any]

ALPHA = 0.05
"""The level of significance."""

_MIN_P = 0.001  # smaller values are not written out
_NAMED = 3  # models that a sentence names at most


def p_text(p: float) -> str:
    """Return the end of a statement on a p-value: "= 0.012", or "< 0.001" if it is smaller."""
    return f"< {_MIN_P}" if p < _MIN_P else f"= {number(p, '.3f')}"


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired difference of the scores of two models, the higher minus the lower.

    Attributes:
        value: the difference, 0 or more.
        ends: the ends of its 95% confidence interval; None if there is none.
        p: the corrected p-value; None if it is not defined.
        is_corrected: whether the correction changed it.
    """

    value: float
    ends: tuple[float, float] | None
    p: float | None
    is_corrected: bool

    @property
    def is_significant(self) -> bool:
        """Whether the models differ significantly."""
        return self.value > 0 and self.p is not None and self.p < ALPHA

    @property
    def above(self) -> str:
        """The difference as the beginning of a clause: "0.041 (95% CI …, p = …) above"."""
        return f"{number(self.value, '.3f')} ({', '.join(self._certainty)}) above"

    @property
    def bracketed(self) -> str:
        """The difference in brackets."""
        return f"(difference {', '.join([number(self.value, '.3f'), *self._certainty])})"

    @property
    def _certainty(self) -> list[str]:
        ends = self.ends and " to ".join(number(end, ".3f") for end in self.ends)
        name = "corrected p" if self.is_corrected else "p"
        p = "no significance test" if self.p is None else f"{name} {p_text(self.p)}"
        return [f"95% CI {ends}", p] if ends else [p]


Differences: TypeAlias = "Mapping[tuple[str, str], Difference]"
"""Differences by the names of both models, the higher first."""


def ordered_differences(
    ranking: Sequence[str], tests: pl.DataFrame, compared: str, correction: str
) -> Differences:
    """Return the differences of models from a table of comparisons.

    Args:
        ranking: names of models, the best first.
        tests: the comparisons on one set, with difference, the corrected p-value and, if there are
            intervals, low and high; those with other names are only counted.
        compared: the column of a model without its number, such as "embedding".
        correction: of p-values, bonferroni or holm.
    """
    differences = {}
    for row in tests.drop_nulls("difference").iter_rows(named=True):
        names, value = (row[f"{compared}1"], row[f"{compared}2"]), row["difference"]
        if not {*names} <= {*ranking}:
            continue  # of a baseline
        ends = None if row.get("low") is None else (row["low"], row["high"])
        if ranking.index(names[0]) > ranking.index(names[1]):
            names, value, ends = names[::-1], -value, ends and (-ends[1], -ends[0])
        p = row[f"p_{correction}"]
        differences[names] = Difference(value, ends, p, is_corrected=p != row["p"])
    return differences


def is_above(row: Row, chance: float) -> bool:
    """Return whether a value is above chance, with its whole interval if it has one."""
    return bool((row["value"] if row["low"] is None else row["low"]) > chance)


def leader_sentence(
    ranking: Sequence[Row],
    differences: Differences,
    scored_on: str,
    label: str,
    chance: str = "chance",
) -> str:
    """Return which model leads, by how much, or from which it cannot be distinguished.

    Args:
        ranking: model, value, low and high of each model, the best first, and chance if the score
            has a value by chance. No model leads if none is above it.
        differences: see ``ordered_differences``; without them no model is said to lead.
        scored_on: what the models are scored on, in a phrase after "on".
        label: of the score.
        chance: what has the value by chance.
    """
    first, *others = ranking
    name, value = first["model"], with_interval(first)
    tests = {row["model"]: differences.get((name, row["model"])) for row in others}
    ties = [(other, test) for other, test in tests.items() if test and not test.is_significant]
    if not others:
        article = "an" if label[0] in "AEIOUaeiou" else "a"
        return f"On {scored_on}, {name} has {article} {label} of {value}."
    second, lead = next(iter(tests.items()))
    if lead is None:
        other = f"{second} with {with_interval(others[0])}"
        end = "the two were not compared"
        return f"On {scored_on}, {name} has the highest {label}, {value}, before {other}; {end}."
    by_chance = first.get("chance")
    leads = by_chance is None or any(is_above(row, by_chance) for row in ranking)
    lacks = "leads" if leads else f"is significantly better than {chance} ({by_chance:.3g})"
    highest = f"No model {lacks} on {scored_on}: {name} has the highest {label}, {value}"
    if ties:
        (near, test), *more = ties
        also = listed([other for other, _ in more], _NAMED)
        near = f"{near} {test.bracketed}{also and f' or from {also}'}"
        return f"{highest}, but cannot be distinguished from {near}."
    next_best = ", the next best" if len(others) > 1 else ""
    highest = f"{name} leads on {scored_on}: its {label} is {value}" if leads else highest
    return f"{highest}, {lead.above} {second}{next_best}."


def p_shown(*columns: str) -> pl.Expr:
    """Return p-values as in sentences, such as "< 0.001" and "0.012"."""
    return pl.col(*columns).map_elements(lambda p: p_text(p).removeprefix("= "), pl.String)


def accuracy_sentences(
    results: pl.DataFrame, scored_on: str, guessing: str = "guessing"
) -> list[str]:
    """Return which model is the most accurate, and which are not better than guessing.

    Args:
        results: a row per model: model, accuracy, low, high, chance, and p, the corrected p-value
            of the difference from the highest accuracy.
        scored_on: see ``leader_sentence``.
        guessing: the answers without a model whose accuracy is chance.
    """
    ranked = results.rename({"accuracy": "value"})
    ranked = ranked.sort("value", descending=True, maintain_order=True)
    best, *others = ranked.to_dicts()
    differences = {}
    for row in others:
        value = best["value"] - row["value"]
        test = Difference(value, None, row["p"], is_corrected=len(others) > 1)
        differences[best["model"], row["model"]] = test
    ranking = [best, *others]
    sentences = [leader_sentence(ranking, differences, scored_on, "accuracy", guessing)]
    low = [row["model"] for row in ranking if not is_above(row, row["chance"])]
    if low and (len(low) < len(ranking) or not others):  # else the first sentence says so
        chance = f"{guessing} ({number(best['chance'], '.3f')})"
        sentences.append(f"Not significantly better than {chance}: {listed(low, 5)}.")
    return sentences


def other_models(names: Sequence[str], differences: Differences, what: str) -> list[str]:
    """Return a sentence on the differences among models after the first; none with fewer than two.

    Args:
        names: of these models, the best first.
        differences: see ``ordered_differences``.
        what: the items that they are scored on, such as "pairs".
    """
    among = {key: test for key, test in differences.items() if {*key} <= {*names}}
    if not among:
        return []
    in_order = sorted(among, key=lambda key: (names.index(key[0]), names.index(key[1])))
    ties = [key for key in in_order if not among[key].is_significant]
    higher, lower = (ties or in_order)[0]
    difference = among[higher, lower]
    if not ties and len(among) == 1:
        clause = f"{higher} is {difference.above} {lower}"
    elif not ties:
        clause = "the other models all differ significantly from each other"
    elif len(ties) == 1:
        only = "" if len(among) == 1 else "of the other models only "
        clause = f"{only}{higher} and {lower} cannot be distinguished from each other "
        clause += difference.bracketed
    else:
        clause = (
            f"{len(ties)} of the {len(among)} comparisons of other models are not significant, "
            f"such as {higher} and {lower} {difference.bracketed}"
        )
    return [f"On the same {what}, {clause}."]
