"""Reads cells: numbers, and the properties of words and pairs that stand beside ratings."""

from __future__ import annotations

import math
import re

from medsim.core.errors import InputError

PARTS = ("count", "topics", "domain", "associated")
"""The properties by which a set of rated pairs is divided."""

OF_PAIRS = ("domain", "associated")
"""Those that a file may tell of a pair as a whole."""

PAIR_PROPERTIES = ("count1", "count2", "topics1", "topics2", "domain", "associated")
"""The columns of a file of rated pairs with properties of a pair, or of its words."""

WORD_PROPERTIES = ("count", "topics", "domain")
"""The columns of a table of words with properties of a word."""

_TRUTHS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset({"", "-", "na", "n/a", "nan", "none", "null"})


def is_missing(cell: str) -> bool:
    """Return whether a cell stands for a missing value."""
    return cell.lower() in _MISSING


def number_in(cell: str) -> float | None:
    """Return the number in a cell, with a decimal point; None where it is no finite one."""
    if _NUMBER.fullmatch(cell) is None:
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


def property_in(column: str, cell: str) -> float | str | None:
    """Return the value of a property; None where it is missing.

    Args:
        column: one of ``PAIR_PROPERTIES`` or ``WORD_PROPERTIES``.
        cell: its text.

    Returns:
        A count, a number of topics, the name of a domain, or "yes" or "no".

    Raises:
        InputError: the cell holds something else; the message does not say where it stands.
    """
    if is_missing(cell):
        return None
    kind, text = column.rstrip("12"), cell.strip()
    if kind == "domain":
        return text
    if kind == "associated":
        if text.lower() not in _TRUTHS:
            raise _refused(column, cell, "neither yes nor no")
        return _TRUTHS[text.lower()]
    topics = topic_names(cell) if kind == "topics" else None
    count = number_in(cell) if topics is None else len(topics)
    if count is None or count < 0:
        raise _refused(column, cell, "no count such as 120")
    return count


def topic_names(cell: str) -> frozenset[str] | None:
    """Return the topics that a cell names between semicolons; None if it has their number."""
    if number_in(cell) is not None:
        return None
    return frozenset(name for name in map(str.strip, cell.split(";")) if name)


def _refused(column: str, cell: str, why: str) -> InputError:
    return InputError(f"{column} {cell!r} is {why}")
