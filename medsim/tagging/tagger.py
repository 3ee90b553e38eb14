"""A window tagger: its input from corpora and word vectors, and its network."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import NamedEmbedding, read_vectors, request_of
from medsim.embeddings.formats import Request, WordVectors
from medsim.embeddings.metrics import Workers, slices_of
from medsim.embeddings.metrics.averages import points_of
from medsim.embeddings.tokens import find_words
from medsim.kernels.types import Flags, FlagTable, Ids, Vectors
from medsim.tagging.corpus import OUTSIDE, Corpus, Sentence, entities_of

if TYPE_CHECKING:
    from numpy.random import Generator


Windows: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int32]]
"""The rows of vectors in each window: int32[n_words, 2 * WINDOW + 1]."""

WINDOW = 2
"""The words on each side of a word in a window: five in all (Collobert et al. 2011)."""

N_HIDDEN = 300
"""The units of the hidden layer."""

BATCH = 50
"""The words per batch."""

PATIENCE = 3
"""Training stops after so many epochs without a better score on the dev split."""

_RATE, _DECAY1, _DECAY2, _TINY = 1e-3, 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015)
_WORDS_A_STEP = 4096  # that are tagged at once

SPREAD = 0.5
"""The standard deviation of the values of scaled vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedWords:
    """The vectors of words in an embedding.

    Attributes:
        rows: the row of each word.
        vectors: float32[n_words, n_dimensions].
        covered: bool[n_words], whether the embedding has a word.
    """

    rows: dict[str, int]
    vectors: Vectors
    covered: Flags

    def knows(self, words: Iterable[str]) -> Flags:
        """Return a mask of the words that the embedding has."""
        return self.covered[[self.rows[word] for word in words]]

    def scaled(self, words: Sequence[str]) -> Vectors:
        """Return the vectors of words, some of them known, for a tagger: float32[n_words + 1, n].

        All are scaled by one number so that the values of known words have the standard deviation
        ``SPREAD``; so the scale of an embedding does not matter. An unknown word has the mean of
        the known words. The last row, zeros, is for positions beyond the ends of sentences.
        """
        rows = [self.rows[word] for word in words]
        vectors = np.zeros((len(rows) + 1, self.vectors.shape[1]), np.float32)
        is_known = self.covered[rows]
        known_vectors = self.vectors[rows][is_known]
        vectors[:-1] = known_vectors.mean(axis=0, dtype=np.float64)
        vectors[:-1][is_known] = known_vectors
        vectors *= np.float32(SPREAD / max(float(known_vectors.std(dtype=np.float64)), 1e-30))
        return vectors


def embed_words(
    named: NamedEmbedding,
    words: Sequence[str],
    progress: Progress,
    threads: int,
    cache: Path | None,
) -> EmbeddedWords:
    """Return an embedding's vectors of words, which are distinct and in order.

    Words are looked up like the words of terms, with the embedding's options; but punctuation,
    which terms do not count as words, is looked up unchanged. A word that is split at inner
    punctuation has the mean of its parts. ``cache`` keeps the vectors of encoders.
    """
    with progress.stage(f"embed {len(words):,} words with {named.spec.name}") as stage:
        request = request_of(named, words, stage, threads=threads, cache=cache)
        request = replace(request, words={*request.words, *words}, phrases=())
        embedded = read_vectors(named, request, progress)
        if isinstance(embedded, WordVectors):
            vectors, covered = _word_vectors(embedded, request)
        else:
            vectors, covered = embedded.vectors, embedded.covered
        stage.note(f"{int(covered.sum()):,} known, {vectors.shape[1]} dimensions")
    return EmbeddedWords(rows=_rows(words), vectors=vectors, covered=covered)


