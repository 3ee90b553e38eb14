"""The Jaccard index of pairs of sets of numbers, such as the trigrams of two terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.compiler import kernel

if TYPE_CHECKING:
    from medsim.kernels.types import Hashes, Ids, Starts, Values


@kernel
def jaccard(items: Hashes, starts: Starts, first: Ids, second: Ids) -> Values:
    """Return the Jaccard index of each pair of sets: float64[n_pairs]; 0 if both are empty.

    Args:
        items: uint64[n_items], the items of set ``i`` are ``items[starts[i]:starts[i + 1]]``;
            an item that is repeated counts once. Each set is sorted in place.
        starts: int64[n_sets + 1].
        first: int32[n_pairs], the first set of each pair.
        second: int32[n_pairs].
    """
    for row in range(len(starts) - 1):
        items[starts[row] : starts[row + 1]].sort()
    indexes = np.zeros(len(first))
    for pair in range(len(first)):
        left, left_end = starts[first[pair]], starts[first[pair] + 1]
        right, right_end = starts[second[pair]], starts[second[pair] + 1]
        n_shared, n_either = 0, 0
        while left < left_end or right < right_end:
            if right == right_end or (left < left_end and items[left] <= items[right]):
                item = items[left]
            else:
                item = items[right]
            in_left, in_right = False, False
            while left < left_end and items[left] == item:
                in_left, left = True, left + 1
            while right < right_end and items[right] == item:
                in_right, right = True, right + 1
            n_either += 1
            if in_left and in_right:
                n_shared += 1
        if n_either:
            indexes[pair] = n_shared / n_either
    return indexes
