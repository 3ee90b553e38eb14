"""The page of a mapping, on which people decide about local codes."""

from __future__ import annotations

import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.store import Store
from medsim.decisions import PREDICATES
from medsim.mapping.decided import NO_MATCH
from medsim.mapping.output import NameMapping, at_least
from medsim.pages.markup import compressed_json
from medsim.pages.page import (
    MAX_LONG_ROWS,
    Decisions,
    LongTable,
    Page,
    PageTable,
    Section,
    license_notice,
    report,
)
from medsim.pages.readable import headed
from medsim.terminologies.sources import links_of

MAX_CONCEPTS = 12_000_000
"""The maximum size of the names of the standard in a page, compressed, in characters."""

_CHOICES = {name: name.replace("_", " ") for name in (*PREDICATES, NO_MATCH)}
_BAND = "probability band"
_PROSE = (
    "Choose a candidate for each local code, search the standard for another concept, or say that "
    "nothing matches. “Save all decisions” writes the file that medsim map --decisions takes, so "
    "that you are not asked again. Your browser keeps the decisions until then; “Open decisions” "
    "reads such a file. Everything works from the keyboard: press ? for the keys."
)
_WORDS = {
    "conflict": "Codes on which reviewers disagree, or one of them contradicts himself or herself.",
    "changed": "Codes that changed since the decision, or whose concept did.",
}


def mapping_page(mapping: NameMapping) -> Page:
    """Return the page of a mapping: what to expect, then the codes to decide on."""
    manifest, counts, opened = mapping.manifest, mapping.counts(), mapping.open_decisions()
    local, standard = manifest.local, manifest.standard
    statuses = counts.group_by("status", maintain_order=True).agg(pl.col("codes").sum())
    said = [f"{n:,} {status.replace('_', ' ')}" for status, n in statuses.iter_rows()]
    expected = f"About {counts['expected_right'].sum():,.0f} of the first candidates of undecided"
    result = [
        f"{counted(int(counts['codes'].sum()), 'local code')}: {listed(said)}.",
        f"{expected} codes are expected to be right.",
    ]
    tables = {"Number of codes": counts, "Decisions that do not hold": opened}
    parts = [
        PageTable(caption=name, frame=headed(rows, pl.all()), formats={"expected right": ",.0f"})
        for name, rows in tables.items()
        if rows.height
    ]
    return report(
        manifest,
        "map",
        title=f"Mapping of {local['name']} to {standard['name']}",
        lead="Local codes, and the concepts of a standard that they probably mean.",
        sections=[
            Section(title="Result", result=result, parts=parts),
            *_scores(mapping),
            Section(title="Decide", prose=_PROSE, parts=[_asked_codes(mapping)]),
        ],
        notice=license_notice({str(facts["name"]): facts for facts in (local, standard)}),
        words=_WORDS if opened.height else {},
        commands='medsim sql OUT "from candidate where rank = 1 order by probability"',
    )


def _scores(mapping: NameMapping) -> list[Section]:
    """Return the section on the scores against a gold mapping, if there is one."""
    if not mapping.is_scored:
        return []
    from medsim.systems.page import ranking_section  # noqa: PLC0415 — needs an extra

    return [ranking_section(mapping, "code", mapping.scored())]


def _asked_codes(mapping: NameMapping) -> LongTable:
    """Return the codes to decide on, without columns that say nothing."""
    local, standard = mapping.manifest.local, mapping.manifest.standard
    with Store(threads=1) as store:
        store.put("local", mapping.local())
        store.put("candidate", mapping.candidates())
        store.put("open_decision", mapping.open_decisions())
        store.put("standard_name", mapping.standard_names())
        store.run("mapping/asked_code")
        shown = store.table("asked_code").drop("place")
        offered = store.frame("mapping/offered_concept", max_codes=MAX_LONG_ROWS)
        names = store.frame("mapping/searched_name")
    band = pl.format("at least {}", at_least(pl.col("probability")))
    shown = shown.with_columns(band.alias(_BAND), choices=pl.lit("all"))
    optional = ("frequency", "category", "status")
    shown = shown.drop(name for name in optional if shown[name].n_unique() <= 1)
    concepts, left_out = _searched(names)
    return LongTable(
        caption="Codes to decide on",
        frame=shown,
        filters=[name for name in (_BAND, "category", "status", "difference") if name in shown],
        filter_only=(_BAND, "difference"),
        view="local",
        links=links_of(standard, names["concept_id"]),
        below={"name": ["names", "kept", "earlier"]},
        decisions=Decisions(
            name=f"medsim map {local['name']} {standard['vocabulary'] or standard['name']}",
            subject_columns=("code", "name"),
            choices={"all": _CHOICES},
            choices_of="choices",
            candidates=offered,
            concepts=concepts,
            concepts_left_out=left_out,
        ),
    )


def _searched(names: pl.DataFrame) -> tuple[str, str]:
    """Return the names of the standard that a page has, and a sentence on those that it lacks."""
    packed = _packed(names)
    if len(packed) <= MAX_CONCEPTS:
        return packed, ""
    held = names.head(names.height * MAX_CONCEPTS // len(packed))
    said = f"The page has only {held.height:,} of {names.height:,} names of the standard."
    return _packed(held), said


def _packed(names: pl.DataFrame) -> str:
    concepts = names.group_by("concept_id", maintain_order=True).agg("term")
    return compressed_json([[concept, *terms] for concept, terms in concepts.iter_rows()])
