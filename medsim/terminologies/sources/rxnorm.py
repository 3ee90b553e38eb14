"""Reads RxNorm, whose files are in the format of UMLS, from a folder or a zip."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from medsim.terminologies.sources import Source, Terminology, Vocabulary, day_of
from medsim.terminologies.sources.archive import has_file, is_named, release_files
from medsim.terminologies.sources.umls import RRFFile, fill_tables, load_files

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions
    from medsim.terminologies.sources.archive import ReleaseFile

_LICENCE = (
    "RxNorm, courtesy of the U.S. National Library of Medicine: its own names may be passed on; "
    "those of other vocabularies in it only as the UMLS Metathesaurus License and their own "
    "licences allow; https://www.nlm.nih.gov/research/umls/rxnorm/docs/termsofservice.html"
)
_SUBSET = "prescribe"  # folder in a full release that repeats the prescribable part
_DATED = re.compile(r"(?:rxnorm|readme)_.*?(\d{8})(?!\d)", re.IGNORECASE)
_MISSING = "a release of RxNorm has it in its folder rrf"
_ATOMS = RRFFile("RXNCONSO.RRF", "umls/umls_atom", 18, _MISSING, rxnorm=True)
_RELATIONS = RRFFile("RXNREL.RRF", "umls/umls_relation", 16, _MISSING, rxnorm=True)
_TYPES = RRFFile("RXNSTY.RRF", "umls/semantic_type", 6, None)
_ARCHIVE = RRFFile("RXNATOMARCHIVE.RRF", "rxnorm/archived_atom", 16, None)


def read_rxnorm(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from a release of RxNorm; see ``sources.LoadTables``."""
    files = release_files(path)
    whole = [file for file in files if _SUBSET not in PurePosixPath(file.inner).parts]
    files = whole if any(is_named(file, _ATOMS.name) for file in whole) else files
    read = load_files((_ATOMS, _RELATIONS, _TYPES, _ARCHIVE), path, files, store)
    store.run("terminologies/rxnorm/umls_atom")
    store.run("terminologies/rxnorm/umls_relation")
    store.drop("archived_atom")
    return Terminology(
        release_date=_release_date(path, files),
        files=tuple(read),
        terms_of_use=_LICENCE,
        skipped=fill_tables(f"{path}: {_ATOMS.name}", store, options),
    )


def _release_date(path: Path, files: list[ReleaseFile]) -> date | None:
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
        "RXNORM",
        "RXNORM",
        "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm=",
    ),
    accepts=frozenset({"vocabularies"}),
).register()
