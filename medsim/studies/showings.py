"""What is shown to whom, in an order that is drawn from the seed and the pairs alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.studies.output import ASSIGNMENT_COLUMNS

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


def drawn(*parts: object) -> str:
    """Return a digest of what decides a draw: hexadecimal, 64 bits.

    Args:
        parts: such as the seed, what is drawn, and the content of what it is drawn for.
    """
    return canonical_digest(parts)[:_ID_LENGTH]


def items_of(frame: pl.DataFrame) -> list[Item]:
    """Return the items of a frame with item_id, term1 and term2."""
    return [
        Item(item_id=item_id, term1=term1, term2=term2)
        for item_id, term1, term2 in frame.select("item_id", "term1", "term2").iter_rows()
    ]


def showings_of(
    seed: int, annotator: str, items: Iterable[Item], repeated: Iterable[Item] = ()
) -> pl.DataFrame:
    """Return what one annotator is shown: ``ASSIGNMENT_COLUMNS``, in order of position.

    A pair that is shown twice has about half of all others between its showings.

    Args:
        seed: of the study.
        annotator: the name.
        items: what is shown, distinct.
        repeated: those of them that are shown twice.
    """
    order = _with_repeats(
        _shuffled(seed, annotator, items), _shuffled(seed, annotator, repeated), seed, annotator
    )
    rows = [
        _row(seed, annotator, position, item, showing)
        for position, (item, showing) in enumerate(order, 1)
    ]
    return pl.DataFrame(rows, schema=ASSIGNMENT_COLUMNS, orient="row")


def _shuffled(seed: int, annotator: str, items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda item: drawn(seed, "order", annotator, item.item_id))


def _with_repeats(
    items: Sequence[Item], repeated: Sequence[Item], seed: int, annotator: str
) -> Iterator[tuple[Item, int]]:
    """Yield items with their showings: first ones in the first half, second ones in the second.

    A second showing has the place in its half that the first has in the other.
    """
    twice = {item.item_id for item in repeated}
    once = [item for item in items if item.item_id not in twice]
    n_first = (len(once) + 1) // 2  # of those that are shown once
    places = sorted(
        range(n_first + len(repeated)), key=lambda place: drawn(seed, "place", annotator, place)
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
    entry_id = drawn(seed, "entry", annotator, item.item_id, showing)
    terms = (item.term1, item.term2)
    swapped = int(drawn(seed, "side", entry_id), 16) % 2 == 1
    left, right = reversed(terms) if swapped else terms
    return annotator, position, entry_id, item.item_id, showing, left, right
