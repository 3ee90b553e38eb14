"""All terms of a terminology as arrays, joined by the positives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.negatives import TermIndex
from medsim.core.terms import pack
from medsim.kernels.components import components
from medsim.kernels.hashing import term_hashes

if TYPE_CHECKING:
    from medsim.builds.positives import Positives
    from medsim.core.store import Store


def index_terms(positives: Positives, store: Store, *, pool: str) -> TermIndex:
    """Return all terms as arrays, with the connected components that the positives make.

    Terms that people judged to mean the same are joined, too.

    The tables term_component (term_id, component_id) and pool (term_id) are left in the store.

    Args:
        positives: with all terms.
        store: with the table name.
        pool: what negatives are drawn from, one of ``config.POOLS``.
    """
    terms, pairs = positives.terms, positives.pairs
    node = terms["node_id"].to_numpy()
    same = positives.corrected.filter("same")
    ends = [
        np.concatenate([node[pairs[of_pairs].to_numpy()], same[of_same].to_numpy()])
        for of_pairs, of_same in (("term1_id", "node1_id"), ("term2_id", "node2_id"))
    ]
    n_nodes = int(node.max(initial=-1)) + 1
    component = components(n_nodes, *ends)[node]
    store.put(
        "term_component",
        terms.select("term_id", pl.Series("component_id", component, dtype=pl.Int32)),
    )
    store.put("positive", pairs.select("term1_id", "term2_id"))
    store.run("builds/terms/pool", pool=pool)
    store.drop("positive")
    shared = store.table("pool").sort("term_id")["term_id"].to_numpy()
    exact = pack(terms["term"].to_list())
    return TermIndex(
        lower=pack(terms["lower_term"].to_list()),
        hashes=term_hashes(exact.codes, exact.starts),
        components=component,
        pool=shared if pool == "terminology" else None,
    )
