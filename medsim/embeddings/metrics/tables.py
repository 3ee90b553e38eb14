"""Compares terms, all with all, under any metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.embeddings.metrics.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.embeddings.metrics import Embedded, Metric
    from medsim.kernels.types import Ids, Vectors


def tabulated(
    metric: Metric, embedded: Embedded, terms: Ids, workers: Workers
) -> Callable[[slice], Vectors]:
    """Return a function that compares some terms with all; see ``embeddings.metrics.Tabulate``.

    A metric that cannot do so by itself compares them pair by pair.
    """
    if metric.tabulate is not None:
        return metric.tabulate(embedded, terms, workers)

    def table(part: slice) -> Vectors:
        first = terms[part]
        left, right = np.repeat(first, len(terms)), np.tile(terms, len(first))
        found = metric.similarities(embedded, left, right, Workers(threads=workers.threads))
        return found.astype(np.float32).reshape(len(first), len(terms))

    return table
