"""The error tree: every failure that is not a bug, with its exit code."""

from __future__ import annotations

import re
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


LONGEST_VALUE = 300
"""The most characters of a value in a message."""

_LONGEST_MESSAGE = 2_000
CONTROL = re.compile(
    # With what ends a line in Unicode, what turns the direction of text, and what stands for a byte
    # of a file's name that is no text.
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that command a terminal, or that it cannot show."""

_VALUE = re.compile(r"""(?<!\w)(?P<quote>['"])(?:\\.|(?!(?P=quote))[^\\])*+(?P=quote)|\S+""")


def one_line(text: str) -> str:
    """Return a message as one line that a terminal can show.

    Control characters are escaped: names of files may have any, and they must neither cut a message
    nor command a terminal. Of a long value, and of a long message, the middle is left out, for what
    to do stands at the end.
    """
    shorter = _shortened(text, _LONGEST_MESSAGE * 2)  # before anything looks at it in detail
    escaped = CONTROL.sub(lambda found: ascii(found[0])[1:-1], shorter)
    values = _VALUE.sub(lambda found: _shortened(found[0], LONGEST_VALUE), escaped)
    return _shortened(values, _LONGEST_MESSAGE)


def _shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters, without its middle if it has more."""
    if len(text) <= most:
        return text
    kept = most - 1
    return f"{text[: kept - kept // 2]}\N{HORIZONTAL ELLIPSIS}{text[-(kept // 2) :]}"


class MedsimError(Exception):
    """A failure that the user can mend; its message is one line that says what and how.

    Attributes:
        exit_code: what the command line returns for it.
    """

    exit_code = 1

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(str(message)))


class InputError(MedsimError):
    """The input is at fault: a file is missing, damaged, or not what it should be."""


class OptionError(MedsimError):
    """An option, or a combination of options, cannot be honoured."""


class OutputError(MedsimError):
    """The output cannot be written, or what lies there must not be touched."""


class ClusterError(MedsimError):
    """A cluster cannot be reached, or cannot do what is asked of it."""


class ServiceError(MedsimError):
    """A service cannot be reached, or does not answer as it should."""


class StatementError(MedsimError):
    """A user's SQL statement cannot be run."""


class BrokenPromiseError(MedsimError):
    """A build on disk does not hold what medsim promises of it."""

    exit_code = 3


def unknown_name(kind: str, name: object, known: list[str]) -> str:
    """Return the message for an unknown name, with the nearest known ones first."""
    near = get_close_matches(str(name), known, n=3, cutoff=0.5)
    if near:
        return f"unknown {kind} {name!r}; did you mean {' or '.join(near)}?"
    return f"unknown {kind} {name!r}; known: {', '.join(known) or 'none'}"


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number of things, as in "1 pair" or "1,200 pairs"."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def listed(names: Sequence[object], most: int | None = None) -> str:
    """Return names as a sentence lists them: "a", "a and b", "a, b and c", "a, b and 7 more"."""
    texts = list(map(str, names))
    if most is not None and len(texts) > most:
        texts[most:] = [f"{len(texts) - most:,} more"]
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


@contextmanager
def needing(need: str, extra: str) -> Iterator[None]:
    """Turn what an import of the body raises where libraries are missing into an OptionError.

    Args:
        need: the libraries and what needs them, such as "a chart needs Altair".
        extra: that brings them.
    """
    try:
        yield
    except ImportError as error:
        raise OptionError(f"{need}; install medsim with its extra {extra}") from error
