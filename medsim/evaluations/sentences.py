"""Results in a few sentences: which model leads, by how much, and which cannot be distinguished."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.shown import number
from medsim.evaluations.conclusions import ALPHA, embedding_standings, with_standing
from medsim.evaluations.options import CORRECTIONS
from medsim.evaluations.readable import MATCHED, hardest_first, p_text, set_name
from medsim.evaluations.sets import ALL, BASELINE, FEW, SET, with_enough_pairs
from medsim.evaluations.statistic import STATISTICS, tabulated_names
from medsim.pages.page import with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.evaluations.statistic import Statistic

Row: TypeAlias = dict[str, Any]

_NAMED = 3  # models that a sentence names at most


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired difference of the scores of two models, the higher minus the lower.

    Attributes:
        value: the difference, 0 or more.
        ends: the ends of its 95% confidence interval; None if there is none.
        p: the corrected p-value; None if it is not defined.
        is_only: whether it is the only comparison, so that p needs no correction.
    """

    value: float
    ends: tuple[float, float] | None
    p: float | None
    is_only: bool

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
        name = "p" if self.is_only else "corrected p"
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
        correction: of p-values, one of ``CORRECTIONS``.
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
        differences[names] = Difference(value, ends, p, is_only=tests.height == 1)
    return differences


def leader_sentence(
    ranking: Sequence[Row], differences: Differences, place: str, label: str
) -> str:
    """Return which model leads, by how much, or from which it cannot be distinguished.

    Args:
        ranking: model, value, low and high of each model, the best first.
        differences: see ``ordered_differences``; without them no model is said to lead.
        place: what the models are scored on, in a phrase after "on".
        label: of the score.
    """
    first, *others = ranking
    name, value = first["model"], with_interval(first)
    tests = {row["model"]: differences.get((name, row["model"])) for row in others}
    ties = [(other, test) for other, test in tests.items() if test and not test.is_significant]
    if not others:
        article = "an" if label[0] in "AEIOUaeiou" else "a"
        return f"On {place}, {name} has {article} {label} of {value}."
    second, lead = next(iter(tests.items()))
    if lead is None:
        other = f"{second} with {with_interval(others[0])}"
        end = "there is no paired comparison of the two"
        return f"On {place}, {name} has the highest {label}, {value}, before {other}; {end}."
    if ties:
        (near, test), *more = ties
        also = listed([other for other, _ in more], _NAMED)
        return (
            f"No model leads on {place}: {name} has the highest {label}, {value}, but cannot be "
            f"distinguished from {near} {test.bracketed}{also and f' or from {also}'}."
        )
    next_best = ", the next best" if len(others) > 1 else ""
    return f"{name} leads on {place}: its {label} is {value}, {lead.above} {second}{next_best}."


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
        clause = f"{only}{higher} and {lower} cannot be distinguished {difference.bracketed}"
    else:
        clause = (
            f"{len(ties)} of the {len(among)} comparisons of other models are not significant, "
            f"such as {higher} and {lower} {difference.bracketed}"
        )
    return [f"On the same {what}, {clause}."]


def result_sentences(
    best: pl.DataFrame,
    comparisons: pl.DataFrame,
    results: pl.DataFrame,
    correction: str = CORRECTIONS[0],
) -> list[str]:
    """Return who leads, by how much, and which embeddings cannot be distinguished.

    The sentences are about the most informative set of each statistic, see ``main_set``; for the
    first statistic with several sets they also say whether the others agree.

    Args:
        best: rows of ``best_metrics``, of any statistics, with or without the baseline.
        comparisons: ``COMPARISONS`` of the same embeddings at the same metrics; empty if they are
            not tested.
        results: ``RESULTS`` of the same embeddings, for the matched share.
        correction: of p-values, one of ``CORRECTIONS``.
    """
    sentences: list[str] = []
    of_others: list[str] = []
    compares_sets = False
    for statistic in map(STATISTICS.__getitem__, tabulated_names(best=True)):
        rows = with_standing(best.filter(statistic=statistic.name).drop_nulls("value"))
        every = with_enough_pairs(rows)
        rows = every.filter(pl.col("embedding") != BASELINE)
        if rows.is_empty():
            continue
        ranking = main_set(rows).rename({"embedding": "model"})
        names = ranking["model"].to_list()
        tests = comparisons.filter(pl.col("between") != "metrics", of=statistic.name)
        of_set, of_shares = (
            table.join(ranking.head(1).select(SET), on=SET, how="semi", nulls_equal=True)
            for table in (tests, results.filter(statistic="matched_share").drop_nulls("value"))
        )
        differences = ordered_differences(names, of_set, "embedding", correction)
        of_models = ranking.to_dicts()
        if not sentences:
            of_others = other_models(names[1:], differences, "pairs")
        sentences += [
            leader_sentence(of_models, differences, _place(of_models[0]), statistic.label),
            *_against_chance(of_models[0], statistic),
            *_below_baseline(of_models[0], every, statistic),
        ]
        sentences, of_others = [*sentences, *of_others], []
        if statistic.table == "headline":
            sentences += _against_baseline(names[0], of_set, correction)
            shares = [f"{share:.0%} of the positives" for share in of_shares["value"].head(1)]
            sentences += [f"{share} have a negative to compare with." for share in shares]
        elif not compares_sets:
            compares_sets = True
            significant = tests.filter(pl.col(f"p_{correction}") < ALPHA)
            if tests.height or len(names) == 1:
                sentences += _other_sets(rows, names, significant, statistic)
            sentences += _won_by_baseline(every, statistic)
    return sentences


