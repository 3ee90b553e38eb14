"""Columns of texts as bytes, some texts at a time, so that many are never held twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

_TEXTS = 1 << 16  # in a part


def text_parts(column: pl.Series) -> Iterator[tuple[NDArray[np.int64], memoryview]]:
    """Yield the parts of a column of texts that lacks none: where texts begin, and their UTF-8.

    Positions count bytes from anywhere: int64[n_texts + 1], the last of which is the end.
    """
    for first in range(0, len(column), _TEXTS):
        array = column.slice(first, _TEXTS).to_arrow()
        _, bounds, text = array.buffers()
        starts = np.frombuffer(bounds, np.int64)[array.offset : array.offset + len(array) + 1]
        if text is None:
            yield starts, memoryview(b"")
        else:
            yield starts, memoryview(text)[starts[0] : starts[-1]]
