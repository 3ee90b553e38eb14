"""Answers as the offline page exports them, a line of JSON an answer."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Any

from medsim.core.errors import InputError
from medsim.core.reading import parsed_json
from medsim.core.tables.text import checked_lines
from medsim.studies.sheets import FORMAT, Scale
from medsim.studies.sheets.returned import (
    AGAIN,
    Given,
    StudyIdentity,
    check_study,
    quoted,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_END = re.compile(r'\{"medsim":"end","answers":([0-9]+),"checksum":"([0-9a-f]{8})"\}')
_AGAIN = "export it again from the page"


def read_jsonl(path: Path, text: str, study: StudyIdentity) -> Iterator[Given]:
    """Yield the answers that a page exported, whose last line must vouch for the others."""
    lines = _whole(path, text.replace("\r\n", "\n"))  # as mail may change them
    location = f"{path}: line 1"
    head = _head(location, parsed_json(location, lines[0], AGAIN))
    check_study(str(path), head.get("study"), study)
    if head.get("scale") != study.scale.name:
        raise InputError(
            f"{path} has answers of scale {quoted(head.get('scale'))}, and the study's scale is "
            f"{study.scale.name!r}"
        )
    annotator = head.get("annotator")
    if not isinstance(annotator, str):
        raise InputError(f"{location} says {quoted(annotator)} for the annotator; {_AGAIN}")
    for number, line in enumerate(lines[1:], start=2):
        location = f"{path}: line {number}"
        given = parsed_json(location, line, AGAIN)
        if not isinstance(given, dict) or not isinstance(given.get("entry"), str):
            raise InputError(f"{location} is no answer to an entry; {_AGAIN}")
        yield Given(
            location=location,
            entry_id=given["entry"],
            value=_value(location, given.get("answer"), study.scale),
            annotator=annotator,
        )


def _whole(path: Path, text: str) -> list[str]:
    """Return the lines before the last."""
    before, _, last = text.rstrip().rpartition("\n")
    lines = list(checked_lines(path, before.split("\n")))
    if (end := _END.fullmatch(last)) is None:
        raise InputError(
            f"{path} has no end line: it is cut short, or no export of the page; {_AGAIN}"
        )
    if (checksum := _checksum(before + "\n")) != end[2]:
        raise InputError(
            f"{path} was edited or damaged: its checksum is {checksum}, and should be {end[2]}; "
            f"{_AGAIN}"
        )
    if int(end[1]) != len(lines) - 1:
        raise InputError(
            f"{path} was edited: it has {len(lines) - 1:,} answers, and its end line says "
            f"{int(end[1]):,}; {_AGAIN}"
        )
    return lines


def _head(location: str, head: object) -> dict[str, Any]:
    if not isinstance(head, dict) or head.get("medsim") != "answers":
        raise InputError(f"{location} is not the first line of answers; {_AGAIN}")
    if head.get("format") != FORMAT:
        raise InputError(
            f"{location} has format {quoted(head.get('format'))}, and this medsim reads {FORMAT}"
        )
    return head


def _value(location: str, answer: object, scale: Scale) -> int:
    """Return the value of an answer; ratings are numbers in the file, other answers texts."""
    written = isinstance(answer, str)
    if scale.graded:
        written = isinstance(answer, int) and not isinstance(answer, bool)
    return value_of(location, str(answer) if written else "", scale, given=answer)


def _checksum(content: str) -> str:
    return f"{zlib.crc32(content.encode()):08x}"
