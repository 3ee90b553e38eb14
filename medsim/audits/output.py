"""The output of ``medsim audit``: its kind, its table and its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.audits import KINDS
from medsim.core.errors import counted
from medsim.core.kinds import Column, Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.decisions.files import DECISION_COLUMNS

_KIND = {"kind": Column(pl.String, f"Kind of the finding: {', '.join(KINDS)}.")}
_TABLES = declared_tables(__package__, kind=_KIND, decision=DECISION_COLUMNS)
FINDING = _TABLES["finding"]
"""The findings of an audit."""

CONFLICT = _TABLES["conflict"]
"""The decisions of reviewers who disagree."""

FINDINGS_CSV, SSSOM = "findings.csv", "mappings.sssom.tsv"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditManifest(RunManifest):
    """The manifest of an audit.

    Attributes:
        source: the terminology that was audited.
        since: the earlier terminology; None if there is none.
        decisions: the number of decisions that hold, of findings that were dropped because of them,
            of things that reviewers disagree on, and of decisions without a finding; and a
            fingerprint of the files. None if no decisions were given.
    """

    kind: ClassVar[str] = "audit"
    source: dict[str, object]
    since: dict[str, object] | None = None
    decisions: dict[str, object] | None = None


AUDIT = Kind(
    noun="audit",
    command="medsim audit",
    manifest=AuditManifest,
    views={"finding": FINDING, "conflict": CONFLICT},
)


class Audit(Opened[AuditManifest]):
    """A finished audit; its findings are read when needed."""

    kind = AUDIT

    def _summary(self) -> Summary:
        facts = [
            str(self.manifest.source.get("name")),
            counted(self._rows_below("findings.parquet"), "finding"),
        ]
        return Summary(facts, [".findings()", ".counts()"], self.counts)

    def findings(self) -> pl.DataFrame:
        """Return the findings, the rows of ``FINDING``."""
        return self.read(FINDING.files)

    def conflicts(self) -> pl.DataFrame:
        """Return the decisions of reviewers who disagree, the rows of ``CONFLICT``."""
        return self.read(CONFLICT.files)

    def counts(self) -> pl.DataFrame:
        """Return the number of findings of each kind that was searched for.

        Returns:
            Rows by severity and kind: severity, kind, findings, and new, the number of findings
            that are new since the earlier release; null if none was given.
        """
        return (
            self.read(FINDING.files, ["severity", "kind", "new"])
            .group_by("severity", "kind", maintain_order=True)
            .agg(
                pl.len().cast(pl.Int64).alias("findings"),
                pl.when(pl.col("new").count() > 0).then(pl.col("new").sum()).cast(pl.Int64),
            )
        )
