"""Counts of what is left out of corpora, and why."""

from __future__ import annotations

from collections import Counter

from medsim.core.manifest import Skipped

_LONGEST_VALUE = 100


class Problems:
    """Counts by reason, and for faults of a file the first place of each reason."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def count(self, reason: str) -> None:
        """Count a row that is left out by intention, such as a relation."""
        self._counts[reason] += 1

    def add(self, reason: str, where: str, value: str) -> None:
        """Count a fault."""
        self.count(reason)
        if reason not in self._first:
            short = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
            self._first[reason] = f"{where}: {short}"

    def skipped(self) -> tuple[Skipped, ...]:
        """Return all counts, in order of reason."""
        return tuple(Skipped(reason=why, n_rows=n) for why, n in sorted(self._counts.items()))

    def warnings(self) -> tuple[str, ...]:
        """Return a line for each kind of fault, in order of reason."""
        return tuple(
            f"{reason}: {self._counts[reason]:,}, first in {first}"
            for reason, first in sorted(self._first.items())
        )
