"""The rows of charts as short JSON: by columns, texts that are repeated once, runs as one."""

from __future__ import annotations

import json
import math
from itertools import chain, groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_SIGNIFICANT = 4  # digits of the numbers that charts draw


def packed_columns(rows: pl.DataFrame) -> dict[str, object]:
    """Return the columns of a chart, each as ``unpacked`` of the page's script reads it.

    That is the list of its values; or ``of``, its different values, with ``at``, which of them each
    row has, or with ``runs``, in turn such a place and how many rows in succession have it. Of
    these the shortest is taken.
    """
    return {name: _packed([_short(value) for value in rows[name]]) for name in rows.columns}


def _packed(values: list[object]) -> object:
    places: dict[tuple[type, object], int] = {}
    at = [places.setdefault((type(value), value), len(places)) for value in values]
    of = [value for _, value in places]
    runs = list(chain.from_iterable((place, len(list(same))) for place, same in groupby(at)))
    return min((values, {"of": of, "at": at}, {"of": of, "runs": runs}), key=_length)


def _length(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _short(value: object) -> object:
    """Return a value as a chart draws it."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_SIGNIFICANT}g}")
    return int(short) if short.is_integer() else short
