"""The options of bins: by which sets of rated pairs are cut by counts and by numbers of topics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError
from medsim.core.options import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

BINS = Option(
    "Counts at which bins of word frequency begin: 1,10,100,… by default.",
    metavar="N,N,…",
    listed=True,
)

TOPIC_BINS = Option(
    "Numbers of topics at which bins of topics begin: 1,2,5 by default.",
    metavar="N,N,…",
    listed=True,
)

EQUAL_PARTS = Option(
    "Cut by counts, and by numbers of topics, into this many parts with about equally many pairs "
    "in place of bins; three in Chiu et al. (2018).",
    least=2,
    most=20,
)


def checked_bins(
    bins: Sequence[int | str], topic_bins: Sequence[int | str], equal_parts: int | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return bins of counts and of topics as numbers, which the command line gives as text.

    Raises:
        OptionError: they are no ascending counts, or stand beside equal parts.
    """
    found = [_ascending("bins", bins), _ascending("topic_bins", topic_bins)]
    if equal_parts is not None and any(found):
        given = "bins" if found[0] else "topic_bins"
        raise OptionError(f"`equal_parts` chooses its own bins; leave out `{given}`, or it")
    return found[0], found[1]


def _ascending(name: str, given: Sequence[int | str]) -> tuple[int, ...]:
    bins = tuple(_count(name, one) for one in given)
    if any(one < 1 for one in bins) or list(bins) != sorted(set(bins)):
        raise OptionError(
            f"`{name}` {','.join(map(str, bins))} must be ascending counts from 1, such as 5,50,500"
        )
    return bins


def _count(name: str, given: int | str) -> int:
    if isinstance(given, int):
        return given
    if not re.fullmatch(r"[0-9]{1,18}", given):
        raise OptionError(f"`{name}`: {given!r} is no count; 5,50,500 names three bins")
    return int(given)
