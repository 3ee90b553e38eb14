"""Corpora as numbers: rows of word vectors, and tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from medsim.tagging.entities import OUTSIDE, entities_of
from medsim.tagging.tagger import WINDOW, Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medsim.kernels.types import Ids
    from medsim.tagging.conll import Sentence
    from medsim.tagging.corpus import Corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedCorpus:
    """A corpus as a tagger sees it.

    Attributes:
        corpus: that is encoded.
        vocabulary: its words, distinct, in order of code points; a row of word vectors each.
        tags: that there are, O first.
        splits: the words of each split, those of sentences one after the other.
    """

    corpus: Corpus
    vocabulary: tuple[str, ...]
    tags: tuple[str, ...]
    splits: Mapping[str, Words]

    def tags_by_sentence(self, split: str, found: Ids) -> Iterator[list[str]]:
        """Yield the tags of each sentence of a split, given those of all its words."""
        at = 0
        for one in self.corpus.splits[split]:
            end = at + len(one.words)
            yield [self.tags[tag] for tag in found[at:end].tolist()]
            at = end

    def f1(self, split: str, found: Ids) -> float:
        """Return F1 of the entities that the tags of a split's words make; see ``entities_of``."""
        n_right = n_found = n_gold = 0
        by_sentence = self.tags_by_sentence(split, found)
        for one, tags in zip(self.corpus.splits[split], by_sentence, strict=True):
            entities = set(entities_of(tags))
            n_right += len(entities.intersection(one.entities))
            n_found += len(entities)
            n_gold += len(one.entities)
        return 2 * n_right / (n_found + n_gold)


def encoded(corpus: Corpus) -> EncodedCorpus:
    """Return a corpus as a tagger sees it."""
    vocabulary = sorted(
        {word for split in corpus.splits.values() for one in split for word in one.words}
    )
    tags = (OUTSIDE, *(f"{prefix}-{kind}" for kind in corpus.kinds() for prefix in "BI"))
    rows = {word: row for row, word in enumerate(vocabulary)}
    numbers = {tag: number for number, tag in enumerate(tags)}
    return EncodedCorpus(
        corpus=corpus,
        vocabulary=tuple(vocabulary),
        tags=tags,
        splits={split: _words(found, rows, numbers) for split, found in corpus.splits.items()},
    )


def _words(
    sentences: Sequence[Sentence], rows: Mapping[str, int], numbers: Mapping[str, int]
) -> Words:
    """Return the words of a split; beyond the ends of a sentence is the row after the last word."""
    windows = []
    for one in sentences:
        padded = np.full(len(one.words) + 2 * WINDOW, len(rows), np.int32)
        padded[WINDOW:-WINDOW] = [rows[word] for word in one.words]
        windows.append(sliding_window_view(padded, 2 * WINDOW + 1))
    tags = [numbers[tag] for one in sentences for tag in one.tags]
    return Words(windows=np.concatenate(windows), tags=np.array(tags, np.int32))
