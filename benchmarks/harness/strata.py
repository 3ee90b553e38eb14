"""First terms of every kind that a search might get wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Ids

_EXTREME = 20  # one term in this many counts as short, and one as long


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """First terms of one kind.

    Attributes:
        name: name of the kind.
        rows: int32[n_queries], rows of the terms, in order.
        wanted: number of nearest terms for each.
    """

    name: str
    rows: Ids
    wanted: int


def strata(terms: Sequence[str], n_each: int, seed: int = 0) -> list[Stratum]:
    """Return up to ``n_each`` randomly drawn first terms of each kind.

    Most of the many nearest terms of short terms tie, since few distances are possible.

    Args:
        terms: the pool, in order of text.
        n_each: maximum number of a kind.
        seed: random seed.
    """
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    by_length = np.argsort(lengths, kind="stable")
    n_extreme = -(-len(terms) // _EXTREME)
    short, long = by_length[:n_extreme], by_length[len(terms) - n_extreme :]
    usual = np.arange(len(terms))
    foreign = np.flatnonzero([not term.isascii() for term in terms])
    kinds = [
        ("usual", usual, 3),
        ("short", short, 1),
        ("long", long, 2),
        ("longest", by_length[len(terms) - n_each :], 1),
        ("non-ASCII", foreign, 3),
        ("many ties", short, 50),
        ("100 wanted", usual, 100),
        ("1,000 wanted", usual, 1000),
    ]
    rng = np.random.default_rng(seed)
    return [
        Stratum(name=name, rows=_drawn(rng, rows, n_each), wanted=wanted)
        for name, rows, wanted in kinds
    ]


def _drawn(rng: np.random.Generator, rows: np.ndarray, n_most: int) -> Ids:
    return np.sort(rng.choice(rows, min(n_most, len(rows)), replace=False)).astype(np.int32)
