"""Tables as CSV, with values as they are."""

from __future__ import annotations

import polars as pl

from medsim.core.cells import texts

FOR_PEOPLE = False


def render(frame: pl.DataFrame) -> str:
    """Return a frame as CSV; values of kinds that CSV lacks are text."""
    lacking = (
        c for c in frame if c.dtype.is_nested() or isinstance(c.dtype, (pl.Binary, pl.Duration))
    )
    return frame.with_columns(map(texts, lacking)).write_csv().removesuffix("\n")
