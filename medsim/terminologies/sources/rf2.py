"""Reads SNOMED CT's release format RF2, from a folder or a zip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError
from medsim.core.manifest import Skipped
from medsim.core.reading import JSON, LONGEST_LINE, parsed_json
from medsim.terminologies.rf2_writer import ORIGIN_FILE
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import ReleaseFile, release_files
from medsim.terminologies.sources.rf2_dialects import (
    find_names,
    keep_names,
    mark_preferred,
    reference_set,
)
from medsim.terminologies.sources.rf2_files import (
    FILES,
    LANGUAGE,
    find_files,
    locate_rows,
    release_date,
    row_format,
)
from medsim.terminologies.sources.text_rows import load_rows

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_LICENCE = (
    "SNOMED CT content is licensed by SNOMED International and its members; without their "
    "permission neither the terms nor datasets made of them may be passed on"
)


def read_rf2(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from an RF2 release; see ``medsim.terminologies.sources.Load``."""
    everything = release_files(path)
    dialect = options.dialect
    if dialect is not None:
        reference_set(dialect)  # a wrong name is told before files are read
    kinds = FILES if dialect is None else (LANGUAGE, *FILES)
    files_of = find_files(path, everything, kinds, as_of=options.as_of)
    read: list[SourceFile] = []
    n_repeated = 0
    for kind in kinds:
        table, files = f"rf2_{kind.name}", files_of[kind.name]
        query = f"dialect/{table}" if kind is LANGUAGE else table
        read += load_rows(f"terminologies/rf2/{query}", row_format(kind), files, store)
        n_repeated += _check_repeated(table, files, store)
        if dialect is not None and kind is LANGUAGE:
            find_names(path, store, dialect, _day(options))
    _check_as_of(path, store, options)
    skipped = _fill_tables(store, options)
    skipped.append(Skipped(reason="row occurs in several files", n_rows=n_repeated))
    redistributable, terms_of_use = _origin(everything)
    released = release_date([file for files in files_of.values() for file in files])
    return Terminology(
        source="rf2",
        name=path.name,
        vocabulary="SNOMEDCT_US",
        release_date=min(filter(None, (released, options.as_of)), default=None),
        files=tuple(read),
        rf2_rules=True,
        redistributable=redistributable,
        terms_of_use=terms_of_use,
        skipped=tuple(skipped),
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` can be an RF2 release: a folder or a zip."""
    return path.is_dir() or path.suffix.lower() == ".zip"


def _check_repeated(table: str, files: list[ReleaseFile], store: Store) -> int:
    """Return how many rows are there again in another file, word for word.

    Editions that lie side by side share rows, which count once.
    """
    repeated = store.frame("terminologies/rf2/repeated_row", rows=table)
    if repeated.is_empty():
        return 0
    keys = set(repeated.iter_rows())
    found = locate_rows(files, keys)
    for key in sorted(keys):
        (file1, line1, row1), *others = found[key]
        for file2, line2, row2 in others:
            if file1 == file2 or row1 != row2:
                raise InputError(
                    f"{file2}: line {line2} repeats id {key[0]} with effectiveTime {key[1]}, "
                    f"which {file1} has in line {line1}"
                )
    return sum(len(rows) - 1 for rows in found.values())


def _check_as_of(path: Path, store: Store, options: ReadingOptions) -> None:
    """Raise OptionError if the day that is asked for is before all names."""
    if options.as_of is None:
        return
    oldest = store.frame("terminologies/rf2/oldest_description")["effective_time"].item()
    if oldest is None or options.as_of < oldest:
        raise OptionError(
            f"`as_of` {options.as_of} is before the oldest description of {path}, which is of "
            f"{oldest or 'no day'}"
        )


def _fill_tables(store: Store, options: ReadingOptions) -> list[Skipped]:
    """Fill the canonical tables with the state of a day, and return what is left out of them."""
    as_of = _day(options)
    of_dialect = [] if options.dialect is None else keep_names(store, as_of)
    store.run("terminologies/rf2/description_as_of", as_of=as_of)
    store.drop("rf2_description")
    store.run("terminologies/rf2/is_a", as_of=as_of)
    store.drop("rf2_relationship")
    store.run("terminologies/rf2/concept", as_of=as_of, language=options.language)
    store.run("terminologies/rf2/description")
    if options.dialect is not None:
        mark_preferred(store)
    store.run("terminologies/rf2/association", as_of=as_of)
    skipped = store.frame("terminologies/rf2/skipped", as_of=as_of).to_dicts()
    store.drop("rf2_concept", "rf2_association", "description_as_of")
    return [*of_dialect, *(Skipped(**row) for row in skipped)]


def _day(options: ReadingOptions) -> str | None:
    """Return the day whose state is taken as SQL has it; None takes the newest."""
    return None if options.as_of is None else options.as_of.isoformat()


def _origin(files: list[ReleaseFile]) -> tuple[bool | None, str]:
    """Return whether the content may be passed on, and the terms of use."""
    for file in files:
        if file.name == ORIGIN_FILE:
            try:
                with file.open(reads={JSON}) as stream:
                    origin = parsed_json(file.inner, stream.read(LONGEST_LINE))
                redistributable, terms = origin["redistributable"], origin["terms"]
            except (LookupError, TypeError) as error:
                raise InputError(f"{file.inner}: not what medsim writes there") from error
            return None if redistributable is None else redistributable is True, str(terms)
    return False, _LICENCE


SOURCES.register(
    "rf2",
    Source(
        name="rf2",
        about="RF2 releases",
        files="a folder or .zip with sct2_Concept_*.txt",
        address="https://mlds.ihtsdotools.org",
        recognises=recognises,
        load=read_rf2,
        accepts=frozenset({"as_of", "dialect"}),
        asked_last=True,
        if_lacking=(
            "is it an extension without its international edition? Put both in one folder and name "
            "that"
        ),
    ),
)
