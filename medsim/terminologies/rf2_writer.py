"""Writes releases in RF2, the format of SNOMED CT, as zip files, and makes their identifiers."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import IO, Literal
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from medsim.core.errors import InputError
from medsim.core.files import new_file
from medsim.core.manifest import medsim_version
from medsim.core.output import check_file_free

ReleaseType = Literal["Full", "Snapshot"]

_EVERY_ROW = ("id", "effectiveTime", "active", "moduleId")
_NAME = ("conceptId", "languageCode", "typeId", "term", "caseSignificanceId")

COLUMNS = {
    "concept": (*_EVERY_ROW, "definitionStatusId"),
    "description": (*_EVERY_ROW, *_NAME),
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
        with writer.entry(ORIGIN_FILE) as entry:
            entry.write(text.encode())
        yield writer


def check_release_place(path: Path, *, overwrite: bool) -> None:
    """Raise OutputError if a path is not writable, or an existing file must stay."""

    def is_own(path: Path) -> bool:
        unread = (OSError, ValueError, NotImplementedError, zipfile.BadZipFile)
        with suppress(*unread), ZipFile(path) as archive:
            return any(name.rpartition("/")[2] == ORIGIN_FILE for name in archive.namelist())
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
        n_rows, name = 0, _FILES[table].format(release_type)
        with self.entry(f"{release_type}/{name}{self._name_end}") as entry:
            entry.write(("\t".join(COLUMNS[table]) + "\r\n").encode())
            for frame in frames:
                entry.write(_rf2_text(frame.select(COLUMNS[table])))
                n_rows += frame.height
        return n_rows

    def entry(self, name: str) -> IO[bytes]:
        """Return an entry of the zip to write."""
        # An entry opened by name is dated with zip's first day, not with today.
        return self._archive.open(f"{self._root}/{name}", "w", force_zip64=True)


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


Component = Literal["concept", "description", "relationship"]

INVENTED_NAMESPACE = 1000999
"""The namespace of identifiers that medsim makes; it is unassigned."""

_CORNERS = 5  # corners of the pentagon, whose rotations and reflections form the group of order 10
_STEP = np.array([1, 5, 7, 6, 2, 8, 3, 0, 9, 4])
_PARTITIONS: dict[Component, int] = {"concept": 10, "description": 11, "relationship": 12}


def sctids(items: NDArray[np.int64], component: Component) -> NDArray[np.int64]:
    """Return well-formed SNOMED CT identifiers of the long format, int64[n].

    An identifier is the item number, seven digits of namespace, two digits for the kind of
    component, and the check digit of Verhoeff (1969), which detects every wrong digit and every
    swap of neighbouring digits. Items, int64[n], go from 1 to 99,999,999.
    """
    numbers = (items * 10_000_000 + INVENTED_NAMESPACE) * 100 + _PARTITIONS[component]
    return numbers * 10 + check_digits(numbers)


def check_digits(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Verhoeff digit to append to each number, int64[n] for positive int64[n].

    The digits are multiplied in the dihedral group of order 10, each after a permutation that
    depends on its place; the check digit is the inverse of the product.
    """
    left, right = np.indices((10, 10))  # 0 to 4 rotate, 5 to 9 rotate and reflect
    turns = np.where(left < _CORNERS, left + right, left - right) % _CORNERS
    flips = np.not_equal(left < _CORNERS, right < _CORNERS)
    product = np.where(flips, turns + _CORNERS, turns)
    permutations = [np.arange(10)]  # of the digits at each place; places repeat after 8
    for _ in range(7):
        permutations.append(permutations[-1][_STEP])
    checks = np.zeros_like(numbers)
    rest, place = numbers, 1
    while rest.any():
        digits = permutations[place % 8][rest % 10]
        checks = np.where(rest > 0, product[checks, digits], checks)
        rest, place = rest // 10, place + 1
    return np.take(np.argmin(product, axis=1), checks)
