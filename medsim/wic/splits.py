"""Pairs mentions, and divides the pairs among the splits of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from medsim.core.config import in_threads
from medsim.core.terms import pack
from medsim.kernels.drawing import pairs_between, take_in_order
from medsim.kernels.edit_search import TermsByLength, search_alike_pairs, signatures
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Counts, Flags, Hashes, Ids, Places, Rows
from medsim.wic import GROUPS, MAX_REPEATS, SIMILARITY
from medsim.wic.output import CHOSEN_MENTION, INSTANCE

if TYPE_CHECKING:
    from medsim.core.store import Store


_ROOM = 1 << 12
_TERMS_A_TASK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Candidate instances: a block is all pairs of two runs of mentions.

    Attributes:
        runs: int64[n_blocks, 4], the start and end of the first run, and of the second; the same
            run twice means all pairs within it.
        groups: int32[n_blocks], the positions in ``medsim.wic.GROUPS``.
        labels: int32[n_blocks], 1 if both runs have the same concept, else 0.
        terms: int32[n_blocks], the number of the pair of lemmas.
    """

    runs: Places
    groups: Ids
    labels: Ids
    terms: Ids

    def __len__(self) -> int:
        return len(self.runs)

    def take(self, rows: np.ndarray) -> Blocks:
        """Return the blocks at ``rows``, in that order, or in a mask."""
        return Blocks(
            runs=self.runs[rows],
            groups=self.groups[rows],
            labels=self.labels[rows],
            terms=self.terms[rows],
        )

    @property
    def n_pairs(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The number of instances of each block, int64[n_blocks]."""
        n_first = self.runs[:, 1] - self.runs[:, 0]
        n_second = self.runs[:, 3] - self.runs[:, 2]
        same = self.runs[:, 0] == self.runs[:, 2]
        return np.where(same, n_first * (n_first - 1) // 2, n_first * n_second)


def blocks_of(
    store: Store,
    mentions: pl.DataFrame,
    forms: pl.DataFrame,
    similarity: float = SIMILARITY,
    *,
    threads: int,
) -> Blocks:
    """Return the blocks of mentions, given the names of forms and the related concepts.

    Two terms are compared once, however many sentences contain them. Mentions come from
    ``chosen_mentions``, and blocks refer to their rows. The tables ``form_name`` and
    ``related_concept`` are in the store.
    """
    store.put("form", forms)
    terms = forms["lower_term"].to_list()
    alike = similar_label_pairs(terms, similarity, threads=threads).astype(np.int32)
    store.put("alike", pl.DataFrame({"form1": alike[:, 0], "form2": alike[:, 1]}))
    store.run("wic/form_pair")
    store.put("cell", _cells(mentions, forms))
    blocks = store.frame("wic/block")
    pairs = pl.struct("lemma1", "lemma2").rank("dense").cast(pl.Int32) - 1
    return Blocks(
        runs=blocks.select(pl.col("begin1", "end1", "begin2", "end2").cast(pl.Int64)).to_numpy(),
        groups=blocks["group_rank"].cast(pl.Int32).to_numpy(),
        labels=blocks["label"].cast(pl.Int32).to_numpy(),
        terms=blocks.select(pairs).to_series().to_numpy(),
    )


def _cells(mentions: pl.DataFrame, forms: pl.DataFrame) -> pl.DataFrame:
    """Return the runs of mentions of one form and one concept, with their starts and ends."""
    numbered = mentions.join(
        forms.select("lower_term", "form_id"), on="lower_term", maintain_order="left"
    ).with_row_index("row")
    cells = numbered.group_by("form_id", "concept_id").agg(
        begin_row=pl.col("row").min().cast(pl.Int64), end_row=pl.col("row").max().cast(pl.Int64) + 1
    )
    return cells.sort("begin_row").with_row_index("cell_id")


def similar_label_pairs(
    terms: Sequence[str], similarity: float = SIMILARITY, *, threads: int = 1
) -> Places:
    """Return all pairs of distinct terms in lower case whose ratio is above ``similarity``.

    The ratio is (|a| + |b| - d) / (|a| + |b|), lengths in code points, where d counts insertions
    and deletions, and a substitution is one of each (Rouhizadeh et al. 2024). Every pair above it
    is found: pairs that are not compared cannot reach it. Threads never change the result.

    Returns:
        int64[n_pairs, 2], rows of terms, the smaller first, in order. Time O(n_terms^2) for
        signatures of 32 bytes; the remaining pairs are compared in O(length).
    """
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    order = np.argsort(lengths, kind="stable")
    packed = pack([terms[row] for row in order])
    characters, numbers = np.unique(packed.codes, return_inverse=True)
    codes = numbers.astype(np.uint32)
    laid = TermsByLength(
        codes=codes,
        starts=packed.starts,
        signatures=signatures(codes, packed.starts),
        n_characters=len(characters),
    )
    tasks = range(int(np.count_nonzero(lengths == 0)), len(terms), _TERMS_A_TASK)
    search = partial(_search, laid, Fraction(str(similarity)).as_integer_ratio())
    parts = in_threads(threads, search, tasks)
    rows = np.concatenate(parts) if parts else np.empty((0, 2), np.int64)
    pairs = np.sort(order[rows], axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _search(laid: TermsByLength, limit: tuple[int, int], first: int) -> Places:
    """Return the pairs of one task, int64[n_pairs, 2]; repeated if the buffer was too small."""
    stop = min(first + _TERMS_A_TASK, len(laid.starts) - 1)
    room = _ROOM
    while True:
        firsts: Rows = np.empty(room, np.int64)
        seconds: Rows = np.empty(room, np.int64)
        n_found = search_alike_pairs(laid, limit, first, stop, firsts, seconds)
        if n_found <= room:
            return np.stack([firsts[:n_found], seconds[:n_found]], axis=1)
        room = n_found


_DRAWS = 1 << 64
_FIRST_WINDOW, _LAST_WINDOW = 1 << 14, 1 << 21  # expected pairs; a pair takes 32 bytes
_DEVIATIONS = 8  # the spare room, in standard deviations

_LABELS = (0, 1)
"""The labels of instances."""

_ALL = 1 << 62
_SHUFFLED = np.uint64(1)  # draws are in order within a class, their hashes are not

_Class: TypeAlias = tuple[int, int]  # a group and a label
_Classes: TypeAlias = "dict[_Class, Selection]"

_SIDES, _ONE = np.uint64(2), np.uint64(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Instances in the order of their draws.

    Attributes:
        mentions: int64[n, 2], rows of mentions, the smaller first.
        terms: int32[n], the pair of terms of each.
        draws: uint64[n].
    """

    mentions: Places
    terms: Ids
    draws: Hashes

    def __len__(self) -> int:
        return len(self.draws)

    def rows(self, rows: np.ndarray | slice) -> Selection:
        """Return the instances at ``rows``, in that order, or in a mask."""
        return Selection(
            mentions=self.mentions[rows], terms=self.terms[rows], draws=self.draws[rows]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """Used mentions and pairs of terms; selecting instances updates it.

    Attributes:
        mentions: int64[n_mentions], the uses of each.
        most: the maximum uses of a mention.
        terms: bool[n_pairs_of_terms], pairs that may not be used again; None if all may.
    """

    mentions: Counts
    most: int
    terms: Flags | None


def join(selections: list[Selection]) -> Selection:
    """Return instances one after the other."""
    return Selection(
        mentions=np.concatenate(
            [np.empty((0, 2), np.int64), *(each.mentions for each in selections)]
        ),
        terms=np.concatenate([np.empty(0, np.int32), *(each.terms for each in selections)]),
        draws=np.concatenate([np.empty(0, np.uint64), *(each.draws for each in selections)]),
    )


def _windows(blocks: Blocks, hashes: Hashes, seed: int, uses: Uses) -> Iterator[Selection]:
    """Yield instances of blocks in the order of their draws, some at a time.

    Instances whose pair of terms is used up are left out from the next window on, so a few frequent
    pairs of terms do not slow down the others.
    """
    low, size = 0, _FIRST_WINDOW
    while low < _DRAWS:
        if uses.terms is not None:
            blocks = blocks.take(~uses.terms[blocks.terms])
        total = int(blocks.n_pairs.sum())
        if not total:
            break
        high = min(_DRAWS, low + -(-_DRAWS * size // total))
        yield _select_draws(blocks, hashes, seed, low, high)
        low, size = high, min(2 * size, _LAST_WINDOW)


def _select_draws(blocks: Blocks, hashes: Hashes, seed: int, low: int, high: int) -> Selection:
    """Return the instances with draws from ``low`` to below ``high``, in order."""
    span = np.array([low, high - 1], np.uint64)
    expected = float(blocks.n_pairs.sum()) * (high - low) / _DRAWS
    room = int(expected + _DEVIATIONS * (expected**0.5 + 1))
    while True:
        pairs, draws = np.empty((room, 3), np.int64), np.empty(room, np.uint64)
        n_found = pairs_between(blocks.runs, hashes, np.uint64(seed), span, pairs, draws)
        if n_found <= room:
            break
        room = n_found
    pairs, draws = pairs[:n_found], draws[:n_found]
    order = np.lexsort((pairs[:, 2], pairs[:, 1], draws))
    pairs = pairs[order]
    return Selection(mentions=pairs[:, 1:], terms=blocks.terms[pairs[:, 0]], draws=draws[order])


def _keys(selection: Selection, n_mentions: int) -> Counts:
    """Return a number of each pair of mentions, int64[n]."""
    return selection.mentions[:, 0] * n_mentions + selection.mentions[:, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSplit:
    """The instances of one split, in an order drawn by the seed.

    Attributes:
        groups: int64[n], the rows of ``medsim.wic.GROUPS``.
    """

    selection: Selection
    groups: np.ndarray[tuple[int], np.dtype[np.int64]]
    labels: np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitter:
    """Divides candidate instances among splits, in order of their draws.

    Attributes:
        hashes: uint64[n_mentions], see ``medsim.wic.mentions.mention_hashes``.
        quotas: of either label in test, by group.
        max_train: of either label of a group in train; None for all.
        max_repeats: of a sentence in train and dev together.
    """

    blocks: Blocks
    hashes: Hashes
    seed: int
    quotas: Mapping[str, int]
    max_train: int | None
    max_repeats: int = MAX_REPEATS

    def split(self) -> dict[str, DrawnSplit]:
        """Return the instances of train, dev and test.

        Test takes its quota of each group and label, with no repeated sentence or pair of terms;
        but at most half of the pairs of terms of a group's rarer label, so that some remain. Dev
        takes half as many as test, and train the rest: both without the sentences and the pairs of
        terms of test, and with no sentence more than ``max_repeats`` times in both together. Every
        group of a split has equally many instances of both labels.
        """
        test = self._test()
        train, dev = self._others(test, self.max_repeats)
        return {"train": _shuffle(train), "dev": _shuffle(dev), "test": _shuffle(test)}

    def trains(self, repeats: Iterable[int]) -> Iterator[Selection]:
        """Yield the train split for each limit of a sentence's occurrences; see ``split``."""
        test = self._test()
        for max_repeats in repeats:
            train, _ = self._others(test, max_repeats)
            yield join(list(train.values()))

    def _test(self) -> _Classes:
        n_terms = int(self.blocks.terms.max(initial=-1)) + 1
        uses = Uses(
            mentions=np.zeros(len(self.hashes), np.int64), most=1, terms=np.zeros(n_terms, np.bool_)
        )
        quotas: dict[_Class, int] = {}
        for group, name in enumerate(GROUPS):
            terms = (self.blocks.terms[_in_class(self.blocks, group, label)] for label in _LABELS)
            # Pairs of terms of the rarer label.
            n_pairs = min(len(np.unique(of_label)) for of_label in terms)
            quotas |= {(group, label): min(self.quotas[name], n_pairs // 2) for label in _LABELS}
        return self._select_all(self.blocks, uses, quotas)

    def _others(self, test: _Classes, max_repeats: int) -> tuple[_Classes, _Classes]:
        """Return train and dev, given a test split."""
        used = join(list(test.values()))
        mentions = np.zeros(len(self.hashes), np.int64)
        mentions[used.mentions.ravel()] = max_repeats
        uses = Uses(mentions=mentions, most=max_repeats, terms=None)
        remaining = self.blocks.take(~np.isin(self.blocks.terms, used.terms))
        halves = {key: len(selection) // 2 for key, selection in test.items()}
        dev = self._select_all(remaining, uses, halves)
        return self._train(remaining, dev, uses), dev

    def _select_all(self, blocks: Blocks, uses: Uses, limits: Mapping[_Class, int]) -> _Classes:
        """Return instances of each group and label, at most as many as ``limits`` allows."""
        return _balance(
            {
                (group, label): self._select(blocks, group, label, uses, number)
                for (group, label), number in limits.items()
            }
        )

    def _train(self, blocks: Blocks, dev: _Classes, uses: Uses) -> _Classes:
        """Return the instances of train; the rarer label of each group is served first."""
        n_pairs = blocks.n_pairs
        numbers = [
            [int(n_pairs[_in_class(blocks, group, label)].sum()) for label in _LABELS]
            for group in range(len(GROUPS))
        ]
        rarer = np.argmin(numbers, axis=1).tolist()
        train: _Classes = {}
        for group, label in enumerate(rarer):
            before = dev[group, label]
            most = self.max_train or _ALL
            train[group, label] = self._select(blocks, group, label, uses, most, before)
        for group, label in enumerate(rarer):
            other, limit = 1 - label, len(train[group, label])
            train[group, other] = self._select(blocks, group, other, uses, limit, dev[group, other])
        return _balance(train)

    def _select(
        self,
        blocks: Blocks,
        group: int,
        label: int,
        uses: Uses,
        limit: int,
        before: Selection | None = None,
    ) -> Selection:
        """Return the first selectable instances of a group and label, by their draws.

        The draw of an instance is a hash of the seed and of the content of its two mentions. So the
        selection does not depend on the order of rows or on threads. At most ``limit`` are
        selected, and none that are in ``before``; ``uses`` is updated.
        """
        candidates = blocks.take(_in_class(blocks, group, label))
        n_mentions = len(self.hashes)
        selections: list[Selection] = []
        for window in _windows(candidates, self.hashes, self.seed, uses):
            if not limit:
                break
            fresh = window
            if before is not None:
                excluded = np.isin(_keys(window, n_mentions), _keys(before, n_mentions))
                fresh = window.rows(~excluded)
            terms = fresh.terms if uses.terms is not None else np.full(len(fresh), -1, np.int32)
            used = uses.terms if uses.terms is not None else np.zeros(0, np.bool_)
            rows = take_in_order(fresh.mentions, terms, uses.mentions, uses.most, used, limit)
            selections.append(fresh.rows(rows))
            limit -= len(rows)
        return join(selections)


def _in_class(blocks: Blocks, group: int, label: int) -> Flags:
    """Return a mask of the blocks of one group and label."""
    mask: Flags = (blocks.groups == group) & (blocks.labels == label)
    return mask


def _balance(classes: _Classes) -> _Classes:
    """Return equally many instances of both labels in every group, the first in order."""
    return {
        (group, label): selection.rows(slice(len(classes[group, 1 - label])))
        for (group, label), selection in classes.items()
    }


def _shuffle(classes: _Classes) -> DrawnSplit:
    """Return the instances of all groups and labels, in order of a hash of their draws."""
    selection = join(list(classes.values()))
    numbers = [len(of_class) for of_class in classes.values()]
    order = np.argsort(tie_hashes(_SHUFFLED, _SHUFFLED, selection.draws), kind="stable")
    return DrawnSplit(
        selection=selection.rows(order),
        groups=np.repeat([group for group, _ in classes], numbers)[order],
        labels=np.repeat([label for _, label in classes], numbers)[order],
    )


def instance_rows(name: str, split: DrawnSplit, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return the instances of one split: ``INSTANCE``.

    The order of the two mentions is drawn, so that it carries no information.
    """
    turned = (tie_hashes(_SIDES, _SIDES, split.selection.draws) & _ONE).astype(bool)
    pairs = split.selection.mentions
    rows = np.where(turned[:, None], pairs[:, ::-1], pairs)
    renamed = benchmark_mentions(mentions).rename(lambda name: name.removesuffix("_id"))
    sides = [renamed[rows[:, side]].select(pl.all().name.suffix(f"{side + 1}")) for side in (0, 1)]
    cats = pl.Series(GROUPS, dtype=pl.String)
    instances = pl.concat(sides, how="horizontal").with_columns(
        split=pl.lit(name),
        cat=cats.gather(split.groups),
        label=pl.Series(split.labels, dtype=pl.Int8),
    )
    return instances.select(list(INSTANCE.dtypes)).cast(pl.Schema(INSTANCE.dtypes))


def benchmark_mentions(mentions: pl.DataFrame) -> pl.DataFrame:
    """Return mentions for writing: ``CHOSEN_MENTION``."""
    sentence = pl.col("place").struct
    return mentions.select(
        corpus=sentence.field("c"),
        document_id=sentence.field("d"),
        sentence_start=sentence.field("s"),
        sentence="sentence",
        start="start_at",
        end="end_at",
        term="term",
        concept_id="concept_id",
    ).cast(pl.Schema(CHOSEN_MENTION.dtypes))
