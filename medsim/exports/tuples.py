"""Anchors with a positive and hard negatives each, as texts, some rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import counted
from medsim.exports.hard_negatives import hard_negatives, n_negatives
from medsim.exports.positives import exported_positives

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from medsim.builds.output import Build
    from medsim.core.manifest import Skipped
    from medsim.exports.formats import Export
    from medsim.exports.hard_negatives import HardNegatives
    from medsim.exports.positives import SplitTerms

OPTIONS_OF_TUPLES = frozenset(
    ("negatives", "n_negatives", "datasets", "difficulty", "seed", "embedding", "cache")
)
"""The options that tuples go by, as formats accept them."""

_TEXTS_AT_ONCE = 1 << 19


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuples:
    """The positives of a split in the order in which they are written, with their hard negatives.

    Attributes:
        terms: of the split.
        pairs: the positives; see ``medsim.exports.positives.exported_pairs``.
        negatives: theirs; positives that lack some are in no tuple.
        n_negatives: of each positive.
    """

    terms: SplitTerms
    pairs: pl.DataFrame
    negatives: HardNegatives
    n_negatives: int

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The positives that lack some negatives, and why."""
        return self.negatives.skipped

    @property
    def rows(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The positives that have all their negatives: int64[n_tuples]."""
        return np.flatnonzero(self.negatives.complete)

    def batches(self, begin: int = 0, end: int | None = None) -> Iterator[pl.DataFrame]:
        """Yield some tuples at a time, which fit in memory whatever their number.

        Args:
            begin: the first tuple.
            end: the one after the last.

        Yields:
            The columns of ``pairs``, then anchor, positive, negative_1 … negative_n.
        """
        chosen = self.rows[begin:end]
        n_rows = max(1, _TEXTS_AT_ONCE // (self.n_negatives + 2))
        for at in range(0, max(1, len(chosen)), n_rows):
            rows = chosen[at : at + n_rows]
            pairs, ids = self.pairs[rows], self.negatives.of(rows)
            texts = self.terms.texts
            yield pairs.with_columns(
                texts.gather(pairs["term1_id"]).alias("anchor"),
                texts.gather(pairs["term2_id"]).alias("positive"),
                *(
                    texts.gather(ids[:, number]).alias(f"negative_{number + 1}")
                    for number in range(self.n_negatives)
                ),
            )


def tuples_of(run: Export, build: Build, terms: SplitTerms) -> Tuples:
    """Return the tuples of one split, with a warning where positives are left out."""
    pairs = exported_positives(run, build, terms)
    negatives = hard_negatives(run, build, terms, pairs)
    for one in negatives.skipped:
        left_out = counted(one.n_rows, "positive")
        run.progress.warn(f"{build.folder}: {left_out} left out: {one.reason}")
    return Tuples(
        terms=terms,
        pairs=pairs,
        negatives=negatives,
        n_negatives=n_negatives(run),
    )
