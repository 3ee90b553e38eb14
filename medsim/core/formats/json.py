"""Tables as an array of JSON objects, with values as they are."""

from __future__ import annotations

import polars as pl

from medsim.core.cells import texts

FOR_PEOPLE = False


def render(frame: pl.DataFrame) -> str:
    """Return a frame as JSON; bytes, which JSON lacks, are text."""
    return frame.with_columns(texts(c) for c in frame if c.dtype == pl.Binary).write_json()
