"""Sections that compare: every embedding under every metric, and embeddings with each other."""

from __future__ import annotations

import polars as pl

from medsim.evaluations.page.set_names import hardest_first, set_name, told_sets
from medsim.evaluations.page.standing_sections import STATISTIC_NAMES
from medsim.evaluations.tables.comparison import ALPHA, MAIN_STATISTICS, SET, all_metrics
from medsim.pages import charts
from medsim.pages.page import Chart, Section, Table, distinct

_FEW = 3  # embeddings of which wide cells would say no more than narrow ones
_LAST_DIGIT = 0.001  # of a p as it is written into a cell


def metrics(results: pl.DataFrame, comparisons: pl.DataFrame) -> Section | None:
    """Return every embedding under every metric."""
    every = all_metrics(results, comparisons, MAIN_STATISTICS).drop_nulls("value")
    if every.is_empty():
        return None
    labelled = pl.col("statistic").replace_strict(STATISTIC_NAMES)
    rows = every.select(
        pl.format("{}: {}", set_name(every, with_kind=True), labelled).alias("choice"),
        pl.col("metric").alias("y"),
        pl.col("embedding").alias("x"),
        "value",
        pl.col("value").round(3).map_elements("{:.3f}".format, pl.String).alias("label"),
    )
    names = distinct(every.sort("embedding", "metric")["metric"])  # those of a kind together
    index = [*told_sets(every), "statistic", "embedding"]
    wide = every.pivot("metric", index=index, values="value").select(*index, *names)
    chart = Chart(
        title="Scores by metric",
        says="AUC of labelled pairs, Spearman's correlation of rated ones, on the pairs that all "
        "embeddings cover; darker is higher. An empty cell is a metric that is not for such an "
        "embedding.",
        spec=charts.heat(
            x=sorted(set(every["embedding"])),
            y=names,
            value="value",
            choices=hardest_first(rows["choice"]),
        ),
        rows=rows,
        table=Table(caption="Every embedding under every metric", frame=wide),
        narrow=every["embedding"].n_unique() <= _FEW,
        least=charts.heat_width(every["embedding"].n_unique()),
    )
    return Section(
        title="Metrics",
        prose="How two terms are compared matters as much as their vectors: here is each "
        "embedding under every metric that fits it.",
        parts=[chart],
    )


def significance(comparisons: pl.DataFrame) -> Section | None:
    """Return which embeddings differ significantly, on every set."""
    between = comparisons.filter(between="embeddings").drop_nulls("difference")
    main = between.filter(pl.col("of").is_in(MAIN_STATISTICS))
    if main.is_empty():
        return None
    rows = _cells(main)
    names = sorted(set(rows["y"]))
    chart = Chart(
        title="Differences between embeddings",
        says="How much the embedding of a row is better (+, blue) or worse (\u2212, orange) than "
        "that of a column, with p by DeLong's test or, for ratings, by the bootstrap, after "
        "Bonferroni's correction for all comparisons on the set. Grey: not significant at 0.05.",
        spec=charts.heat(
            x=names, y=names, value="difference", middle=0, choices=hardest_first(rows["choice"])
        ),
        rows=rows,
        table=Table(
            caption="Comparisons of embeddings, each at its best metric",
            frame=_comparison_table(between),
            formats={"p": ".2g", "p, Bonferroni": ".2g"},
        ),
        narrow=len(names) <= _FEW,
        least=charts.heat_width(len(names)),
    )
    return Section(
        title="Significance",
        prose="Which embeddings differ by more than chance, on the same pairs and each at its "
        "best metric.",
        parts=[chart],
    )


def _cells(main: pl.DataFrame) -> pl.DataFrame:
    """Return a cell for each two embeddings, in either direction."""
    mirrored = main.select(
        *SET,
        "of",
        pl.col("embedding2").alias("embedding1"),
        pl.col("embedding1").alias("embedding2"),
        -pl.col("difference"),
        "p_bonferroni",
    )
    both = pl.concat([main.select(mirrored.columns), mirrored])
    statistic = pl.col("of").replace_strict(STATISTIC_NAMES)
    return both.select(
        pl.format("{}: {}", set_name(both, with_kind=True), statistic).alias("choice"),
        pl.col("embedding1").alias("y"),
        pl.col("embedding2").alias("x"),
        pl.when(pl.col("p_bonferroni") < ALPHA).then("difference").otherwise(0.0).alias("value"),
        pl.struct("difference", "p_bonferroni")
        .map_elements(lambda row: _verdict(row["difference"], row["p_bonferroni"]), pl.String)
        .alias("label"),
    )


def _verdict(difference: float, p: float | None) -> str:
    """Return a difference with its p in two lines."""
    if p is None:
        return f"{difference:+.3f}".replace("-", "\N{MINUS SIGN}")
    said = f"p < {_LAST_DIGIT}" if p < _LAST_DIGIT else f"p = {p:.3f}"
    return f"{difference:+.3f}\n{said}".replace("-", "\N{MINUS SIGN}")


def _comparison_table(between: pl.DataFrame) -> pl.DataFrame:
    return between.select(
        *told_sets(between),
        pl.col("of"),
        pl.col("embedding1").alias("embedding"),
        pl.col("metric1").alias("metric"),
        pl.col("embedding2").alias("other embedding"),
        pl.col("metric2").alias("other metric"),
        "difference",
        pl.col("low").alias("from"),
        pl.col("high").alias("to"),
        "p",
        pl.col("p_bonferroni").alias("p, Bonferroni"),
        "test",
    )
