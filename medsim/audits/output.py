"""The output of ``medsim audit``: its kind, its table and its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.audits import KINDS
from medsim.core.errors import counted
from medsim.core.kinds import Column, Kind, Table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary


def _text(about: str) -> Column:
    return Column(pl.String, about)


_SECOND = "null if the finding is on one name."

FINDING = Table(
    "findings.parquet",
    "A row per finding: one name, or two names of two concepts.",
    {
        "finding_id": _text("Identifier of the finding: the same in every release that has it."),
        "kind": _text(f"Kind of the finding: {', '.join(KINDS)}."),
        "severity": _text("error, warning or note."),
        "term1": _text("The name, or the first name; null if the concept has none."),
        "term2": _text(f"The second name; {_SECOND}"),
        "concept1": _text("Concept of the first name; if several, the smallest."),
        "concept2": _text(f"Concept of the second name; {_SECOND}"),
        "main_name1": _text("Fully specified or main name of concept1; null if it has none."),
        "main_name2": _text("Fully specified or main name of concept2; null if there is none."),
        "part1": _text(
            "Part of the first name, in lower case, that the second lacks; in a malformed name, "
            "the part that is wrong; null if the whole name is meant."
        ),
        "part2": _text(
            "Part of the second name, in lower case, that the first lacks; null without part1 or "
            "without a second name."
        ),
        "distance": Column(
            pl.Int32,
            f"Levenshtein distance of the lower-cased names, in code points; {_SECOND}",
        ),
        "category": _text(
            "The first of the given categories that has a concept of the finding; without "
            "categories the semantic tag or type of concept1, empty if there is none."
        ),
        "new": Column(
            pl.Boolean,
            "Whether the earlier release lacks the finding; null if none was given.",
        ),
        "detail": _text(
            "For a chain its size, and how the names join two concepts; for a malformed name the "
            "characters that are wrong; null for other kinds."
        ),
        "similarity": Column(
            pl.Float32, "Cosine of two names in the model, -1 to 1; null without a model."
        ),
    },
    key=("finding_id",),
    order="By severity, kind as listed, distance, term1, term2, concept1 and concept2.",
)
"""The findings of an audit."""

FINDINGS_CSV, SSSOM = "findings.csv", "mappings.sssom.tsv"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditManifest(RunManifest):
    """The manifest of an audit.

    Attributes:
        source: the terminology that was audited.
        since: the earlier terminology; None if there is none.
    """

    kind: ClassVar[str] = "audit"
    source: dict[str, object]
    since: dict[str, object] | None = None


AUDIT = Kind(
    noun="audit",
    command="medsim audit",
    manifest=AuditManifest,
    views={"finding": FINDING},
    others={
        FINDINGS_CSV: "The findings as CSV that is safe in spreadsheets.",
        SSSOM: "The pairs of names that probably mean the same, in the format SSSOM.",
    },
)


class Audit(Opened[AuditManifest]):
    """A finished audit; its findings are read when needed."""

    kind = AUDIT

    def _summary(self) -> Summary:
        facts = [
            str(self.manifest.source.get("name")),
            counted(self._rows_below("findings.parquet"), "finding"),
        ]
        return self._summarized(facts, [".findings()", ".counts()"], self.counts)

    def findings(self) -> pl.DataFrame:
        """Return the findings, the rows of ``FINDING``."""
        return self.read(FINDING.files)

    def counts(self) -> pl.DataFrame:
        """Return the number of findings of each kind that was searched for.

        Returns:
            Rows by severity and kind: severity, kind, findings, and new, the number of findings
            that are new since the earlier release; null if none was given.
        """
        return (
            self.findings()
            .group_by("severity", "kind", maintain_order=True)
            .agg(
                pl.len().cast(pl.Int64).alias("findings"),
                pl.when(pl.col("new").count() > 0).then(pl.col("new").sum()).cast(pl.Int64),
            )
        )
