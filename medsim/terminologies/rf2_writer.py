"""Writes releases in RF2, the format of SNOMED CT, as zip files."""

from __future__ import annotations

import json
import zipfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal
from zipfile import ZIP_DEFLATED, ZipFile

import polars as pl
import polars.selectors as cs

from medsim.core.errors import InputError
from medsim.core.files import new_file
from medsim.core.manifest import medsim_version
from medsim.core.output import check_file_free

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date
    from pathlib import Path

ReleaseType = Literal["Full", "Snapshot"]

_EVERY_ROW = ("id", "effectiveTime", "active", "moduleId")
_NAME = ("conceptId", "languageCode", "typeId", "term", "caseSignificanceId")

COLUMNS = {
    "concept": (*_EVERY_ROW, "definitionStatusId"),
    "description": (*_EVERY_ROW, *_NAME),
    "text_definition": (*_EVERY_ROW, *_NAME),
    "relationship": (
        *_EVERY_ROW,
        "sourceId",
        "destinationId",
        "relationshipGroup",
        "typeId",
        "characteristicTypeId",
        "modifierId",
    ),
    "association": (*_EVERY_ROW, "refsetId", "referencedComponentId", "targetComponentId"),
    "language": (*_EVERY_ROW, "refsetId", "referencedComponentId", "acceptabilityId"),
    "simple_map": (*_EVERY_ROW, "refsetId", "referencedComponentId", "mapTarget"),
}
"""The columns of every RF2 file, in order."""

ORIGIN_FILE = "medsim-origin.json"
"""The entry of a written zip that names the origin of its content."""

_FILES = {
    "concept": "Terminology/sct2_Concept_{}",
    "description": "Terminology/sct2_Description_{}-en",
    "text_definition": "Terminology/sct2_TextDefinition_{}-en",
    "relationship": "Terminology/sct2_Relationship_{}",
    "association": "Refset/Content/der2_cRefset_Association{}",
    "language": "Refset/Language/der2_cRefset_Language{}-en",
    "simple_map": "Refset/Map/der2_sRefset_SimpleMap{}",
}
_FASTEST = 1  # level of deflate; the usual level takes four times as long and saves a quarter


@contextmanager
def release_writer(
    path: Path,
    *,
    release_date: date,
    origin: Mapping[str, object],
    edition: str = "Invented",
    overwrite: bool = False,
) -> Iterator[ReleaseWriter]:
    """Open a writer of one RF2 release; if the body succeeds, the zip is at ``path``.

    The same calls write the same bytes. The zip gets its name when it is complete; after an error
    or an interrupt nothing of it remains, and an earlier file at ``path`` is unchanged.

    Args:
        path: path of the zip.
        release_date: date in the names of its files.
        origin: origin of its content: ``origin``, such as "synthetic" or the converted source;
            ``redistributable``, whether it may be passed on, None if unknown; ``terms``, the
            licence in a sentence.
        edition: edition in the name of its folder.
        overwrite: whether an earlier release of medsim is replaced.
    """
    check_release_place(path, overwrite=overwrite)
    with (
        new_file(path, overwrite=overwrite) as stream,
        ZipFile(stream, "w", ZIP_DEFLATED, compresslevel=_FASTEST) as archive,
    ):
        writer = ReleaseWriter(archive, f"{release_date:%Y%m%d}", edition)
        facts = {**origin, "writer": f"medsim {medsim_version()}"}
        text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
        writer.write_entry(ORIGIN_FILE, [text.encode()])
        yield writer


def check_release_place(path: Path, *, overwrite: bool) -> None:
    """Raise OutputError if a path is not writable, or an existing file must stay."""

    def is_own(path: Path) -> bool:
        unread = (OSError, ValueError, NotImplementedError, zipfile.BadZipFile)
        with suppress(*unread), ZipFile(path) as it:
            return any(name.rpartition("/")[2] == ORIGIN_FILE for name in it.namelist())
        return False

    check_file_free(path, overwrite=overwrite, is_own=is_own)


class ReleaseWriter:
    """Writes the files of one RF2 release; see ``release_writer``."""

    def __init__(self, archive: ZipFile, day: str, edition: str) -> None:
        self._archive = archive
        self._root = f"SnomedCT_{edition}_PRODUCTION_{day}T120000Z"
        self._name_end = f"_INT_{day}.txt"

    def write(self, table: str, release_type: ReleaseType, frames: Iterable[pl.DataFrame]) -> int:
        """Write one file of the release, and return its number of rows.

        Each frame has the file's columns under their RF2 names, in any order, and may have others.
        Dates are written as YYYYMMDD, booleans as 0 and 1.
        """
        n_rows = 0

        def texts() -> Iterator[bytes]:
            nonlocal n_rows
            yield ("\t".join(COLUMNS[table]) + "\r\n").encode()
            for frame in frames:
                n_rows += frame.height
                yield _rf2_text(frame.select(COLUMNS[table]))

        name = _FILES[table].format(release_type)
        self.write_entry(f"{release_type}/{name}{self._name_end}", texts())
        return n_rows

    def write_entry(self, name: str, texts: Iterable[bytes]) -> None:
        """Write one entry of the zip, in pieces."""
        # An entry opened by name is dated with zip's first day, not with today.
        with self._archive.open(f"{self._root}/{name}", "w", force_zip64=True) as entry:
            for text in texts:
                entry.write(text)


def _rf2_text(rows: pl.DataFrame) -> bytes:
    """Return the rows as RF2 text, which has no quotes and no escapes."""
    if "term" in rows.columns:
        for description in rows.filter(pl.col("term").str.contains(r"[\t\r\n]"))["id"]:
            raise InputError(f"the term of description {description} has a tab or a line break")
    text = rows.with_columns(cs.boolean().cast(pl.Int8)).write_csv(
        separator="\t",
        quote_style="never",
        include_header=False,
        line_terminator="\r\n",
        date_format="%Y%m%d",
    )
    return text.encode()