def sample_sentences(options: Mapping[str, Any]) -> list[str]:
    """Return which sample an evaluation with these options scored; nothing if it scored all."""
    size = options.get("sample")
    if not isinstance(size, int):
        return []
    drawn = f"about {counted(size, 'positive')} of each dataset, or all if there are fewer"
    seed = options.get("seed")
    return [f"Builds were scored on a sample: {drawn}, with their negatives (seed {seed})."]


def _against_baseline(name: str, of_set: pl.DataFrame, correction: str) -> list[str]:
    """Return how far a model is above or below the best baseline of a set, if that is tested."""
    tests = of_set.filter(between=BASELINE).drop_nulls("difference")
    sentences = []
    for row in tests.filter(embedding1=name).iter_rows(named=True):
        ranking = (BASELINE, name) if row["difference"] < 0 else (name, BASELINE)
        difference = ordered_differences(ranking, tests, "embedding", correction)[ranking]
        baseline = f"the best baseline without a model, {row['metric2'].replace('_', ' ')}"
        of_baseline = f"{baseline} ({number(row['value2'], '.3f')})"
        if not difference.is_significant:
            sentence = f"{name} cannot be distinguished from {of_baseline} {difference.bracketed}."
        elif row["difference"] > 0:
            sentence = f"{name} is {difference.above} {of_baseline}."
        else:
            sentence = f"{baseline[0].upper()}{baseline[1:]}, is {difference.above} {name}."
        sentences.append(sentence)
    return sentences[:1]


def _below_baseline(leader: Row, every: pl.DataFrame, statistic: Statistic[Any]) -> list[str]:
    """Return which baseline is above all models on the set of the first; nothing if none is.

    The headline score is compared with its baseline in another sentence.
    """
    of_set = every.filter(pl.col(name).eq_missing(leader[name]) for name in SET)
    best = of_set.sort("value").row(-1, named=True)
    if statistic.table == "headline" or best["embedding"] != BASELINE:
        return []
    baseline = f"The best baseline without a model, {best['metric'].replace('_', ' ')},"
    return [f"{baseline} has a higher {statistic.label} there, {number(best['value'], '.3f')}."]


def _won_by_baseline(best: pl.DataFrame, statistic: Statistic[Any]) -> list[str]:
    """Return on how many of several sets a baseline is above every model; nothing if on none."""
    is_model = pl.col("embedding") != BASELINE
    of_sets = best.group_by(SET).agg(
        model=pl.col("value").filter(is_model).max(),
        baseline=pl.col("value").filter(~is_model).max(),
    )
    n_won = of_sets.filter(pl.col("baseline") > pl.col("model")).height
    if not n_won or of_sets.height == 1:  # the sentence on that set says so
        return []
    baseline = f"a baseline without a model has a higher {statistic.label} than every model"
    return [f"On {n_won} of {of_sets.height} sets {baseline}."]


