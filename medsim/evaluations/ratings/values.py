"""What the cell of a rating can say: a number, or that there is none."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset({"", "-", "na", "n/a", "nan", "none", "null"})


def is_missing(cell: str) -> bool:
    """Return whether a cell says that there is no rating."""
    return cell.lower() in _MISSING


def number_in(cell: str) -> float | None:
    """Return the number that a cell holds, with a decimal point; None where it is no finite one."""
    if _NUMBER.fullmatch(cell) is None:
        return None
    number = float(cell)
    return number if math.isfinite(number) else None
