"""Rows that compare embeddings or metrics: every two of a family, with corrected p-values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from medsim.statistics.estimates import defined
from medsim.statistics.significance import bonferroni, holm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.evaluations.statistic import Statistic

Row: TypeAlias = dict[str, str | int | float | None]
"""A row of a table, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One of the embeddings or metrics that are compared with each other.

    Attributes:
        sample: that the statistic is computed of.
    """

    embedding: str
    metric: str
    sample: Any
    value: float


def family_rows(
    between: str, statistic: Statistic[Any], family: Sequence[Compared], n_pairs: int
) -> Iterator[Row]:
    """Yield ``COMPARISON_COLUMNS`` but the set of every two of a family.

    p-values are corrected for the number of rows.
    """
    if statistic.test is None:
        return
    matches = list(combinations(family, 2))
    tests = [statistic.test(first.sample, second.sample) for first, second in matches]
    p = np.array([one.p for one in tests], np.float64)
    for (first, second), found, by_bonferroni, by_holm in zip(
        matches, tests, bonferroni(p), holm(p), strict=True
    ):
        yield {
            "between": between,
            "embedding1": first.embedding,
            "metric1": first.metric,
            "embedding2": second.embedding,
            "metric2": second.metric,
            "of": statistic.name,
            "value1": defined(first.value),
            "value2": defined(second.value),
            "difference": defined(first.value - second.value),
            "test": found.method,
            "statistic": defined(found.statistic),
            "p": defined(found.p),
            "p_bonferroni": defined(by_bonferroni),
            "p_holm": defined(by_holm),
            "low": defined(found.low),
            "high": defined(found.high),
            "n_pairs": n_pairs,
        }
