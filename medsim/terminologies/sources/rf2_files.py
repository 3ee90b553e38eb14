"""Finds the files of an RF2 release by the patterns of their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.terminologies.sources.archive import ReleaseFile

_TAIL = r"(?P<content>[^_]*)(?P<rest>_.*)?\.txt"
_RELEASE_TYPE = re.compile(r"(Full|Snapshot|Delta)(?=$|[-_.])", re.IGNORECASE)
_METADATA_DIGITS = 18  # of the concepts that describe others, such as 900000000000074008
_LEAST_DIGITS = 6  # of any SNOMED CT identifier
_DATE = re.compile(r"(?<!\d)((?:19|20)\d{6})(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A kind of RF2 file.

    Attributes:
        name: of the table that its rows go to, less "rf2_".
        pattern: of its file names.
        header: its column names; those that were named otherwise in older releases have both
            names, with a bar between them.
        last_digits: how many digits the identifier in the last column has at least.
        required: whether a release without it is refused.
    """

    name: str
    pattern: re.Pattern[str]
    header: tuple[str, ...]
    last_digits: int
    required: bool = True


def _table(
    name: str, stem: str, header: str, *, last_digits: int = _METADATA_DIGITS, required: bool = True
) -> Table:
    return Table(
        name=name,
        pattern=re.compile(rf"(?:x|MONO)?{stem}{_TAIL}", re.IGNORECASE),
        header=tuple(header.split()),
        last_digits=last_digits,
        required=required,
    )


TABLES = (
    _table("concept", "sct2_Concept_", "id effectiveTime active moduleId definitionStatusId"),
    _table(
        "description",
        "sct2_Description_",
        "id effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId",
    ),
    _table(
        "association",
        "der2_(?:cRefset_)?Association",
        "id effectiveTime active moduleId refsetId referencedComponentId "
        "targetComponentId|targetComponent",
        last_digits=_LEAST_DIGITS,
    ),
    _table(
        "relationship",
        "sct2_Relationship_",
        "id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId "
        "characteristicTypeId modifierId",
        required=False,
    ),
)
"""The files that medsim reads. The terms and their pairs do not need is-a relationships."""


def find_tables(
    release: Path, files: list[ReleaseFile], *, as_of: date | None
) -> dict[str, list[ReleaseFile]]:
    """Return the files of each table, in order of name.

    Where a file's Full and Snapshot forms lie side by side, the Snapshot is taken, or the Full form
    if a day is asked for. Delta files are left aside.

    Args:
        release: the folder or zip, for messages.
        files: everything in it.
        as_of: the day whose state is asked for, if any.

    Raises:
        InputError: a required table has no file.
        OptionError: a day is asked for and a table has no history.
    """
    chosen: dict[str, list[ReleaseFile]] = {}
    for table in TABLES:
        matching = [file for file in files if table.pattern.fullmatch(file.name)]
        chosen[table.name] = _choose(release, matching, as_of)
        if table.required and not chosen[table.name]:
            delta = " (only Delta files, which lack most rows)" if matching else ""
            raise InputError(
                f"{release}: no {table.name} file{delta}; an RF2 release has one whose name "
                f"matches {_example(table)}; UMLS is known by MRCONSO.RRF, MeSH by desc2026.xml or "
                "supp2026.xml of any year"
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


def _example(table: Table) -> str:
    stem = "der2_cRefset_Association" if table.name == "association" else None
    return f"{stem or f'sct2_{table.name.capitalize()}_'}*.txt"


def _day(text: str) -> date | None:
    try:
        return datetime.strptime(text, "%Y%m%d").date()  # noqa: DTZ007 — a day has no zone
    except ValueError:
        return None
