"""Presentations of pairs: who sees which pair where, drawn from the seed and the pairs alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.schema import ASSIGNMENT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ID_LENGTH = 16  # hexadecimal digits: 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A pair that is to be shown.

    Attributes:
        item_id: of the study's items.
        term1: one term.
        term2: the other.
    """

    item_id: str
    term1: str
    term2: str


def draw_id(*parts: object) -> str:
    """Return the digest by which something is drawn, or by which it is named: hexadecimal, 64 bits.

    Args:
        parts: such as the seed, the purpose of the draw, and the content that it is for.
    """
    return canonical_digest(parts)[:_ID_LENGTH]


def items_of(frame: pl.DataFrame) -> list[Item]:
    """Return the items of a frame with item_id, term1 and term2."""
    return [
        Item(item_id=item_id, term1=term1, term2=term2)
        for item_id, term1, term2 in frame.select("item_id", "term1", "term2").iter_rows()
    ]


def presentations_of(
    seed: int, annotator: str, items: Iterable[Item], repeated: Iterable[Item] = ()
) -> pl.DataFrame:
    """Return the presentations of one annotator: ``ASSIGNMENT_COLUMNS``, in order of position.

    A pair that is shown twice has about half of all others between its presentations.

    Args:
        seed: of the study.
        annotator: the name.
        items: all that are shown, distinct.
        repeated: those of them that are shown twice.
    """
    shuffled, twice = (
        sorted(some, key=lambda item: draw_id(seed, "order", annotator, item.item_id))
        for some in (items, repeated)
    )
    order = _with_repeats(shuffled, twice, seed, annotator)
    rows = [
        _row(seed, annotator, position, item, showing)
        for position, (item, showing) in enumerate(order, 1)
    ]
    return pl.DataFrame(rows, schema=ASSIGNMENT_COLUMNS, orient="row")


def _with_repeats(
    items: Sequence[Item], repeated: Sequence[Item], seed: int, annotator: str
) -> Iterator[tuple[Item, int]]:
    """Yield items, each with 1 for its first presentation or 2 for its second.

    A repeated item has the same place in the second half as in the first.
    """
    twice = {item.item_id for item in repeated}
    once = [item for item in items if item.item_id not in twice]
    n_first = (len(once) + 1) // 2  # of those that are shown once
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


def _row(
    seed: int, annotator: str, position: int, item: Item, showing: int
) -> tuple[str, int, str, str, int, str, str]:
    entry_id = draw_id(seed, "entry", annotator, item.item_id, showing)
    terms = (item.term1, item.term2)
    swapped = int(draw_id(seed, "side", entry_id), 16) % 2 == 1
    left, right = reversed(terms) if swapped else terms
    return annotator, position, entry_id, item.item_id, showing, left, right
