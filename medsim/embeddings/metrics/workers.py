"""Threads that share out the rows of one computation, whose result does not depend on them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from medsim.core.config import in_threads, thread_pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


FilledTable = TypeVar("FilledTable", bound=np.ndarray[Any, Any])

_ROWS_A_TASK = 8192
_COLUMNS_A_TASK = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Threads that report their progress."""

    threads: int
    advance: Callable[[int], None] = lambda _n_rows: None

    def costing(self, cost: int) -> Workers:
        """Return these for rows that take so many times the time of others."""
        return replace(self, advance=lambda n_rows: self.advance(n_rows * cost))

    def spread(
        self,
        work: Callable[[slice], NDArray[Any]],
        n_rows: int,
        advance: Callable[[int], None] = lambda _n_rows: None,
        rows_a_task: int = _ROWS_A_TASK,
    ) -> NDArray[Any]:
        """Return the results of ``work`` for all rows, row by row.

        It returns an array with a row for each row of a slice of at most ``rows_a_task``, is called
        from several threads, and once with no rows where there are none. ``advance`` is called with
        the number of rows done since the last call.
        """
        slices = [
            slice(begin, min(begin + rows_a_task, n_rows))
            for begin in range(0, max(n_rows, 1), rows_a_task)
        ]
        alone = self.threads == 1 or len(slices) == 1
        with nullcontext() if alone else thread_pool(self.threads) as executor:
            parts = (executor.map if executor else map)(work, slices)
            first = next(parts)  # there is at least one slice
            found: NDArray[Any] = np.empty((n_rows, *first.shape[1:]), first.dtype)
            for rows, part in zip(slices, chain([first], parts), strict=True):
                found[rows] = part
                advance(rows.stop - rows.start)
        return found

    def spread_columns(
        self, work: Callable[[slice], NDArray[Any]], found: FilledTable
    ) -> FilledTable:
        """Return a table after ``work`` has filled it, some columns at a time.

        It returns all rows of the columns of a slice, and is called from several threads. The table
        rounds to its own precision.
        """

        def fill(part: slice) -> None:
            found[:, part] = work(part)

        n_columns = found.shape[1]
        slices = (
            slice(begin, min(begin + _COLUMNS_A_TASK, n_columns))
            for begin in range(0, n_columns, _COLUMNS_A_TASK)
        )
        in_threads(self.threads, fill, slices)
        return found
