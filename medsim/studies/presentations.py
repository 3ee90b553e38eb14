"""Presentations of items: who sees which item where, drawn from the seed and the items alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.studies.output import ASSIGNMENT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

_ID_LENGTH = 16  # hexadecimal digits: 64 bits


def draw_id(*parts: object) -> str:
    """Return the digest by which something is drawn or named: hexadecimal, 64 bits."""
    return canonical_digest(parts)[:_ID_LENGTH]


def presentations_of(
    seed: int,
    annotator: str,
    items: pl.DataFrame,
    n_twice: int = 0,
    n_pages: int = 1,
    shown: Sequence[str] = ("term1", "term2"),
) -> pl.DataFrame:
    """Return the presentations of one annotator: ``ASSIGNMENT_COLUMNS``, in order of position.

    Every page has its share of the items of each group, and of those that are shown for a second
    time (Chiu et al. 2018): shares differ by one item at most. The two presentations of an item
    have about the same place in two pages, half of all pages apart; a single page is cut in two.
    Items of the consistency set, which is group 0, are shown twice only where there are too few
    others.

    Args:
        seed: of every draw.
        annotator: who sees them, whose name decides the draws as well.
        items: item_id, the columns that are shown, and the group of an item where there are groups.
        n_twice: how many items are shown twice.
        n_pages: how many pages are filled.
        shown: the columns of the two sides of a pair, or of a word, which is on the left.
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
        items.select("item_id", "group")
        .with_columns(drawn("order"), drawn("page"), drawn("twice"))
        .sort("group", "page")
        .with_columns(pl.int_range(pl.len()).mod(n_pages).alias("page"))
    )
    again = (
        once.with_columns(pl.col("twice").rank("ordinal").over("group", "page"))
        .sort("group", "twice", "page", descending=[True, False, False])
        .head(n_twice)
        .with_columns((pl.col("page") + n_pages // 2) % n_pages)
    )
    both = pl.concat([once.drop("twice"), again.drop("twice")]).sort("page", "order")
    showings = both.select(
        "item_id", pl.int_range(1, pl.len() + 1).over("item_id").alias("showing")
    )
    of_items = {item_id: texts for item_id, *texts in items.select("item_id", *shown).iter_rows()}
    rows: list[tuple[object, ...]] = []
    for item_id, showing in showings.iter_rows():
        entry_id = draw_id(seed, "entry", annotator, item_id, showing)
        texts = list(of_items[item_id])
        if int(draw_id(seed, "side", entry_id), 16) % 2:
            texts.reverse()
        left, right = (*texts, "")[:2]
        rows.append((annotator, len(rows) + 1, entry_id, item_id, showing, left, right))
    return pl.DataFrame(rows, schema=ASSIGNMENT_COLUMNS, orient="row")
