"""How contenders stand by their comparisons with each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two contenders, such as two embeddings on one dataset.

    Attributes:
        first: one of them.
        second: the other.
        difference: the value of the first less that of the second; NaN counts as none.
        p: two-sided, corrected for the number of comparisons; NaN is not significant.
    """

    first: str
    second: str
    difference: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a contender stands among all.

    Attributes:
        n_better: how many others it is significantly better than.
        n_worse: how many others it is significantly worse than.
        among_best: whether it is the best by value, or cannot be told from it.
    """

    n_better: int
    n_worse: int
    among_best: bool


def standings(comparisons: Sequence[Comparison], *, alpha: float = 0.05) -> dict[str, Standing]:
    """Return how each contender stands, in order of name.

    A difference is significant where its p is below alpha. The best is the contender that is ahead
    of most others, by value, less those that are ahead of it; with differences of one value each,
    that is the highest value. Where several are, each counts as the best, and a contender is among
    the best where it cannot be told from one of them.

    Args:
        comparisons: each two contenders once, in either direction.
        alpha: the level of significance.
    """
    lead: Counter[str] = Counter()
    n_better: Counter[str] = Counter()
    n_worse: Counter[str] = Counter()
    told_apart: set[tuple[str, str]] = set()
    for one in comparisons:
        ahead = (one.difference > 0) - (one.difference < 0)
        lead[one.first] += ahead
        lead[one.second] -= ahead
        if one.p < alpha and ahead:
            better, worse = (one.first, one.second)[::ahead]
            n_better[better] += 1
            n_worse[worse] += 1
            told_apart |= {(better, worse), (worse, better)}
    best = {name for name in lead if lead[name] == max(lead.values())}
    return {
        name: Standing(
            n_better=n_better[name],
            n_worse=n_worse[name],
            among_best=name in best or any((name, one) not in told_apart for one in best),
        )
        for name in sorted(lead)
    }
