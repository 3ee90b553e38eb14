"""Presentations of pairs: who sees which pair where, drawn from the seed and the pairs alone."""

from __future__ import annotations

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.studies.output import ASSIGNMENT_COLUMNS

_ID_LENGTH = 16  # hexadecimal digits: 64 bits


def draw_id(*parts: object) -> str:
    """Return the digest by which something is drawn or named: hexadecimal, 64 bits."""
    return canonical_digest(parts)[:_ID_LENGTH]


def presentations_of(
    seed: int, annotator: str, items: pl.DataFrame, n_twice: int = 0, n_pages: int = 1
) -> pl.DataFrame:
    """Return the presentations of one annotator: ``ASSIGNMENT_COLUMNS``, in order of position.

    Every page has its share of the pairs of each group, and of those that are shown for a second
    time (Chiu et al. 2018): shares differ by one pair at most. The two presentations of a pair have
    about the same place in two pages, half of all pages apart; a single page is cut in two. Pairs
    of the consistency set, which is group 0, are shown twice only where there are too few others.

    Args:
        seed: of every draw.
        annotator: who sees them, whose name decides the draws as well.
        items: item_id, term1, term2, and the group of a pair where there are groups.
        n_twice: how many pairs are shown twice.
        n_pages: how many pages are filled.
    """
    n_pages = max(n_pages, 2 if n_twice else 1)

    def drawn(purpose: str) -> pl.Series:
        ids = items["item_id"]
        return pl.Series(
            purpose, [draw_id(seed, purpose, annotator, one) for one in ids], pl.String
        )

    if "group" not in items.columns:
        items = items.with_columns(group=0)
    once = (
        items.with_columns(drawn("order"), drawn("page"), drawn("twice"))
        .sort("group", "page")
        .with_columns(pl.int_range(pl.len()).mod(n_pages).alias("page"))
    )
    again = (
        once.with_columns(pl.col("twice").rank("ordinal").over("group", "page"))
        .sort("group", "twice", "page", descending=[True, False, False])
        .head(n_twice)
        .with_columns((pl.col("page") + n_pages // 2) % n_pages)
    )
    shown = pl.concat([once.drop("twice"), again.drop("twice")]).sort("page", "order")
    showings = shown.select(pl.int_range(1, pl.len() + 1).over("item_id"))
    terms = shown.select("item_id", "term1", "term2").rows()
    rows: list[tuple[object, ...]] = []
    for (item_id, *sides), showing in zip(terms, showings.to_series(), strict=True):
        entry_id = draw_id(seed, "entry", annotator, item_id, showing)
        if int(draw_id(seed, "side", entry_id), 16) % 2:
            sides.reverse()
        rows.append((annotator, len(rows) + 1, entry_id, item_id, showing, *sides))
    return pl.DataFrame(rows, schema=ASSIGNMENT_COLUMNS, orient="row")
