"""The page of an audit, on which a curator decides about the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.audits import KINDS, SEVERITIES
from medsim.audits.files import links_of
from medsim.core.errors import counted, listed
from medsim.pages.page import Decisions, LongTable, Page, PageTable, Section, license_notice, report

if TYPE_CHECKING:
    from medsim.audits.output import Audit

_SHOWN = (
    *("kind", "term1", "term2", "detail", "concept1", "concept2", "main_name1", "main_name2"),
    *("distance", "severity", "category", "new"),
)
_SAME = {"same": "same meaning", "not_same": "different"}
_ALONE = {"fix": "to be fixed", "keep": "correct"}
_PROSE = (
    "Decide whether two names mean the same, or whether a single name is to be fixed. Your "
    "browser keeps the decisions, also for the page of the next release. “Save corrections” "
    "saves those on two names for medsim build --corrections. “Save all decisions” saves all "
    "of them, and “Open decisions” reads them in another browser."
)


def audit_page(audit: Audit) -> Page:
    """Return the page of an audit: the number of findings of each kind, then the findings."""
    manifest, findings, counts = audit.manifest, audit.findings(), audit.counts()
    source = manifest.source
    name = " ".join(filter(None, (str(source["name"]), str(source["release_date"] or ""))))
    numbers = counts.group_by("severity", maintain_order=True).agg(pl.col("findings").sum())
    said = [counted(n, severity) for severity, n in numbers.iter_rows()]
    result = [f"The audit found {listed(said)}." if said else "The audit found nothing."]
    is_new = pl.when("new").then(pl.lit("yes")).when(~pl.col("new")).then(pl.lit("no"))
    shown = findings.select(_SHOWN).with_columns(
        *(
            pl.when(pl.col(f"main_name{at}") != pl.col(f"term{at}")).then(f"main_name{at}")
            for at in (1, 2)
        ),
        new=is_new,
    )
    shown = shown.drop(
        column for column in ("detail", "category", "new") if shown[column].n_unique() <= 1
    )
    table = LongTable(
        caption="Findings",
        frame=shown,
        filters=[name for name in ("severity", "kind", "category", "new") if name in shown],
        view="finding",
        linked=("concept1", "concept2"),
        links=links_of(source, pl.concat([shown["concept1"], shown["concept2"]])),
        differing=("term1", "term2"),
        decisions=Decisions(
            name=f"medsim audit {source.get('vocabulary') or source['name']}",
            ids=findings["finding_id"],
            texts=("term1", "term2"),
            choices=_SAME,
            alone=_ALONE,
        ),
    )
    numbers_of_kinds = PageTable(caption="Number of findings", frame=counts)
    return report(
        Page(
            title=f"Audit of {name}",
            lead="Names that are nearly the same, shared, retired or malformed.",
            sections=[
                Section(title="Result", result=result, parts=[numbers_of_kinds]),
                Section(title="Findings", prose=_PROSE, parts=[table]),
            ],
            notice=license_notice({name: source}),
            words={kind: KINDS[kind].means for kind in counts["kind"]}
            | {severity: f"Findings that are {means}." for severity, means in SEVERITIES.items()},
        ),
        manifest,
        "audit",
        commands="medsim sql OUT \"from finding where severity = 'warning'\"",
    )
