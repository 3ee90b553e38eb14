"""Blocks of terms of one length, and which of their terms have which character where."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.instructions import LANES, WORDS

if TYPE_CHECKING:
    from medsim.kernels.edit_search import Pool
    from medsim.kernels.types import Hashes, Ids

_WORD = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Block(NamedTuple):
    """Up to ``LANES`` terms of one length that lie side by side in the pool.

    Attributes:
        first: the place of the first.
        n_terms: how many there are.
        length: of each.
        n_present: how many different characters they have.
    """

    first: int
    n_terms: int
    length: int
    n_present: int


@kernel
def filled(pool: Pool, first: int, length: int, equals: Hashes, present: Ids) -> Block:
    """Return a block, having noted which of its terms have which character in which column.

    Args:
        pool: the terms.
        first: the place of the block's first.
        length: of its terms.
        equals: of the slate; all zero before.
        present: the different characters are written to it.
    """
    codes, n_terms = pool.codes, min(LANES, int(pool.length_starts[length + 1] - first))
    seen = np.zeros(pool.n_characters, np.bool_)
    for lane in range(n_terms):
        word, bit = lane // _WORD, _ONE << np.uint64(lane % _WORD)
        begin = pool.starts[first + lane]
        for column in range(length):
            character = np.int64(codes[begin + column])
            seen[character] = True
            equals[(character * length + column) * WORDS + word] |= bit
    n_present = 0
    for number in range(pool.n_characters):
        if seen[number]:
            present[n_present] = number
            n_present += 1
    return Block(first, n_terms, length, n_present)


@kernel
def clear(block: Block, equals: Hashes, present: Ids) -> None:
    """Undo ``filled``."""
    n_words = block.length * WORDS
    for at in range(block.n_present):
        first = np.int64(present[at]) * n_words
        equals[first : first + n_words] = _ZERO
