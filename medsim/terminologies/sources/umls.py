"""Reads UMLS and RxNorm in the Rich Release Format of UMLS, from a folder or a zip."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from medsim.core.errors import InputError, check_known
from medsim.core.manifest import Skipped
from medsim.core.store import Store
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology, Vocabulary, day_of, skipped_rows
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    SourceFile,
    file_named,
    has_file,
    has_single,
    is_named,
    joined,
    release_files,
)
from medsim.terminologies.sources.text_rows import RowFormat, load_rows

_LICENCE = (
    "UMLS Metathesaurus License: neither the names nor datasets made of them may be passed on but "
    "as it, and the licences of the vocabularies in it, allow; https://uts.nlm.nih.gov/uts/"
)
_DATE = re.compile(rb"^umls\.release\.date=(\d{8})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RRFFile:
    """A file in the Rich Release Format.

    Attributes:
        name: name of the file.
        query: query that fills a table with its rows.
        n_columns: number of values in a row, each with a bar after it.
        missing: end of the message if the file is missing; None if it is optional.
        rxnorm: whether the query reads rows of RxNorm; None if they do not differ from UMLS's.
    """

    name: str
    query: str
    n_columns: int
    missing: str | None
    rxnorm: bool | None = None


_MISSING = "a release of UMLS has it in its folder META"
_ATOMS = RRFFile("MRCONSO.RRF", "umls/umls_atom", 18, _MISSING, rxnorm=False)
_RELATIONS = RRFFile("MRREL.RRF", "umls/umls_relation", 16, None, rxnorm=False)
_TYPES = RRFFile("MRSTY.RRF", "umls/semantic_type", 6, None)
_RETIRED = RRFFile("MRCUI.RRF", "umls/retired/umls_retired", 7, None)
_NAME = r"MRCONSO\.RRF(\.a[a-z])?"
_NLM = r".*\.nlm"


def read_umls(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from a release of UMLS; see ``sources.LoadTables``."""
    everything = release_files(path)
    for file in everything:
        if re.fullmatch(_NLM, file.name, re.IGNORECASE):
            if file.entry is not None:
                raise InputError(f"{path} has {file.inner}; unpack it, and give the folder")
            everything = [*everything, *release_files(file.release / file.inner)]
    everything = joined(everything)
    records = _load_files((_ATOMS, _RELATIONS, _TYPES, _RETIRED), path, everything, store)
    has_relations = bool(file_named(path, everything, _RELATIONS.name))
    skipped = _fill_tables(f"{path}: {_ATOMS.name}", store, options)
    store.run_each("terminologies/umls/retired", "association", "concept")
    store.drop("umls_retired")
    return Terminology(
        release_date=_release_date(everything),
        files=tuple(records),
        redistributable=False,
        terms_of_use=_LICENCE,
        skipped=skipped,
        warnings=()
        if has_relations
        else (f"{path.name} has no {_RELATIONS.name}, so no parents or associations",),
    )


def _load_files(
    kinds: Iterable[RRFFile], release: Path, files: list[ReleaseFile], store: Store
) -> list[SourceFile]:
    """Fill a table with the rows of each kind of file, and return the files.

    Raises:
        InputError: a file is missing or damaged, or two have the same name.
    """
    records: list[SourceFile] = []
    for kind in kinds:
        matches = file_named(release, files, kind.name, missing=kind.missing)
        rows = RowFormat(separator=b"|", n_separators=kind.n_columns)
        params = {} if kind.rxnorm is None else {"rxnorm": kind.rxnorm}
        records += load_rows(f"terminologies/{kind.query}", rows, matches, store, **params)
    return records


