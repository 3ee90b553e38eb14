"""Shares out candidate instances among the splits of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from medsim.kernels.packing import tie_hashes
from medsim.wic import GROUPS, MOST_REPEATS
from medsim.wic.making.selection import Selection, Uses, joined, select

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from medsim.kernels.types import Flags, Hashes
    from medsim.wic.making.candidates import Blocks

LABELS = (0, 1)
"""Of an instance whose terms do not mean the same, or do."""

_ALL = 1 << 62
_SHUFFLED = np.uint64(1)  # draws are in order within a class, their hashes are not

_Classes: TypeAlias = "dict[tuple[int, int], Selection]"  # by group and label


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The instances of one split, in an order drawn by the seed.

    Attributes:
        groups: int64[n], the rows of ``medsim.wic.GROUPS``.
    """

    drawn: Selection
    groups: np.ndarray[tuple[int], np.dtype[np.int64]]
    labels: np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitter:
    """Shares out candidate instances among splits, in order of their draws.

    Attributes:
        hashes: uint64[n_mentions], see ``medsim.wic.making.mentions.content_hashes``.
        quotas: of either label in test, by group.
        most_train: of either label of a group in train; None for all.
        most_repeats: of a sentence in train and dev together.
    """

    blocks: Blocks
    hashes: Hashes
    seed: int
    quotas: Mapping[str, int]
    most_train: int | None
    most_repeats: int = MOST_REPEATS

    def split(self) -> dict[str, Split]:
        """Return the instances of train, dev and test.

        Test takes its quota of each group and label, no sentence and no pair of terms twice; but
        no more than half of the pairs of terms that a group has of its rarer label, so that some
        are left. Dev takes half as many as test, and train the rest: both without the sentences
        and the pairs of terms of test, and with no sentence more than ``most_repeats`` times in
        both together. In every group of a split there are as many of one label as of the other.
        """
        test = self._test()
        train, dev = self._others(test, self.most_repeats)
        return {"train": _shuffled(train), "dev": _shuffled(dev), "test": _shuffled(test)}

    def trains(self, repeats: Iterable[int]) -> Iterator[Selection]:
        """Yield the train split for each limit of a sentence's occurrences; see ``split``."""
        test = self._test()
        for most_repeats in repeats:
            train, _ = self._others(test, most_repeats)
            yield joined(list(train.values()))

    def _test(self) -> _Classes:
        n_terms = int(self.blocks.terms.max(initial=-1)) + 1
        uses = Uses(
            mentions=np.zeros(len(self.hashes), np.int64),
            most=1,
            terms=np.zeros(n_terms, np.bool_),
        )
        return self._drawn(self.blocks, uses, self._quotas_of_test())

    def _others(self, test: _Classes, most_repeats: int) -> tuple[_Classes, _Classes]:
        """Return train and dev beside a test split."""
        used = joined(list(test.values()))
        mentions = np.zeros(len(self.hashes), np.int64)
        mentions[used.mentions.ravel()] = most_repeats
        uses = Uses(mentions=mentions, most=most_repeats, terms=None)
        left = self.blocks.take(~np.isin(self.blocks.terms, used.terms))
        halves = {of: len(drawn) // 2 for of, drawn in test.items()}
        dev = self._drawn(left, uses, halves)
        return self._train(left, dev, uses), dev

    def _quotas_of_test(self) -> dict[tuple[int, int], int]:
        return {
            (group, label): min(self.quotas[name], self._n_pairs_of_terms(group) // 2)
            for group, name in enumerate(GROUPS)
            for label in LABELS
        }

    def _drawn(self, blocks: Blocks, uses: Uses, wanted: Mapping[tuple[int, int], int]) -> _Classes:
        """Return as many instances of each group and label as are wanted, or fewer."""
        return _balanced(
            {
                (group, label): self._select(blocks, group, label, uses, number)
                for (group, label), number in wanted.items()
            }
        )

    def _train(self, left: Blocks, dev: _Classes, uses: Uses) -> _Classes:
        """Return the instances of train; the rarer label of each group is served first."""
        rarer = [self._rarer(left, group) for group in range(len(GROUPS))]
        train: _Classes = {}
        for group, label in enumerate(rarer):
            before = dev[group, label]
            most = self.most_train or _ALL
            train[group, label] = self._select(left, group, label, uses, most, before)
        for group, label in enumerate(rarer):
            other, wanted = 1 - label, len(train[group, label])
            train[group, other] = self._select(left, group, other, uses, wanted, dev[group, other])
        return _balanced(train)

    def _rarer(self, blocks: Blocks, group: int) -> int:
        """Return the label of which a group has fewer instances."""
        n_pairs = blocks.n_pairs
        numbers = [int(n_pairs[_in_class(blocks, group, label)].sum()) for label in LABELS]
        return int(np.argmin(numbers))

    def _select(
        self,
        blocks: Blocks,
        group: int,
        label: int,
        uses: Uses,
        wanted: int,
        before: Selection | None = None,
    ) -> Selection:
        own = blocks.take(_in_class(blocks, group, label))
        return select(own, self.hashes, self.seed, uses, wanted, before)

    def _n_pairs_of_terms(self, group: int) -> int:
        """Return how many pairs of terms a group has of its rarer label."""
        return min(
            len(np.unique(self.blocks.terms[_in_class(self.blocks, group, label)]))
            for label in LABELS
        )


def _in_class(blocks: Blocks, group: int, label: int) -> Flags:
    """Return which blocks are of one group and label."""
    found: Flags = (blocks.groups == group) & (blocks.labels == label)
    return found


def _balanced(classes: _Classes) -> _Classes:
    """Return as many instances of either label in every group, the first in order."""
    return {
        (group, label): drawn.rows(slice(len(classes[group, 1 - label])))
        for (group, label), drawn in classes.items()
    }


def _shuffled(classes: _Classes) -> Split:
    """Return the instances of all groups and labels, in order of a hash of their draws."""
    drawn = joined(list(classes.values()))
    numbers = [len(one) for one in classes.values()]
    order = np.argsort(tie_hashes(_SHUFFLED, _SHUFFLED, drawn.draws), kind="stable")
    return Split(
        drawn=drawn.rows(order),
        groups=np.repeat([group for group, _ in classes], numbers)[order],
        labels=np.repeat([label for _, label in classes], numbers)[order],
    )
