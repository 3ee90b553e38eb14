"""The table for an article: a row per model, a column per set, and the differences to one model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import DIFFICULTIES
from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.progress import progress_of
from medsim.core.shown import MISSING
from medsim.core.table_formats import BOLD
from medsim.evaluations.conclusions import best_metrics, with_standing
from medsim.evaluations.readable import LABELS, apart, set_name
from medsim.evaluations.sets import ALL, BASELINE, FEW, HEADLINE, HEADLINE_DATASET, SET, whole_sets
from medsim.evaluations.statistic import tabulated_names
from medsim.pages.readable import with_ends
from medsim.pages.sentences import ALPHA

if TYPE_CHECKING:
    from medsim.evaluations.options import CompareOptions
    from medsim.evaluations.output import Evaluation

_RATED, _HEADLINE = pl.col("difficulty").is_null(), pl.col("difficulty").eq_missing(ALL)
_IS_MODEL = pl.col("embedding") != BASELINE
_NAMES = {BASELINE: "best baseline"}


def article_rows(evaluation: Evaluation, options: CompareOptions) -> pl.DataFrame:
    """Return every embedding and the best baseline at their best metric on the chosen sets.

    Sets with fewer than ``FEW`` pairs are left out, and reported.

    Returns:
        A row per set and embedding, the headline first and rated sets last: the columns of a set,
        statistic, embedding, metric, value, low, high, n_pairs, best and among_best (null for the
        baseline); and from the paired comparison with ``reference``, the embedding with the highest
        value on the set or the chosen one: difference, difference_low, difference_high, p
        (corrected), null where there is none. In a set the highest value is first.

    Raises:
        InputError: no chosen set has enough pairs.
        OptionError: a dataset or embedding is unknown, or no set is chosen.
    """
    results, tests = map(whole_sets, (evaluation.results(), evaluation.comparisons()))
    every = best_metrics(
        results, tests, tabulated_names(best=True), correction=options.correction, baseline=True
    )
    chosen = _chosen(with_standing(every), options)
    is_few = pl.col("n_pairs").max().over(SET) < FEW
    rows = chosen.filter(~is_few)
    if small := _set_names(chosen.filter(is_few)).unique(maintain_order=True).to_list():
        progress_of(options.progress).say(f"left out, fewer than {FEW} pairs: {'; '.join(small)}")
    if rows.is_empty():
        raise InputError(f"{evaluation.folder} has no such set of {FEW} pairs; choose other sets")
    embeddings = sorted({*rows["embedding"]})
    if options.baseline and options.baseline not in embeddings:
        raise OptionError(unknown_name("embedding", options.baseline, embeddings))
    best = _IS_MODEL & (pl.col("value") == pl.col("value").filter(_IS_MODEL).max().over(SET))
    leader = pl.col("embedding").filter(best).first().over(SET)
    rows = rows.with_columns(
        best=pl.when(_IS_MODEL).then(best),
        reference=pl.lit(options.baseline) if options.baseline else leader,
    ).drop("n_better", "n_worse")
    columns = ("embedding1", "embedding2", "difference", "low", "high")
    names = ("embedding", "reference", "difference", "difference_low", "difference_high")
    tests = tests.filter(pl.col("between") != "metrics")
    forward = tests.select(*SET, *columns, statistic="of", p=f"p_{options.correction}")
    swapped = forward.with_columns(embedding1="embedding2", embedding2="embedding1")
    backward = swapped.with_columns(-pl.col("difference"), low=-pl.col("high"), high=-pl.col("low"))
    both = pl.concat([forward, backward]).rename(dict(zip(columns, names, strict=True)))
    on = [*SET, "statistic", "embedding", "reference"]
    return rows.join(both, on=on, how="left", nulls_equal=True, maintain_order="left")


def _chosen(rows: pl.DataFrame, options: CompareOptions) -> pl.DataFrame:
    """Return the rows of the headline and of the chosen sets, in the order of the columns."""
    rated_names = rows.filter(_RATED)["input"]
    known = sorted({*rows.filter(~_RATED)["dataset"], *rated_names})
    for name in options.datasets:
        if name not in known:
            raise OptionError(unknown_name("dataset", name, known))
    chosen = (
        pl.col("dataset").is_in(options.datasets or [HEADLINE_DATASET])
        & pl.col("difficulty").is_in(options.difficulty or DIFFICULTIES)
        & pl.col("negatives").is_in(options.negatives or ["random"])
    )
    if (options.difficulty or options.negatives) and rows.filter(chosen).is_empty():
        raise OptionError("no set has these `datasets`, `difficulty` and `negatives`")
    chosen |= _RATED & pl.col("input").is_in(options.datasets or rated_names.implode())
    order = (_RATED, ~_HEADLINE, *SET, ~_IS_MODEL, -pl.col("value"), "embedding")
    return rows.filter(_HEADLINE | chosen).sort(*order, nulls_last=True)


def _set_names(rows: pl.DataFrame) -> pl.Series:
    """Return the heading of each row's set."""
    kind = pl.format("{} {}, {}", "dataset", "difficulty", "negatives")
    name = pl.when(_HEADLINE).then(pl.lit(LABELS[HEADLINE])).otherwise(kind)
    if rows.filter(~_RATED)["input"].n_unique() > 1:
        name = pl.format("{}: {}", "input", name)
    return rows.select(pl.when(_RATED).then(set_name(rows)).otherwise(name)).to_series()


