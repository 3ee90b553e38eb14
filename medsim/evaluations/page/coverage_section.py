"""The section on terms and pairs that embeddings have no vectors for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.tables.labels import headed, set_columns
from medsim.pages import charts
from medsim.pages.page import Chart, Folded, PageTable, Section, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence


def coverage(covered: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return the share of the terms and pairs that each embedding has no vectors for."""
    if covered.is_empty():
        return None
    shares = pl.concat(
        covered.group_by("input", "embedding", maintain_order=True)
        .agg(_share(pl.col(f"n_{of}_uncovered").sum(), pl.col(f"n_{of}").sum()).alias("value"))
        .with_columns(pl.lit(f"{of} without a vector").alias("panel"))
        for of in ("terms", "pairs")
    )
    rows = charts.points(shares, panel="panel", y="input", contender="embedding")
    table = covered.with_columns(
        _share(pl.col(f"n_{of}_uncovered"), pl.col(f"n_{of}")).alias(f"% of {of}")
        for of in ("terms", "pairs")
    )
    of_terms, of_pairs = (
        (f"n_{of}", f"n_{of}_uncovered", f"% of {of}") for of in ("terms", "pairs")
    )
    columns = (*set_columns(covered), "embedding", *of_terms, *of_pairs, "n_pairs_common")
    prose = (
        "A word embedding covers a term if it has vectors of all its words or, where coverage is "
        "any, of one."
    )
    numbers = PageTable(
        caption="Terms and pairs without vectors",
        frame=headed(table, columns),
        view="coverage",
        formats={"% of terms": ",.1f", "% of pairs": ",.1f"},
    )
    if not (rows["value"] > 0).any():
        whole = "Every embedding covers every term: no pair is left out."
        folded = Folded(summary=f"Numbers: {numbers.caption}", tables=[numbers])
        return Section(title="Coverage", prose=whole, parts=[folded])
    chart = Chart(
        title="What is not covered",
        says="Share of the terms, and of the pairs of which either term is missing, in all sets of "
        "an input together. Such pairs are left out where pairs are compared.",
        spec=charts.dots(
            embeddings,
            x=charts.ValueAxis(title="% not covered", scale={"zero": True}, digits=".1f"),
            y=distinct(rows["y"]),
            panels=distinct(rows["panel"]),
            names=("embedding", "input"),
        ),
        rows=rows,
        table=numbers,
    )
    return Section(title="Coverage", prose=prose, parts=[chart])


def _share(part: pl.Expr, of: pl.Expr) -> pl.Expr:
    return 100 * part / of
