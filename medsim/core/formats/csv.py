"""Tables as CSV, with values as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.cells import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

FOR_PEOPLE = False


def render(frame: pl.DataFrame) -> str:
    """Return a frame as CSV; values of kinds that CSV lacks are text."""
    return "".join(pieces(iter([frame])))


def pieces(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    """Yield the text of frames as one table, a piece for each."""
    for number, frame in enumerate(frames):
        lacking = (
            c for c in frame if c.dtype.is_nested() or isinstance(c.dtype, (pl.Binary, pl.Duration))
        )
        text = frame.with_columns(map(texts, lacking)).write_csv(include_header=number == 0)
        yield ("\n" if number and text else "") + text.removesuffix("\n")