def article_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return ``article_rows`` for reading: a row per embedding, a column per set.

    The best of each set is bold, and a dagger marks embeddings that do not differ significantly
    from it. The last column has the differences on the first set.
    """
    mark = pl.when(pl.col("among_best") & ~pl.col("best")).then(pl.lit("\N{DAGGER}"))
    bold = pl.when("best").then(pl.lit(BOLD)).otherwise(pl.lit(""))
    cell = pl.concat_str(
        bold, with_ends("value", "low", "high").fill_null(MISSING), mark.otherwise(pl.lit(""))
    )
    named = rows.with_columns(cell=cell, set=_set_names(rows)).with_columns(apart("set", ["model"]))
    first = named.filter(set=named["set"][0])
    heading = f"difference to {first['reference'].fill_null('the best').replace(_NAMES)[0]}"
    if rows.filter(~_RATED)["input"].n_unique() > 1:
        heading += f" on {named['set'][0]}"
    difference = with_ends("difference", "difference_low", "difference_high")
    difference = difference.fill_null(MISSING).alias(heading)
    table = named.pivot("set", index="embedding", values="cell").join(
        first.select("embedding", difference), on="embedding", how="left", maintain_order="left"
    )
    return table.select(
        pl.col("embedding").replace(_NAMES).alias("model"),
        pl.exclude("embedding").fill_null(MISSING),
    )


def article_note(rows: pl.DataFrame, correction: str) -> list[str]:
    """Return the sentences below the table; the mark of the best precedes the first."""
    sets = rows.group_by(_set_names(rows), "statistic", maintain_order=True)
    sizes = sets.agg(pl.max("n_pairs")).iter_rows()
    columns = [f"{LABELS[statistic]} on {n_pairs:,} pairs" for _, statistic, n_pairs in sizes]
    of_embedding = rows.group_by("embedding", maintain_order=True)
    metrics = of_embedding.agg(pl.col("metric").unique().sort().str.join(", ")).iter_rows()
    used = [f"{_NAMES.get(name, name)} {listed_names}" for name, listed_names in metrics]
    level = f"at the level {ALPHA}, with {correction.capitalize()}'s correction"
    return [
        f"the best model; \N{DAGGER}: not significantly different from the best {level}.",
        f"By column: {'; '.join(columns)}; with 95% confidence intervals.",
        f"Metrics, the best on each set: {'; '.join(used)}.",
        "The differences are those of the first column.",
    ]
