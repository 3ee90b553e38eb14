"""Sections that compare: every embedding under every metric, and embeddings with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.shown import number
from medsim.evaluations.conclusions import ALPHA, all_metrics
from medsim.evaluations.sets import SET
from medsim.evaluations.statistic import STATISTICS, tabulated_names
from medsim.evaluations.tables.labels import (
    LABELS,
    hardest_first,
    headed,
    p_text,
    rounded,
    set_columns,
    set_name,
)
from medsim.pages import charts
from medsim.pages.page import Chart, PageTable, Section, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

_FEW = 3  # embeddings of which wide cells would say no more than narrow ones


def metrics(
    results: pl.DataFrame, comparisons: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return every embedding under every metric."""
    main = tabulated_names(best=True)
    every = all_metrics(results, comparisons, main).drop_nulls("value")
    if every.is_empty():
        return None
    rows = every.select(
        choice=_choice(every, "statistic"),
        y="metric",
        x="embedding",
        value="value",
        label=rounded("value"),
    )
    names = distinct(every.sort("embedding", "metric")["metric"])  # those of a kind together
    index = [*set_columns(every), "statistic", "embedding"]
    wide = every.pivot("metric", index=index, values="value").select(*index, *names)
    scores = ", ".join(f"{LABELS[name]} of {STATISTICS[name].of} pairs" for name in main)
    n_embeddings = every["embedding"].n_unique()
    chart = Chart(
        title="Scores by metric",
        says=f"{scores}, on the pairs that all embeddings cover; darker is higher. An empty cell "
        "is a metric that is not for such an embedding, or has no value.",
        spec=charts.heat(
            x=_present(embeddings, every["embedding"]),
            y=names,
            value="value",
            names=("metric", "embedding"),
            choices=hardest_first(rows["choice"]),
        ),
        rows=rows,
        table=PageTable(caption="Every embedding under every metric", frame=wide, view="results"),
        narrow=n_embeddings <= _FEW,
        least=charts.heat_width(n_embeddings),
    )
    return Section(
        title="Metrics",
        prose=f"Each embedding under every metric that fits it.{_what_matters(every)}",
        parts=[chart],
    )


def significance(comparisons: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return which embeddings differ significantly, on every set."""
    between = comparisons.filter(between="embeddings").drop_nulls("difference")
    main = between.filter(pl.col("of").is_in(tabulated_names(best=True)))
    if main.is_empty():
        return None
    rows = _cells(main)
    names = _present(embeddings, rows["y"])
    columns = (
        *set_columns(between),
        "of",
        "embedding1",
        "metric1",
        "embedding2",
        "metric2",
        "difference",
        "low",
        "high",
        "p",
        "p_bonferroni",
        "test",
    )
    of_best = pl.any_horizontal(pl.col("embedding1", "embedding2") == names[0])
    best_first = between.sort(of_best, descending=True, maintain_order=True)
    chart = Chart(
        title="Differences between embeddings",
        says="How much the embedding of a row is better (+, blue) or worse (\u2212, orange) than "
        "that of a column, with p by DeLong's test or, for ratings, by the bootstrap, after "
        "Bonferroni's correction for all comparisons on the set. Grey: not significant at 0.05.",
        spec=charts.heat(
            x=names,
            y=names,
            value="difference",
            names=("embedding", "less that of"),
            middle=0,
            choices=hardest_first(rows["choice"]),
        ),
        rows=rows,
        table=PageTable(
            caption="Comparisons of embeddings, each at its best metric, the best embedding first",
            frame=headed(best_first, columns),
            view="comparisons",
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


def _present(embeddings: Sequence[str], column: pl.Series) -> list[str]:
    there = {*column}
    return [name for name in embeddings if name in there]


def _what_matters(every: pl.DataFrame) -> str:
    """Return a sentence on how far metrics move a score, and embeddings at their best metric."""
    of_set = [*SET, "statistic"]
    best = every.group_by(*of_set, "embedding").agg(pl.col("value").max())
    moved = {
        "metric of an embedding": _spread(every, [*of_set, "embedding"]),
        "embedding, at their best metrics": _spread(best, of_set),
    }
    sentences = []
    for name in tabulated_names(best=True):
        parts = [
            f"{number(spread, '.3f')} between the best and the worst {what}"
            for what, spreads in moved.items()
            if (spread := spreads.get(name)) is not None
        ]
        if parts:
            said = " and by ".join(parts)
            sentences.append(f" At the median over sets, {LABELS[name]} differs by {said}.")
    return "".join(sentences)


def _spread(rows: pl.DataFrame, keys: Sequence[str]) -> dict[str, float]:
    """Return by statistic the median over groups of how far values are apart."""
    value = pl.col("value")
    spread = rows.group_by(keys).agg((value.max() - value.min()).alias("spread"), pl.len())
    several = spread.filter(pl.col("len") > 1).group_by("statistic")
    return dict(several.agg(pl.col("spread").median()).iter_rows())


def _choice(frame: pl.DataFrame, statistic: str) -> pl.Expr:
    """Return the choices of a reader: a set, and the label of a column of statistics."""
    label = pl.col(statistic).replace_strict(LABELS)
    return pl.format("{}: {}", set_name(frame, with_kind=True), label)


def _cells(main: pl.DataFrame) -> pl.DataFrame:
    """Return a cell for each two embeddings, in either direction."""
    sides = {"embedding1": "embedding2", "embedding2": "embedding1"}
    columns = (*SET, "of", *sides, "difference", "p_bonferroni")
    mirrored = main.rename(sides).with_columns(-pl.col("difference"))
    both = pl.concat([main.select(columns), mirrored.select(columns)])
    return both.select(
        choice=_choice(both, "of"),
        y="embedding1",
        x="embedding2",
        value=pl.when(pl.col("p_bonferroni") < ALPHA).then("difference").otherwise(0.0),
        label=pl.struct("difference", "p_bonferroni").map_elements(
            lambda row: _verdict(row["difference"], row["p_bonferroni"]), pl.String
        ),
    )


def _verdict(difference: float, p: float | None) -> str:
    """Return a difference with its p in two lines."""
    shown = number(difference, "+.3f")
    return shown if p is None else f"{shown}\np = {p_text(p)}".replace("= <", "<")
