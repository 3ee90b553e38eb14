"""Connected components, against networkx."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.kernels.components import components

pytestmark = pytest.mark.kernels

Edges = list[tuple[int, int]]


def components_of(n_nodes: int, edges: Edges) -> list[int]:
    left = np.array([a for a, _ in edges], np.int32)
    right = np.array([b for _, b in edges], np.int32)
    result = components(n_nodes, left, right)
    assert result.dtype == np.int32
    return [int(node) for node in result]


def expected(n_nodes: int, edges: Edges) -> list[int]:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from(edges)
    smallest = {node: min(part) for part in nx.connected_components(graph) for node in part}
    return [smallest[node] for node in range(n_nodes)]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    n_nodes = draw(st.integers(1, 30))
    nodes = st.integers(0, n_nodes - 1)
    return n_nodes, draw(st.lists(st.tuples(nodes, nodes), max_size=45))


@given(graphs())
def test_components_are_those_of_networkx(graph: tuple[int, Edges]) -> None:
    assert components_of(*graph) == expected(*graph)


@pytest.mark.parametrize("n_edges", [0, 100, 900, 1100, 4000])
def test_components_of_larger_random_graphs_are_those_of_networkx(n_edges: int) -> None:
    ends = np.random.default_rng(n_edges).integers(0, 2000, (n_edges, 2))
    edges = [(a, b) for a, b in ends.tolist()]
    assert components_of(2000, edges) == expected(2000, edges)


@pytest.mark.parametrize(
    "order", [range(3000), range(2999, -1, -1), np.random.default_rng(7).permutation(3000)]
)
def test_a_long_chain_is_one_component_in_any_order_of_its_edges(order) -> None:
    assert components_of(3001, [(node, node + 1) for node in order]) == [0] * 3001
