"""Groups invented concepts into families, whose members have nearly the same names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import TYPE_CHECKING

import numpy as np

from medsim.terminologies.synthetic.words import BRANCHES

if TYPE_CHECKING:
    from medsim.terminologies.synthetic.draws import Draws, Ints, Weights

BLOCK = 16
"""Concepts of a block, which holds one family or two."""

GROUP = 3
"""Families that share a branch and, mostly, a site."""


class Mode(IntEnum):
    """The part of a name in which the members of a family differ."""

    SIDE = 0
    COURSE = auto()
    DETAIL = auto()
    AGENT = auto()
    HEAD = auto()
    SITE = auto()


_MODE_WEIGHTS: Weights = {
    Mode.SIDE: 4,
    Mode.COURSE: 3,
    Mode.DETAIL: 1,
    Mode.AGENT: 4,
    Mode.HEAD: 3,
    Mode.SITE: 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The places of concepts among the others; every array is int64[n].

    Attributes:
        family: the number of the concept's family, whose members share most of their names.
        ordinal: the place in the family; 0 is its head, which is the most general.
        branch: the place of the branch in ``BRANCHES``.
        mode: the part of their names in which the family's members differ.
    """

    family: Ints
    ordinal: Ints
    branch: Ints
    mode: Ints


def places_of(concepts: Ints, draws: Draws) -> Places:
    """Return where each concept stands, for int64[n] numbers of concepts."""
    block = concepts // BLOCK
    cut = 1 + draws.choose("cut", block, BLOCK - 1)
    is_second = concepts % BLOCK >= cut
    family = 2 * block + is_second
    weights = {place: branch.weight for place, branch in enumerate(BRANCHES)}
    return Places(
        family=family,
        ordinal=concepts % BLOCK - np.where(is_second, cut, 0),
        branch=draws.weigh("branch", family // GROUP, weights),
        mode=draws.weigh("mode", family, _MODE_WEIGHTS),
    )
