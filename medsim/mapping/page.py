"""The page of a mapping, on which people decide about local codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import counted, listed
from medsim.decisions import PREDICATES
from medsim.mapping.decided import NO_MATCH
from medsim.mapping.names import main_names
from medsim.mapping.output import at_least
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
from medsim.terminologies.prefixes import links_of

if TYPE_CHECKING:
    from medsim.mapping.output import NameMapping

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
    "changed": "Codes for which the standard no longer has the concept or name of the decision.",
}


def mapping_page(mapping: NameMapping) -> Page:
    """Return the page of a mapping: what to expect, then the codes to decide on."""
    manifest, codes, opened = mapping.manifest, mapping.local(), mapping.open_decisions()
    local, standard, counts = manifest.local, manifest.standard, mapping.counts()
    names = mapping.standard_names()
    main = main_names(names)
    asked = codes.filter(~pl.col("status").is_in(["decided", NO_MATCH]))
    offered = _offered(asked.head(MAX_LONG_ROWS), mapping.candidates(), opened, main)
    concepts, left_out = _searched(names, main)
    shown = _shown(asked, offered, opened)
    table = LongTable(
        caption="Codes to decide on",
        frame=shown,
        filters=[name for name in (_BAND, "category", "status", "difference") if name in shown],
        filter_only=(_BAND, "difference"),
        view="local",
        links=links_of(standard, main["concept_id"]),
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
    statuses = codes.group_by("status").len().sort("status").iter_rows()
    said = listed([f"{n:,} {status.replace('_', ' ')}" for status, n in statuses])
    expected = f"About {counts['expected_right'].sum():,.0f} of the first candidates of undecided"
    result = [
        f"{counted(codes.height, 'local code')}: {said}.",
        f"{expected} codes are expected to be right.",
    ]
    tables = {"Number of codes": counts, "Decisions that do not hold": opened}
    parts = [
        PageTable(caption=name, frame=headed(rows, pl.all()), formats={"expected right": ",.0f"})
        for name, rows in tables.items()
        if rows.height
    ]
    return report(
        Page(
            title=f"Mapping of {local['name']} to {standard['name']}",
            lead="Local codes, and the concepts of a standard that they probably mean.",
            sections=[
                Section(title="Result", result=result, parts=parts),
                Section(title="Decide", prose=_PROSE, parts=[table]),
            ],
            notice=license_notice({"local names": local, "standard": standard}),
            words=_WORDS if opened.height else {},
        ),
        manifest,
        "map",
        commands='medsim sql OUT "from candidate where rank = 1 order by probability"',
    )


def _offered(
    codes: pl.DataFrame, candidates: pl.DataFrame, opened: pl.DataFrame, main: pl.DataFrame
) -> pl.DataFrame:
    """Return what readers can choose for each code: replacements, what was decided, candidates."""
    replaced = opened.select("code", concept_id="replacement_id")
    pairs = pl.concat(
        [rows.select("code", "concept_id") for rows in (replaced, opened, candidates)]
    )
    offered = codes.select("code", "name", row=pl.int_range(pl.len())).join(
        pairs.unique(maintain_order=True), on="code", maintain_order="left_right"
    )
    offered = offered.join(main, on="concept_id", maintain_order="left").join(
        candidates.drop("main_name"), on=["code", "concept_id"], how="left", maintain_order="left"
    )
    is_known = {"local_name": "name", "matched_name": "main_name"}
    return offered.select(
        *("row", "difference", "probability"),
        *(pl.when(pl.col(name) != pl.col(known)).then(name) for name, known in is_known.items()),
        id="concept_id",
        name="main_name",
    )


def _shown(asked: pl.DataFrame, offered: pl.DataFrame, opened: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that the page has of codes, without those that say nothing."""
    who = pl.concat_str(pl.col("reviewer").replace("", "unknown reviewer"), "date", separator=" ")
    change = pl.when(pl.col("why") != "conflict").then(pl.format("({})", "why"))
    said = pl.concat_str(
        *(pl.col("decision").replace(_CHOICES), "concept_id", "concept_name", change),
        separator=" ",
        ignore_nulls=True,
    )
    earlier = pl.format("{}: {}", who.str.strip_chars_end(), said).str.join("; ")
    first = offered.group_by("row").agg(pl.first("difference"))
    rows = asked.with_columns(row=pl.int_range(pl.len()))
    rows = rows.join(first, on="row", how="left", maintain_order="left").join(
        opened.group_by("code").agg(earlier=earlier), on="code", how="left", maintain_order="left"
    )
    shown = rows.select(
        *("code", "name", "frequency", "category", "status", "probability", "difference"),
        pl.format("at least {}", at_least(pl.col("probability"))).alias(_BAND),
        "earlier",
        names=pl.when(pl.col("names") != pl.col("name")).then("names"),
        kept=pl.col("kept").map_elements(_kept_text, pl.String),
        choices=pl.lit("all"),
    )
    optional = ("frequency", "category", "status")
    return shown.drop(name for name in optional if shown[name].n_unique() <= 1)


def _kept_text(kept: str) -> str:
    return "; ".join(f"{name}: {value}" for name, value in json.loads(kept).items() if value)


def _searched(names: pl.DataFrame, main: pl.DataFrame) -> tuple[str, str]:
    """Return the names of the standard that a page has, and a sentence on those that it lacks."""
    both = [main.rename({"main_name": "term"}), names.drop("is_main")]
    every = pl.concat(both).unique(maintain_order=True)  # main names first
    packed = _packed(every)
    if len(packed) <= MAX_CONCEPTS:
        return packed, ""
    held = every.head(every.height * MAX_CONCEPTS // len(packed))
    said = f"The page has only {held.height:,} of {every.height:,} names of the standard."
    return _packed(held), said


def _packed(names: pl.DataFrame) -> str:
    concepts = names.group_by("concept_id", maintain_order=True).agg("term")
    return compressed_json([[concept, *terms] for concept, terms in concepts.iter_rows()])
