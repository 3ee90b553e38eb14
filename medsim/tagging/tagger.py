"""A window tagger: a network with one hidden layer that sees the vectors of a few words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from medsim.kernels.types import Ids, Vectors

Windows: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int32]]
"""The rows of vectors that are seen together: int32[n_words, 2 * WINDOW + 1]."""

WINDOW = 2
"""The words that are seen on each side of a word: five in all (Collobert et al. 2011)."""

N_HIDDEN = 300
"""The units of the hidden layer."""

BATCH = 50
"""The words after which weights change."""

PATIENCE = 3
"""The epochs without a better score of the dev split after which training stops."""

_RATE, _DECAY1, _DECAY2, _TINY = 1e-3, 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015)
_WORDS_A_STEP = 4096  # that are tagged at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a split.

    Attributes:
        windows: int32[n_words, 2 * WINDOW + 1], rows of the table of vectors: of each word those
            of the words around it in its sentence, itself in the middle.
        tags: int32[n_words].
    """

    windows: Windows
    tags: Ids


class Network:
    """The weights of a tagger, which are parts of one array.

    Args:
        sizes: how many values go in, how many units are hidden, how many tags come out.
        rng: draws the first weights, as Glorot and Bengio (2010) do; biases are 0.
    """

    def __init__(self, sizes: tuple[int, int, int], rng: Generator) -> None:
        n_in, n_hidden, n_out = sizes
        self._shapes = ((n_in, n_hidden), (n_hidden,), (n_hidden, n_out), (n_out,))
        self.values = np.concatenate([_first_weights(shape, rng) for shape in self._shapes])

    def parts(self, values: Vectors) -> list[Vectors]:
        """Return the weights and biases of both layers, as views of an array of all."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        pieces = np.split(values, ends[:-1])
        return [one.reshape(shape) for one, shape in zip(pieces, self._shapes, strict=True)]

    def tags(self, vectors: Vectors, windows: Windows) -> Ids:
        """Return the most probable tag of each word: int32[n_words]."""
        weights1, biases1, weights2, biases2 = self.parts(self.values)
        found = np.empty(len(windows), np.int32)
        for first in range(0, len(windows), _WORDS_A_STEP):
            part = slice(first, first + _WORDS_A_STEP)
            seen = vectors[windows[part]].reshape(-1, weights1.shape[0])
            hidden = np.clip(seen @ weights1 + biases1, -1, 1)
            found[part] = (hidden @ weights2 + biases2).argmax(axis=1)
        return found


def trained(
    vectors: Vectors,
    words: Words,
    rng: Generator,
    score: Callable[[Network], float],
    *,
    n_tags: int,
    epochs: int,
) -> tuple[Network, int]:
    """Return the tagger after the epoch with the best score, and that epoch, counted from 1.

    The vectors of the words of a window go through a hidden layer with a hard tanh and a softmax to
    the tags. Its cross entropy is minimized by Adam; the vectors stay as they are.

    Args:
        vectors: float32[n_rows, n_dimensions].
        words: of the train split.
        rng: draws the first weights, and the order of words in each epoch.
        score: of a tagger, the higher the better; training stops when it gets no better.
        n_tags: how many tags there are.
        epochs: the most times that all words are seen.
    """
    n_in = words.windows.shape[1] * vectors.shape[1]
    network = Network((n_in, N_HIDDEN, n_tags), rng)
    descent = _Adam(network)
    best, best_epoch, best_score = network.values.copy(), 0, -np.inf
    for epoch in range(1, epochs + 1):
        order = rng.permutation(len(words.tags))
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            seen = vectors[words.windows[rows]].reshape(len(rows), n_in)
            descent.step(seen, words.tags[rows])
        found = score(network)
        if found > best_score:
            best[:], best_epoch, best_score = network.values, epoch, found
        if epoch - best_epoch >= PATIENCE:
            break
    network.values[:] = best
    return network, best_epoch


class _Adam:
    """The state of Adam's method for a network (Kingma and Ba 2015)."""

    def __init__(self, network: Network) -> None:
        self._values = network.values
        self._weights = network.parts(network.values)
        self._gradient, self._mean, self._square = np.zeros((3, len(network.values)), np.float32)
        self._slopes = network.parts(self._gradient)
        self._buffer = np.empty_like(self._gradient)
        self._n_steps = 0

    def step(self, seen: Vectors, tags: Ids) -> None:
        """Change the weights by one batch."""
        weights1, biases1, weights2, biases2 = self._weights
        hidden = np.clip(seen @ weights1 + biases1, -1, 1)
        errors = _softmax(hidden @ weights2 + biases2)
        errors[np.arange(len(tags)), tags] -= 1
        errors /= len(tags)
        of_hidden = errors @ weights2.T
        of_hidden *= np.abs(hidden) < 1
        slopes1, slopes_biases1, slopes2, slopes_biases2 = self._slopes
        np.matmul(seen.T, of_hidden, out=slopes1)
        np.sum(of_hidden, axis=0, out=slopes_biases1)
        np.matmul(hidden.T, errors, out=slopes2)
        np.sum(errors, axis=0, out=slopes_biases2)
        self._descend()

    def _descend(self) -> None:
        self._n_steps += 1
        gradient, buffer = self._gradient, self._buffer
        self._mean += np.multiply(
            np.subtract(gradient, self._mean, out=buffer), 1 - _DECAY1, out=buffer
        )
        np.multiply(gradient, gradient, out=gradient)
        self._square += np.multiply(
            np.subtract(gradient, self._square, out=buffer), 1 - _DECAY2, out=buffer
        )
        correction = np.sqrt(1 - _DECAY2**self._n_steps)
        rate = _RATE * correction / (1 - _DECAY1**self._n_steps)
        np.sqrt(self._square, out=buffer)
        buffer += _TINY
        np.divide(self._mean, buffer, out=buffer)
        buffer *= np.float32(rate)
        self._values -= buffer


def _first_weights(shape: tuple[int, ...], rng: Generator) -> Vectors:
    if len(shape) == 1:
        return np.zeros(shape, np.float32)
    reach = np.sqrt(6 / sum(shape))
    return rng.uniform(-reach, reach, int(np.prod(shape))).astype(np.float32)


def _softmax(logits: Vectors) -> Vectors:
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits
