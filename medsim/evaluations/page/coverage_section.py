"""The section on what embeddings have no vectors of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.page.set_names import told_sets
from medsim.pages import charts
from medsim.pages.page import Chart, Section, Table, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence


def coverage(covered: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return what share of the terms and pairs each embedding has no vectors of."""
    if covered.is_empty():
        return None
    shares = covered.with_columns(
        (100 * pl.col("n_terms_uncovered") / pl.col("n_terms")).alias("terms"),
        (100 * pl.col("n_pairs_uncovered") / pl.col("n_pairs")).alias("pairs"),
    )
    rows = _shares_of_all(covered)
    chart = Chart(
        title="What is not covered",
        says="Share of the terms, and of the pairs of which either term is missing, in all sets of "
        "an input together. Such pairs are left out where pairs are compared.",
        spec=charts.dots(
            embeddings,
            x="% not covered",
            y=distinct(rows["y"]),
            panels=distinct(rows["panel"]),
            scale={"zero": True},
            digits=".1f",
        ),
        rows=rows,
        table=Table(
            caption="Terms and pairs without vectors",
            frame=_coverage_table(shares),
            formats={"% of terms": ",.1f", "% of pairs": ",.1f"},
        ),
    )
    return Section(
        title="Coverage",
        prose="A word embedding has no vector for a term of which it knows no word, or not all "
        "words where its option coverage=all says so.",
        parts=[chart],
    )


def _shares_of_all(covered: pl.DataFrame) -> pl.DataFrame:
    """Return the share over all sets of an input, for each embedding."""
    return pl.concat(
        [
            covered.group_by("input", "embedding", maintain_order=True)
            .agg((100 * pl.col(f"n_{of}_uncovered").sum() / pl.col(f"n_{of}").sum()).alias("value"))
            .with_columns(pl.lit(f"{of} without a vector").alias("panel"))
            for of in ("terms", "pairs")
        ]
    ).select(
        "panel",
        pl.col("input").alias("y"),
        pl.col("embedding").alias("contender"),
        "value",
        pl.col("value").alias("low"),
        pl.col("value").alias("high"),
        pl.lit(True).alias("filled"),
    )


def _coverage_table(shares: pl.DataFrame) -> pl.DataFrame:
    return shares.select(
        *told_sets(shares),
        "embedding",
        pl.col("n_terms").alias("terms"),
        pl.col("n_terms_uncovered").alias("terms without a vector"),
        pl.col("terms").alias("% of terms"),
        pl.col("n_pairs").alias("pairs"),
        pl.col("n_pairs_uncovered").alias("pairs without"),
        pl.col("pairs").alias("% of pairs"),
        pl.col("n_pairs_common").alias("pairs that all cover"),
    )
