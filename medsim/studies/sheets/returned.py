"""Answers as they stand in files of any format: each value is checked, and quoted in messages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.core.errors import InputError

if TYPE_CHECKING:
    from medsim.studies.sheets import Scale

AGAIN = "export the file again"
"""The advice to who has a file that no longer is as it was exported."""

_RATING = re.compile(r"([0-9]+)[.,]0+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyIdentity:
    """The study that answers must be of."""

    study_id: str
    scale: Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An answer as it stands in a file.

    Attributes:
        location: such as "answers.csv: line 12".
        entry_id: the entry that it answers.
        value: its place in the scale.
        annotator: whose it is, as the file says; None where it says nothing.
        texts: what was shown, left first, as the file has it; None where it has none.
    """

    location: str
    entry_id: str
    value: int
    annotator: str | None = None
    texts: tuple[str, ...] | None = None


def quoted(value: object) -> str:
    """Return a value from a file as a message can quote it."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return repr(value) if isinstance(value, str) else json.dumps(value)


def check_study(location: str, found: object, study: StudyIdentity) -> None:
    """Raise InputError if the study that a file names is another."""
    if found != study.study_id:
        raise InputError(f"{location} is of study {quoted(found)}, and not of {study.study_id!r}")


def read_value(location: str, answer: str, scale: Scale) -> int:
    """Return the value of an answer that a person may have typed.

    Letter case and outer space do not matter. An answer's label or key stands for it, as "n" does
    for not same, and "4.0" for 4.
    """
    text = answer.strip()
    rating = _RATING.fullmatch(text) if scale.graded else None
    text = _plain(rating[1] if rating else text)
    for one in scale.choices:
        if text in {one.name, one.key, _plain(one.label)}:
            return one.value
    return value_of(location, text, scale, given=answer)


def _plain(text: str) -> str:
    return re.sub(r"\s+|-", "_", re.sub("['\u2019]", "", text.lower()))


def value_of(location: str, answer: str, scale: Scale, *, given: object) -> int:
    """Return the value of an answer; if it is none of the scale's, the error shows ``given``."""
    if answer not in scale.answers:
        raise InputError(
            f"{location}: answer {quoted(given)} is none of {', '.join(scale.answers)}"
        )
    return scale.answers.index(answer)
