"""Writes RF2 releases, the form in which SNOMED CT is published, as zip files."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal, Self
from uuid import uuid4
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import polars as pl
import polars.selectors as cs

from medsim.errors import InputError, OptionError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import NDArray

Table = Literal["concept", "description", "text_definition", "relationship", "association"]
ReleaseType = Literal["Full", "Snapshot"]
Component = Literal["concept", "description", "relationship"]

_EVERY_ROW = ("id", "effectiveTime", "active", "moduleId")
_NAME = ("conceptId", "languageCode", "typeId", "term", "caseSignificanceId")

COLUMNS: dict[Table, tuple[str, ...]] = {
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
}
"""The columns of every RF2 file, in order."""

ORIGIN_FILE = "medsim-origin.json"
"""The entry of a written zip that says where its content comes from."""

INVENTED_NAMESPACE = 1000999
"""The namespace of identifiers that medsim makes; it has been assigned to nobody."""

LARGEST_ITEM = 99_999_999
"""The largest item number that an identifier of 18 digits has room for."""

_FILES: dict[Table, str] = {
    "concept": "Terminology/sct2_Concept_{}",
    "description": "Terminology/sct2_Description_{}-en",
    "text_definition": "Terminology/sct2_TextDefinition_{}-en",
    "relationship": "Terminology/sct2_Relationship_{}",
    "association": "Refset/Content/der2_cRefset_Association{}",
}
_PARTITIONS: dict[Component, int] = {"concept": 10, "description": 11, "relationship": 12}
_CORNERS = 5  # of the figure whose turns and reflections are the group of order 10
_FASTEST = 1  # of the levels of deflate; the usual one takes four times as long for a quarter less


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOrigin:
    """Where the content of a release comes from.

    Attributes:
        kind: what made it, such as ``synthetic``, or which source it was converted from.
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

    Args:
        path: the zip to write; an earlier file is replaced.
        release_date: the date in the names of the files.
        origin: where the content comes from.
        edition: letters and digits for the name of the release's folder.
        namespace: the country or namespace in the names of the files.

    Raises:
        OptionError: ``edition`` or ``namespace`` holds anything but letters and digits.
        OutputError: the zip cannot be written.
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
                self._partial.replace(self._path)
        except BaseException:
            self._discard()
            raise

    def write(self, table: Table, release_type: ReleaseType, frames: Iterable[pl.DataFrame]) -> int:
        """Write one file of the release and return how many rows it has.

        Args:
            table: which file.
            release_type: in which of the two folders.
            frames: the rows, a frame at a time; each has the file's columns under their RF2
                names, in any order, besides others; dates are written as YYYYMMDD, booleans as
                0 and 1.

        Raises:
            InputError: a term holds a tab or a line break, which RF2 cannot express.
            OutputError: the zip cannot be written.
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
        """Turn what the system says about the zip into one clear line."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(f"cannot write {self._path}: {reason}") from error

    def _discard(self) -> None:
        """Remove the unfinished zip."""
        with suppress(OSError, ValueError):
            self._opened().close()
        self._partial.unlink(missing_ok=True)


def sctids(
    items: NDArray[np.int64], component: Component, namespace: int = INVENTED_NAMESPACE
) -> NDArray[np.int64]:
    """Return well-formed SNOMED CT identifiers of the long format.

    An identifier is the item number, seven digits of namespace, two digits that tell the kind of
    component, and the check digit of Verhoeff (1969), which one wrong digit or two exchanged
    neighbours always change.

    Args:
        items: int64[n], item numbers from 1 to ``LARGEST_ITEM``.
        component: what is identified.
        namespace: seven digits.

    Returns:
        int64[n], the identifiers.

    Raises:
        OptionError: an item number or the namespace does not fit.
    """
    if items.size and not (items.min() >= 1 and items.max() <= LARGEST_ITEM):
        found = f"{items.min()} to {items.max()}"
        raise OptionError(f"item numbers go from 1 to {LARGEST_ITEM}; these go from {found}")
    if not 1_000_000 <= namespace <= 9_999_999:  # noqa: PLR2004 — seven digits
        raise OptionError(f"a namespace has seven digits; this is {namespace}")
    numbers = (items * 10_000_000 + namespace) * 100 + _PARTITIONS[component]
    return numbers * 10 + check_digits(numbers)


def check_digits(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Verhoeff digit to append to each number, int64[n] for positive int64[n].

    The digits are multiplied in the dihedral group of order 10, each after a permutation that
    depends on its place; the check digit is the inverse of the product.
    """
    product, permutations = _dihedral_product(), _place_permutations()
    checks = np.zeros_like(numbers)
    rest, place = numbers, 1
    while rest.any():
        digits = permutations[place % 8, rest % 10]
        checks = np.where(rest > 0, product[checks, digits], checks)
        rest, place = rest // 10, place + 1
    inverses = np.argmin(product, axis=1)
    return np.take(inverses, checks)


def _dihedral_product() -> NDArray[np.int64]:
    """Return the group's multiplication, int64[10, 10]: 0 to 4 turn, 5 to 9 turn and reflect."""
    left, right = np.indices((10, 10))
    turns = np.where(left < _CORNERS, left + right, left - right) % _CORNERS
    flips = np.not_equal(left < _CORNERS, right < _CORNERS)
    return np.where(flips, turns + _CORNERS, turns)


def _place_permutations() -> NDArray[np.int64]:
    """Return the permutation of the digits at each place, int64[8, 10]; places repeat after 8."""
    step = np.array([1, 5, 7, 6, 2, 8, 3, 0, 9, 4])
    permutations = [np.arange(10)]
    for _ in range(7):
        permutations.append(permutations[-1][step])
    return np.array(permutations)


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
        "writer": _writer(),
    }
    return (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()


def _writer() -> str:
    try:
        return f"medsim {version('medsim')}"
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "medsim"
