"""Reads OMOP's standardized vocabularies as Athena exports them, from a folder or a zip."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, check_known
from medsim.core.reading import MAX_LINE_BYTES
from medsim.terminologies.sources import Source, Terminology, day_of, skipped_rows
from medsim.terminologies.sources.archive import SourceFile, file_named, has_file, release_files
from medsim.terminologies.sources.text_rows import RowFormat, load_rows

if TYPE_CHECKING:
    from medsim.core.manifest import Skipped
    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions
    from medsim.terminologies.sources.archive import ReleaseFile

_LICENCE = (
    "OMOP's standardized vocabularies: each vocabulary may be passed on only as its own licence "
    "allows; https://athena.ohdsi.org/vocabulary/list"
)
_VERSION = re.compile(
    rb"^\"?None\"?[\t,].*[\t,][^\t,]*?(\d{1,2}-[A-Za-z]{3}-\d{2})\"?[\t,]", re.MULTILINE
)


_CONCEPTS = "CONCEPT.csv"
_SYNONYMS = "CONCEPT_SYNONYM.csv"
_RELATIONS = "CONCEPT_RELATIONSHIP.csv"
_ANCESTORS = "CONCEPT_ANCESTOR.csv"
_COLUMNS = {
    _CONCEPTS: "concept_id concept_name domain_id vocabulary_id standard_concept concept_code "
    "invalid_reason",
    _SYNONYMS: "concept_id language_concept_id concept_synonym_name",
    _RELATIONS: "concept_id_1 concept_id_2 relationship_id invalid_reason",
    _ANCESTORS: "descendant_concept_id ancestor_concept_id min_levels_of_separation",
}
"""The columns that are read, with spaces between them, by the name of their file."""

_VOCABULARIES = "VOCABULARY.csv"


def read_omop(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from an export of Athena; see ``sources.LoadTables``."""
    everything = release_files(path)
    records = _load_files(path, everything, store)
    release_date = None
    for file in file_named(path, everything, _VOCABULARIES):
        with file.open_recorded(records) as stream:
            version = _VERSION.search(stream.read(MAX_LINE_BYTES))
        release_date = day_of(version[1].decode() if version else "", "%d-%b-%y")
    return Terminology(
        release_date=release_date,
        files=tuple(records),
        terms_of_use=_LICENCE,
        skipped=_fill_tables(path, store, options),
        warnings=_warnings(path, everything),
    )


def _load_files(path: Path, everything: list[ReleaseFile], store: Store) -> list[SourceFile]:
    """Fill a table with the rows of each file, and return the files.

    Ancestors are read if relationships are missing.

    Raises:
        InputError: a file is damaged, or two have the same name.
    """
    named = partial(file_named, path, everything)
    relations = named(_RELATIONS)
    tables = {
        "omop_concept": (_CONCEPTS, named(_CONCEPTS)),
        "omop_synonym": (_SYNONYMS, named(_SYNONYMS)),
        "omop_relation": (_RELATIONS, relations),
        "omop_ancestor": (_ANCESTORS, [] if relations else named(_ANCESTORS)),
    }
    records: list[SourceFile] = []
    for table, (name, files) in tables.items():
        wanted = _COLUMNS[name].split()
        columns, rows = wanted, RowFormat(separator=b"\t", n_separators=len(wanted) - 1)
        if files:
            columns, rows = _columns(wanted, files[0])
        records += load_rows(
            f"terminologies/omop/{table}", rows, files, store, columns=" ".join(columns)
        )
    return records


def _fill_tables(path: Path, store: Store, options: ReadingOptions) -> tuple[Skipped, ...]:
    """Fill the canonical tables, and return the skipped rows.

    Raises:
        InputError: several concepts have one identifier.
        OptionError: a requested vocabulary has no concepts.
    """
    repeated = store.frame("terminologies/omop/repeated_concept")["concept_id"].item()
    if repeated is not None:
        raise InputError(f"{path}: {_CONCEPTS} has several rows of the concept {repeated}")
    known = store.frame("terminologies/omop/vocabulary")["vocabulary"].to_list()
    check_known("vocabulary", known, *options.vocabularies)
    store.run(
        "terminologies/omop/omop_kept",
        vocabularies=",".join(options.vocabularies),
        standard=options.standard_concepts,
    )
    store.run_each("terminologies/omop", "concept", "code", "description", "association", "is_a")
    skipped = skipped_rows(store, "omop")
    store.drop("omop_concept", "omop_kept", "omop_synonym", "omop_relation", "omop_ancestor")
    return skipped


def _warnings(path: Path, everything: list[ReleaseFile]) -> tuple[str, ...]:
    """Return a warning for each kind of optional file that a release lacks."""
    has = {name: bool(file_named(path, everything, name)) for name in _COLUMNS}
    no_names = f"{path.name} has no {_SYNONYMS}, so concepts have no synonyms"
    no_relations = (
        f"{path.name} has neither {_RELATIONS} nor {_ANCESTORS}, so no parents or associations"
    )
    return (
        *([] if has[_SYNONYMS] else [no_names]),
        *([] if has[_RELATIONS] or has[_ANCESTORS] else [no_relations]),
    )


def _columns(wanted: list[str], file: ReleaseFile) -> tuple[list[str], RowFormat]:
    """Return the columns of a file in its order, and the form of its rows.

    Unused columns get other names. Athena's files have tabs and no quotes, other files commas, or
    quotes around values.

    Raises:
        InputError: the first line lacks a column.
    """
    with file.open() as stream:
        line = stream.readline(MAX_LINE_BYTES)
    header = line.removeprefix(BOM_UTF8).decode("utf-8", "replace").rstrip("\r\n").lower()
    separator = "\t" if "\t" in header else ","
    names = next(csv.reader([header], delimiter=separator), [])
    for column in wanted:
        if names.count(column) != 1:
            raise InputError(f"{file.inner}: line 1 needs one column {column!r}")
    rows = RowFormat(
        separator=separator.encode(),
        n_separators=len(names) - 1,
        check_header=lambda _file, _line: None,  # identifies the columns
        is_csv=separator == "," or '"' in header,
    )
    columns = [name if name in wanted else f"other_{number}" for number, name in enumerate(names)]
    return columns, rows


Source(
    name="omop",
    about="OMOP vocabularies as Athena exports them",
    files="a folder or archive with CONCEPT.csv",
    example="vocabulary.zip",
    address="https://athena.ohdsi.org",
    recognises=lambda path: has_file(path, r"CONCEPT\.csv"),
    load=read_omop,
    accepts=frozenset({"vocabularies", "standard_concepts"}),
).register()
