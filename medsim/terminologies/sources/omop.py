"""Reads OMOP's standardized vocabularies as Athena exports them, from a folder or a zip."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from pathlib import Path

from medsim.core.errors import InputError, check_known
from medsim.core.manifest import Skipped
from medsim.core.reading import MAX_LINE_BYTES
from medsim.core.store import Store
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology, day_of, skipped_rows
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    SourceFile,
    file_named,
    has_file,
    release_files,
)
from medsim.terminologies.sources.text_rows import RowFormat, load_rows

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

_TABLES = ("omop_concept", "omop_synonym", "omop_relation", "omop_ancestor")
"""The tables of the rows of these files."""

_VOCABULARIES = "VOCABULARY.csv"


def read_omop(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from an export of Athena; see ``sources.LoadTables``."""
    everything = release_files(path)
    files = {name: file_named(path, everything, name) for name in (*_COLUMNS, _VOCABULARIES)}
    if files[_RELATIONS]:
        files[_ANCESTORS] = []  # they are read if relationships are missing
    records: list[SourceFile] = []
    for table, (name, wanted) in zip(_TABLES, _COLUMNS.items(), strict=True):
        columns, rows = _columns(wanted.split(), files[name])
        query = f"terminologies/omop/{table}"
        records += load_rows(query, rows, files[name], store, columns=" ".join(columns))
    release_date = None
    for file in files[_VOCABULARIES]:
        with file.open_recorded(records) as stream:
            version = _VERSION.search(stream.read(MAX_LINE_BYTES))
        release_date = day_of(version[1].decode() if version else "", "%d-%b-%y")
    no_relations = f"neither {_RELATIONS} nor {_ANCESTORS}, so no parents or associations"
    needed = {
        f"no {_SYNONYMS}, so concepts have no synonyms": files[_SYNONYMS],
        no_relations: files[_RELATIONS] or files[_ANCESTORS],
    }
    return Terminology(
        release_date=release_date,
        files=tuple(records),
        terms_of_use=_LICENCE,
        skipped=_fill_tables(path, store, options),
        warnings=tuple(f"{path.name} has {fact}" for fact, found in needed.items() if not found),
    )


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
    store.drop("omop_kept", *_TABLES)
    return skipped


def _columns(wanted: list[str], files: list[ReleaseFile]) -> tuple[list[str], RowFormat]:
    """Return the columns of a file in its order, and the form of its rows; those wanted without it.

    Unused columns get other names. Athena's files have tabs and no quotes, other files commas, or
    quotes around values.

    Raises:
        InputError: the first line lacks a column.
    """
    if not files:
        return wanted, RowFormat(separator=b"\t", n_separators=len(wanted) - 1)
    with files[0].open() as stream:
        line = stream.readline(MAX_LINE_BYTES)
    header = line.removeprefix(BOM_UTF8).decode("utf-8", "replace").rstrip("\r\n").lower()
    separator = "\t" if "\t" in header else ","
    names = next(csv.reader([header], delimiter=separator), [])
    for column in wanted:
        if names.count(column) != 1:
            raise InputError(f"{files[0].inner}: line 1 needs one column {column!r}")
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
