"""Rows that compare models: every two of a family are tested, their p-values corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from medsim.statistics.significance import bonferroni, holm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from medsim.statistics.significance import Test

Row: TypeAlias = dict[str, str | int | float | None]
"""A row of a table, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two that are compared.

    Attributes:
        embedding: its name.
        metric: the name of its metric.
        value: of the statistic in which they are compared.
    """

    embedding: str
    metric: str
    value: float


def family_rows(
    between: str,
    of: str,
    sides: Sequence[Side],
    test: Callable[[int, int], Test],
    n_pairs: int,
) -> Iterator[Row]:
    """Yield a row for every two sides, p-values corrected for the number of rows.

    Args:
        between: "embeddings" or "metrics".
        of: the statistic.
        sides: the family.
        test: returns whether two sides, given by their places, differ.
        n_pairs: on which they are compared.

    Yields:
        The columns of ``COMPARISON_COLUMNS`` but for the set.
    """
    matches = list(combinations(range(len(sides)), 2))
    tests = [test(*match) for match in matches]
    p = np.array([one.p for one in tests], np.float64)
    corrected = zip(bonferroni(p), holm(p), strict=True)
    for (one, other), found, (by_bonferroni, by_holm) in zip(
        matches, tests, corrected, strict=True
    ):
        first, second = sides[one], sides[other]
        yield {
            "between": between,
            "embedding1": first.embedding,
            "metric1": first.metric,
            "embedding2": second.embedding,
            "metric2": second.metric,
            "of": of,
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


def defined(value: float) -> float | None:
    """Return a value for a table, in which what is not defined is missing."""
    return None if math.isnan(value) else float(value)
