"""Counts in which order similarities put terms of categories, without visiting triples of them.

Terms stand category by category: those of category ``c`` are columns ``starts[c]`` to
``starts[c + 1]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from medsim.kernels.types import (
        Codes,
        CodeTable,
        CountTable,
        Hashes,
        Rows,
        Starts,
        Table,
        Vectors,
    )

_DIGIT_BITS = np.uint64(11)  # three digits are all of a key
_N_DIGITS = 3
_N_VALUES = 1 << 11  # of a digit
_DIGIT = np.uint64(_N_VALUES - 1)
_KEY_BITS = np.uint64(32)
_SIGN = np.uint32(1 << 31)


@kernel
def sums_of_later(similarities: Vectors, starts: Starts, first: int) -> Table:
    """Return the sum of each row's similarities with the later terms of each category.

    Similarities are float32[n_rows, n_terms]; row ``i`` is of term ``first + i``.
    float64[n_rows, n_categories].
    """
    found = np.zeros((len(similarities), len(starts) - 1))
    for row in range(len(similarities)):
        for category in range(len(starts) - 1):
            for term in range(max(starts[category], first + row + 1), starts[category + 1]):
                found[row, category] += np.float64(similarities[row, term])
    return found


@kernel
def n_not_below(bits: CodeTable, starts: Starts, categories: Rows, first: int) -> CountTable:
    """Return how often a row is at least as similar to a term of another category as to an inner.

    Terms of a row are put in order of similarity by radix, inner ones first among equals, so each
    of another category counts the inner ones before it. Of the last digit no order is made: the
    inner terms that have a lower one are before, and those of the same one that came already.

    Args:
        bits: uint32[n_rows, n_terms], similarities in single precision, bit by bit.
        starts: of the categories.
        categories: the inner category, then those that it is compared with.
        first: the term of row 0; a row's own term is left out.

    Returns:
        int64[n_rows, n_categories], numbers of pairs (b, c) with similarity(b) <= similarity(c), b
        of the inner category and c of another; 0 for those not compared. Time and memory O(n_terms)
        a row.
    """
    inner, n_terms = int(categories[0]), bits.shape[1]
    found = np.zeros((len(bits), len(starts) - 1), np.int64)
    tagged, ordered = np.empty(n_terms, np.uint64), np.empty(n_terms, np.uint64)
    places = np.empty((_N_DIGITS, _N_VALUES), np.uint32)
    for row in range(len(bits)):
        places[:] = 0
        n_tagged = 0
        for category in categories:
            begin, end = int(starts[category]), int(starts[category + 1])
            own = min(max(first + row, begin - 1), end)
            for start, stop in ((begin, own), (own + 1, end)):
                n_tagged = _tag(bits[row], start, stop, int(category), tagged, n_tagged)
            if category == inner:
                _count_digits(tagged[:n_tagged], 2, places[2])
        for digit in range(_N_DIGITS - 1):
            _count_digits(tagged[:n_tagged], digit, places[digit])
        for digit in range(_N_DIGITS):
            _begin(places[digit])
        _put_in_order(tagged[:n_tagged], 0, places[0], ordered)
        _put_in_order(ordered[:n_tagged], 1, places[1], tagged)
        _count_before(tagged[:n_tagged], inner, places[2], found[row])
    return found


@kernel
def _tag(bits: Codes, start: int, stop: int, category: int, tagged: Hashes, n_tagged: int) -> int:
    """Write a slice of terms as keys that ascend with similarity, the category above the key."""
    tag = np.uint64(category) << _KEY_BITS
    for term in range(start, stop):
        value = bits[term] if bits[term] != _SIGN else np.uint32(0)  # zero has two signs
        key = ~value if value & _SIGN else value | _SIGN
        tagged[n_tagged + term - start] = tag | np.uint64(key)
    return int(n_tagged + max(stop - start, 0))


@kernel
def _count_digits(tagged: Hashes, digit: int, counts: Codes) -> None:
    """Count the values that a digit of the keys has."""
    shift = np.uint64(digit) * _DIGIT_BITS
    for at in range(len(tagged)):
        key = tagged[at] & np.uint64(0xFFFFFFFF)
        counts[(key >> shift) & _DIGIT] += np.uint32(1)


@kernel
def _begin(counts: Codes) -> None:
    """Replace each count by the sum of those before it."""
    total = np.uint32(0)
    for value in range(len(counts)):
        count = counts[value]
        counts[value] = total
        total += count


@kernel
def _put_in_order(tagged: Hashes, digit: int, places: Codes, ordered: Hashes) -> None:
    """Write terms in order of a digit, those of the same one in the order in which they come."""
    shift = np.uint64(digit) * _DIGIT_BITS
    for at in range(len(tagged)):
        value = (tagged[at] >> shift) & _DIGIT
        ordered[places[value]] = tagged[at]
        places[value] += np.uint32(1)


@kernel
def _count_before(tagged: Hashes, inner: int, below: Codes, found: Rows) -> None:
    """Add up by category how many inner terms are not above each term; 0 for the inner one."""
    shift = np.uint64(_N_DIGITS - 1) * _DIGIT_BITS
    for at in range(len(tagged)):
        category = tagged[at] >> _KEY_BITS
        value = ((tagged[at] & np.uint64(0xFFFFFFFF)) >> shift) & _DIGIT
        found[category] += below[value]
        below[value] += np.uint32(category == np.uint64(inner))
    found[inner] = 0