def _fill_tables(atoms: str, store: Store, options: ReadingOptions) -> tuple[Skipped, ...]:
    """Fill the canonical tables from atoms, relations and types; return the skipped rows.

    Args:
        atoms: the release and the file of the atoms, for messages.
        store: the store of the tables; the tables of atoms and relations are dropped.
        options: the options of reading.

    Raises:
        InputError: several atoms have the same identifier.
        OptionError: a requested vocabulary has no atoms.
    """
    repeated = store.frame("terminologies/umls/repeated_atom")["atom_id"].item()
    if repeated is not None:
        raise InputError(f"{atoms} has several rows of the AUI {repeated!r}")
    known = store.frame("terminologies/umls/vocabulary")["vocabulary"].to_list()
    check_known("vocabulary", known, *options.vocabularies)
    store.run_each("terminologies/umls", "concept", "code")
    store.run("terminologies/umls/umls_name", vocabularies=",".join(options.vocabularies))
    store.drop("umls_atom")
    store.run_each("terminologies/umls", "description", "association", "is_a")
    skipped = skipped_rows(store, "umls")
    store.drop("umls_name", "umls_relation")
    return skipped


def _release_date(files: list[ReleaseFile]) -> date | None:
    for file in files:
        if file.name == "release.dat":
            with file.open() as stream:
                match = _DATE.search(stream.read(1 << 16))
            return day_of(match[1].decode() if match else "", "%Y%m%d")
    return None


Source(
    name="umls",
    about="UMLS releases",
    files="MRCONSO.RRF, or a folder or archive with it",
    example="2025AB/META/MRCONSO.RRF",
    address="https://www.nlm.nih.gov/research/umls",
    recognises=lambda path: has_single(path, _NAME) or has_file(path, _NLM),
    load=read_umls,
    vocabulary=Vocabulary("UMLS", "UMLS", "https://uts.nlm.nih.gov/uts/umls/concept/"),
    accepts=frozenset({"vocabularies"}),
).register()


_RXNORM_LICENCE = (
    "RxNorm, courtesy of the U.S. National Library of Medicine: its own names may be passed on; "
    "those of other vocabularies in it only as the UMLS Metathesaurus License and their own "
    "licences allow; https://www.nlm.nih.gov/research/umls/rxnorm/docs/termsofservice.html"
)
_SUBSET = "prescribe"  # folder in a full release that repeats the prescribable part
_DATED = re.compile(r"(?:rxnorm|readme)_.*?(\d{8})(?!\d)", re.IGNORECASE)
_RXNCONSO = "RXNCONSO.RRF"
_IN_RRF = "a release of RxNorm has it in its folder rrf"
_RXNORM_FILES = (
    RRFFile(_RXNCONSO, "umls/umls_atom", 18, _IN_RRF, rxnorm=True),
    RRFFile("RXNREL.RRF", "umls/umls_relation", 16, _IN_RRF, rxnorm=True),
    RRFFile("RXNSTY.RRF", "umls/semantic_type", 6, None),
    RRFFile("RXNATOMARCHIVE.RRF", "rxnorm/archived_atom", 16, None),
)


def read_rxnorm(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from a release of RxNorm; see ``sources.LoadTables``."""
    files = release_files(path)
    whole = [file for file in files if _SUBSET not in PurePosixPath(file.inner).parts]
    files = whole if any(is_named(file, _RXNCONSO) for file in whole) else files
    records = _load_files(_RXNORM_FILES, path, files, store)
    store.run_each("terminologies/rxnorm", "umls_atom", "umls_relation")
    store.drop("archived_atom")
    return Terminology(
        release_date=_rxnorm_date(path, files),
        files=tuple(records),
        terms_of_use=_RXNORM_LICENCE,
        skipped=_fill_tables(f"{path}: {_RXNCONSO}", store, options),
    )


def _rxnorm_date(path: Path, files: list[ReleaseFile]) -> date | None:
    """Return the date in the name of the release, as in RxNorm_full_01052026, or of a file."""
    for name in (path.resolve().name, *(file.name for file in files)):
        match = _DATED.match(name)
        if match and (day := day_of(match[1], "%m%d%Y")):
            return day
    return None


Source(
    name="rxnorm",
    about="RxNorm releases",
    files="a folder or archive with RXNCONSO.RRF",
    example="RxNorm.zip",
    address="https://www.nlm.nih.gov/research/umls/rxnorm",
    recognises=lambda path: has_file(path, r"RXNCONSO\.RRF"),
    load=read_rxnorm,
    vocabulary=Vocabulary(
        "RXNORM", "RXNORM", "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm="
    ),
    accepts=frozenset({"vocabularies"}),
).register()
