"""Results in a few sentences: which model leads, by how much, and which cannot be distinguished."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from medsim.core.config import MINIMAL
from medsim.core.errors import counted
from medsim.core.shown import number
from medsim.evaluations import sets
from medsim.evaluations.conclusions import embedding_standings, with_standing
from medsim.evaluations.options import CORRECTIONS
from medsim.evaluations.readable import hardest_first, set_name
from medsim.evaluations.statistic import BASELINE, STATISTICS, Statistic, tabulated_names
from medsim.pages.page import with_interval
from medsim.pages.sentences import Row, leader_sentence, ordered_differences, other_models
from medsim.questions.scores import LOOSE_KINDS


def result_sentences(
    best: pl.DataFrame,
    comparisons: pl.DataFrame,
    correction: str = CORRECTIONS[0],
) -> list[str]:
    """Return who leads, by how much, and which embeddings cannot be distinguished.

    The sentences are about the most informative set of each statistic, see ``main_set``; for the
    first statistic with several sets they also say whether the others agree.

    Args:
        best: rows of ``best_metrics``, of any statistics, with or without the baseline.
        comparisons: ``SET_COMPARISONS`` of the same embeddings at the same metrics; empty if they
            are not tested.
        correction: of p-values, one of ``CORRECTIONS``.
    """
    sentences: list[str] = []
    compares_sets = False
    for statistic in map(STATISTICS.__getitem__, tabulated_names(best=True)):
        n_min = 1 if statistic.table == "headline" else 0
        scored = best.filter(pl.col("n_pairs") >= n_min, statistic=statistic.name)
        rows = with_standing(scored.drop_nulls("value"))
        every = sets.with_enough_pairs(sets.of_synonyms(rows))
        rows = every.filter(pl.col("embedding") != BASELINE)
        if rows.is_empty():
            continue
        tests = comparisons.filter(pl.col("between") != "metrics", of=statistic.name)
        if statistic.table == "headline":
            for build in rows["input"].unique(maintain_order=True):
                sentences += _of_main_set(every.filter(input=build), tests, statistic, correction)
            continue
        sentences += _of_main_set(every, tests, statistic, correction, others=not sentences)
        if not compares_sets:
            compares_sets = True
            names = main_set(rows)["embedding"].to_list()
            if tests.height or len(names) == 1:
                sentences += _other_sets(rows, names, statistic)
            sentences += _won_by_baseline(every, statistic)
    return _named_once(sentences, f" ({sets.HEADLINE_DATASET})")


def _named_once(sentences: Iterable[str], name: str) -> list[str]:
    """Return sentences with a name in the first that has it."""
    first, *others = re.split(f"(?<={re.escape(name)})", "\n".join(sentences), maxsplit=1)
    return "".join([first, *(other.replace(name, "") for other in others)]).splitlines()


def _of_main_set(
    every: pl.DataFrame,
    tests: pl.DataFrame,
    statistic: Statistic[Any],
    correction: str,
    *,
    others: bool = True,
) -> list[str]:
    """Return the sentences on the most informative set of a statistic.

    ``every`` are the rows of embeddings and baselines; with ``others`` there is a sentence on the
    embeddings after the first.
    """
    is_headline = statistic.table == "headline"
    ranking = main_set(every.filter(pl.col("embedding") != BASELINE)).rename({"embedding": "model"})
    names = ranking["model"].to_list()
    of_set = sets.in_sets_of(tests, ranking.head(1))
    differences = ordered_differences(names, of_set, "embedding", correction)
    chance, what = statistic.chance or 0.0, "chance"
    of_models = ranking.with_columns(chance=pl.lit(chance)).to_dicts()
    against = _against_chance(of_models, statistic)
    baselines = sets.in_sets_of(every, ranking.head(1))
    for metric, value in baselines.filter(embedding=BASELINE).select("metric", "value").rows():
        if value > max(chance, of_models[0]["value"]):
            what = f"the baseline {metric.replace('_', ' ')}"
            of_models = ranking.with_columns(chance=pl.lit(value)).to_dicts()
            if not (names[1:] or is_headline):
                above = f"T{what[1:]} has a higher {statistic.label} there, {number(value, '.3f')}."
                against = [above, *against]
    return [
        leader_sentence(of_models, differences, _place(of_models[0]), statistic.label, what),
        *against,
        *(other_models(names[1:], differences, "pairs") if others else []),
        *(_against_baseline(names[0], of_set, correction) if is_headline else []),
    ]


_CONFUSES = {
    "difference": "{place}{model} confuses names that differ in {kind} most: a synonym is nearer "
    "than such a name in {share} of cases{interval}.",
    "relation": "{place}{model} finds a synonym nearer than a name of {kind} in {share} of "
    "cases{interval}.",
    "rung": "{place}{model} finds a synonym nearer than a parent in {share} of cases, over all "
    "children{interval}.",
}
_KINDS = {
    "roman": "a Roman numeral",
    "opposite": "opposite words",
    "code": "a sign or code",
    "parent_child": "a parent or child",
    "ancestor": "an ancestor or descendant",
}


def confusion_sentences(results: pl.DataFrame) -> list[str]:
    """Return what the best embedding on each build confuses most.

    Args:
        results: ``SET_RESULTS`` on all pairs.
    """
    models = results.filter(pl.col("embedding") != BASELINE).drop_nulls("value")
    models = models.sort("input", "value", "embedding", descending=[False, False, True])
    sentences = []
    n_builds = models["input"].n_unique()
    for (build,), rows in models.group_by("input", maintain_order=True):
        place = f"On {build}, " if n_builds > 1 else ""
        leader = rows.filter(statistic=sets.HEADLINE)["embedding"].tail(1)
        of_leader = rows.filter(pl.col("embedding").is_in(leader.implode()))
        is_such = pl.col("statistic") == sets.CONFUSIONS[0]
        is_such |= (pl.col("statistic") == sets.LADDER[0]) & (pl.col("negatives") == sets.RUNGS[1])
        parts = sets.with_parts(of_leader.filter(is_such))
        covers = 2 * pl.col("n_covered") >= pl.col("n_pairs")  # of others 0.5 is mostly a guess
        parts = parts.filter(covers, ~pl.col("part_value").is_in(LOOSE_KINDS))
        exact = pl.col("negatives") == MINIMAL  # there are more of these
        parts = parts.filter(exact | ~exact.any().over("part"))
        for part, sentence in _CONFUSES.items():
            for row in parts.filter(part=part).head(1).iter_rows(named=True):
                kind = _KINDS.get(row["part_value"], f"a {row['part_value'].replace('_', ' ')}")
                value, *ends = (row[name] for name in ("value", "low", "high"))
                interval = " (95% CI {:.0%} to {:.0%})".format(*ends) if None not in ends else ""
                said = sentence.format(
                    place=place,
                    model=row["embedding"],
                    kind=kind,
                    share=f"{value:.0%}",
                    interval=interval,
                )
                sentences.append(said)
    return sentences


def sample_sentences(options: Mapping[str, Any]) -> list[str]:
    """Return which sample an evaluation with these options scored; nothing if it scored all."""
    size = options.get("sample")
    if not isinstance(size, int):
        return []
    drawn = f"{counted(size, 'positive')} of each dataset, or all if there are fewer"
    seed = options.get("seed")
    return [f"Builds were scored on a sample of {drawn}, with their negatives (seed {seed})."]


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


def _won_by_baseline(best: pl.DataFrame, statistic: Statistic[Any]) -> list[str]:
    """Return on how many of several sets a baseline is above every model; nothing if on none."""
    is_model = pl.col("embedding") != BASELINE
    of_sets = best.group_by(sets.SET).agg(
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
    largest = rows.sort("n_pairs", *sets.SET, descending=[True, *[False] * len(sets.SET)]).head(1)
    return sets.in_sets_of(rows, largest).sort("value", "embedding", descending=[True, False])


def _place(row: Row) -> str:
    """Return the set of a row as a phrase, with its number of pairs."""
    size = f"{row['n_pairs']:,}"
    few = "" if row["n_pairs"] >= sets.FEW else " (too few for a conclusion)"
    if row["difficulty"] is None:
        return f"the {size} rated pairs of {row['name']}{few}"
    if row["difficulty"] == sets.ALL_KINDS:
        return f"all synonym pairs of {row['input']} ({row['dataset']}){few}"
    negatives = row["negatives"].replace("levenshtein", "Levenshtein")
    name = f"pairs of {row['dataset']} ({row['input']})"
    if row["dataset"] == sets.HEADLINE_DATASET:
        name = f"synonym pairs of {row['input']} ({sets.HEADLINE_DATASET})"
    return f"the {size} {row['difficulty']} {name} with {negatives} negatives{few}"


def _against_chance(ranking: Sequence[Row], statistic: Statistic[Any]) -> list[str]:
    """Return how the best value compares with chance; nothing if it is above or has no interval."""
    row, chance = ranking[0], statistic.chance or 0.0
    if row["low"] is None or row["low"] > chance:
        return []
    label = statistic.label if "'s" in statistic.label else f"The {statistic.label}"
    value = f"{label} of {row['model']}"
    if row["high"] >= chance:
        alike = [f"{value} is not significantly different from chance ({chance:g})."]
        return [] if ranking[1:] else alike  # else the sentence on the best says so
    if statistic.chance is None:
        return [f"{value} is negative: it ranks pairs against the ratings."]
    return [f"{value} is below chance ({chance:g}): negatives are more similar than positives."]


def _other_sets(rows: pl.DataFrame, names: Sequence[str], statistic: Statistic[Any]) -> list[str]:
    """Return whether the first model leads on other sets too; nothing if there are none."""
    n_sets = rows.select(sets.SET).n_unique()
    if n_sets == 1:
        return []
    enough = f" with at least {sets.FEW} pairs" if (rows["n_pairs"] >= sets.FEW).all() else ""
    all_sets = f"{n_sets} sets{enough}"
    standings = embedding_standings(rows).to_dicts()
    if len(names) == 1:
        lowest, *_, highest = map(with_interval, rows.sort("value").to_dicts())
        values = f"from {lowest} to {highest}; the mean is {number(standings[0]['mean'], '.3f')}"
        return [f"Over {all_sets} its {statistic.label} ranges {values}."]
    n_best = {row["embedding"]: row["n_among_best"] for row in standings}
    most, leader = standings[0]["embedding"], names[0]
    is_leader = pl.col("among_best") & (pl.col("among_best").sum().over(sets.SET) == 1)
    are_two = pl.lit(names[1:] == names[-1:])  # the sentence does not say that one leads
    is_ahead = are_two | (pl.coalesce("low", "value") > (statistic.chance or 0.0))
    n_leads = rows.filter(is_leader, is_ahead, embedding=leader).height
    share = f"each of the {all_sets}" if n_leads == n_sets else f"{n_leads or 'none'} of {all_sets}"
    if names[1:] == names[-1:]:  # two models
        n_worse = rows.filter(pl.col("n_worse") > 0, embedding=leader).height
        worse = "" if n_leads == n_sets else f", and significantly worse on {n_worse or 'none'}"
        return [f"{leader} is significantly better than {names[1]} on {share}{worse}."]
    also = f", {most} on {n_best[most]}" if n_best[most] > n_best[leader] else ""
    among = "" if n_leads == n_sets else f" and is among the best on {n_best[leader]}{also}"
    return [f"{leader} leads on {share}{among}."]
