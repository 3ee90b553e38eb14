"""All pairs of terms that are alike by insertions and deletions, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.edit_distance import clear_masks, set_masks, words_of
from medsim.kernels.edit_search import SIGNATURE_WORDS
from medsim.kernels.instructions import popcount

if TYPE_CHECKING:
    from medsim.kernels.types import Codes, Hashes, Rows, Starts

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class TermsByLength(NamedTuple):
    """Terms laid out by length, the shortest first.

    Attributes:
        codes: uint32[n_code_points], characters as numbers from 0.
        starts: int64[n_terms + 1].
        signatures: uint64[n_terms * SIGNATURE_WORDS], of ``edit_search.signatures``.
        n_characters: how many numbers the characters have.
    """

    codes: Codes
    starts: Starts
    signatures: Hashes
    n_characters: int


@kernel
def _common_subsequence(
    masks: Hashes, words: Hashes, codes: Codes, begin: int, end: int
) -> np.int64:
    """Return the length of the longest common subsequence of a query and ``codes[begin:end]``.

    The bit-parallel algorithm of Hyyrö (2004): a bit that is not set is a row of the query where
    the length grows. ``masks`` are the query's, of ``set_masks``; ``words`` are written over.
    """
    n_words = len(words)
    words[:] = ~_ZERO
    for at in range(begin, end):
        first = np.int64(codes[at]) * n_words
        carry = _ZERO
        for word in range(n_words):
            row = words[word]
            matched = row & masks[first + word]
            total = row + matched
            overflow = total < row
            total += carry
            overflow |= total < carry
            words[word] = total | (row - matched)
            carry = _ONE if overflow else _ZERO
    common = np.int64(0)
    for word in range(n_words):
        common += popcount(~words[word])
    return common


@kernel
def _fewest_edits(bits: Hashes, left: int, right: int) -> int:
    """Return a lower bound of the insertions and deletions between two terms."""
    edits = 0
    for word in range(SIGNATURE_WORDS):
        edits += popcount(
            bits[left * SIGNATURE_WORDS + word] ^ bits[right * SIGNATURE_WORDS + word]
        )
    return edits


@kernel
def search_alike_pairs(
    laid: TermsByLength, first: int, stop: int, firsts: Rows, seconds: Rows
) -> int:
    """Return how many pairs are alike, and write as many as there is room for.

    Two terms of lengths a and b are alike if the ratio (a + b - d) / (a + b) is above 3/4, d being
    the fewest insertions and deletions that make one of the other; so if 4 d < a + b. As d is at
    least the difference of the lengths, the shorter has more than 3/5 of the longer's length; and
    at least the number of bits in which their signatures differ. What passes both is compared.

    The longer terms are those from ``first`` up to ``stop``. Their places, in order, are written to
    ``firsts``, and those of the terms before them that are alike to ``seconds``.
    """
    starts = laid.starts
    longest = starts[stop] - starts[stop - 1] if stop > first else 0
    masks = np.zeros(laid.n_characters * words_of(longest), np.uint64)
    n_found, nearest = 0, 0
    for term in range(first, stop):
        begin, end = starts[term], starts[term + 1]
        length = end - begin
        while 5 * (starts[nearest + 1] - starts[nearest]) <= 3 * length and nearest < term:
            nearest += 1
        words = np.empty(words_of(length), np.uint64)
        set_masks(laid.codes, begin, end, masks)
        for other in range(nearest, term):
            both = length + starts[other + 1] - starts[other]
            if 4 * _fewest_edits(laid.signatures, term, other) >= both:
                continue
            common = _common_subsequence(masks, words, laid.codes, starts[other], starts[other + 1])
            if 4 * (both - 2 * common) < both:
                if n_found < len(firsts):
                    firsts[n_found], seconds[n_found] = term, other
                n_found += 1
        clear_masks(laid.codes, begin, end, masks)
    return n_found
