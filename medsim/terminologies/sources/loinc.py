"""Reads LOINC's table, its mappings and its hierarchy, from a folder, a zip or the table alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import Skipped
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    file_alone,
    file_named,
    has_file,
    is_alone,
    is_named,
    release_files,
)
from medsim.terminologies.sources.text_rows import RowBuffer, csv_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

LANGUAGE = "en"
"""The language of LOINC's table; variants in other languages are other files."""

_LICENCE = (
    "LOINC, copyright Regenstrief Institute, Inc.: may be passed on under its licence and with its "
    "notice, but for terms in which others have rights; https://loinc.org/license/"
)
_TABLE = "Loinc.csv"
_CORE = "LoincTableCore.csv"
_MAPPINGS = "MapTo.csv"
_CONSUMER_NAMES = "ConsumerName.csv"
_HIERARCHIES = ("ComponentHierarchyBySystem.csv", "MultiAxialHierarchy.csv")
_ACCESSORIES = "accessoryfiles"
_ACTIVE = {"ACTIVE": True, "TRIAL": True, "DISCOURAGED": True, "DEPRECATED": False}
_COLUMNS = ("LOINC_NUM", "STATUS", "CLASS", "LONG_COMMON_NAME", "SHORTNAME")
_SCOPES = {"DisplayName": "exact", "CONSUMER_NAME": "broad", "RELATEDNAMES2": "related"}


@dataclass(slots=True)
class _Rows:
    """The rows of the canonical tables as they are read, and what was left out."""

    scopes: frozenset[str]
    concept: RowBuffer = field(
        default_factory=lambda: RowBuffer(CANONICAL_TABLES["concept"].dtypes)
    )
    description: RowBuffer = field(
        default_factory=lambda: RowBuffer(CANONICAL_TABLES["description"].dtypes)
    )
    n_empty: int = 0
    n_other_scope: int = 0
    n_repeated: int = 0

    def add_names(self, number: str, full: str, synonyms: Iterable[tuple[str, str]]) -> None:
        """Add the names of a term: its full one, and synonyms by their scope."""
        names = dict.fromkeys([full] if full else [])
        self.n_empty += not full
        for scope, synonym in synonyms:
            if not synonym:
                continue
            self.n_other_scope += scope not in self.scopes
            self.n_repeated += scope in self.scopes and synonym in names
            if scope in self.scopes:
                names[synonym] = None
        for place, name in enumerate(names, start=1):
            kind = "fsn" if name == full else "synonym"
            self.description.add(f"{number}/{place}", number, name, kind, True, LANGUAGE)


