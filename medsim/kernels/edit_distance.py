"""The edit distance of a query and one term, with one bit per row of the table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.compiler import inner_kernel, kernel
from medsim.kernels.types import Codes, Hashes

_WORD = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Workspace(NamedTuple):
    """One thread's buffers for comparing a query with terms.

    Attributes:
        masks: uint64[n_characters * n_words], the positions of each character in the query; all
            zero between queries.
        plus: uint64[n_words], vertical differences of +1 in the current column.
        minus: uint64[n_words], vertical differences of -1.
    """

    masks: Hashes
    plus: Hashes
    minus: Hashes


@kernel
def words_of(length: int) -> int:
    """Return how many words of 64 rows a query needs, at least one."""
    return max(1, (length + _WORD - 1) // _WORD)


@kernel
def new_workspace(n_characters: int, longest: int) -> Workspace:
    """Return a workspace for queries of up to ``longest`` characters, of ``n_characters`` kinds."""
    n_words = words_of(longest)
    masks = np.zeros(n_characters * n_words, np.uint64)
    return Workspace(masks, np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64))


@inner_kernel
def set_masks(codes: Codes, begin: int, end: int, masks: Hashes) -> None:
    """Set the bits of the characters of the query ``codes[begin:end]`` in ``masks``.

    Character ``c`` has the words from ``c * n_words``: uint64[n_characters * n_words].
    """
    n_words = words_of(end - begin)
    for at in range(begin, end):
        row = at - begin
        word = np.int64(codes[at]) * n_words + row // _WORD
        masks[word] |= _ONE << np.uint64(row % _WORD)


@inner_kernel
def clear_masks(codes: Codes, begin: int, end: int, masks: Hashes) -> None:
    """Undo ``set_masks`` in uint64[n_characters * n_words]."""
    n_words = words_of(end - begin)
    for at in range(begin, end):
        first = np.int64(codes[at]) * n_words
        masks[first : first + n_words] = _ZERO


@inner_kernel
def _short_distance(
    masks: Hashes, length: int, codes: Codes, begin: int, end: int, bound: np.int64
) -> np.int64:
    """Return ``bounded_distance`` of a query of 1 to 64 characters."""
    last = np.uint64(length - 1)
    plus, minus = ~_ZERO, _ZERO
    distance = np.int64(length)
    for at in range(begin, end):
        equal = masks[codes[at]]
        vertical = equal | minus
        horizontal = (((equal & plus) + plus) ^ plus) | equal | minus
        up = minus | ~(horizontal | plus)
        down = plus & horizontal
        distance += np.int64((up >> last) & _ONE) - np.int64((down >> last) & _ONE)
        if distance - (end - 1 - at) > bound:
            return bound + 1
        up = (up << _ONE) | _ONE
        plus = (down << _ONE) | ~(vertical | up)
        minus = up & vertical
    return distance


@inner_kernel
def _long_distance(
    work: Workspace, length: int, codes: Codes, begin: int, end: int, bound: np.int64
) -> np.int64:
    """Return ``bounded_distance``, computed one word of 64 rows at a time."""
    n_words = words_of(length)
    masks, pluses, minuses = work.masks, work.plus, work.minus
    last = np.uint64((length - 1) % _WORD)
    pluses[:n_words] = ~_ZERO
    minuses[:n_words] = _ZERO
    distance = np.int64(length)
    for at in range(begin, end):
        first = np.int64(codes[at]) * n_words
        carry_plus, carry_minus = _ONE, _ZERO
        for word in range(n_words):
            equal, plus, minus = masks[first + word], pluses[word], minuses[word]
            vertical = equal | minus
            equal |= carry_minus
            horizontal = (((equal & plus) + plus) ^ plus) | equal
            up = minus | ~(horizontal | plus)
            down = plus & horizontal
            if word == n_words - 1:
                distance += np.int64((up >> last) & _ONE) - np.int64((down >> last) & _ONE)
            next_plus, next_minus = up >> np.uint64(63), down >> np.uint64(63)
            up = (up << _ONE) | carry_plus
            down = (down << _ONE) | carry_minus
            carry_plus, carry_minus = next_plus, next_minus
            pluses[word] = down | ~(vertical | up)
            minuses[word] = up & vertical
        if distance - (end - 1 - at) > bound:
            return bound + 1
    return distance


@inner_kernel
def bounded_distance(
    work: Workspace, length: int, codes: Codes, begin: int, end: int, bound: np.int64
) -> np.int64:
    """Return the distance of a query to the term ``codes[begin:end]``, or more than ``bound``.

    The bit-parallel algorithm of Myers (1999) in the form of Hyyrö (2003). The distance changes by
    at most one from column to column, so the computation stops once the remaining columns cannot
    bring it down to the bound. ``codes`` is uint32[n_code_points] or uint16; ``work`` holds the
    masks of the query, which has ``length`` characters. Time O(words of the query x length of the
    term).
    """
    if abs(length - (end - begin)) > bound:
        return bound + 1
    if length == 0:
        return np.int64(end - begin)
    if length <= _WORD:
        return _short_distance(work.masks, length, codes, begin, end, bound)
    return _long_distance(work, length, codes, begin, end, bound)
