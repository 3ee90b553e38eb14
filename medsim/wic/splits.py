"""Pairs mentions, and divides the pairs among the splits of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from medsim.kernels.drawing import pairs_between, take_in_order
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Counts, Flags, Hashes, Places
from medsim.wic import GROUPS, MAX_REPEATS, SIMILARITY
from medsim.wic.output import CHOSEN_MENTION, INSTANCE

if TYPE_CHECKING:
    from medsim.core.store import Store


_TERMS_AT_ONCE = 128


_RUNS = ("begin1", "end1", "begin2", "end2")
_PAIR = ("mention1", "mention2")


def blocks_of(
    store: Store,
    mentions: pl.DataFrame,
    forms: pl.DataFrame,
    similarity: float = SIMILARITY,
    *,
    threads: int,
) -> pl.DataFrame:
    """Return candidate instances in blocks, given the names of forms and the related concepts.

    A block is all pairs of two runs of mentions. Two terms are compared once, however many
    sentences contain them. Mentions come from ``chosen_mentions``, and blocks refer to their rows.
    The tables ``form_name`` and ``related_concept`` are in the store.

    Returns:
        A row per block: begin1, end1, begin2 and end2 of both runs, where the same run twice means
        all pairs within it; group, the position in ``medsim.wic.GROUPS``; label, 1 if both runs
        have the same concept, else 0; terms, the number of the pair of lemmas; and n_pairs, the
        number of instances.
    """
    store.put("form", forms)
    terms = forms["lower_term"].to_list()
    alike = similar_label_pairs(terms, similarity, threads=threads).astype(np.int32)
    store.put("alike", pl.DataFrame({"form1": alike[:, 0], "form2": alike[:, 1]}))
    store.run("wic/form_pair")
    # Cells are the runs of mentions of one form and one concept.
    numbered = mentions.join(
        forms.select("lower_term", "form_id"), on="lower_term", maintain_order="left"
    ).with_row_index("row")
    cells = numbered.group_by("form_id", "concept_id").agg(
        begin_row=pl.col("row").min().cast(pl.Int64), end_row=pl.col("row").max().cast(pl.Int64) + 1
    )
    store.put("cell", cells.sort("begin_row").with_row_index("cell_id"))
    n_first, n_second = (pl.col(f"end{run}") - pl.col(f"begin{run}") for run in (1, 2))
    is_within = pl.col("begin1") == pl.col("begin2")
    within = n_first * (n_first - 1) // 2
    return store.frame("wic/block").select(
        pl.col(_RUNS).cast(pl.Int64),
        pl.col("group_rank").cast(pl.Int32).alias("group"),
        pl.col("label").cast(pl.Int8),
        terms=pl.struct("lemma1", "lemma2").rank("dense").cast(pl.Int32) - 1,
        n_pairs=pl.when(is_within).then(within).otherwise(n_first * n_second).cast(pl.Int64),
    )


def similar_label_pairs(
    terms: Sequence[str], similarity: float = SIMILARITY, *, threads: int = 1
) -> Places:
    """Return all pairs of distinct terms in lower case whose ratio is above ``similarity``.

    The ratio is (|a| + |b| - d) / (|a| + |b|), lengths in code points, where d counts insertions
    and deletions, and a substitution is one of each (Rouhizadeh et al. 2024). So it is above n / m
    if m d < (m - n) (|a| + |b|). As d is at least the difference of lengths, the shorter term then
    has more than n / (2 m - n) of the longer term's length, and only such pairs are compared.

    Returns:
        int64[n_pairs, 2], rows of terms, the smaller first, in order. Threads never change them.
    """
    n, m = Fraction(str(similarity)).as_integer_ratio()
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    order = np.argsort(lengths, kind="stable")
    by_length, lengths = [terms[row] for row in order], lengths[order]
    found = [np.empty((0, 2), np.int64)]
    for begin in range(0, len(terms), _TERMS_AT_ONCE):
        end = min(begin + _TERMS_AT_ONCE, len(terms))
        first = int(np.searchsorted(lengths, n * lengths[begin] // (2 * m - n), side="right"))
        longer, shorter = by_length[begin:end], by_length[first:end]
        edits = cdist(longer, shorter, scorer=Indel.distance, dtype=np.int64, workers=threads)
        both = lengths[begin:end, None] + lengths[first:end]
        pairs = np.add(np.argwhere(m * edits < (m - n) * both), (begin, first))
        found.append(pairs[pairs[:, 1] < pairs[:, 0]])
    rows = np.sort(order[np.concatenate(found)], axis=1)
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


_DRAWS = 1 << 64
_FIRST_WINDOW, _LAST_WINDOW = 1 << 14, 1 << 21  # expected pairs; a pair takes 32 bytes
_DEVIATIONS = 8  # the spare room, in standard deviations

_LABELS = (0, 1)
"""The labels of instances."""

_ALL = 1 << 62
_SHUFFLED = np.uint64(1)  # draws are in order within a class, their hashes are not

_Class: TypeAlias = tuple[int, int]  # a group and a label
_Classes: TypeAlias = dict[_Class, pl.DataFrame]

_SIDES, _ONE = np.uint64(2), np.uint64(1)

_SELECTED = {"mention1": pl.Int64, "mention2": pl.Int64, "terms": pl.Int32, "draw": pl.UInt64}
"""The columns of selected instances, in the order of their draws: the rows of both mentions, the
smaller first, and the number of the pair of terms.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """Used mentions and pairs of terms; selecting instances updates it.

    Attributes:
        mentions: int64[n_mentions], the uses of each.
        most: the maximum uses of a mention.
        terms: bool[n_pairs_of_terms], pairs that may not be used again; empty if all may.
    """

    mentions: Counts
    most: int
    terms: Flags


