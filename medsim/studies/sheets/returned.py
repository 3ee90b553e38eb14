"""What annotators send back, in whichever format: values of entries, and where each stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.studies.sheets import GRADED, Entry, Scale, Sheet
from medsim.studies.sheets.content import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LETTERS = {"s": "same", "n": "not_same", "d": "dont_know"}
_RATING = re.compile(r"([0-9]+)[.,]0+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyIdentity:
    """What answers must be of.

    Attributes:
        study_id: of the study.
        scale: the answers that it takes.
    """

    study_id: str
    scale: Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An answer as it stands in a file.

    Attributes:
        place: where, such as "answers.csv: line 12".
        entry_id: the entry that it answers.
        value: its place in the scale.
        annotator: whose it is, as the file says; None where it says nothing.
        terms: the two terms, left first, as the file has them; None where it has none.
    """

    place: str
    entry_id: str
    value: int
    annotator: str | None = None
    terms: tuple[str, str] | None = None


def check_study(place: str, found: object, study: StudyIdentity) -> None:
    """Raise InputError if what a file says of its study is not the study's id."""
    if found != study.study_id:
        raise InputError(f"{place} is of study {shown(found)}, and not of {study.study_id!r}")


def read_value(place: str, answer: str, scale: Scale) -> int:
    """Return the value of an answer that a person may have typed.

    Letter case and outer space do not matter; "s", "n" and "d" stand for same, not same and don't
    know, and "4.0" for 4.

    Args:
        place: where the answer stands, for messages.
        answer: the text.
        scale: what may be answered.

    Raises:
        InputError: it is none of the scale's answers.
    """
    text = answer.strip().lower()
    if scale == GRADED:
        rating = _RATING.fullmatch(text)
        text = rating[1] if rating else text
    else:
        text = re.sub(r"\s+|-", "_", re.sub("['\u2019]", "", text))
        text = _LETTERS.get(text, text)
    return value_of(place, text, scale, given=answer)


def value_of(place: str, answer: str, scale: Scale, *, given: object) -> int:
    """Return the value of an answer that is one of the scale's.

    Raises:
        InputError: it is not; the message shows what was given.
    """
    if answer not in scale.answers:
        raise InputError(f"{place}: answer {shown(given)} is none of {', '.join(scale.answers)}")
    return scale.answers.index(answer)


def answered(sheet: Sheet, values: Mapping[str, int]) -> Iterator[tuple[Entry, str]]:
    """Yield the entries that have a value and their answers, in the order of the sheet.

    Args:
        sheet: of one annotator.
        values: entry_id → place in the sheet's scale; entries may be missing.

    Raises:
        InputError: a value is of no entry of the sheet, or outside the scale.
    """
    if unknown := sorted(values.keys() - {entry.entry_id for entry in sheet.entries}):
        raise InputError(
            f"entry {shown(unknown[0])} is not on the sheet of {shown(sheet.annotator)}"
        )
    for entry in sheet.entries:
        value = values.get(entry.entry_id)
        if value is None:
            continue
        if not 0 <= value < len(sheet.scale):
            raise InputError(
                f"value {value} of entry {shown(entry.entry_id)} is outside 0 to "
                f"{len(sheet.scale) - 1}, the scale {sheet.scale.name}"
            )
        yield entry, sheet.scale.answers[value]
