"""Reads tables of predictions by the roles of their columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl

from medsim.core.errors import InputError, OptionError, listed
from medsim.core.manifest import fingerprint
from medsim.core.reading import reading
from medsim.core.tables import (
    SEPARATORS,
    TextTable,
    below_title,
    is_json_lines,
    is_missing,
    is_parquet,
    lines_of,
    read_table,
    read_text,
    table_of,
    table_of_frame,
)
from medsim.core.terms import lowered_column
from medsim.systems.options import ROLES, System

_TEXTS = {"term1", "term2", "text"}  # "none" and "NA" may be names
_NUMBERED = ("mention", "code", "id", "document", "start", "end", "rank")
_EXACT = ["", "exact", "exactmatch", "equivalent", "equivalentclass", "equal", "sameas"]
_NONE = ["no_match", "nomatch", "unmatched"]
_NO_CONCEPTS = ["", "0", "sssom:NoTermFound"]
_MAX_TITLES = 1000  # lines above the header; mappings in SSSOM have many


def predicted_table(
    system: System, needed: Sequence[str], optional: Sequence[str] = ()
) -> TextTable:
    """Return columns of a system's table as text, named by their roles; missing cells are empty.

    A file is delimited text, a workbook, JSON lines or Parquet. Lines above the header, such as
    the comments of SSSOM, are skipped. The table has its fingerprint.

    Args:
        system: its source is the path of a file, or a frame of Polars or pandas; names of columns
            that it gives replace the usual ones.
        needed: roles that the table must have, names of ``ROLES``.
        optional: roles that are read if the table has them.

    Raises:
        InputError: the file cannot be read, or lacks a column that is needed or given.
    """
    source, given, wanted = system.source, system.columns, [*needed, *optional]
    if isinstance(source, Path):
        table = _read_file(source, needed, given)
    else:
        with reading(system.name, "a table"):
            frame = source if isinstance(source, pl.DataFrame) else pl.from_pandas(source)
        table = table_of_frame(Path(system.name), frame)
    if others := [role for role in given if role not in wanted]:
        raise OptionError(f"{others[0]}= does not apply to {table.path}; {listed(wanted)} do")
    places = _places(table.frame.columns, wanted, given)
    for role in [*given, *needed]:
        if role not in places:
            lacking, has = given.get(role, role), listed(table.frame.columns, 8)
            hint = "" if role in given else f"; name it after the path: {table.path},{role}=COLUMN"
            raise InputError(f"{table.path} has no column {lacking}, but {has}{hint}")
    cells = table.frame.select(pl.col(name).alias(role) for role, name in places.items())
    values = [name for name in places if name not in _TEXTS]
    missing = pl.col(values).map_elements(is_missing, pl.Boolean)
    kept = pl.when(~missing).then(pl.col(values)).otherwise(pl.lit(""))
    cells = cells.with_columns(kept)
    numbered = [name for name in _NUMBERED if name in cells]
    cells = cells.with_columns(map(_whole_numbers, cells.select(numbered)))
    return replace(table, frame=cells, sha256=table.sha256 or fingerprint(cells))


def _whole_numbers(cells: pl.Series) -> pl.Series:
    """Return cells without the ".0" that pandas gives to a column of whole numbers with gaps."""
    are_whole = cells.str.contains(r"^(\d+\.0)?$").all()
    return cells.str.strip_suffix(".0") if are_whole else cells


def exact_mappings(table: TextTable) -> tuple[TextTable, int]:
    """Return the rows of a table that map to a concept or to none, and how many are left out.

    A row without a concept, with "0" as in OMOP, or sssom:NoTermFound, maps to none and gets an
    empty concept. Left out are rows with another relation than exact, or with a negated one. A cell
    may have several concepts.
    """
    empty, rows = pl.lit(""), table.frame.with_columns(at=table.at)
    words = rows.select(
        decision="decision" if "decision" in rows else empty,
        modifier="modifier" if "modifier" in rows else empty,
    )
    relation, modifier = map(lowered_column, words)
    relation = relation.str.extract(r"([^:#/]*)$")
    is_none = rows["concept"].is_in(_NO_CONCEPTS) | relation.is_in(_NONE)
    is_kept = (is_none | relation.is_in(_EXACT)) & (modifier != "not")
    concept = pl.when(~is_none).then("concept").otherwise(empty)
    kept = rows.with_columns(concept.str.replace_all(";", "|").str.split("|").alias("concept"))
    kept = kept.filter(is_kept).explode("concept").with_columns(pl.col("concept").str.strip_chars())
    return replace(table, at=kept["at"], frame=kept.drop("at")), int((~is_kept).sum())


def _read_file(path: Path, needed: Sequence[str], given: Mapping[str, str]) -> TextTable:
    if is_parquet(path) or is_json_lines(path):
        return read_table(path, extra=None)

    def fits(row: Collection[str]) -> bool:
        return bool(needed) and {*needed} <= _places([*row], needed, given).keys()

    def is_header(line: str) -> bool:
        rows = (line.split(separator) for separator in SEPARATORS.values())
        return any(fits([cell.strip(' "\r\n') for cell in row]) for row in rows)

    with reading(path, "a table"):
        text = read_text(path, fits=fits)
        lines = [*enumerate(islice(lines_of(text), _MAX_TITLES), start=1)]
        headers = (at for at, line in lines if is_header(line))
        # Without a header, comments are left out, so that a message has the names of the columns.
        others = (at for at, line in lines if not line.startswith("#"))
        text = below_title(text, next(headers, next(others, 1)))
        return table_of(text, extra=None)


def _places(
    header: Sequence[str], wanted: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Return the names of the columns of roles, each of one role at most."""
    known, places = {name.strip().lower(): name for name in header}, dict[str, str]()
    for role in sorted(wanted, key=lambda role: role not in given):
        names = [given[role].strip().lower()] if role in given else ROLES[role].split()
        free = [known[name] for name in names if known.get(name, "") not in {"", *places.values()}]
        if free:
            places[role] = free[0]
    return places


def number_column(table: TextTable, role: str) -> pl.Series:
    """Return a column of numbers, with a decimal point or comma; null where a cell is empty.

    Raises:
        InputError: a cell is not a finite number.
    """
    cells = table.frame[role]
    with_points = cells.str.replace(r"^([+-]?\d+),(\d+([eE][+-]?\d+)?)$", "$1.$2")
    numbers = with_points.cast(pl.Float64, strict=False)
    wrong = (cells != "") & ~numbers.cast(pl.Float32).is_finite().fill_null(value=False)
    table.refuse(wrong, role, "is not a finite number such as 0.85")
    return numbers
