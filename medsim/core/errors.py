"""The error tree: every failure that is not a bug, with its exit code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

LONGEST_VALUE = 300
"""The maximum number of characters of a value in a message."""

_LONGEST_MESSAGE = 2_000
CONTROL = re.compile(
    # Including Unicode's line separators, marks of text direction, and the surrogates that stand
    # for undecodable bytes in a file's name.
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that control a terminal, or that it cannot show."""

ADDRESSES: dict[str, str] = {}
"""The addresses that local copies are of, by path; messages, progress and manifests name these."""

_VALUE = re.compile(r"""(?<!\w)(?P<quote>['"])(?:\\.|(?!(?P=quote))[^\\])*+(?P=quote)|\S+""")


def one_line(text: str) -> str:
    """Return a message as one printable line.

    Control characters, which file names may contain, are escaped, so they neither break the line
    nor control the terminal. Long values and messages are shortened in the middle, because the end
    says what to do.
    """
    shorter = _shortened(text, _LONGEST_MESSAGE * 2)  # first, as the patterns take time
    escaped = CONTROL.sub(lambda match: ascii(match[0])[1:-1], shorter)
    values = _VALUE.sub(lambda match: _shortened(match[0], LONGEST_VALUE), escaped)
    return _shortened(values, _LONGEST_MESSAGE)


def with_addresses(text: str) -> str:
    """Return a text with addresses in place of the paths of their copies on this machine."""
    for path, address in ADDRESSES.items():
        text = text.replace(path, address)
    return text


def _shortened(text: str, most: int) -> str:
    """Return a text with its middle left out if it is longer than the limit."""
    if len(text) <= most:
        return text
    n_kept = most - 1
    return f"{text[: n_kept - n_kept // 2]}\N{HORIZONTAL ELLIPSIS}{text[-(n_kept // 2) :]}"


class MedsimError(Exception):
    """An error that the user can fix; its message is one line that says what to do.

    Attributes:
        exit_code: the exit code of the command line.
    """

    exit_code = 1

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(with_addresses(str(message))))


class InputError(MedsimError):
    """The input is invalid: a file is missing, damaged, or not as expected."""


class EmptyFileError(InputError):
    """A file has no content."""


class OptionError(MedsimError):
    """An option, or a combination of options, is invalid."""


class OutputError(MedsimError):
    """The output cannot be written, or something there must not be replaced."""


class ClusterError(MedsimError):
    """A cluster cannot be reached, or cannot do the work."""


class ServiceError(MedsimError):
    """A service cannot be reached, or does not answer as it should."""


class StatementError(MedsimError):
    """A user's SQL statement cannot be run."""


class BrokenPromiseError(MedsimError):
    """A guarantee of medsim does not hold for an output on disk."""

    exit_code = 3


def unknown_name(kind: str, name: object, names: list[str]) -> str:
    """Return the message for an unknown name, with the nearest known ones first."""
    near = get_close_matches(str(name), names, n=3, cutoff=0.5)
    if near:
        return f"unknown {kind} {name!r}; did you mean {' or '.join(near)}?"
    return f"unknown {kind} {name!r}; known: {', '.join(names) or 'none'}"


def check_known(kind: str, known: Collection[str], *names: object) -> None:
    """Raise OptionError for a name that is not known."""
    for name in names:
        if name not in known:
            raise OptionError(unknown_name(kind, name, list(known)))


def check_unique(what: str, names: Sequence[object]) -> None:
    """Raise OptionError if two of the names are equal."""
    name = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if name is not None:
        raise OptionError(f"two {what} are named {name!r}; names must be unique")


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number with a noun, such as "1 pair" or "1,200 pairs"."""
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"


def listed(names: Sequence[object], most: int | None = None, *, word: str = "and") -> str:
    """Join names for a sentence: "a", "a and b", "a, b and c", "a, b and 7 more"."""
    texts = list(map(str, names))
    if most is not None and len(texts) > most:
        texts[most:] = [f"{len(texts) - most:,} more"]
    return f" {word} ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


@contextmanager
def needing(need: str, extra: str) -> Iterator[None]:
    """Turn a failed import in the body into an OptionError that names the extra to install.

    Args:
        need: the missing libraries in a clause, such as "a chart needs Altair".
        extra: the extra of medsim with these libraries.
    """
    try:
        yield
    except ImportError as error:
        raise OptionError(f"{need}; install medsim with its extra {extra}") from error
