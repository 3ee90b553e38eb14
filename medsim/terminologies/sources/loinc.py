"""Reads LOINC's table, its mappings and its hierarchy, from a folder, a zip or the table alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from medsim.core.store import Store
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology, Vocabulary
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    SourceFile,
    file_named,
    has_single,
    is_named,
    release_files,
)
from medsim.terminologies.sources.ontology_rows import OntologyRows
from medsim.terminologies.sources.text_rows import csv_table

_LICENCE = (
    "LOINC, copyright Regenstrief Institute, Inc.: may be passed on under its licence and with its "
    "notice, but for terms in which others have rights; https://loinc.org/license/"
)
_TABLE = "Loinc.csv"
_CORE = "LoincTableCore.csv"
_MAPPINGS = "MapTo.csv"
_CONSUMER_NAMES = "ConsumerName.csv"
_HIERARCHIES = ("ComponentHierarchyBySystem.csv", "MultiAxialHierarchy.csv")
_ACCESSORIES = "accessoryfiles"  # a folder that may have copies of the table
_ACTIVE = {"ACTIVE": True, "TRIAL": True, "DISCOURAGED": True, "DEPRECATED": False}
_COLUMNS = ("loinc_num", "status", "class", "long_common_name", "shortname")
_SCOPES = {"displayname": "exact", "consumer_name": "broad", "relatednames2": "related"}


_REASONS = (
    "description is empty",
    "synonym has another scope",
    "synonym repeats a name of its concept",
)


def read_loinc(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from LOINC; see ``sources.LoadTables``."""
    files = release_files(path)
    tables = [file for file in files if is_named(file, _TABLE) or is_named(file, _CORE)]
    main = [file for file in tables if _ACCESSORIES not in file.inner.lower().split("/")] or tables
    table = (file_named(path, main, _TABLE) or file_named(path, main, _CORE))[0]
    records: list[SourceFile] = []
    consumer_names: dict[str, list[str]] = {}
    consumer_files = file_named(path, files, _CONSUMER_NAMES)
    for number, name in _pairs(consumer_files, ("loincnumber", "consumername"), records):
        consumer_names.setdefault(number, []).append(name)
    rows = OntologyRows(frozenset(options.synonyms), _REASONS)
    _read_table(table, consumer_names, records, rows)
    folder = PurePosixPath(table.inner).parent
    siblings = [file for file in files if PurePosixPath(file.inner).parent == folder]
    mappings = file_named(path, siblings, _MAPPINGS) or file_named(path, files, _MAPPINGS)
    for pair in _pairs(mappings, ("loinc", "map_to"), records):
        rows.association[(*pair, "replaced_by", True)] = None
    hierarchies = [file for name in _HIERARCHIES for file in file_named(path, files, name)]
    rows.is_a |= dict.fromkeys(_pairs(hierarchies[:1], ("code", "immediate_parent"), records))
    rows.fill(store)
    return Terminology(files=tuple(records), terms_of_use=_LICENCE, skipped=rows.skipped)


def _read_table(
    file: ReleaseFile,
    consumer_names: dict[str, list[str]],
    records: list[SourceFile],
    rows: OntologyRows,
) -> None:
    """Add the concepts and names of LOINC's table; names in other languages are in other files.

    Raises:
        InputError: the file is damaged, lacks a column, or has a term twice.
    """
    wanted = rows.scopes - {"exact", "broad" if consumer_names else ""}
    columns = (*_COLUMNS, *(name for name, scope in _SCOPES.items() if scope in wanted))
    table = csv_table(file, columns, records, tuple(_SCOPES))
    numbers, statuses = table.frame["loinc_num"], table.frame["status"].str.to_uppercase()
    table.refuse(numbers == "", "loinc_num", "is missing")
    table.refuse(numbers.is_duplicated(), "loinc_num", "is in several lines")
    table.refuse(~statuses.is_in(_ACTIVE), "status", f"is not one of {', '.join(_ACTIVE)}")
    for row in table.frame.iter_rows(named=True):
        number, full = row["loinc_num"], row["long_common_name"]
        rows.add_term(number, obsolete=not _ACTIVE[row["status"].upper()], tag=row["class"])
        rows.add_name(number, full)
        synonyms = [("exact", row["shortname"]), ("exact", row.get("displayname", ""))]
        consumer = (row.get("consumer_name", ""), *consumer_names.get(number, ()))
        synonyms += [("broad", name) for name in consumer]
        synonyms += [("related", name.strip()) for name in row.get("relatednames2", "").split(";")]
        names = {full}
        for scope, synonym in synonyms:
            if not synonym:
                continue
            if scope in rows.scopes and synonym in names:
                rows.skip("synonym repeats a name of its concept")
            else:
                rows.add_synonym(number, synonym, scope)
            if scope in rows.scopes:
                names.add(synonym)


def _pairs(
    files: list[ReleaseFile], columns: tuple[str, str], records: list[SourceFile]
) -> Iterator[tuple[str, str]]:
    """Yield the values of two columns, without rows where one is empty or both are the same."""
    for file in files:
        for first, second in csv_table(file, columns, records).frame.iter_rows():
            if first and second and first != second:
                yield first, second


Source(
    name="loinc",
    about="LOINC",
    files="Loinc.csv, or a folder or archive with it",
    example="Loinc.csv",
    address="https://loinc.org/downloads",
    recognises=lambda path: has_single(path, r"Loinc(TableCore)?\.csv"),
    load=read_loinc,
    vocabulary=Vocabulary("LNC", "LOINC", "https://loinc.org/"),
    accepts=frozenset({"synonyms"}),
).register()
