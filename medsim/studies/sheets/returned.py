"""Answers as they stand in files of any format: each value is checked, and quoted in messages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from medsim.core.errors import InputError
from medsim.studies.sheets import GRADED, Scale

_LETTERS = {"s": "same", "n": "not_same", "d": "dont_know"}
_LONGEST_SHOWN = 40
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
        terms: the two terms, left first, as the file has them; None where it has none.
    """

    location: str
    entry_id: str
    value: int
    annotator: str | None = None
    terms: tuple[str, str] | None = None


def parsed_json(location: str, text: str) -> object:
    """Return the value of a JSON text, which must not be nested too deeply to be read."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        fault = f"{error.msg}, at character {error.pos + 1}"
        raise InputError(f"{location} is no JSON ({fault}); export the file again") from error
    except ValueError as error:
        raise InputError(f"{location} has a number with too many digits") from error
    except RecursionError as error:
        raise InputError(f"{location} is JSON nested too deeply; export the file again") from error


def quoted(value: object) -> str:
    """Return a value from a file as a message can quote it: short, control codes escaped."""
    if isinstance(value, str):
        return f"{value[:_LONGEST_SHOWN]!r}{'…' if len(value) > _LONGEST_SHOWN else ''}"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:_LONGEST_SHOWN]


def check_study(location: str, found: object, study: StudyIdentity) -> None:
    """Raise InputError if the study that a file names is another."""
    if found != study.study_id:
        raise InputError(f"{location} is of study {quoted(found)}, and not of {study.study_id!r}")


def read_value(location: str, answer: str, scale: Scale) -> int:
    """Return the value of an answer that a person may have typed.

    Letter case and outer space do not matter; "s", "n" and "d" stand for same, not same and don't
    know, and "4.0" for 4.
    """
    text = answer.strip().lower()
    if scale == GRADED:
        rating = _RATING.fullmatch(text)
        text = rating[1] if rating else text
    else:
        text = re.sub(r"\s+|-", "_", re.sub("['\u2019]", "", text))
        text = _LETTERS.get(text, text)
    return value_of(location, text, scale, given=answer)


def value_of(location: str, answer: str, scale: Scale, *, given: object) -> int:
    """Return the value of an answer; if it is none of the scale's, the error shows ``given``."""
    if answer not in scale.answers:
        raise InputError(
            f"{location}: answer {quoted(given)} is none of {', '.join(scale.answers)}"
        )
    return scale.answers.index(answer)
