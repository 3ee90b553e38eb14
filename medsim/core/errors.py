"""The error tree: every failure that is not a bug, with its exit code."""

from collections.abc import Sequence
from difflib import get_close_matches


class MedsimError(Exception):
    """A failure that the user can mend; its message is one line that says what and how.

    Attributes:
        exit_code: what the command line returns for it.
    """

    exit_code = 1


class InputError(MedsimError):
    """The input is at fault: a file is missing, damaged, or not what it should be."""


class OptionError(MedsimError):
    """An option, or a combination of options, cannot be honoured."""


class OutputError(MedsimError):
    """The output cannot be written, or what lies there must not be touched."""


class ClusterError(MedsimError):
    """A cluster cannot be reached, or cannot do what is asked of it."""


class StatementError(MedsimError):
    """A user's SQL statement cannot be run."""


class BrokenPromiseError(MedsimError):
    """A build on disk does not hold what medsim promises of it."""

    exit_code = 3


def unknown_name(kind: str, name: str, known: list[str]) -> str:
    """Return the message for an unknown name, with the nearest known ones first."""
    near = get_close_matches(name, known, n=3, cutoff=0.5)
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