def read_loinc(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from LOINC; see ``medsim.terminologies.sources.Load``."""
    files = [file_alone(path)] if is_alone(path) else release_files(path)
    table = _table(path, files)
    rows = _Rows(scopes=frozenset(options.synonyms))
    read: list[SourceFile] = []
    consumer_names: dict[str, list[str]] = {}
    consumer_files = file_named(path, files, _CONSUMER_NAMES)
    for number, name in _pairs(consumer_files, ("LoincNumber", "ConsumerName"), read):
        consumer_names.setdefault(number, []).append(name)
    _read_table(table, rows, consumer_names, read)
    folder = PurePosixPath(table.inner).parent
    beside = [file for file in files if PurePosixPath(file.inner).parent == folder]
    mappings = file_named(path, beside, _MAPPINGS) or file_named(path, files, _MAPPINGS)
    replaced = {
        (*pair, "replaced_by", True): None for pair in _pairs(mappings, ("LOINC", "MAP_TO"), read)
    }
    hierarchies = [file for name in _HIERARCHIES for file in file_named(path, files, name)]
    is_a = dict.fromkeys(_pairs(hierarchies[:1], ("CODE", "IMMEDIATE_PARENT"), read))
    store.put("concept", rows.concept.frame())
    store.put("description", rows.description.frame())
    for name, found in (("association", replaced), ("is_a", is_a)):
        frame = pl.DataFrame(list(found), schema=CANONICAL_TABLES[name].dtypes, orient="row")
        store.put(name, frame.sort(frame.columns))
    return Terminology(
        source="loinc",
        name=path.name,
        vocabulary="LNC",
        files=tuple(read),
        terms_of_use=_LICENCE,
        skipped=(
            Skipped(reason="description is empty", n_rows=rows.n_empty),
            Skipped(reason="synonym has another scope", n_rows=rows.n_other_scope),
            Skipped(reason="synonym repeats a name of its concept", n_rows=rows.n_repeated),
        ),
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` is LOINC's table, or a folder or a zip that has it."""
    if is_alone(path):
        return _is_table(file_alone(path))
    return has_file(path, r"Loinc(TableCore)?\.csv(\.gz)?")


def _is_table(file: ReleaseFile) -> bool:
    return is_named(file, _TABLE) or is_named(file, _CORE)


def _table(path: Path, files: list[ReleaseFile]) -> ReleaseFile:
    """Return the table with all columns, else the one with few; accessory files may have more."""
    tables = [file for file in files if _is_table(file)]
    main = [file for file in tables if _ACCESSORIES not in file.inner.lower().split("/")]
    found = file_named(path, main or tables, _TABLE) or file_named(path, main or tables, _CORE)
    return found[0]


def _read_table(
    file: ReleaseFile, rows: _Rows, consumer_names: dict[str, list[str]], read: list[SourceFile]
) -> None:
    """Add the rows of the table.

    Raises:
        InputError: the file is damaged, lacks a column, or has a term twice.
    """
    wanted = {scope for scope in rows.scopes if scope != "exact"}
    if consumer_names:
        wanted.discard("broad")
    columns = (*_COLUMNS, *(name for name, scope in _SCOPES.items() if scope in wanted))
    others = tuple(name for name in _SCOPES if name not in columns)
    lines: dict[str, int] = {}
    for line, values in csv_rows(file, columns, read, optional=others):
        row = dict(zip((*columns, *others), map(str.strip, values), strict=True))
        number, status = row["LOINC_NUM"], row["STATUS"].upper()
        if fault := _row_fault(number, status, lines):
            raise InputError(f"{file.inner}: line {line} {fault}")
        lines[number] = line
        rows.concept.add(number, _ACTIVE[status], "", row["CLASS"])
        consumer = (row["CONSUMER_NAME"], *consumer_names.get(number, ()))
        synonyms = [("exact", row["SHORTNAME"]), ("exact", row["DisplayName"])]
        synonyms += [("broad", name) for name in consumer]
        synonyms += [("related", name.strip()) for name in row["RELATEDNAMES2"].split(";")]
        rows.add_names(number, row["LONG_COMMON_NAME"], synonyms)


def _row_fault(number: str, status: str, lines: dict[str, int]) -> str:
    """Return the fault of a row of the table in words, empty where it has none."""
    if not number:
        return "has no LOINC_NUM"
    if number in lines:
        return f"has the LOINC_NUM {number!r} of line {lines[number]} again"
    if status not in _ACTIVE:
        return f"has STATUS {status!r}; one of {', '.join(_ACTIVE)} is expected"
    return ""


def _pairs(
    files: list[ReleaseFile], columns: tuple[str, str], read: list[SourceFile]
) -> Iterator[tuple[str, str]]:
    """Yield the values of two columns, without rows in which one is empty or both are the same."""
    for file in files:
        for _, (first, second) in csv_rows(file, columns, read):
            if first.strip() and second.strip() and first.strip() != second.strip():
                yield first.strip(), second.strip()


SOURCES.register(
    "loinc",
    Source(
        name="loinc",
        about="LOINC",
        files="Loinc.csv, or a folder or .zip that has it",
        address="https://loinc.org/downloads",
        recognises=recognises,
        load=read_loinc,
        accepts=frozenset({"synonyms"}),
    ),
)
