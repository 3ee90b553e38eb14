"""Rows of character n-grams, and means of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.kernels.subwords import Subwords, gram_rows, subword_means

pytestmark = pytest.mark.kernels

Texts = st.lists(st.text("ab<é心\U0001d4b3", max_size=7), max_size=5)


def fnv1a(text: str) -> int:
    """Return fastText's hash: 32-bit FNV-1a over bytes as signed numbers."""
    hashed = 2166136261
    for byte in text.encode():
        signed = byte - 256 if byte > 127 else byte
        hashed = ((hashed ^ (signed % 2**32)) * 16777619) % 2**32
    return hashed


def n_grams(word: str, shortest: int, longest: int) -> list[str]:
    """Return the n-grams of a word in brackets, without single brackets."""
    grams = []
    for begin in range(len(word)):
        for size in range(max(shortest, 1), longest + 1):
            at_end = begin == 0 or begin + size == len(word)
            if begin + size <= len(word) and not (size == 1 and at_end):
                grams.append(word[begin : begin + size])
    return grams


def rows_of(words: list[str], own_rows: list[int], grams: Subwords) -> list[list[int]]:
    texts = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, texts)])
    text = np.frombuffer(b"".join(texts), np.uint8)
    starts, rows = gram_rows(text, ends.astype(np.int64), np.array(own_rows, np.int64), grams)
    return [part.tolist() for part in np.split(rows, starts[1:])][: len(words)]


def test_the_hash_is_fnv_1a_where_no_byte_is_signed() -> None:
    assert fnv1a("foobar") == 0xBF9CF968  # of the authors' published test vectors


@given(Texts, st.integers(0, 4), st.integers(0, 6), st.integers(1, 50), st.data())
def test_rows_are_those_of_the_n_grams(
    texts: list[str], shortest: int, longest: int, n_buckets: int, data: st.DataObject
) -> None:
    words = [f"<{text}>" for text in texts]
    word_rows = data.draw(st.lists(st.integers(-1, 9), min_size=len(words), max_size=len(words)))

    result = rows_of(words, word_rows, Subwords(shortest, longest, n_buckets, 10))

    for word, row, rows in zip(words, word_rows, result, strict=True):
        hashes = [fnv1a(gram) for gram in n_grams(word, shortest, longest)]
        assert rows == [row] * (row >= 0) + [10 + hashed % n_buckets for hashed in hashes]


def test_an_empty_text_has_its_own_row_alone() -> None:
    assert rows_of([""], [3], Subwords(1, 3, 5, 10)) == [[3]]


@given(
    st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=5),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
)
def test_means_are_those_of_the_rows(groups: list[list[int]], n_dimensions: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(7, n_dimensions)).astype(np.float32)
    starts = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    rows = np.array([row for group in groups for row in group], np.int64)

    means = subword_means(matrix, starts, rows)

    assert means.dtype == np.float32
    for group, mean in zip(groups, means, strict=True):
        expected = matrix[group].mean(axis=0) if group else np.zeros(n_dimensions)
        assert mean == pytest.approx(expected, abs=1e-6)
