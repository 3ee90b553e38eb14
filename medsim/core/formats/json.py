"""Tables as an array of JSON objects, with values as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.cells import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

FOR_PEOPLE = False


def render(frame: pl.DataFrame) -> str:
    """Return a frame as JSON; bytes, which JSON lacks, are text."""
    return "".join(pieces(iter([frame])))


def pieces(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    """Yield the text of frames as one array."""
    between = "["
    for frame in frames:
        lacking = [texts(c) for c in frame if c.dtype == pl.Binary]
        if rows := frame.with_columns(lacking).write_json().removeprefix("[").removesuffix("]"):
            yield between + rows
            between = ","
    yield "[]" if between == "[" else "]"
