"""The section on whether embeddings find terms of the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.retrieval_ranks import LENGTHS
from medsim.pages import charts
from medsim.pages.page import Chart, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

_RETRIEVED = {
    "accuracy_at_1": "found first",
    "accuracy_at_5": "among the first 5",
    "accuracy_at_10": "among the first 10",
    "mrr": "mean reciprocal rank",
}
_LAST_DIGIT = 0.001  # of a p


def retrieval(rows: pl.DataFrame, comparisons: pl.DataFrame) -> Section | None:
    """Return how often embeddings find a term that means the same.

    Args:
        rows: ``RETRIEVAL_COLUMNS``.
        comparisons: ``COMPARISON_COLUMNS``.
    """
    told = rows.drop_nulls("value")
    if told.is_empty():
        return None
    parts: list[Chart | Table] = []
    for of_input in told.partition_by("input", maintain_order=True):
        name = of_input["input"][0]
        common = _at_best_metric(of_input.filter(subset="common"))
        table = _retrieval_table(name, of_input)
        if common.height:
            parts.append(_by_difficulty(name, common, table))
            parts += _by_length(name, common)
            parts += _differences(name, comparisons.filter(input=name, dataset="retrieval"))
    if not parts:
        return None
    return Section(
        title="Retrieval",
        prose="For each term that has others of the same meaning, whether one of them is among "
        "those that the embedding finds nearest, of all terms that the build draws from and that "
        "have a vector. A term without a vector counts as not found; of terms that are equally "
        "near, those of another meaning come first.",
        parts=parts,
    )


def _at_best_metric(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each embedding and index at the metric of its highest MRR, named by both.

    Where an input was searched by one kind of index the name is the embedding's.
    """
    overall = rows.filter(
        pl.col("statistic") == "mrr", pl.col("difficulty").is_null(), pl.col("length").is_null()
    )
    best = (
        overall.sort("metric")
        .sort("value", descending=True, maintain_order=True)
        .group_by("embedding", "index", maintain_order=True)
        .first()
        .select("embedding", "index", "metric")
    )
    name: pl.Expr = pl.col("embedding")
    if rows["index"].n_unique() > 1:
        name = pl.format("{} ({})", "embedding", "index")
    return rows.join(
        best, on=["embedding", "index", "metric"], nulls_equal=True, maintain_order="left"
    ).with_columns(name.alias("contender"))


def _contenders(rows: pl.DataFrame) -> list[str]:
    return sorted(set(rows["contender"]))


def _retrieval_table(name: str, rows: pl.DataFrame) -> Table:
    frame = rows.select(
        "embedding",
        "metric",
        "index",
        "subset",
        pl.col("difficulty").fill_null("all"),
        pl.col("length").fill_null("all").alias("words"),
        "statistic",
        "value",
        pl.col("low").alias("from"),
        pl.col("high").alias("to"),
        pl.col("n_terms").alias("terms"),
        pl.col("n_covered").alias("covered"),
        "recall",
    )
    return Table(caption=f"Retrieval on {name}, with 95% intervals", frame=frame)


def _by_difficulty(name: str, common: pl.DataFrame, table: Table) -> Chart:
    told = common.filter(pl.col("length").is_null(), pl.col("statistic").is_in(list(_RETRIEVED)))
    drawn = told.select(
        pl.col("statistic").replace_strict(_RETRIEVED).alias("panel"),
        pl.col("difficulty").fill_null("all").alias("y"),
        "contender",
        "value",
        "low",
        "high",
        pl.lit(True).alias("filled"),
    )
    present = set(drawn["panel"])
    recall = _recall(common)
    return Chart(
        title=f"What is found on {name}",
        says="Share of the terms for which a term of the same meaning is among the first 1, 5 or "
        "10, and the mean of 1 / rank, with 95% intervals. A term is easy if one of the same "
        f"meaning differs by at most 5 edits.{recall}",
        spec=charts.dots(
            _contenders(drawn),
            x="share of terms, or mean of 1 / rank",
            y=_in_order(("all", "easy", "hard"), drawn["y"]),
            panels=[one for one in _RETRIEVED.values() if one in present],
            scale={"zero": True},
        ),
        rows=drawn,
        table=table,
    )


def _recall(common: pl.DataFrame) -> str:
    """Return a sentence on how exact the indexes were that are not."""
    lowest = common["recall"].min()
    if not isinstance(lowest, float):
        return ""
    return f" The index ivf finds {100 * lowest:.1f}% of the true nearest terms, or more."


def _by_length(name: str, common: pl.DataFrame) -> list[Chart]:
    told = common.filter(
        pl.col("difficulty").is_null(), pl.col("statistic") == "accuracy_at_1"
    ).drop_nulls("length")
    if told.is_empty():
        return []
    drawn = told.select(
        pl.format("{} words", pl.col("length")).replace("1 words", "1 word").alias("y"),
        "contender",
        "value",
        "low",
        "high",
        pl.lit(True).alias("filled"),
    )
    names = [f"{length} word{'' if length == '1' else 's'}" for length in LENGTHS]
    table = told.select(
        "contender",
        pl.col("length").alias("words"),
        "value",
        pl.col("low").alias("from"),
        pl.col("high").alias("to"),
        pl.col("n_terms").alias("terms"),
    ).rename({"contender": "embedding", "value": "found first"})
    return [
        Chart(
            title=f"What is found first on {name}, by length",
            says="Share of the terms of so many words whose nearest term means the same, with 95% "
            "intervals.",
            spec=charts.dots(
                _contenders(drawn),
                x="share of terms",
                y=_in_order(names, drawn["y"]),
                scale={"zero": True},
            ),
            rows=drawn,
            table=Table(caption=f"Found first on {name}, by length", frame=table),
        )
    ]


def _differences(name: str, compared: pl.DataFrame) -> list[Table]:
    """Return which embeddings find more than others, on all terms by the exact index."""
    if compared.is_empty():
        return []
    frame = compared.select(
        pl.col("of").replace(_RETRIEVED).alias("score"),
        pl.format("{} \N{MINUS SIGN} {}", "embedding1", "embedding2").alias("embeddings"),
        "difference",
        pl.col("low").alias("from"),
        pl.col("high").alias("to"),
        pl.col("p_bonferroni").map_elements(_told_p, pl.String).alias("p after Bonferroni"),
        pl.col("n_pairs").alias("terms"),
    )
    caption = (
        f"Differences on {name} with 95% intervals, on all terms by the exact index; terms that "
        "are linked to each other count as one cluster"
    )
    return [Table(caption=caption, frame=frame)]


def _told_p(p: float) -> str:
    return f"below {_LAST_DIGIT}" if p < _LAST_DIGIT else f"{p:.3f}"


def _in_order(order: Sequence[str], values: pl.Series) -> list[str]:
    present = set(values)
    return [one for one in order if one in present]
