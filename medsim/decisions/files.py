"""Reads files of decisions, settles what holds, and writes mappings in the format SSSOM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from medsim.core.data import toml_of
from medsim.core.kinds import Column, declared_columns
from medsim.core.manifest import medsim_version
from medsim.core.tables import harmless, read_table, unguarded
from medsim.core.terms import lowered_column
from medsim.decisions import DECIDED_ON, DECISIONS, PREDICATES

DECISION_COLUMNS: Mapping[str, Column] = declared_columns(
    toml_of(__package__, "columns.toml")["columns"], {}
)
"""The columns of decisions, all text."""

_NEEDED = (*DECIDED_ON, "decision")
_OTHERS = ("comment", "reviewer", "date")
_DAY = 10  # characters of a date; a time may follow


def read_decisions(paths: Sequence[str | Path]) -> pl.DataFrame:
    """Return the decisions in files, in the order of files and rows: ``DECISION_COLUMNS``.

    The columns may be in any order and case, and there may be others. Comment, reviewer and date
    may be missing. Rows without a decision are left out.

    Raises:
        InputError: a file cannot be read or lacks a column, or a row has an unknown decision, an
            unknown date, or no identifier. The message gives the line.
    """
    nothing = pl.DataFrame(schema=dict.fromkeys(DECISION_COLUMNS, pl.String))
    return pl.concat([nothing, *(_read(Path(path)) for path in paths)])


def _read(path: Path) -> pl.DataFrame:
    table = read_table(path, _NEEDED, _OTHERS)
    others = {name: pl.lit("") for name in DECISION_COLUMNS if name not in table.frame}
    cells = table.frame.with_columns(pl.all().map_elements(unguarded, pl.String), **others)
    is_decided = cells["decision"] != ""
    table = replace(table, at=table.at.filter(is_decided), frame=cells.filter(is_decided))
    cells = table.frame.with_columns(decision=lowered_column(table.frame["decision"]))
    decision, day = cells["decision"], cells["date"].str.slice(0, _DAY)
    table.refuse(~decision.is_in(DECISIONS), "decision", f"is not one of {', '.join(DECISIONS)}")
    of_two = decision.is_in([*PREDICATES, "different"])
    table.refuse(cells["subject_id"] == "", "subject_id", "must not be empty")
    table.refuse(of_two & (cells["object_id"] == ""), "object_id", "must not be empty here")
    days = [day.str.to_date(form, strict=False) for form in ("%Y-%m-%d", "%d.%m.%Y")]
    known = days[0].fill_null(days[1])
    table.refuse(known.is_null() & (day != ""), "date", "is not a date such as 2026-01-31")
    cells = cells.with_columns(date=known.dt.to_string("%Y-%m-%d").fill_null(""))
    return cells.select(*DECISION_COLUMNS)


def settled(decisions: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return which decisions hold, and which are in conflict, with the columns of decisions.

    Of two decisions of one reviewer on the same thing, the later one holds: by date, then by the
    order of the rows. Decisions without a reviewer count as those of one person. Reviewers who
    disagree make a conflict.

    Args:
        decisions: the rows of ``read_decisions``.

    Returns:
        A row for each thing that is decided, with its last decision; and the last decisions of
        reviewers who disagree, whose things are undecided.
    """
    last = decisions.sort("date", maintain_order=True).unique(
        [*DECIDED_ON, "reviewer"], keep="last", maintain_order=True
    )
    is_conflict = pl.col("decision").n_unique().over(DECIDED_ON) > 1
    held = last.filter(~is_conflict).unique(DECIDED_ON, keep="last", maintain_order=True)
    return held, last.filter(is_conflict).sort(*DECIDED_ON, "reviewer")


def mappings_of(decisions: pl.DataFrame) -> pl.DataFrame:
    """Return the decisions that relate two things as mappings, with the columns of SSSOM."""
    return decisions.filter(pl.col("decision").is_in([*PREDICATES])).select(
        "subject_id",
        "subject_label",
        pl.col("decision").replace_strict(PREDICATES, return_dtype=pl.String).alias("predicate_id"),
        "object_id",
        "object_label",
        mapping_justification=pl.lit("semapv:ManualMappingCuration"),
        author_label="reviewer",
        mapping_date="date",
        comment="comment",
    )


def write_sssom(mappings: pl.DataFrame, prefixes: Mapping[str, str], name: str, path: Path) -> int:
    """Write mappings in the format SSSOM; return the number of rows.

    Args:
        mappings: rows with columns of SSSOM; identifiers are CURIEs.
        prefixes: the address that each prefix stands for.
        name: name of the set of mappings.
        path: the file.
    """
    head = [
        "curie_map:",
        "  semapv: https://w3id.org/semapv/vocab/",
        "  skos: http://www.w3.org/2004/02/skos/core#",
        *(f"  {prefix}: {address}" for prefix, address in prefixes.items()),
        "license: https://w3id.org/sssom/license/unspecified",
        f"mapping_set_id: https://w3id.org/sssom/mappings/{name}",
        "mapping_tool: medsim",
        f"mapping_tool_version: {medsim_version()}",
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"#{line}\n" for line in head)
        cells = harmless(mappings).with_columns(pl.col(pl.String).replace("", None))
        cells.write_csv(file, separator="\t")
    return mappings.height
