"""Names of annotators, which name the folders of what they are given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ANNOTATORS = 1000

_NAME = re.compile(r"[^\W_](?:[\w .-]{0,38}[\w-])?")  # fit for a folder on any system
_NUMBER = re.compile(r"[0-9]{1,6}")
_NO_NAME = re.compile(
    # A number that is no count, what --leave-out and tables mean, or a device of Windows.
    r"[0-9.]+|all|outliers|(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?",
    re.IGNORECASE,
)


def annotators_of(named: int | str | Sequence[str], stem: str) -> tuple[str, ...]:
    """Return the names of annotators.

    Args:
        named: how many, or their names, as a sequence or in a text such as "ada,ben,eva".
        stem: of the names of those that are only counted, as in "annotator-1".

    Raises:
        OptionError: a name is no name of a folder, or stands twice, or there are too many or none.
    """
    if not isinstance(named, (int, str)):
        return _checked(list(named))
    text = str(named).strip()
    if _NUMBER.fullmatch(text) is None:
        return _checked([name.strip() for name in text.split(",")])
    number = int(text)
    if number > MOST_ANNOTATORS:
        return _checked([text] * number)
    return _checked([f"{stem}-{at:0{len(text)}}" for at in range(1, number + 1)])


def _checked(names: list[str]) -> tuple[str, ...]:
    """Return names that can be those of annotators."""
    if not 1 <= len(names) <= MOST_ANNOTATORS:
        raise OptionError(f"{len(names):,} annotators; 1 to {MOST_ANNOTATORS:,} are accepted")
    for at, name in enumerate(names):
        if _NAME.fullmatch(name) is None or _NO_NAME.fullmatch(name) is not None:
            raise OptionError(
                f"{name[:60]!r} cannot be the name of an annotator: a name has up to 40 letters, "
                "digits, spaces and . - _, begins with a letter or digit, and is no number"
            )
        if name.casefold() in {other.casefold() for other in names[:at]}:
            raise OptionError(f"two annotators are named {name!r}")
    return tuple(names)
