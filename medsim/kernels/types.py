"""Names for the arrays that kernels take and return, and the starts of groups; without Numba."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint32 | np.uint16]]
"""Code points of consecutive terms: uint32[n_code_points]; or their numbers, uint16 if they fit."""

Starts: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
"""The beginning of each group in a flat array, and the array's end: int64[n_groups + 1]."""

Counts: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
"""Whole numbers, one per row: int64[n]."""

Ids: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int32]]
"""Row numbers of terms, nodes or components: int32[n]."""

Rows: TypeAlias = np.ndarray[tuple[int], np.dtype[np.integer]]
"""Row numbers of any width: int[n]."""

Hashes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint64]]
"""64-bit hashes of content, or bits of signatures: uint64[n]."""

Wide: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint64]]
"""A few 64-bit words per term: uint64[n_words, n_terms]."""

Offsets: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint32]]
"""Offsets in bytes, a row per query: uint32[n_queries, n_offsets]."""

Bytes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint8]]
"""Small counts: uint8[n]."""

Flags: TypeAlias = np.ndarray[tuple[int], np.dtype[np.bool_]]
"""Booleans, one per row: bool[n]."""

FlagTable: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.bool_]]
"""Booleans in rows and columns: bool[n_rows, n_columns]."""

CountTable: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""Whole numbers in rows and columns: int64[n_rows, n_columns]."""

ByteTable: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint8]]
"""Small counts in rows and columns: uint8[n_rows, n_columns]."""

CodeTable: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint32]]
"""32-bit numbers in rows and columns: uint32[n_rows, n_columns]."""

Plan: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""The passes that compute a table, one per row: int64[n_passes + 1, n_fields]."""

Vectors: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float32]]
"""Vectors, one per row: float32[n_rows, n_dimensions]."""

Numbers: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.number]]
"""Vectors of numbers of any width, one per row: number[n_rows, n_dimensions]."""

Ranks: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int32]]
"""Ranks of the values of each row: int32[n_rows, n_values]."""

FloatTable: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]
"""Numbers in rows and columns: float64[n_rows, n_columns]."""

FloatTables: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[np.float64]]
"""Tables of numbers: float64[n_tables, n_rows, n_columns]."""

Values: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
"""Numbers, one per row: float64[n]."""

Places: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""Row numbers in rows and columns: int64[n_rows, n_columns]."""

Singles: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]
"""Numbers in single precision, one per row: float32[n]."""


def starts_of(sizes: Sequence[int] | NDArray[Any]) -> Starts:
    """Return where each group starts, and the end of the last: int64[n_groups + 1]."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def gathered(begins: NDArray[Any], sizes: NDArray[Any]) -> tuple[Starts, Rows]:
    """Return where groups start if they follow each other, and the places of all members.

    Args:
        begins: int64[n_groups], the place of the first member of each group.
        sizes: int64[n_groups], the number of members, whose places follow each other.

    Returns:
        int64[n_groups + 1] and int64[n_members].
    """
    starts = starts_of(sizes)
    return starts, np.repeat(begins - starts[:-1], sizes) + np.arange(starts[-1])
