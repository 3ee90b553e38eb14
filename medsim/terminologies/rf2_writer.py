"""Writes RF2 releases, the form in which SNOMED CT is published, as zip files."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self
from uuid import uuid4
from zipfile import ZIP_DEFLATED, ZipFile

import polars as pl
import polars.selectors as cs

from medsim.core.errors import InputError, OptionError, OutputError
from medsim.core.files import put_in_place
from medsim.core.manifest import medsim_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date
    from pathlib import Path
    from types import TracebackType

RF2Table = Literal[
    "concept", "description", "text_definition", "relationship", "association", "simple_map"
]
ReleaseType = Literal["Full", "Snapshot"]

_EVERY_ROW = ("id", "effectiveTime", "active", "moduleId")
_NAME = ("conceptId", "languageCode", "typeId", "term", "caseSignificanceId")

COLUMNS: dict[RF2Table, tuple[str, ...]] = {
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
    "simple_map": (*_EVERY_ROW, "refsetId", "referencedComponentId", "mapTarget"),
}
"""The columns of every RF2 file, in order."""

ORIGIN_FILE = "medsim-origin.json"
"""The entry of a written zip that has the origin of its content."""

_FILES: dict[RF2Table, str] = {
    "concept": "Terminology/sct2_Concept_{}",
    "description": "Terminology/sct2_Description_{}-en",
    "text_definition": "Terminology/sct2_TextDefinition_{}-en",
    "relationship": "Terminology/sct2_Relationship_{}",
    "association": "Refset/Content/der2_cRefset_Association{}",
    "simple_map": "Refset/Map/der2_sRefset_SimpleMap{}",
}
_FASTEST = 1  # of the levels of deflate; the usual one takes four times as long for a quarter less


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOrigin:
    """The origin of a release's content.

    Attributes:
        kind: such as ``synthetic``, or the source that it was converted from.
        redistributable: whether the content may be passed on; None if that is not known.
        terms: the licence, in a sentence.
    """

    kind: str
    redistributable: bool | None
    terms: str


class ReleaseWriter:
    """Writes one RF2 release; at the end of its ``with`` the zip stands at ``path``, or nothing.

    The same calls write the same bytes. Until all is written the zip lies beside ``path`` under
    a name that ends in ``.partial``; an error or an interrupt removes it and leaves whatever was
    at ``path`` as it was.
    """

    def __init__(
        self,
        path: Path,
        *,
        release_date: date,
        origin: ReleaseOrigin,
        edition: str = "Invented",
        namespace: str = "INT",
    ) -> None:
        for part in (edition, namespace):
            if not (part.isascii() and part.isalnum()):
                raise OptionError(f"the name of a release has letters and digits; this is {part!r}")
        self._path = path
        self._origin = origin
        day = f"{release_date:%Y%m%d}"
        self._root = f"SnomedCT_{edition}_PRODUCTION_{day}T120000Z"
        self._name_end = f"_{namespace}_{day}.txt"
        self._archive: ZipFile | None = None

    def __enter__(self) -> Self:
        if self._path.is_dir():
            raise OutputError(f"cannot write {self._path}: it is a folder")
        self._partial = self._path.with_name(f"{self._path.name}.{uuid4().hex[:8]}.partial")
        try:
            with self._clear_failures():
                self._archive = ZipFile(self._partial, "x", ZIP_DEFLATED, compresslevel=_FASTEST)
            self._write_entry(ORIGIN_FILE, [_origin_json(self._origin)])
        except BaseException:
            self._discard()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._discard()
            return
        try:
            with self._clear_failures():
                self._opened().close()
                put_in_place(self._partial, self._path)
        except BaseException:
            self._discard()
            raise

    def write(
        self, table: RF2Table, release_type: ReleaseType, frames: Iterable[pl.DataFrame]
    ) -> int:
        """Write one file of the release and return how many rows it has.

        Args:
            table: which file.
            release_type: in which of the two folders.
            frames: the rows, a frame at a time; each has the file's columns under their RF2
                names, in any order, besides others; dates are written as YYYYMMDD, booleans as
                0 and 1.
        """
        n_rows = 0

        def texts() -> Iterator[bytes]:
            nonlocal n_rows
            yield ("\t".join(COLUMNS[table]) + "\r\n").encode()
            for frame in frames:
                n_rows += frame.height
                yield _rf2_text(frame.select(COLUMNS[table]))

        name = _FILES[table].format(release_type)
        self._write_entry(f"{release_type}/{name}{self._name_end}", texts())
        return n_rows

    def _write_entry(self, name: str, texts: Iterable[bytes]) -> None:
        # By name, not by ZipInfo: such an entry gets zip's first day as its time, not today.
        with self._clear_failures():
            entry = self._opened().open(f"{self._root}/{name}", "w", force_zip64=True)
        try:
            for text in texts:
                with self._clear_failures():
                    entry.write(text)
        finally:
            with self._clear_failures():
                entry.close()

    def _opened(self) -> ZipFile:
        if self._archive is None:
            raise ValueError("a ReleaseWriter writes only inside its with statement")
        return self._archive

    @contextmanager
    def _clear_failures(self) -> Iterator[None]:
        """Turn an error of the system about the zip into one clear line."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(f"cannot write {self._path}: {reason}") from error

    def _discard(self) -> None:
        with suppress(OSError, ValueError):
            self._opened().close()
        self._partial.unlink(missing_ok=True)


def _rf2_text(rows: pl.DataFrame) -> bytes:
    """Return the rows as RF2 text, which knows no quotes and no escapes."""
    if "term" in rows.columns:
        broken = rows.filter(pl.col("term").str.contains(r"[\t\r\n]"))
        if broken.height:
            found = broken.item(0, "id")
            raise InputError(f"the term of description {found} holds a tab or a line break")
    text = io.BytesIO()
    rows.with_columns(cs.boolean().cast(pl.Int8)).write_csv(
        text,
        separator="\t",
        quote_style="never",
        include_header=False,
        line_terminator="\r\n",
        date_format="%Y%m%d",
    )
    return text.getvalue()


def _origin_json(origin: ReleaseOrigin) -> bytes:
    facts = {
        "origin": origin.kind,
        "redistributable": origin.redistributable,
        "terms": origin.terms,
        "writer": f"medsim {medsim_version()}",
    }
    return (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()
