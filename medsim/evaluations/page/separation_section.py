"""The section on how well embeddings keep categories apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.statistic import STATISTICS, statistics_of
from medsim.evaluations.tables.labels import headed, in_order_of, rounded
from medsim.evaluations.tables.separation import best_and_worst, overall_errors
from medsim.pages import charts
from medsim.pages.page import Chart, PageTable, Section, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

_MEASURES = [one.name for one in statistics_of("separation")]
_LARGEST = 20  # categories that a heat map shows
_LABELLED = 6  # categories up to which its cells have room for numbers


def separation(rows: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return how well embeddings keep categories apart; see ``SEPARATION_COLUMNS``."""
    overall = overall_errors(rows)
    if overall.is_empty():
        return None
    parts = []
    for (name,), of_input in overall.group_by("input", maintain_order=True):
        parts.append(_errors(str(name), of_input, rows.filter(input=name), embeddings))
        among = rows.drop_nulls("category1").join(
            best_and_worst(of_input).filter(standing="best"),
            on=["input", "embedding", "metric"],
            how="semi",
            maintain_order="left",
        )
        if among.height:
            parts.append(_means(str(name), among, embeddings))
    return Section(
        title="Category separation",
        prose="Whether terms of near categories, or of one category, lie nearer to each other than "
        "to terms of another (Schulz and Juric 2020, section 5.3).",
        parts=parts,
    )


def _errors(
    name: str, overall: pl.DataFrame, every: pl.DataFrame, embeddings: Sequence[str]
) -> Chart:
    error, statistic = pl.col("value"), STATISTICS[overall["statistic"][0]]
    drawn = charts.points(
        overall,
        y="metric",
        contender="embedding",
        filled=error == error.min().over("embedding"),
    )
    table = headed(
        every.with_columns(pl.col("category1", "category2").fill_null("all")),
        pl.exclude("input", "signature", *(set(_MEASURES) - {statistic.name})),
    )
    return Chart(
        title=f"{statistic.label.capitalize()} on {name}",
        says=f"{statistic.help} 0 is perfect, and the dashed line at 0.5 is chance where no "
        "similarities tie, since ties are errors. Filled: the best metric of an embedding. Each "
        "is scored on the terms that it covers.",
        spec=charts.dots(
            embeddings,
            x=charts.ValueAxis(title=statistic.label, line=charts.CHANCE, scale={"zero": True}),
            y=sorted(set(drawn["y"])),
            names=("embedding", "metric"),
        ),
        rows=drawn,
        table=PageTable(caption=f"Category separation on {name}", frame=table),
    )


def _means(name: str, among: pl.DataFrame, embeddings: Sequence[str]) -> Chart:
    sizes = among.group_by("category1").agg(pl.col("n_terms1").max())
    largest = sizes.sort("n_terms1", "category1", descending=[True, False]).head(_LARGEST)
    named = among["category1"].unique(maintain_order=True)
    categories = named.filter(named.is_in(largest["category1"].implode())).to_list()
    shown = among.filter(
        pl.col("category1").is_in(categories), pl.col("category2").is_in(categories)
    )
    drawn = (
        in_order_of(shown, embeddings)
        .drop_nulls("mean_similarity")
        .select(
            panel=pl.format("{}, {}", "embedding", "metric"),
            y="category1",
            x="category2",
            value="mean_similarity",
            label=rounded("mean_similarity") if len(categories) <= _LABELLED else pl.lit(""),
        )
    )
    left = len(sizes) - len(categories)
    smallest = "smallest category is" if left == 1 else f"{left} smallest categories are"
    rest = f" The {smallest} in the table above only." if left else ""
    names = {"panel": "embedding, metric", "y": "category", "x": "other category"}
    return Chart(
        title=f"Mean similarity within and across categories of {name}",
        says="Each cell is the mean over all pairs of terms of the two categories, of an embedding "
        "at the metric of its least error; darker is more similar, by each embedding's "
        f"own scale. The diagonal should stand out.{rest}",
        spec=charts.heat(
            x=categories,
            y=categories,
            value="mean similarity",
            names=("category", "other category"),
            panels=distinct(drawn["panel"]),
        ),
        rows=drawn,
        table=PageTable(
            caption=f"Mean similarities of {name}",
            frame=headed(drawn, [*names, "value"], **names, value="mean similarity"),
            view="separation",
        ),
    )