def _windows(blocks: pl.DataFrame, hashes: Hashes, seed: int, uses: Uses) -> Iterator[pl.DataFrame]:
    """Yield instances of blocks in the order of their draws, some at a time: ``_SELECTED``.

    Instances whose pair of terms is used up are left out from the next window on, so a few frequent
    pairs of terms do not slow down the others.
    """
    low, size = 0, _FIRST_WINDOW
    while low < _DRAWS:
        if len(uses.terms):
            blocks = blocks.filter(~uses.terms[blocks["terms"]])
        total = int(blocks["n_pairs"].sum())
        if not total:
            break
        high = min(_DRAWS, low + -(-_DRAWS * size // total))
        yield _select_draws(blocks, hashes, seed, low, high)
        low, size = high, min(2 * size, _LAST_WINDOW)


def _select_draws(
    blocks: pl.DataFrame, hashes: Hashes, seed: int, low: int, high: int
) -> pl.DataFrame:
    """Return the instances with draws from ``low`` to below ``high``: ``_SELECTED``."""
    runs, span = blocks.select(_RUNS).to_numpy(order="c"), np.array([low, high - 1], np.uint64)
    expected = float(blocks["n_pairs"].sum()) * (high - low) / _DRAWS
    room = int(expected + _DEVIATIONS * (expected**0.5 + 1))
    while True:
        pairs, draws = np.empty((room, 3), np.int64), np.empty(room, np.uint64)
        n_found = pairs_between(runs, hashes, np.uint64(seed), span, pairs, draws)
        if n_found <= room:
            break
        room = n_found
    of_block, first, second = pairs[:n_found].T
    columns = [first, second, blocks["terms"].gather(of_block), draws[:n_found]]
    return pl.DataFrame(columns, schema=_SELECTED).sort("draw", *_PAIR, maintain_order=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitter:
    """Divides candidate instances among splits, in order of their draws.

    Attributes:
        blocks: see ``blocks_of``.
        hashes: uint64[n_mentions], see ``medsim.wic.mentions.mention_hashes``.
        quotas: of either label in test, by group.
        max_train: of either label of a group in train; None for all.
        max_repeats: of a sentence in train and dev together.
    """

    blocks: pl.DataFrame
    hashes: Hashes
    seed: int
    quotas: Mapping[str, int]
    max_train: int | None
    max_repeats: int = MAX_REPEATS

    def split(self) -> dict[str, pl.DataFrame]:
        """Return the instances of train, dev and test, with group and label, in a drawn order.

        Test takes its quota of each group and label, with no repeated sentence or pair of terms;
        but at most half of the pairs of terms of a group's rarer label, so that some remain. Dev
        takes half as many as test, and train the rest: both without the sentences and the pairs of
        terms of test, and with no sentence more than ``max_repeats`` times in both together. Every
        group of a split has equally many instances of both labels.
        """
        test = self._test()
        train, dev = self._others(test, self.max_repeats)
        return {"train": _shuffle(train), "dev": _shuffle(dev), "test": _shuffle(test)}

    def trains(self, repeats: Iterable[int]) -> Iterator[pl.DataFrame]:
        """Yield the train split for each limit of a sentence's occurrences; see ``split``."""
        test = self._test()
        for max_repeats in repeats:
            train, _ = self._others(test, max_repeats)
            yield pl.concat(train.values())

    def _test(self) -> _Classes:
        n_terms = self.blocks["terms"].n_unique()  # numbered from 0
        uses = Uses(
            mentions=np.zeros(len(self.hashes), np.int64), most=1, terms=np.zeros(n_terms, np.bool_)
        )
        quotas: dict[_Class, int] = {}
        for group, name in enumerate(GROUPS):
            of_group = self.blocks.filter(group=group)
            # Pairs of terms of the rarer label.
            n_pairs = min(of_group.filter(label=label)["terms"].n_unique() for label in _LABELS)
            quotas |= {(group, label): min(self.quotas[name], n_pairs // 2) for label in _LABELS}
        return self._select_all(self.blocks, uses, quotas)

    def _others(self, test: _Classes, max_repeats: int) -> tuple[_Classes, _Classes]:
        """Return train and dev, given a test split."""
        used = pl.concat(test.values())
        mentions = np.zeros(len(self.hashes), np.int64)
        mentions[used.select(_PAIR).to_numpy()] = max_repeats
        uses = Uses(mentions=mentions, most=max_repeats, terms=np.zeros(0, np.bool_))
        remaining = self.blocks.join(used, on="terms", how="anti", maintain_order="left")
        remaining = remaining.with_columns(terms=pl.lit(-1, pl.Int32))  # each may be used again
        halves = {key: len(selection) // 2 for key, selection in test.items()}
        dev = self._select_all(remaining, uses, halves)
        return self._train(remaining, dev, uses), dev

    def _select_all(
        self, blocks: pl.DataFrame, uses: Uses, limits: Mapping[_Class, int]
    ) -> _Classes:
        """Return instances of each group and label, at most as many as ``limits`` allows."""
        return _balance(
            {
                (group, label): self._select(blocks, group, label, uses, number)
                for (group, label), number in limits.items()
            }
        )

    def _train(self, blocks: pl.DataFrame, dev: _Classes, uses: Uses) -> _Classes:
        """Return the instances of train; the rarer label of each group is served first."""
        numbers = [
            [int(blocks.filter(group=group, label=label)["n_pairs"].sum()) for label in _LABELS]
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
        blocks: pl.DataFrame,
        group: int,
        label: int,
        uses: Uses,
        limit: int,
        before: pl.DataFrame | None = None,
    ) -> pl.DataFrame:
        """Return the first selectable instances of a group and label, by their draws.

        The draw of an instance is a hash of the seed and of the content of its two mentions. So the
        selection does not depend on the order of rows or on threads. At most ``limit`` are
        selected, and none that are in ``before``; ``uses`` is updated.
        """
        candidates = blocks.filter(group=group, label=label)
        selected = [pl.DataFrame(schema=_SELECTED)]
        for window in _windows(candidates, self.hashes, self.seed, uses):
            if not limit:
                break
            fresh = window
            if before is not None:
                fresh = window.join(before, on=_PAIR, how="anti", maintain_order="left")
            pairs = fresh.select(_PAIR).to_numpy(order="c")
            terms = fresh["terms"].to_numpy(writable=True)
            rows = take_in_order(pairs, terms, uses.mentions, uses.most, uses.terms, limit)
            selected.append(fresh[rows])
            limit -= len(rows)
        return pl.concat(selected).with_columns(
            group=pl.lit(group, pl.Int32), label=pl.lit(label, pl.Int8)
        )


def _balance(classes: _Classes) -> _Classes:
    """Return equally many instances of both labels in every group, the first in order."""
    return {
        (group, label): selection.head(len(classes[group, 1 - label]))
        for (group, label), selection in classes.items()
    }


def _shuffle(classes: _Classes) -> pl.DataFrame:
    """Return the instances of all groups and labels, in order of a hash of their draws."""
    selected = pl.concat(classes.values())
    draws = selected["draw"].to_numpy(writable=True)
    return selected[np.argsort(tie_hashes(_SHUFFLED, _SHUFFLED, draws), kind="stable")]


def instance_rows(name: str, split: pl.DataFrame, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return the instances of one split: ``INSTANCE``.

    The order of the two mentions is drawn, so that it carries no information.
    """
    draws, pairs = split["draw"].to_numpy(writable=True), split.select(_PAIR).to_numpy()
    turned = (tie_hashes(_SIDES, _SIDES, draws) & _ONE).astype(bool)
    rows = np.where(turned[:, None], pairs[:, ::-1], pairs)
    renamed = benchmark_mentions(mentions).rename(lambda name: name.removesuffix("_id"))
    sides = [renamed[rows[:, side]].select(pl.all().name.suffix(f"{side + 1}")) for side in (0, 1)]
    cats = pl.Series(GROUPS, dtype=pl.String)
    instances = pl.concat(sides, how="horizontal").with_columns(
        split["label"], split=pl.lit(name), cat=cats.gather(split["group"])
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
