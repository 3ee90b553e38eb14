"""Connected components of a graph given by its edges."""

from __future__ import annotations

import numpy as np

from medsim.kernels.compiler import kernel
from medsim.kernels.types import Ids


@kernel
def components(n_nodes: int, left: Ids, right: Ids) -> Ids:
    """Return the component of each node: the smallest node in it.

    Union by the smaller root with path halving (Tarjan and van Leeuwen 1984). Edges connect the
    nodes ``left`` with the nodes ``right``. The root of a tree is always its smallest node, so the
    result does not depend on the order of edges. Returns int32[n_nodes], in time nearly O(n_nodes +
    n_edges).
    """
    parent = np.arange(n_nodes).astype(np.int32)
    for edge in range(len(left)):
        a, b = left[edge], right[edge]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    for node in range(n_nodes):
        parent[node] = parent[parent[node]]  # a parent is smaller, so its own is final
    return parent
