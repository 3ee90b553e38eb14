"""Counts in which order similarities put terms of categories, without visiting triples of them.

Terms stand category by category: those of category ``c`` are columns ``starts[c]`` to
``starts[c + 1]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from medsim.kernels.types import CountTable, Starts, Table, Vectors


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
def n_not_below(ordered: Vectors, starts: Starts, own: int) -> CountTable:
    """Return how often a row is at least as similar to a term of another category as to its own.

    Two ascending runs are merged; each value of the row's own category that comes is not above
    what is left of the other. Similarities, float32[n_rows, n_terms], ascend within each category.

    int64[n_rows, n_categories], numbers of pairs (b, c) with similarity(b) <= similarity(c), b of
    the row's own category and c of another; 0 for its own. Time O(n_terms) a category.
    """
    found = np.zeros((len(ordered), len(starts) - 1), np.int64)
    for row in range(len(ordered)):
        inner = ordered[row, starts[own] : starts[own + 1]]
        for category in range(len(starts) - 1):
            if category == own:
                continue
            outer = ordered[row, starts[category] : starts[category + 1]]
            left, right, total = 0, 0, 0
            while left < len(inner) and right < len(outer):
                below = outer[right] < inner[left]
                total += 0 if below else len(outer) - right
                right += below
                left += not below
            found[row, category] = total
    return found
