"""The results of checks: violations by check, and one table of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from medsim.core.errors import BrokenPromiseError, counted
from medsim.core.shown import Shown, Summary


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        check: its name.
        promise: the checked guarantee, as a sentence.
        violations: one object per violation; its ``str`` is an example.
        note: shown if there are no violations, such as the reason that nothing was checked.
        n_compared: number of first terms compared with all terms, if the check does this.
        n_first_terms: number of first terms that could be compared.
    """

    check: str
    promise: str
    violations: Sequence[object] = ()
    note: str = ""
    n_compared: int = 0
    n_first_terms: int = 0

    def row(self) -> dict[str, object]:
        """Return the guarantee, the number of violations, and the first one or the note."""
        return {
            "check": self.check,
            "guarantee": self.promise,
            "violations": len(self.violations),
            "example": str(self.violations[0]) if self.violations else self.note,
        }


def findings_table(findings: Sequence[Finding]) -> pl.DataFrame:
    """Return a row per finding."""
    return pl.DataFrame([finding.row() for finding in findings])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification(Shown):
    """The result of a verification.

    Attributes:
        findings: a row per check: its guarantee, the number of violations, and the first violation
            or a note.
        n_compared: number of first terms whose negatives were compared with all terms.
        n_first_terms: number of first terms that could be compared.
        seed: random seed of the sample of first terms.
    """

    findings: pl.DataFrame
    n_compared: int = 0
    n_first_terms: int = 0
    seed: int = 0

    def _summary(self) -> Summary:
        broken = [f"broken: {', '.join(self.broken)}", counted(self.findings.height, "check")]
        facts = broken if self.broken else [self.outcome]
        calls = [".findings", ".require(folder)"]
        return Summary(facts, calls, lambda: self.findings)

    @property
    def holds(self) -> bool:
        """Whether every guarantee holds."""
        return not self.broken

    @property
    def broken(self) -> list[str]:
        """The names of the checks with violations, without repeats, in order."""
        names = self.findings.filter(pl.col("violations") > 0)["check"]
        return names.unique(maintain_order=True).to_list()

    @property
    def outcome(self) -> str:
        """One sentence: how many guarantees fail, or that all hold for the compared terms."""
        n_broken = self.findings.filter(pl.col("violations") > 0).height
        guarantees = counted(self.findings.height, "guarantee")
        if n_broken:
            return f"{n_broken:,} of {guarantees} do not hold"
        if self.n_compared < self.n_first_terms:
            return (
                f"all {guarantees} hold for a sample: the negatives of {self.n_compared:,} of "
                f"{self.n_first_terms:,} first terms were compared with all terms (seed "
                f"{self.seed}); `sample` all compares every first term"
            )
        compared = f"; all {self.n_first_terms:,} first terms were compared with all terms"
        return f"all {guarantees} hold{compared if self.n_first_terms else ''}"

    def require(self, location: object) -> None:
        """Raise BrokenPromiseError, with the location of the output, if a guarantee fails."""
        if self.broken:
            raise BrokenPromiseError(f"{location}: {', '.join(self.broken)} do not hold")
