"""Metrics of averaged word vectors: a term is the mean of its words, compared as one vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.kernels.bags import averaged
from medsim.metrics import METRICS, Metric, WordBags
from medsim.metrics.vectors import COMPARISONS, Comparison, compare_rows

if TYPE_CHECKING:
    from medsim.kernels.types import Ids, Values
    from medsim.metrics.workers import Workers


def _metric(comparison: Comparison) -> Metric:
    def similarities(bags: WordBags, first: Ids, second: Ids, workers: Workers) -> Values:
        return compare_rows(
            comparison,
            lambda terms: averaged(bags.vectors, bags.words, bags.starts, terms),
            first,
            second,
            workers,
        )

    return Metric(
        of=WordBags,
        describes=f"{comparison.describes} of the terms' mean word vectors",
        similarities=similarities,
    )


for _name, _comparison in COMPARISONS.items():
    METRICS.register(f"avg_{_name}", _metric(_comparison))