def main_set(best: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the most informative set, best first.

    It is the largest of hard pairs with the nearest negatives, else the largest of all.
    """
    named = best.with_columns(name=set_name(best, with_kind=True))
    hardest = hardest_first(named["name"])[0]
    is_hard = pl.col("difficulty").eq_missing("hard") & pl.col("negatives").eq_missing(
        named.filter(name=hardest)["negatives"][0]
    )
    hard = named.filter(is_hard)
    rows = hard if hard.height else named
    largest = rows.sort("n_pairs", *SET, descending=[True, *[False] * len(SET)]).head(1)
    of_set = rows.join(largest.select(SET), on=SET, how="semi", nulls_equal=True)
    return of_set.sort("value", "embedding", descending=[True, False])


def _place(row: Row) -> str:
    """Return the set of a row as a phrase, with its number of pairs."""
    size = f"{row['n_pairs']:,}"
    few = "" if row["n_pairs"] >= FEW else " (too few for a conclusion)"
    if row["difficulty"] is None:
        return f"the {size} rated pairs of {row['name']}{few}"
    if row["difficulty"] == ALL:
        return f"{row['dataset']} ({row['input']}), {MATCHED}{few}"
    negatives = row["negatives"].replace("levenshtein", "Levenshtein")
    return (
        f"the {size} {row['difficulty']} pairs of {row['dataset']} ({row['input']}) with "
        f"{negatives} negatives{few}"
    )


def _against_chance(row: Row, statistic: Statistic[Any]) -> list[str]:
    """Return how a value compares with chance; nothing if it is above, or has no interval."""
    chance = 0.0 if statistic.chance is None else statistic.chance
    if row["low"] is None or row["low"] > chance:
        return []
    label = statistic.label if "'s" in statistic.label else f"The {statistic.label}"
    value = f"{label} of {row['model']}"
    if row["high"] >= chance:
        return [f"{value} is not significantly different from chance ({chance:g})."]
    if statistic.chance is None:
        return [f"{value} is negative: it ranks pairs against the ratings."]
    return [f"{value} is below chance ({chance:g}): negatives are more similar than positives."]


def _other_sets(
    rows: pl.DataFrame, names: Sequence[str], significant: pl.DataFrame, statistic: Statistic[Any]
) -> list[str]:
    """Return whether other sets agree with the order of models; nothing if there are none.

    ``significant`` has the significant comparisons on all sets.
    """
    n_sets = rows.select(SET).n_unique()
    if n_sets == 1:
        return []
    enough = f" with at least {FEW} pairs" if (rows["n_pairs"] >= FEW).all() else ""
    sets = f"{n_sets} sets{enough}"
    standings = embedding_standings(rows).to_dicts()
    if len(names) == 1:
        lowest, *_, highest = map(with_interval, rows.sort("value").to_dicts())
        values = f"from {lowest} to {highest}; the mean is {number(standings[0]['mean'], '.3f')}"
        return [f"Over {sets} its {statistic.label} ranges {values}."]
    n_best = {row["embedding"]: row["n_among_best"] for row in standings}
    most, leader = standings[0]["embedding"], names[0]
    is_leader = pl.col("among_best") & (pl.col("among_best").sum().over(SET) == 1)
    n_leads = rows.filter(is_leader, embedding=leader).height
    share = f"each of the {sets}" if n_leads == n_sets else f"{n_leads or 'none'} of {sets}"
    n_reversed = _reversed_sets(rows, names, significant)
    if names[1:] == names[-1:]:  # two models
        worse = "" if n_leads == n_sets else f", and significantly worse on {n_reversed or 'none'}"
        return [f"{leader} is significantly better than {names[1]} on {share}{worse}."]
    also = f", {most} on {n_best[most]}" if n_best[most] > n_best[leader] else ""
    among = "" if n_leads == n_sets else f" and is among the best on {n_best[leader]}{also}"
    reverse = "set significantly reverses" if n_reversed <= 1 else "sets significantly reverse"
    agree = f"{n_reversed or 'No'} {reverse} the order of two models."
    return [f"{leader} leads on {share}{among}.", agree]


def _reversed_sets(rows: pl.DataFrame, names: Sequence[str], significant: pl.DataFrame) -> int:
    """Return the number of sets with a significant difference against the order of models."""
    place = {name: at for at, name in enumerate(names)}
    first, second = (
        pl.col(side).replace_strict(place, default=None, return_dtype=pl.Int64)
        for side in ("embedding1", "embedding2")
    )
    is_reversed = (first - second).sign() * pl.col("difference").sign() > 0
    sets = rows.select(SET).unique()
    reversed_sets = significant.filter(is_reversed).select(SET).unique()
    return reversed_sets.join(sets, on=SET, how="semi", nulls_equal=True).height
