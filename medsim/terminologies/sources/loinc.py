"""Reads LOINC's table, its mappings and its hierarchy, from a folder, a zip or the table alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import Skipped
from medsim.terminologies.sources import Source, Terminology, Vocabulary
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    SourceFile,
    file_named,
    has_single,
    is_named,
    release_files,
)
from medsim.terminologies.sources.text_rows import RowBuffer, csv_table

if TYPE_CHECKING:
    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_LANGUAGE = "en"
"""The language of LOINC's table; other languages are in other files."""

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
    tables = [file for file in files if _is_table(file)]
    main = [file for file in tables if _ACCESSORIES not in file.inner.lower().split("/")] or tables
    table = (file_named(path, main, _TABLE) or file_named(path, main, _CORE))[0]
    records: list[SourceFile] = []
    consumer_names: dict[str, list[str]] = {}
    consumer_files = file_named(path, files, _CONSUMER_NAMES)
    for number, name in _pairs(consumer_files, ("loincnumber", "consumername"), records):
        consumer_names.setdefault(number, []).append(name)
    skipped = _read_table(table, frozenset(options.synonyms), consumer_names, records, store)
    folder = PurePosixPath(table.inner).parent
    siblings = [file for file in files if PurePosixPath(file.inner).parent == folder]
    mappings = file_named(path, siblings, _MAPPINGS) or file_named(path, files, _MAPPINGS)
    replaced = {
        (*pair, "replaced_by", True): None
        for pair in _pairs(mappings, ("loinc", "map_to"), records)
    }
    hierarchies = [file for name in _HIERARCHIES for file in file_named(path, files, name)]
    is_a = dict.fromkeys(_pairs(hierarchies[:1], ("code", "immediate_parent"), records))
    for name, pairs in (("association", replaced), ("is_a", is_a)):
        frame = pl.DataFrame(list(pairs), schema=CANONICAL_TABLES[name].dtypes, orient="row")
        store.put(name, frame.sort(frame.columns))
    return Terminology(
        files=tuple(records),
        terms_of_use=_LICENCE,
        skipped=tuple(Skipped(reason=why, n_rows=n) for why, n in skipped.items()),
    )


def _is_table(file: ReleaseFile) -> bool:
    return is_named(file, _TABLE) or is_named(file, _CORE)


def _read_table(
    file: ReleaseFile,
    scopes: frozenset[str],
    consumer_names: dict[str, list[str]],
    records: list[SourceFile],
    store: Store,
) -> Counter[str]:
    """Fill the tables of concepts and descriptions, and count skipped rows by reason.

    Raises:
        InputError: the file is damaged, lacks a column, or has a term twice.
    """
    wanted = scopes - {"exact", "broad" if consumer_names else ""}
    columns = (*_COLUMNS, *(name for name, scope in _SCOPES.items() if scope in wanted))
    table = csv_table(file, columns, records, tuple(_SCOPES))
    numbers, statuses = table.frame["loinc_num"], table.frame["status"].str.to_uppercase()
    table.refuse(numbers == "", "loinc_num", "is missing")
    table.refuse(numbers.is_duplicated(), "loinc_num", "is in several lines")
    table.refuse(~statuses.is_in(_ACTIVE), "status", f"is not one of {', '.join(_ACTIVE)}")
    concept, description = (
        RowBuffer(CANONICAL_TABLES[name].dtypes) for name in ("concept", "description")
    )
    skipped = Counter(dict.fromkeys(_REASONS, 0))
    for row in table.frame.iter_rows(named=True):
        number, full = row["loinc_num"], row["long_common_name"]
        concept.add(number, _ACTIVE[row["status"].upper()], "", row["class"])
        names = dict.fromkeys([full] if full else [])
        skipped["description is empty"] += not full
        synonyms = [("exact", row["shortname"]), ("exact", row.get("displayname", ""))]
        consumer = (row.get("consumer_name", ""), *consumer_names.get(number, ()))
        synonyms += [("broad", name) for name in consumer]
        synonyms += [("related", name.strip()) for name in row.get("relatednames2", "").split(";")]
        for scope, synonym in synonyms:
            if synonym and scope not in scopes:
                skipped["synonym has another scope"] += 1
            elif synonym in names:
                skipped["synonym repeats a name of its concept"] += 1
            elif synonym:
                names[synonym] = None
        for place, name in enumerate(names, start=1):
            kind = "fsn" if name == full else "synonym"
            description.add(f"{number}/{place}", number, name, kind, True, _LANGUAGE)
    store.put("concept", concept.frame())
    store.put("description", description.frame())
    return skipped


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
