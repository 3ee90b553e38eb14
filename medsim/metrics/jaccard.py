"""Jaccard indices of fuzzy bags of words (Zhelezniak et al., ICLR 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medsim.kernels.bags import dynamax_overlaps, overlaps, positive_maxima
from medsim.metrics import METRICS, Metric, WordBags
from medsim.metrics.vectors import Comparison, compare_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from medsim.kernels.types import Ids, Values, Vectors
    from medsim.metrics.workers import Workers


def _fuzzy(bags: WordBags, first: Ids, second: Ids, workers: Workers) -> Values:
    return workers.spread(
        lambda part: dynamax_overlaps(
            bags.vectors, bags.words, bags.starts, first[part], second[part]
        ),
        len(first),
        workers.advance,
    )


def _compare(prepared: Vectors, _weights: NDArray[Any], first: Ids, second: Ids) -> Values:
    return overlaps(prepared, first, second)


_POOLED = Comparison(
    describes="Jaccard index",
    prepare=lambda vectors: vectors,
    weigh=lambda vectors: np.zeros(len(vectors), np.int8),
    compare=_compare,
)


def _max(bags: WordBags, first: Ids, second: Ids, workers: Workers) -> Values:
    return compare_rows(
        _POOLED,
        lambda terms: positive_maxima(bags.vectors, bags.words, bags.starts, terms),
        first,
        second,
        workers,
    )


METRICS.register(
    "fuzzy_jaccard",
    Metric(of=WordBags, describes="DynaMax-Jaccard of the terms' words", similarities=_fuzzy),
)
METRICS.register(
    "max_jaccard",
    Metric(of=WordBags, describes="Jaccard index of max-pooled word vectors", similarities=_max),
)
