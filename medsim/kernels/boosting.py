"""Gradient boosting of decision trees for two classes, on features in bins.

The method is that of histogram gradient boosting (Friedman 2001; Ke et al. 2017, LightGBM): each
tree is grown leaf by leaf at the split that reduces the loss most, which is found from sums over
bins. A tree may see only some features, drawn by hashes, as in random forests (Breiman 2001). Sums
are added in order of rows, so results do not depend on threads or processors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from medsim.kernels.compiler import array_kernel, inner_kernel, kernel, whole
from medsim.kernels.packing import mixed
from medsim.kernels.types import ByteTable, Flags, FloatTable, Ids, Places, Values, Vectors, Wide

N_BINS = 255
_N_NODES = 253  # of a tree with 127 leaves
_FEWEST_ROWS = 20  # in a leaf
_LEAST_WEIGHT = 1e-3  # in a leaf, the sum of p (1 - p)
_RATE = 0.05  # of learning
_MOST_ODDS = 40.0  # their probability is 1 in double precision
_SQUARINGS = 10
_WORD, _PRIME = 64, np.uint64(67)  # the powers of 2 below 2 ** 64 differ modulo 67
_SLOPE, _WEIGHT, _ROWS = 0, 1, 2  # the sums over the rows of a bin


class Trees(NamedTuple):
    """Trees that add up log odds.

    A node is a leaf if its child is 0. Otherwise rows go to the child if their bin of the node's
    feature is at most its cut, and else to the node after the child.

    Attributes:
        start: the log odds before the first tree.
        features: int64[n_trees, n_nodes].
        cuts: int64[n_trees, n_nodes].
        children: int64[n_trees, n_nodes].
        odds: float64[n_trees, n_nodes], the log odds that leaves add.
    """

    start: float
    features: Places
    cuts: Places
    children: Places
    odds: FloatTable


@inner_kernel
def probability(odds: float) -> float:
    """Return the probability of log odds, with an error of at most 1e-10.

    The exponential function is computed from sums, products and quotients, whose results are the
    same on all processors. Those of libraries may differ in the last digit.
    """
    x = -min(abs(odds), _MOST_ODDS) / (1 << _SQUARINGS)
    power = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4)))
    for _ in range(_SQUARINGS):
        power *= power
    return 1 / (1 + power) if odds >= 0 else power / (1 + power)


@kernel
def binned(features: Vectors, edges: Vectors) -> ByteTable:
    """Return the number of edges below each value: uint8[n_features, n_rows].

    Args:
        features: float32[n_features, n_rows].
        edges: float32[n_features, N_BINS], ascending, with infinity for those that are missing.
    """
    bins = np.zeros(features.shape, np.uint8)
    for feature in range(len(features)):
        for row, value in enumerate(features[feature]):
            below = 0
            for power in range(7, -1, -1):
                below += (edges[feature, below + (1 << power) - 1] < value) << power
            bins[feature, row] = below
    return bins


@inner_kernel
def _add_up(bins: ByteTable, rows: Ids, slopes: FloatTable, sums: FloatTable) -> None:
    """Write the sums over the rows of each bin: float64[n_features, n_bins, 3]."""
    sums[:] = 0
    for feature in range(len(bins)):
        column = bins[feature]
        for row in rows:
            of_bin = sums[feature, column[row]]
            of_bin[_SLOPE] += slopes[row, _SLOPE]
            of_bin[_WEIGHT] += slopes[row, _WEIGHT]
            of_bin[_ROWS] += 1


@inner_kernel
def _total(of_bins: FloatTable, column: int) -> float:
    """Return the sum of a column, one value after the other, so that it is the same everywhere."""
    total = 0.0
    for of_bin in of_bins:
        total += of_bin[column]
    return total


@inner_kernel
def _best_split(sums: FloatTable) -> tuple[float, int, int]:
    """Return the largest gain of a split with its feature and cut; 0 if none is possible.

    Of equal gains the first counts.
    """
    slope, weight = _total(sums[0], _SLOPE), _total(sums[0], _WEIGHT)
    n_rows = _total(sums[0], _ROWS)
    if n_rows < 2 * _FEWEST_ROWS:
        return 0.0, 0, 0
    best, best_feature, best_cut = 0.0, 0, 0
    for feature in range(len(sums)):
        below, weight_below, n_below = 0.0, 0.0, 0.0
        for cut in range(sums.shape[1] - 1):
            below += sums[feature, cut, _SLOPE]
            weight_below += sums[feature, cut, _WEIGHT]
            n_below += sums[feature, cut, _ROWS]
            above, weight_above = slope - below, weight - weight_below
            if n_rows - n_below < _FEWEST_ROWS or weight_above < _LEAST_WEIGHT:
                break
            if n_below < _FEWEST_ROWS or weight_below < _LEAST_WEIGHT:
                continue
            gain = below * below / weight_below + above * above / weight_above
            gain -= slope * slope / weight
            if gain > best:
                best, best_feature, best_cut = gain, feature, cut
    return best, best_feature, best_cut


@inner_kernel
def _divide(rows: Ids, column: ByteTable, cut: int, later: Ids) -> int:
    """Move the rows with bins above a cut behind the others, and return the number of these."""
    n_first, n_later = 0, 0
    for row in rows:
        if column[row] <= cut:
            rows[n_first] = row
            n_first += 1
        else:
            later[n_later] = row
            n_later += 1
    for at in range(n_later):
        rows[n_first + at] = later[at]
    return n_first


@inner_kernel
def _set_slopes(labels: Flags, odds: Values, slopes: FloatTable) -> None:
    """Write the slope of the loss of each row and its weight, p (1 - p): float64[n_rows, 2]."""
    for row in range(len(labels)):
        chance = probability(odds[row])
        slopes[row, _SLOPE], slopes[row, _WEIGHT] = labels[row] - chance, chance * (1 - chance)


@array_kernel
def _drawn(tree: int, n_features: int, n_drawn: int) -> Ids:
    """Return the features that a tree sees, ascending: int32[n_drawn]."""
    draws = np.empty(n_features, np.uint64)
    for feature in range(n_features):
        draws[feature] = mixed(np.uint64(tree * n_features + feature))
    return np.sort(np.argsort(draws)[:n_drawn]).astype(np.int32)


@kernel
def boosted_trees(
    bins: ByteTable, labels: Flags, start: float, n_trees: int, n_drawn: int
) -> Trees:
    """Return trees that tell positives from negatives.

    Args:
        bins: uint8[n_features, n_rows].
        labels: bool[n_rows], true for positives.
        start: the log odds before the first tree, those of all rows.
        n_trees: number of trees.
        n_drawn: number of features that each tree sees.

    Time O(n_trees * n_drawn * n_rows), memory O(n_drawn * n_rows) and 1.5 MB per drawn feature.
    """
    n_rows, shape = len(labels), (n_trees, _N_NODES)
    features, cuts = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    children, added = np.zeros(shape, np.int64), np.zeros(shape)
    odds, slopes = np.full(n_rows, start), np.empty((n_rows, 2))
    later = np.empty(n_rows, np.int32)
    begins, ends = np.zeros(_N_NODES, np.int64), np.full(_N_NODES, n_rows)
    n_bins = whole(bins.max()) + 1
    gains, sums = np.zeros(_N_NODES), np.zeros((_N_NODES, n_drawn, n_bins, 3))
    for tree in range(n_trees):
        _set_slopes(labels, odds, slopes)
        drawn = _drawn(tree, len(bins), n_drawn)
        seen = bins[drawn]
        rows = np.arange(n_rows).astype(np.int32)
        n_nodes = 1
        _add_up(seen, rows, slopes, sums[0])
        gains[0], features[tree, 0], cuts[tree, 0] = _best_split(sums[0])
        while n_nodes < _N_NODES:
            node = whole(np.argmax(gains[:n_nodes]))
            if gains[node] <= 0:
                break
            gains[node], children[tree, node] = 0, n_nodes
            begin, end = begins[node], ends[node]
            column = seen[features[tree, node]]
            middle = begin + _divide(rows[begin:end], column, cuts[tree, node], later)
            begins[n_nodes], ends[n_nodes] = begin, middle
            begins[n_nodes + 1], ends[n_nodes + 1] = middle, end
            smaller, larger = n_nodes, n_nodes + 1
            if middle - begin > end - middle:
                smaller, larger = larger, smaller
            # Only the first feature is needed in leaves, which too few rows surely are.
            n_seen = n_drawn if ends[larger] - begins[larger] >= 2 * _FEWEST_ROWS else 1
            members = rows[begins[smaller] : ends[smaller]]
            _add_up(seen[:n_seen], members, slopes, sums[smaller, :n_seen])
            sums[larger, :n_seen] = sums[node, :n_seen] - sums[smaller, :n_seen]
            for child in range(n_nodes, n_nodes + 2):
                gains[child], features[tree, child], cuts[tree, child] = _best_split(sums[child])
            n_nodes += 2
        for node in range(n_nodes):
            if children[tree, node] == 0:
                of_bins = sums[node, 0]  # a step of Newton
                added[tree, node] = _RATE * _total(of_bins, _SLOPE) / _total(of_bins, _WEIGHT)
                odds[rows[begins[node] : ends[node]]] += added[tree, node]
        features[tree] = drawn[features[tree]]
    return Trees(start, features, cuts, children, added)


@array_kernel
def _set_tables(trees: Trees, tree: int, leaves: Wide, possible: Wide, added: FloatTable) -> None:
    """Write the leaves below each node, and those that rows of each bin may reach, as bits.

    Args:
        trees: all trees.
        tree: the number of a tree.
        leaves: uint64[2, n_nodes], written.
        possible: uint64[n_features, 2 * N_BINS], those of both words, written.
        added: float64[2, 67], the odds of leaves by their bit modulo 67, written.
    """
    added[:], leaves[:], possible[:] = 0, 0, ~np.uint64(0)
    children, n_leaves = trees.children[tree], 0
    for node in range(children.max() + 1, -1, -1):
        child = children[node]
        if child == 0:
            word, bit = n_leaves // _WORD, np.uint64(1) << np.uint64(n_leaves % _WORD)
            leaves[word, node], added[word, bit % _PRIME] = bit, trees.odds[tree, node]
            n_leaves += 1
            continue
        feature, cut = trees.features[tree, node], trees.cuts[tree, node]
        for word in range(len(added)):
            leaves[word, node] = leaves[word, child] | leaves[word, child + 1]
            of_bins = possible[feature, word * N_BINS : (word + 1) * N_BINS]
            of_bins[: cut + 1] &= ~leaves[word, child + 1]
            of_bins[cut + 1 :] &= ~leaves[word, child]


@kernel
def log_odds(bins: ByteTable, trees: Trees) -> Values:
    """Return the log odds of rows with bins uint8[n_features, n_rows]: float64[n_rows].

    A row reaches the only leaf that none of its bins refuses, which is found without branches
    (Lucchese et al. 2015, QuickScorer).
    """
    n_features, n_rows = bins.shape
    odds = np.full(n_rows, trees.start)
    leaves, added = np.empty((2, _N_NODES + 1), np.uint64), np.empty((2, _PRIME))
    possible = np.empty((n_features, 2 * N_BINS), np.uint64)
    for tree in range(len(trees.children)):
        _set_tables(trees, tree, leaves, possible, added)
        used = np.unique(trees.features[tree][trees.children[tree] > 0])
        seen, of_bins = bins[used], possible[used]
        for row in range(n_rows):
            first, second = leaves[:, 0]
            for feature in range(len(used)):
                a_bin = int(seen[feature, row])
                first &= of_bins[feature, a_bin]
                second &= of_bins[feature, N_BINS + a_bin]
            odds[row] += added[0, first % _PRIME] + added[1, second % _PRIME]
    return odds
