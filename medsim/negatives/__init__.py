"""Strategies of negatives: each takes a set of positives and returns second terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from medsim.registry import Registry

if TYPE_CHECKING:
    from medsim.kernels.types import Hashes, Ids
    from medsim.progress import Stage
    from medsim.terms import PackedTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class TermSpace:
    """All terms of a terminology as arrays; the rows are term ids.

    Attributes:
        lower: the lower-cased terms, packed.
        hashes: uint64[n_terms], of the terms' exact content.
        components: int32[n_terms], equal for linked terms.
    """

    lower: PackedTerms
    hashes: Hashes
    components: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class PositiveSet:
    """The positives of one dataset and difficulty.

    Attributes:
        name: such as "fsn_syn/easy".
        term1_ids: int32[n_pairs], in order of (term1, term2).
        term2_ids: int32[n_pairs].
    """

    name: str
    term1_ids: Ids
    term2_ids: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedPairs:
    """The negatives that must not come again.

    Attributes:
        term1_ids: int32[n_used].
        term2_ids: int32[n_used].
    """

    term1_ids: Ids
    term2_ids: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Negatives:
    """The negatives of one set.

    Attributes:
        positive_rows: int32[n_negatives], the positive that each stands against.
        term2_ids: int32[n_negatives], its second term; the first is the positive's.
    """

    positive_rows: Ids
    term2_ids: Ids


class Strategy(Protocol):
    """Makes negatives."""

    def __call__(
        self,
        space: TermSpace,
        positives: PositiveSet,
        used: UsedPairs,
        *,
        seed: int,
        threads: int,
        stage: Stage,
    ) -> Negatives:
        """Return at most one negative for each positive.

        The second term is one of the set's own terms, never linked to the first, and no pair is
        one of ``used`` or comes twice, in either direction. The result depends on nothing but the
        texts, the positives and the seed.
        """


STRATEGIES: Registry[Strategy] = Registry("strategy", "medsim.negatives")