def random_words(words: Sequence[str], n_dimensions: int, seed: int) -> EmbeddedWords:
    """Return vectors from a normal distribution, drawn by a hash of the seed and the word."""
    vectors = np.empty((len(words), n_dimensions), np.float32)
    for row, word in enumerate(words):
        digest = hashlib.sha256(f"{seed}\0{word}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "big"))
        vectors[row] = rng.standard_normal(n_dimensions, np.float32)
    return EmbeddedWords(rows=_rows(words), vectors=vectors, covered=np.ones(len(words), np.bool_))


def with_capitals(vectors: Vectors, words: Sequence[str]) -> Vectors:
    """Return the rows of words, then of others, with four more features: float32[n_rows, n + 4].

    They are 1 for a word in capitals, with a capital first, with another capital, and without any,
    as in the code of Chiu et al. (2018); else, and for others, 0.
    """
    features = np.zeros((len(vectors), 4), np.float32)
    for row, word in enumerate(words):
        kinds = (word.isupper(), word[0].isupper(), any(map(str.isupper, word)), True)
        features[row, kinds.index(True)] = 1
    return np.hstack([vectors, features])


def _rows(words: Iterable[str]) -> dict[str, int]:
    return {word: row for row, word in enumerate(words)}


def _word_vectors(embedded: WordVectors, request: Request) -> tuple[Vectors, Flags]:
    """Return the vector of each word, and whether there is one."""
    bags, covered, n_words = find_words(request.terms, embedded, request.options)
    every = np.arange(len(request.terms), dtype=np.int32)
    vectors = points_of(bags, every, Workers(threads=request.threads)).astype(np.float32)
    rows = _rows(embedded.words)
    for at in np.flatnonzero(n_words == 0).tolist():
        row = rows.get(request.terms[at])
        if row is not None and embedded.in_vocabulary[row]:
            vectors[at], covered[at] = embedded.vectors[row], True
    return vectors, covered


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a split.

    Attributes:
        windows: int32[n_words, 2 * WINDOW + 1], rows of the table of vectors: for each word the
            words around it in its sentence, with the word in the middle.
        tags: int32[n_words].
    """

    windows: Windows
    tags: Ids


class Network:
    """The weights of a tagger, as views of one array.

    Args:
        sizes: the numbers of inputs, hidden units and tags.
        rng: draws the initial weights, as Glorot and Bengio (2010); biases are 0.
        relu: whether the hidden layer has ReLU instead of hard tanh.
    """

    def __init__(self, sizes: tuple[int, int, int], rng: Generator, *, relu: bool = False) -> None:
        self._highest = np.float32(np.inf if relu else 1)
        self._lowest = np.float32(0 if relu else -1)
        n_in, n_hidden, n_out = sizes
        self._shapes = ((n_in, n_hidden), (n_hidden,), (n_hidden, n_out), (n_out,))
        reach1, reach2 = np.sqrt(6 / (n_in + n_hidden)), np.sqrt(6 / (n_hidden + n_out))
        weights1 = rng.uniform(-reach1, reach1, n_in * n_hidden)
        weights2 = rng.uniform(-reach2, reach2, n_hidden * n_out)
        layers = (weights1, np.zeros(n_hidden), weights2, np.zeros(n_out))
        self.values = np.concatenate(layers).astype(np.float32)

    def layers(self, values: Vectors) -> list[Vectors]:
        """Return the weights and biases of both layers, as views of all: float32[n_values]."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        pieces = np.split(values, ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, self._shapes, strict=True)]

    def activated(self, sums: Vectors) -> Vectors:
        """Return the values of hidden units, given their sums: float32[n_words, n_hidden]."""
        return np.clip(sums, self._lowest, self._highest)

    def is_sloped(self, hidden: Vectors) -> FlagTable:
        """Return where the slope of the activation is 1, not 0: bool[n_words, n_hidden]."""
        return (hidden > self._lowest) & (hidden < self._highest)

    def tags(self, vectors: Vectors, windows: Windows) -> Ids:
        """Return the most probable tag of each word: int32[n_words]."""
        weights1, biases1, weights2, biases2 = self.layers(self.values)
        tags = np.empty(len(windows), np.int32)
        for part in slices_of(len(windows), _WORDS_A_STEP):
            inputs = vectors[windows[part]].reshape(-1, weights1.shape[0])
            hidden = self.activated(inputs @ weights1 + biases1)
            tags[part] = (hidden @ weights2 + biases2).argmax(axis=1)
        return tags


def train_tagger(
    vectors: Vectors,
    words: Words,
    rng: Generator,
    score: Callable[[Network], float],
    *,
    n_tags: int,
    epochs: int,
    relu: bool = False,
) -> tuple[Network, int]:
    """Return the tagger after the epoch with the best score, and that epoch, counted from 1.

    The vectors of the words of a window go through a hidden layer with a hard tanh or ReLU, and a
    softmax to the tags. Adam minimises the cross entropy; the vectors are not trained.

    Args:
        vectors: float32[n_rows, n_dimensions].
        words: of the train split.
        rng: draws the initial weights, and the order of words in each epoch.
        score: of a tagger, higher is better; training stops if it does not improve.
        n_tags: the number of tags.
        epochs: the maximum number of epochs.
        relu: whether the hidden layer has ReLU.
    """
    n_in = words.windows.shape[1] * vectors.shape[1]
    network = Network((n_in, N_HIDDEN, n_tags), rng, relu=relu)
    descent = _Adam(network)
    best, best_epoch, best_score = network.values.copy(), 0, -np.inf
    for epoch in range(1, epochs + 1):
        order = rng.permutation(len(words.tags))
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            inputs = vectors[words.windows[rows]].reshape(len(rows), n_in)
            descent.step(inputs, words.tags[rows])
        epoch_score = score(network)
        if epoch_score > best_score:
            best[:], best_epoch, best_score = network.values, epoch, epoch_score
        if epoch - best_epoch >= PATIENCE:
            break
    network.values[:] = best
    return network, best_epoch


class _Adam:
    """The state of Adam's method for a network (Kingma and Ba 2015)."""

    def __init__(self, network: Network) -> None:
        self._network, self._values = network, network.values
        self._weights = network.layers(network.values)
        self._gradient, self._mean, self._square = np.zeros((3, len(network.values)), np.float32)
        self._slopes = network.layers(self._gradient)
        self._n_steps = 0

    def step(self, inputs: Vectors, tags: Ids) -> None:
        """Change the weights by a batch: float32[n_batch, n_inputs], int32[n_batch]."""
        weights1, biases1, weights2, biases2 = self._weights
        hidden = self._network.activated(inputs @ weights1 + biases1)
        errors = hidden @ weights2 + biases2  # the softmax of these gives the probabilities
        errors -= errors.max(axis=1, keepdims=True)
        np.exp(errors, out=errors)
        errors /= errors.sum(axis=1, keepdims=True)
        errors[np.arange(len(tags)), tags] -= 1
        errors /= len(tags)
        of_hidden = errors @ weights2.T
        of_hidden *= self._network.is_sloped(hidden)
        slopes1, slopes_biases1, slopes2, slopes_biases2 = self._slopes
        np.matmul(inputs.T, of_hidden, out=slopes1)
        np.sum(of_hidden, axis=0, out=slopes_biases1)
        np.matmul(hidden.T, errors, out=slopes2)
        np.sum(errors, axis=0, out=slopes_biases2)
        self._n_steps += 1
        gradient = self._gradient
        self._mean += (gradient - self._mean) * (1 - _DECAY1)
        self._square += (gradient * gradient - self._square) * (1 - _DECAY2)
        correction = np.sqrt(1 - _DECAY2**self._n_steps)
        rate = np.float32(_RATE * correction / (1 - _DECAY1**self._n_steps))
        self._values -= self._mean / (np.sqrt(self._square) + _TINY) * rate


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedCorpus:
    """A corpus encoded for a tagger.

    Attributes:
        corpus: the original.
        vocabulary: its words, distinct, in order of code points; each has a row of vectors.
        tags: of the corpus, O first.
        splits: the words of each split, sentence after sentence.
    """

    corpus: Corpus
    vocabulary: tuple[str, ...]
    tags: tuple[str, ...]
    splits: Mapping[str, Words]

    def tags_by_sentence(self, split: str, tag_ids: Ids) -> list[list[str]]:
        """Return the tags of each sentence of a split, given those of its words, int32[n_words]."""
        ends = np.cumsum([len(sentence.words) for sentence in self.corpus.splits[split]])
        tags = np.array(self.tags)[tag_ids]
        return [part.tolist() for part in np.split(tags, ends[:-1])]

    def f1(self, split: str, tag_ids: Ids) -> float:
        """Return F1 of the entities in the tags of a split's words, int32[n_words]."""
        found = [set(entities_of(tags)) for tags in self.tags_by_sentence(split, tag_ids)]
        gold = [set(sentence.entities) for sentence in self.corpus.splits[split]]
        n_right = sum(map(len, map(set.intersection, found, gold)))
        return 2 * n_right / sum(map(len, found + gold))


def encode_corpus(corpus: Corpus) -> EncodedCorpus:
    """Return a corpus encoded for a tagger."""
    vocabulary = sorted(
        {word for split in corpus.splits.values() for sentence in split for word in sentence.words}
    )
    tags = (OUTSIDE, *(f"{prefix}-{kind}" for kind in corpus.kinds() for prefix in "BI"))
    rows, numbers = _rows(vocabulary), _rows(tags)
    splits = {split: _words(sentences, rows, numbers) for split, sentences in corpus.splits.items()}
    return EncodedCorpus(corpus=corpus, vocabulary=tuple(vocabulary), tags=tags, splits=splits)


def _words(
    sentences: Sequence[Sentence], rows: Mapping[str, int], numbers: Mapping[str, int]
) -> Words:
    """Return the words of a split; positions beyond a sentence have the row after all words."""
    windows = []
    for sentence in sentences:
        padded = np.full(len(sentence.words) + 2 * WINDOW, len(rows), np.int32)
        padded[WINDOW:-WINDOW] = [rows[word] for word in sentence.words]
        windows.append(sliding_window_view(padded, 2 * WINDOW + 1))
    tags = [numbers[tag] for sentence in sentences for tag in sentence.tags]
    return Words(windows=np.concatenate(windows), tags=np.array(tags, np.int32))
