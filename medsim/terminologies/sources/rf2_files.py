"""The files of an RF2 release: their names, their headers and their rows."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError
from medsim.terminologies.rf2_writer import COLUMNS
from medsim.terminologies.sources.text_rows import RowFormat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from medsim.terminologies.rf2_writer import RF2Table
    from medsim.terminologies.sources.archive import ReleaseFile

_TAIL = r"(?P<content>[^_]*)(?P<rest>_.*)?\.txt"
_RELEASE_TYPE = re.compile(r"(Full|Snapshot|Delta)(?=$|[-_.])", re.IGNORECASE)
_METADATA_DIGITS = 18  # of the concepts that describe others, such as 900000000000074008
_LEAST_DIGITS = 6  # of any SNOMED CT identifier
_EIGHT_DIGITS = re.compile(r"[0-9]{8}")
_EARLIER_NAMES = {"targetComponentId": "targetComponent"}  # of columns, in older releases
_DATE = re.compile(r"(?<!\d)((?:19|20)\d{6})(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RF2File:
    """A kind of RF2 file.

    Attributes:
        name: of the table that its rows go to, less "rf2_".
        stem: a pattern of how its names begin.
        last_digits: how many digits the identifier in the last column has at least.
        required: whether a release without it is refused.
    """

    name: RF2Table
    stem: str
    last_digits: int = _METADATA_DIGITS
    required: bool = True

    def is_named(self, file: ReleaseFile) -> bool:
        """Return whether a file is of this kind by its name."""
        return bool(re.fullmatch(rf"(?:x|MONO)?{self.stem}{_TAIL}", file.name, re.IGNORECASE))


FILES = (
    RF2File(name="concept", stem="sct2_Concept_"),
    RF2File(name="description", stem="sct2_Description_"),
    RF2File(
        name="association",
        stem="der2_(?:cRefset_)?Association",
        last_digits=_LEAST_DIGITS,
        required=False,
    ),
    RF2File(name="relationship", stem="sct2_Relationship_", required=False),
)
"""The files that medsim reads. Names alone, without associations and is-a, give pairs as well."""

LANGUAGE = RF2File(name="language", stem="der2_(?:cRefset_)?Language")
"""The language reference sets, which are read where a dialect is asked for."""


def find_files(
    release: Path, files: list[ReleaseFile], kinds: Sequence[RF2File], *, as_of: date | None
) -> dict[str, list[ReleaseFile]]:
    """Return the files of each kind, in order of name.

    Where a file's Full and Snapshot forms lie side by side, the Snapshot is taken, or the Full form
    if a day is asked for. Delta files are left aside.
    """
    chosen: dict[str, list[ReleaseFile]] = {}
    for kind in kinds:
        matching = [file for file in files if kind.is_named(file)]
        chosen[kind.name] = _choose(release, matching, as_of)
        if kind.required and not chosen[kind.name]:
            delta = " (only Delta files, which lack most rows)" if matching else ""
            raise InputError(
                f"{release}: no {kind.name} file{delta}; an RF2 release has one whose name "
                f"matches {_example(kind)}; UMLS is known by MRCONSO.RRF, RxNorm by RXNCONSO.RRF, "
                "LOINC by Loinc.csv, OMOP by CONCEPT.csv, MeSH by desc2026.xml or supp2026.xml of "
                "any year; an OBO file is named itself"
            )
    return chosen


def release_date(files: list[ReleaseFile]) -> date | None:
    """Return the newest date that the names of the files bear."""
    dates = [found for file in files for text in _DATE.findall(file.name) if (found := _day(text))]
    return max(dates, default=None)


def _choose(release: Path, files: list[ReleaseFile], as_of: date | None) -> list[ReleaseFile]:
    """Return one form of each file: Snapshot or Full, or the unmarked one.

    Files of one name in several folders are all taken; what they share counts once.
    """
    forms: dict[str, dict[str, list[ReleaseFile]]] = {}
    for file in files:
        by_type = forms.setdefault(_RELEASE_TYPE.sub("", file.name).lower(), {})
        by_type.setdefault(_release_type(file), []).append(file)
    preference = ("full", "", "snapshot") if as_of else ("snapshot", "", "full")
    chosen: list[ReleaseFile] = []
    for by_type in forms.values():
        chosen += next((by_type[one] for one in preference if one in by_type), [])
    chosen.sort(key=lambda file: file.inner)
    for file in chosen:
        if as_of and _release_type(file) == "snapshot":
            raise OptionError(
                f"`as_of` needs full history, and {release} has {file.name} as a Snapshot only"
            )
    return chosen


def _release_type(file: ReleaseFile) -> str:
    found = _RELEASE_TYPE.search(file.name)
    return found[1].lower() if found else ""


def _example(kind: RF2File) -> str:
    return f"{kind.stem.replace('(?:cRefset_)?', 'cRefset_')}*.txt"


def row_format(kind: RF2File) -> RowFormat:
    """Return the form of the rows of a kind of file."""
    return RowFormat(
        separator="\t",
        is_cut=partial(_is_cut, kind),
        row_fault=partial(_row_fault, kind),
        check_header=partial(_check_header, kind),
    )


def _check_header(kind: RF2File, file: ReleaseFile, line: bytes) -> None:
    """Raise InputError unless a line is the header of a kind of file."""
    try:
        text = line.removeprefix(BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file.inner}: line 1 is not UTF-8, so this is no RF2 file") from error
    found = text.rstrip("\r\n").split("\t")
    expected = [{name, _EARLIER_NAMES.get(name, name)} for name in COLUMNS[kind.name]]
    fits = len(found) == len(expected) and all(
        name.lower() in map(str.lower, names) for name, names in zip(found, expected, strict=True)
    )
    if not fits:
        raise InputError(
            f"{file.inner}: line 1 is not the header of an RF2 {kind.name} file; expected the "
            f"tab-separated columns {' '.join(COLUMNS[kind.name])}"
        )


def locate_rows(
    files: list[ReleaseFile], keys: set[tuple[str, str]]
) -> dict[tuple[str, str], list[tuple[str, int, bytes]]]:
    """Return the rows with some (id, effectiveTime), by it: file, line number and text of each."""
    found: dict[tuple[str, str], list[tuple[str, int, bytes]]] = {}
    for file in files:
        with file.open() as stream:
            for number, line in enumerate(stream, start=1):
                head = line.split(b"\t", 2)
                key = (head[0].decode(), head[1].decode()) if len(head) > 1 else ("", "")
                if number > 1 and key in keys:
                    found.setdefault(key, []).append((file.inner, number, line.rstrip(b"\r\n")))
    return found


def _row_fault(kind: RF2File, row: str) -> str:
    """Return the fault of a row in words, empty where it has none."""
    values = row.split("\t")
    if len(values) != len(COLUMNS[kind.name]):
        return f"has {len(values)} columns; an RF2 {kind.name} file has {len(COLUMNS[kind.name])}"
    component, effective_time, active = values[:3]
    if not component:
        return "has no id"
    if not _EIGHT_DIGITS.fullmatch(effective_time) or _day(effective_time) is None:
        return f"has effectiveTime {effective_time!r}; a date such as 20260131 is expected"
    if active not in {"0", "1"}:
        return f"has active {active!r}; 0 or 1 is expected"
    return ""


def _is_cut(kind: RF2File, last_line: bytes) -> bool:
    """Return whether the text after the last line end is less than a row.

    A file may lack the last line end, but what was cut off with it shows in the last identifier.
    """
    return len(last_line.rpartition(b"\t")[2]) < kind.last_digits


def _day(text: str) -> date | None:
    try:
        return datetime.strptime(text, "%Y%m%d").date()  # noqa: DTZ007 — a day has no zone
    except ValueError:
        return None
