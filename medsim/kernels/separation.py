"""Counts how similarities order the terms of categories, without visiting triples of terms.

Terms are grouped by category: the terms of category ``c`` are columns ``starts[c]`` to
``starts[c + 1]``.
"""

from __future__ import annotations

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.types import (
    Codes,
    CodeTable,
    CountTable,
    FloatTable,
    Hashes,
    Rows,
    Starts,
    Vectors,
)

_DIGIT_BITS = np.uint64(11)  # three digits make up a key
_N_DIGITS = 3
_N_VALUES = 1 << 11  # of a digit
_DIGIT = np.uint64(_N_VALUES - 1)
_KEY_BITS = np.uint64(32)
_SIGN = np.uint32(1 << 31)


@kernel
def sums_of_later(similarities: Vectors, starts: Starts, first: int) -> FloatTable:
    """Return the sum of each row's similarities with the later terms of each category.

    Similarities are float32[n_rows, n_terms]; row ``i`` belongs to term ``first + i``. Returns
    float64[n_rows, n_categories].
    """
    sums = np.zeros((len(similarities), len(starts) - 1))
    for row in range(len(similarities)):
        for category in range(len(starts) - 1):
            for term in range(max(starts[category], first + row + 1), starts[category + 1]):
                sums[row, category] += np.float64(similarities[row, term])
    return sums


@kernel
def n_not_below(bits: CodeTable, starts: Starts, categories: Rows, first: int) -> CountTable:
    """Count how often a row's term is at least as similar to an outer term as to an inner term.

    The terms of a row are sorted by similarity with a radix sort, inner terms first among equals,
    so the inner terms before an outer term are counted for it. The last digit is not sorted: the
    inner terms with a lower digit come before, and so do those with the same digit that were
    already visited.

    Args:
        bits: uint32[n_rows, n_terms], the bits of similarities in single precision.
        starts: where categories begin.
        categories: the inner category, then the outer categories to compare it with.
        first: the term of row 0; a row's own term is left out.

    Returns:
        int64[n_rows, n_categories], numbers of pairs (b, c) with similarity(b) <= similarity(c), b
        of the inner category and c of an outer category; 0 for categories not compared. Time and
        memory O(n_terms) per row.
    """
    inner, n_terms = int(categories[0]), bits.shape[1]
    counts = np.zeros((len(bits), len(starts) - 1), np.int64)
    tagged, ordered = np.empty(n_terms, np.uint64), np.empty(n_terms, np.uint64)
    places = np.empty((_N_DIGITS, _N_VALUES), np.uint32)
    for row in range(len(bits)):
        places[:] = 0
        n_tagged = 0
        for category in categories:
            begin, end = int(starts[category]), int(starts[category + 1])
            row_term = min(max(first + row, begin - 1), end)
            for start, stop in ((begin, row_term), (row_term + 1, end)):
                n_tagged = _tag(bits[row], start, stop, int(category), tagged, n_tagged)
            if category == inner:
                _count_digits(tagged[:n_tagged], 2, places[2])
        for digit in range(_N_DIGITS - 1):
            _count_digits(tagged[:n_tagged], digit, places[digit])
        for digit in range(_N_DIGITS):
            places[digit] = np.cumsum(places[digit]) - places[digit]
        _put_in_order(tagged[:n_tagged], 0, places[0], ordered)
        _put_in_order(ordered[:n_tagged], 1, places[1], tagged)
        _count_before(tagged[:n_tagged], inner, places[2], counts[row])
    return counts


@kernel
def _tag(bits: Codes, start: int, stop: int, category: int, tagged: Hashes, n_tagged: int) -> int:
    """Write a slice of terms as keys that ascend with similarity, with the category on top."""
    tag = np.uint64(category) << _KEY_BITS
    for term in range(start, stop):
        value = bits[term] if bits[term] != _SIGN else np.uint32(0)  # zero has two signs
        key = ~value if value & _SIGN else value | _SIGN
        tagged[n_tagged + term - start] = tag | np.uint64(key)
    return int(n_tagged + max(stop - start, 0))


@kernel
def _count_digits(tagged: Hashes, digit: int, counts: Codes) -> None:
    """Count how often each value of a digit occurs in the keys."""
    shift = np.uint64(digit) * _DIGIT_BITS
    for at in range(len(tagged)):
        key = tagged[at] & np.uint64(0xFFFFFFFF)
        counts[(key >> shift) & _DIGIT] += np.uint32(1)


@kernel
def _put_in_order(tagged: Hashes, digit: int, places: Codes, ordered: Hashes) -> None:
    """Write terms sorted by a digit; terms with the same digit keep their order."""
    shift = np.uint64(digit) * _DIGIT_BITS
    for at in range(len(tagged)):
        value = (tagged[at] >> shift) & _DIGIT
        ordered[places[value]] = tagged[at]
        places[value] += np.uint32(1)


@kernel
def _count_before(tagged: Hashes, inner: int, below: Codes, counts: Rows) -> None:
    """Add up by category how many inner terms are not above each term; 0 for the inner category."""
    shift = np.uint64(_N_DIGITS - 1) * _DIGIT_BITS
    for at in range(len(tagged)):
        category = tagged[at] >> _KEY_BITS
        value = ((tagged[at] & np.uint64(0xFFFFFFFF)) >> shift) & _DIGIT
        counts[category] += below[value]
        below[value] += np.uint32(category == np.uint64(inner))
    counts[inner] = 0
