"""The rows of a word's character n-grams in fastText's input matrix, and their means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.types import Bytes, Rows, Starts, Vectors

_TOP_BITS = 0b1100_0000
_INSIDE = 0b1000_0000


class Subwords(NamedTuple):
    """The n-grams of a model and their rows.

    Attributes:
        shortest: length of the shortest n-grams, in characters.
        longest: length of the longest n-grams; 0 in a model without n-grams.
        n_buckets: number of rows that the n-grams share, by hash.
        first_row: the first of these rows.
    """

    shortest: int
    longest: int
    n_buckets: int
    first_row: int


@kernel
def is_inside(byte: np.uint8) -> bool:
    """Return whether a byte of UTF-8 continues a character."""
    return byte & _TOP_BITS == _INSIDE


@kernel
def gram_rows(text: Bytes, starts: Starts, own_rows: Rows, grams: Subwords) -> tuple[Starts, Rows]:
    """Return the rows whose mean is the vector of each word.

    Every n-gram of a word in angle brackets, except a bracket alone, has the row given by its
    32-bit FNV-1a hash (Bojanowski et al. 2017, section 3.2). fastText hashes bytes as signed
    numbers, so a byte of 128 or more changes the upper bits as well.

    ``text`` is the UTF-8 of all words with their brackets; ``own_rows`` are the rows of the words
    themselves, -1 for words without a row. Returns int64[n_words + 1] and int64[n_rows]: where each
    word's rows begin, and the rows: the word's, then those of its n-grams from left to right, the
    shorter n-grams first. Time and memory O(n_bytes * number of lengths).
    """
    lengths = max(0, grams.longest - max(grams.shortest, 1) + 1)
    rows = np.empty(len(own_rows) + len(text) * lengths, np.int64)
    row_starts = np.zeros(len(starts), np.int64)
    n_rows = 0
    for word in range(len(own_rows)):
        if own_rows[word] >= 0:
            rows[n_rows] = own_rows[word]
            n_rows += 1
        first, stop = starts[word], starts[word + 1]
        for begin in range(first, stop):
            if is_inside(text[begin]):
                continue
            hashed = np.uint64(2166136261)
            length = 0
            for at in range(begin, stop):
                byte = np.uint64(text[at])
                signed = byte | np.uint64(0xFFFFFF00) if byte > np.uint64(127) else byte
                hashed = (hashed ^ signed) * np.uint64(16777619) & np.uint64(0xFFFFFFFF)
                if at + 1 < stop and is_inside(text[at + 1]):
                    continue
                length += 1
                if length > grams.longest:
                    break
                is_bracket = length == 1 and (begin == first or at + 1 == stop)
                if length >= grams.shortest and not is_bracket:
                    bucket = np.int64(hashed % np.uint64(grams.n_buckets))
                    rows[n_rows] = grams.first_row + bucket
                    n_rows += 1
        row_starts[word + 1] = n_rows
    return row_starts, rows[:n_rows]


@kernel
def subword_means(matrix: Vectors, starts: Starts, rows: Rows) -> Vectors:
    """Return the means of groups of rows, summed in order as in fastText.

    ``rows`` are rows of the matrix, and ``starts`` says where each group begins in ``rows``.
    Returns float32[n_groups, n_dimensions]; zeros where a group has no rows.
    """
    means = np.zeros((len(starts) - 1, matrix.shape[1]), np.float32)
    for group in range(len(starts) - 1):
        for member in range(starts[group], starts[group + 1]):
            means[group] += matrix[rows[member]]
        if starts[group + 1] > starts[group]:
            means[group] *= np.float32(1 / (starts[group + 1] - starts[group]))
    return means
