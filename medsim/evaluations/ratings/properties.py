"""What a table says of words beside their ratings: how frequent they are, and of which kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.evaluations.ratings.values import is_missing, number_in

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = ("count", "topics", "domain", "associated")
"""The properties by which a set of rated pairs is cut into parts."""

PAIR_PROPERTIES = ("count1", "count2", "topics1", "topics2", "domain", "associated")
"""The columns of a file of rated pairs that tell properties of a pair, or of its words."""

WORD_PROPERTIES = ("count", "topics", "domain")
"""The columns of a table of words that tell properties of a word."""

_TRUTHS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}
_LONGEST_SHOWN = 40


def property_in(column: str, cell: str) -> float | str | None:
    """Return what a cell says; None where it says nothing.

    Args:
        column: one of ``PAIR_PROPERTIES`` or ``WORD_PROPERTIES``.
        cell: its text.

    Returns:
        A count, a number of topics, the name of a domain, or "yes" or "no".

    Raises:
        InputError: the cell says something else; the message has no place.
    """
    if is_missing(cell):
        return None
    kind = column.rstrip("12")
    return _READERS[kind](column, cell)


def topic_names(cell: str) -> frozenset[str] | None:
    """Return the topics that a cell names, joined by semicolons; None of a number of topics."""
    if number_in(cell) is not None:
        return None
    return frozenset(name for name in map(str.strip, cell.split(";")) if name)


def _count(column: str, cell: str) -> float:
    count = number_in(cell)
    if count is None or count < 0:
        raise _refused(column, cell, "no count such as 120")
    return count


def _n_topics(column: str, cell: str) -> float:
    names = topic_names(cell)
    return _count(column, cell) if names is None else len(names)


def _domain(_column: str, cell: str) -> str:
    return cell.strip()


def _associated(column: str, cell: str) -> str:
    truth = _TRUTHS.get(cell.strip().lower())
    if truth is None:
        raise _refused(column, cell, "neither yes nor no")
    return truth


_READERS: dict[str, Callable[[str, str], float | str]] = {
    "count": _count,
    "topics": _n_topics,
    "domain": _domain,
    "associated": _associated,
}


def _refused(column: str, cell: str, why: str) -> InputError:
    return InputError(f"{column} {cell[:_LONGEST_SHOWN]!r} is {why}")
