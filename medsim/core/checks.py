"""The outcome of checks: violations of promises by check, and one table of them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import BrokenPromiseError, counted
from medsim.core.shown import Shown, Summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FINDING_COLUMNS: Mapping[str, type[pl.DataType]] = {
    "check": pl.String,
    "promise": pl.String,
    "violations": pl.Int64,
    "example": pl.String,
}
"""A row per check: its promise, how often that does not hold, and the first violation."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check.

    Attributes:
        check: its name.
        promise: the sentence that it checks.
        violations: where the promise does not hold; ``str`` of each is an example.
        note: shown where there are none, such as why nothing was checked.
    """

    check: str
    promise: str
    violations: Sequence[object] = ()
    note: str = ""

    def row(self) -> dict[str, object]:
        """Return the values of ``FINDING_COLUMNS``."""
        return {
            "check": self.check,
            "promise": self.promise,
            "violations": len(self.violations),
            "example": str(self.violations[0]) if self.violations else self.note,
        }


def findings_table(
    findings: Sequence[Finding], columns: Mapping[str, type[pl.DataType]] = FINDING_COLUMNS
) -> pl.DataFrame:
    """Return a row per finding: ``columns``, which are ``FINDING_COLUMNS`` and maybe others."""
    return pl.DataFrame([one.row() for one in findings], schema=dict(columns))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification(Shown):
    """The outcome of a verification."""

    findings: pl.DataFrame

    def _summary(self) -> Summary:
        outcome = f"broken: {', '.join(self.broken)}" if self.broken else "every promise holds"
        facts = [outcome, counted(self.findings.height, "check")]
        calls = [".findings", ".require(folder)"]
        what = type(self).__name__
        return Summary(what=what, facts=facts, calls=calls, table=lambda: self.findings)

    @property
    def holds(self) -> bool:
        """Whether every promise holds."""
        return not self.broken

    @property
    def broken(self) -> list[str]:
        """The checks that found violations, each once, in order."""
        found = self.findings.filter(pl.col("violations") > 0)["check"]
        return found.unique(maintain_order=True).to_list()

    @property
    def outcome(self) -> str:
        """One sentence: that all promises hold, or how many do not."""
        n_broken = self.findings.filter(pl.col("violations") > 0).height
        if not n_broken:
            return f"all {counted(self.findings.height, 'promise')} hold"
        return f"{n_broken:,} of {counted(self.findings.height, 'promise')} do not hold"

    def violated(self) -> list[str]:
        """Return a line for each promise that does not hold, with its first violation."""
        return [
            f"{row['check']}: {row['promise']} "
            f"{counted(row['violations'], 'violation')}, such as {row['example']}"
            for row in self.findings.filter(pl.col("violations") > 0).iter_rows(named=True)
        ]

    def require(self, location: object) -> None:
        """Raise BrokenPromiseError, with the location of what was verified, if one is broken."""
        if self.broken:
            raise BrokenPromiseError(f"{location}: {', '.join(self.broken)} do not hold")
