"""The page of an audit, on which a curator decides about the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.audits import CHOICES, JUDGED_AS, KINDS, SEVERITIES
from medsim.core.errors import counted, listed
from medsim.core.terms import lowered_column
from medsim.pages.page import Decisions, LongTable, Page, PageTable, Section, license_notice, report
from medsim.terminologies.sources import links_of

if TYPE_CHECKING:
    from medsim.audits.output import Audit

_SHOWN = (
    *("kind", "term1", "term2", "detail", "concept1", "concept2", "main_name1", "main_name2"),
    *("distance", "severity", "category", "new", "family"),
)
_ALL_CHOICES = {**CHOICES, "both": {**CHOICES["concepts"], **CHOICES["names"]}}
_PROSE = (
    "Decide whether two names mean the same, or whether a single name is to be fixed. “Save all "
    "decisions” writes the file that medsim audit --decisions takes, so that you are not asked "
    "again. Your browser keeps the decisions until then; “Open decisions” reads such a file. "
    "“Save corrections” is for medsim build --corrections. If you call two names of a series "
    "different, such as type 1 and type 2, so are all of its family."
)
_GRAVE = ("error", "warning")


def audit_page(audit: Audit) -> Page:
    """Return the page of an audit: the number of findings of each kind, then the findings."""
    manifest, findings, counts = audit.manifest, audit.findings(), audit.counts()
    source = manifest.source
    name = " ".join(filter(None, (str(source["name"]), str(source["release_date"] or ""))))
    numbers = counts.group_by("severity", maintain_order=True).agg(pl.col("findings").sum())
    said = [counted(n, severity) for severity, n in numbers.iter_rows()]
    result = [f"The audit found {listed(said)}." if said else "The audit found nothing."]
    if manifest.decisions is not None:
        result.append(f"It left out {manifest.decisions['dropped']:,} that were decided on.")
    shown = _shown(findings)
    is_grave = shown["severity"].is_in(_GRAVE)
    table = LongTable(
        caption="Findings",
        frame=shown,
        filters=[name for name in ("severity", "kind", "category", "new") if name in shown],
        view="finding",
        linked=("concept1", "concept2"),
        links=links_of(source, pl.concat([shown["concept1"], shown["concept2"]])),
        differing=("term1", "term2"),
        below={f"term{at}": (f"concept{at}", f"main_name{at}") for at in (1, 2)}
        | ({"kind": ["detail"]} if "detail" in shown else {}),
        preset={"severity": _GRAVE} if is_grave.any() and not is_grave.all() else {},
        decisions=Decisions(
            name=f"medsim audit decisions {source.get('vocabulary') or source['name']}",
            subject_columns=("concept1", "term1"),
            object_columns=("concept2", "term2"),
            choices=_ALL_CHOICES,
            choices_of="choices",
            family="family",
            together="different",
            corrections=JUDGED_AS,
        ),
    )
    tables = {"Number of findings": counts, "Reviewers disagree": audit.conflicts()}
    parts = [PageTable(caption=name, frame=rows) for name, rows in tables.items() if rows.height]
    return report(
        manifest,
        "audit",
        title=f"Audit of {name}",
        lead="Names that are nearly the same, shared, retired or malformed.",
        sections=[
            Section(title="Result", result=result, parts=parts),
            Section(title="Findings", prose=_PROSE, parts=[table]),
        ],
        notice=license_notice({name: source}),
        words={kind: KINDS[kind]["means"] for kind in counts["kind"]}
        | {severity: f"Findings that are {means}." for severity, means in SEVERITIES.items()},
        commands="medsim sql OUT \"from finding where severity = 'warning'\"",
    )


def _shown(findings: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of findings that the page has, without those that say nothing.

    The column ``choices`` names what readers can choose.
    """
    is_new = pl.when("new").then(pl.lit("yes")).when(~pl.col("new")).then(pl.lit("no"))
    is_same = lowered_column(findings["term1"]) == lowered_column(findings["term2"])
    of_two = pl.when(is_same).then(pl.lit("both")).otherwise(pl.lit("concepts"))
    has_two = pl.col("concept1") != pl.col("concept2")
    shown = findings.select(_SHOWN).with_columns(
        *(
            pl.when(pl.col(f"main_name{at}") != pl.col(f"term{at}")).then(f"main_name{at}")
            for at in (1, 2)
        ),
        new=is_new,
        choices=pl.when(has_two).then(of_two).otherwise(pl.lit("names")),
    )
    return shown.drop(
        column for column in ("detail", "category", "new") if shown[column].n_unique() <= 1
    )
