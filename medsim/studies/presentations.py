"""Presentations of items: who sees which item where, drawn from the seed and the items alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.studies.output import ASSIGNMENT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ID_LENGTH = 16  # hexadecimal digits: 64 bits

_Item: TypeAlias = tuple[str, ...]
"""An item_id and what is shown: two texts of a pair, or one word."""


def draw_id(*parts: object) -> str:
    """Return the digest by which something is drawn or named: hexadecimal, 64 bits."""
    return canonical_digest(parts)[:_ID_LENGTH]


def presentations_of(
    seed: int,
    annotator: str,
    items: pl.DataFrame,
    n_twice: int = 0,
    shown: Sequence[str] = ("term1", "term2"),
) -> pl.DataFrame:
    """Return the presentations of one annotator: ``ASSIGNMENT_COLUMNS``, in order of position.

    An item that is shown twice has about half of all others between its presentations. The columns
    ``shown`` have what the annotator sees: two sides of a pair, or a word, which is on the left.
    """

    def drawn(purpose: str) -> list[_Item]:
        rows: list[_Item] = items.select("item_id", *shown).rows()
        return sorted(rows, key=lambda item: draw_id(seed, purpose, annotator, item[0]))

    order, twice = drawn("order"), {item[0] for item in drawn("twice")[:n_twice]}
    repeated = [item for item in order if item[0] in twice]
    once = [item for item in order if item[0] not in twice]
    rows: list[tuple[object, ...]] = []
    for item, showing in _with_repeats(once, repeated, seed, annotator):
        item_id, *texts = item
        entry_id = draw_id(seed, "entry", annotator, item_id, showing)
        if int(draw_id(seed, "side", entry_id), 16) % 2:
            texts.reverse()
        left, right = (*texts, "")[:2]
        rows.append((annotator, len(rows) + 1, entry_id, item_id, showing, left, right))
    return pl.DataFrame(rows, schema=ASSIGNMENT_COLUMNS, orient="row")


def _with_repeats(
    once: Sequence[_Item], repeated: Sequence[_Item], seed: int, annotator: str
) -> Iterator[tuple[_Item, int]]:
    """Yield items, each with 1 for its first presentation or 2 for its second.

    A repeated item has the same place in the second half as in the first.
    """
    n_first = (len(once) + 1) // 2
    places = sorted(
        range(n_first + len(repeated)), key=lambda place: draw_id(seed, "place", annotator, place)
    )
    taken = dict(zip(places, repeated, strict=False))
    for showing, others in ((1, once[:n_first]), (2, once[n_first:])):
        left = list(reversed(others))
        for place in range(len(places)):
            if place in taken:
                yield taken[place], showing
            elif left:
                yield left.pop(), 1
