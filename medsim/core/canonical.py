"""Text of values that is the same in every version of Python, for digests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl


def canonical_digest(value: object) -> str:
    """Return the SHA-256 of a value's ``ascii``, in hex; it does not depend on Python's Unicode.

    Args:
        value: texts, numbers, None, and tuples, lists and data classes of these.
    """
    return hashlib.sha256(ascii(value).encode()).hexdigest()


_TEXTS = 1 << 16  # per part


def text_parts(column: pl.Series) -> Iterator[tuple[NDArray[np.int64], memoryview]]:
    """Yield a column of texts without nulls in parts: the start of each text, and the UTF-8.

    Starts are int64[n_texts + 1] byte offsets with an arbitrary origin; the last is the end.
    """
    for first in range(0, len(column), _TEXTS):
        array = column.slice(first, _TEXTS).to_arrow()
        _, bounds, text = array.buffers()
        starts = np.frombuffer(bounds, np.int64)[array.offset : array.offset + len(array) + 1]
        if text is None:
            yield starts, memoryview(b"")
        else:
            yield starts, memoryview(text)[starts[0] : starts[-1]]
