"""The names of annotators and raters, which name the folders of what they are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from medsim.core.errors import OptionError

CountOrNames: TypeAlias = int | str | Sequence[str]
"""A number of people, or their names: in order, or in a text with commas between them."""

_MOST_ANNOTATORS = 1000
_NAME = re.compile(r"[^\W_](?:[\w .-]{0,38}[\w-])?")  # fit for a folder on any system
_NUMBER = re.compile(r"[0-9]{1,6}")
_NO_NAME = re.compile(
    # A number that is no count, a word of `leave_out` or of tables, or a device of Windows.
    r"[0-9.]+|all|mean|outliers|(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?",
    re.IGNORECASE,
)


def annotators_of(named: CountOrNames, stem: str) -> tuple[str, ...]:
    """Return the names of annotators, which name the folders of what they are given.

    Args:
        named: how many, or their names, as a sequence or in a text such as "ada,ben,eva".
        stem: of the names of those that are only counted, as in "annotator-1".

    Raises:
        OptionError: a name is no name of a folder, or stands twice, or there are too many or none.
    """
    if not isinstance(named, (str, int)):
        return _checked(list(named))
    text = str(named).strip()
    if _NUMBER.fullmatch(text) is None:
        return _checked([name.strip() for name in text.split(",")])
    number = int(text)
    if number > _MOST_ANNOTATORS:
        return _checked([text] * number)
    return _checked([f"{stem}-{at:0{len(text)}}" for at in range(1, number + 1)])


def _checked(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that can be those of annotators."""
    if not 1 <= len(names) <= _MOST_ANNOTATORS:
        raise OptionError(f"{len(names):,} annotators; 1 to {_MOST_ANNOTATORS:,} are accepted")
    for at, name in enumerate(names):
        if _NAME.fullmatch(name) is None or _NO_NAME.fullmatch(name) is not None:
            raise OptionError(
                f"{name[:60]!r} cannot be the name of an annotator: a name has up to 40 letters, "
                "digits, spaces and . - _, begins with a letter or digit, and is no number"
            )
        if name.casefold() in {other.casefold() for other in names[:at]}:
            raise OptionError(f"two annotators are named {name!r}")
    return tuple(names)
