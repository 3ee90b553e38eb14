"""Reads the Metathesaurus of UMLS in its Rich Release Format, from a folder or a zip."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.manifest import Skipped
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import ReleaseFile, has_file, release_files
from medsim.terminologies.sources.text_rows import RowFormat, load_rows, quoted

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_LICENCE = (
    "UMLS Metathesaurus License: neither the names nor datasets made of them may be passed on but "
    "as it, and the licences of the vocabularies in it, allow; https://uts.nlm.nih.gov/uts/"
)
_SUPPRESSED = ("N", "O", "E", "Y")
_DATE = re.compile(rb"^umls\.release\.date=(\d{4})(\d{2})(\d{2})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the Metathesaurus."""

    name: str
    table: str
    ids: str
    columns: str


_ATOMS = _File(
    "MRCONSO.RRF",
    "umls_atom",
    "CUI AUI",
    "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF",
)
_RELATIONS = _File(
    "MRREL.RRF",
    "umls_relation",
    "CUI1 CUI2",
    "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF",
)
_TYPES = _File("MRSTY.RRF", "semantic_type", "CUI", "CUI TUI STN STY ATUI CVF")


def read_umls(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from a release of UMLS; see ``sources.Load``."""
    everything = release_files(path)
    read: list[SourceFile] = []
    for file, required in ((_ATOMS, True), (_RELATIONS, True), (_TYPES, False)):
        found = _find(path, everything, file.name, required=required)
        rows = RowFormat(separator="|", is_cut=_is_cut, row_fault=partial(_row_fault, file))
        read += load_rows(f"terminologies/umls/{file.table}", rows, found, store)
    _check_atoms(path, store, options)
    store.run("terminologies/umls/concept")
    store.run("terminologies/umls/code")
    store.run("terminologies/umls/umls_name", vocabularies=",".join(options.vocabularies))
    store.drop("umls_atom")
    for table in ("description", "association", "is_a"):
        store.run(f"terminologies/umls/{table}")
    skipped = tuple(Skipped(**row) for row in store.frame("terminologies/umls/skipped").to_dicts())
    store.drop("umls_name", "umls_relation")
    return Terminology(
        source="umls",
        name=path.name,
        vocabulary="UMLS",
        release_date=_release_date(everything),
        files=tuple(read),
        rf2_rules=False,
        redistributable=False,
        terms_of_use=_LICENCE,
        skipped=skipped,
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` is a folder or a zip that has MRCONSO.RRF."""
    return has_file(path, lambda file: _is_named(file, _ATOMS.name))


def _is_named(file: ReleaseFile, name: str) -> bool:
    return file.name.lower() in {name.lower(), f"{name.lower()}.gz"}


def _find(
    release: Path, files: list[ReleaseFile], name: str, *, required: bool
) -> list[ReleaseFile]:
    """Return the one file of a name, in any folder; none where it is optional and missing."""
    found = [file for file in files if _is_named(file, name)]
    if len(found) > 1:
        raise InputError(
            f"{release}: {found[0].inner} and {found[1].inner}; one {name} is expected, so name "
            f"the folder of one of them, such as {PurePosixPath(found[0].inner).parent}"
        )
    if required and not found:
        raise InputError(f"{release}: no {name}; a release of UMLS has it in its folder META")
    return found


def _is_cut(last_line: bytes) -> bool:
    """Return whether what is left after the last line end lacks the bar that ends a row."""
    return not last_line.endswith(b"|")


def _row_fault(file: _File, row: str) -> str:
    columns = file.columns.split()
    *values, tail = row.split("|")
    if len(values) != len(columns) or tail:
        return (
            f"has {len(values)} bars; a row of {file.name} has {len(columns)}, the last one at its "
            "end"
        )
    row_of = dict(zip(columns, values, strict=True))
    for column in file.ids.split():
        if not row_of[column]:
            return f"has no {column}"
    suppressed = row_of.get("SUPPRESS", "N")
    if suppressed not in _SUPPRESSED:
        return f"has SUPPRESS {quoted(suppressed)}; one of {', '.join(_SUPPRESSED)} is expected"
    return ""


def _check_atoms(release: Path, store: Store, options: ReadingOptions) -> None:
    """Raise InputError for atoms of one identifier, OptionError for a vocabulary not there."""
    repeated = store.frame("terminologies/umls/repeated_atom")["atom_id"].item()
    if repeated is not None:
        raise InputError(f"{release}: {_ATOMS.name} has several rows of the AUI {repeated!r}")
    known = store.frame("terminologies/umls/vocabulary")["vocabulary"].to_list()
    for name in options.vocabularies:
        if name not in known:
            raise OptionError(unknown_name("vocabulary", name, known))


def _release_date(files: list[ReleaseFile]) -> date | None:
    for file in files:
        if file.name == "release.dat":
            with file.open() as stream:
                found = _DATE.search(stream.read(1 << 16))
            with suppress(ValueError):  # a day that no calendar has
                return date(*map(int, found.groups())) if found else None
    return None


SOURCES.register(
    "umls",
    Source(
        name="umls",
        about="UMLS releases",
        files="a folder or .zip with MRCONSO.RRF",
        address="https://www.nlm.nih.gov/research/umls",
        recognises=recognises,
        load=read_umls,
        accepts=frozenset({"vocabularies"}),
    ),
)
