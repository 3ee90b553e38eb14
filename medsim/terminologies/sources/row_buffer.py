"""Rows of a table that come one by one."""

from __future__ import annotations

import polars as pl

_BATCH = 100_000


class RowBuffer:
    """Rows that are packed as they come, because tuples take several times the memory."""

    def __init__(self, schema: dict[str, pl.DataType | type[pl.DataType]]) -> None:
        self._schema = schema
        self._frames = [pl.DataFrame(schema=schema)]
        self._rows: list[tuple[object, ...]] = []

    def add(self, *row: object) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) == _BATCH:
            self._pack()

    def frame(self) -> pl.DataFrame:
        """Return all rows in order of their columns."""
        self._pack()
        return pl.concat(self._frames).sort(list(self._schema))

    def _pack(self) -> None:
        self._frames.append(pl.DataFrame(self._rows, schema=self._schema, orient="row"))
        self._rows.clear()
