"""The time that metrics take by the number of dimensions, for estimates of what is left."""

from __future__ import annotations

from collections.abc import Callable

Cost = Callable[[int], int]
"""Takes a number of dimensions and returns the time of a pair of terms, from 1.

The unit is a tenth of a microsecond of one core where they were measured, on 100,000 to 150,000
pairs of terms of HPO (of three words) with vectors of 50 and of 300 dimensions; only how they stand
to each other counts.
"""


def cost(of_pair: float, per_dimension: float = 0.0, per_square: float = 0.0) -> Cost:
    """Return the cost of a metric whose time is a polynomial of the dimensions, in microseconds."""

    def of_dimensions(n_dimensions: int) -> int:
        time = of_pair + per_dimension * n_dimensions + per_square * n_dimensions**2
        return max(1, round(10 * time))

    return of_dimensions


OF_ROWS = cost(0.2, per_dimension=0.0046)
"""The cost of a cosine of two vectors."""
