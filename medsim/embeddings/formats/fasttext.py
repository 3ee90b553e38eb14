"""Reads fastText's binary models (Bojanowski et al. 2017): words, and n-grams of unseen words."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from medsim.core.errors import InputError
from medsim.core.progress import Stage
from medsim.core.reading import beginning_of, open_file, what_it_is
from medsim.embeddings import formats
from medsim.embeddings.metrics import slices_of
from medsim.embeddings.options import TOKEN_OPTIONS
from medsim.embeddings.tokens import unseen_forms
from medsim.kernels.subwords import Subwords, gram_rows, subword_means
from medsim.kernels.types import Flags, Rows, Vectors, starts_of

_DESCRIBES = "fastText, binary (.bin)"
_MAGIC = struct.pack("<i", 793712314)
_VERSION = 12
_FULL = "use a full model (.bin) of fastText"
# The magic number and the version; 12 whole numbers and one other among the model's options; the
# entries, words and labels of its dictionary; its tokens, and how far the dictionary is pruned.
_BEGINNING = struct.Struct("<2i12id3i2q")
_ENTRY = struct.Struct("<qb")  # after each word: its count, and whether it is a label
_MATRIX = struct.Struct("<?2q")  # whether it is quantised, rows, columns
_END_OF_SENTENCE = "</s>"  # a word without n-grams
_MAX_WORD = 65_536
_NUMBER_SIZE = 4
_MAX_GRAM = 64
_WORDS_AT_ONCE = 1_024


def _load(path: Path, request: formats.Request) -> formats.WordVectors:
    """Return vectors of the wanted words; see ``formats.LoadVectors``.

    The vector of a word in the dictionary is the mean of its own row and the rows of its n-grams.
    The vector of any other word is the mean of the rows of its n-grams; it is only computed if
    ``tokens.find_words`` needs it. Only the needed rows of the input matrix are read. A supervised
    model is read in the same way; its labels do not count as words.
    """
    request.options.check_fit(_DESCRIBES, *TOKEN_OPTIONS)
    if len(beginning := beginning_of(path)) < _BEGINNING.size or not beginning.startswith(_MAGIC):
        raise InputError(f"{path} is not a fastText model: it {what_it_is(beginning)}")
    with (
        open_file(path) as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        grams, n_dimensions, n_entries = _grams(path, content)
        rows, vocabulary, at = _dictionary(path, content, n_entries, grams.first_row, request.words)
        shape = (grams.first_row + grams.n_buckets, n_dimensions)
        _after_matrix(path, content, _after_matrix(path, content, at, shape))
    matrix: Vectors = np.memmap(path, "<f4", "r", at + _MATRIX.size, shape)
    made = unseen_forms(request.terms, rows, request.options) if grams.longest else ()
    words = [*rows, *sorted(made)]
    in_vocabulary = np.arange(len(words)) < len(rows)
    own_rows = np.array([rows.get(word, -1) for word in words], np.int64)
    vectors, has_rows = _vectors(matrix, grams, words, own_rows, request.stage)
    if (wrong := formats.first_not_finite(vectors)) is not None:
        raise InputError(f"{path}: the vector of {words[wrong]!r} is not finite")
    return formats.WordVectors(
        words=[word for word, is_known in zip(words, has_rows, strict=True) if is_known],
        vectors=vectors if has_rows.all() else vectors[has_rows],
        in_vocabulary=in_vocabulary[has_rows],
        n_vocabulary=grams.first_row,
        vocabulary=vocabulary,
    )


def _vectors(
    matrix: Vectors, grams: Subwords, words: Sequence[str], own_rows: Rows, stage: Stage
) -> tuple[Vectors, Flags]:
    """Return the vector of each word, and whether it has one: a short word may have no n-gram."""
    vectors = np.empty((len(words), matrix.shape[1]), np.float32)
    has_rows = np.empty(len(words), np.bool_)
    stage.total(len(words))
    for part in slices_of(len(words), _WORDS_AT_ONCE):
        texts = [  # in UTF-8, between the brackets that mark their ends
            b"" if word == _END_OF_SENTENCE else b"<" + word.encode("utf-8", "surrogatepass") + b">"
            for word in words[part]
        ]
        content = np.frombuffer(b"".join(texts), np.uint8)
        begins = starts_of([len(text) for text in texts])
        starts, rows = gram_rows(content, begins, own_rows[part], grams)
        needed, places = np.unique(rows, return_inverse=True)
        distinct = np.ascontiguousarray(matrix[needed], np.float32)
        vectors[part] = subword_means(distinct, starts, places)
        has_rows[part] = np.diff(starts) > 0
        stage.advance(part.stop - part.start)
    return vectors, has_rows


def _grams(path: Path, content: mmap.mmap) -> tuple[Subwords, int, int]:
    """Return a model's n-grams, its dimensions, and the number of entries of its dictionary.

    The rows of n-grams follow those of all words. The header is checked against the size of the
    file.
    """
    values = _BEGINNING.unpack_from(content)
    version, n_dimensions, (n_buckets, shortest, longest) = values[1], values[2], values[10:13]
    n_entries, n_words, n_labels, _, n_pruned = values[15:]
    if version != _VERSION or n_pruned >= 0:
        raise InputError(f"{path} is pruned or of another version than {_VERSION}; {_FULL}")
    formats.check_dimensions(path, n_dimensions)
    has_grams = shortest >= 0 and 0 <= longest <= _MAX_GRAM and n_buckets >= (longest > 0)
    has_words = n_words > 0 and n_labels >= 0 and n_entries == n_words + n_labels
    if not has_grams or not has_words or n_entries * (1 + _ENTRY.size) > len(content):
        raise InputError(
            f"{path} is damaged: it claims {n_entries:,} entries, {n_words:,} of them words, and "
            f"n-grams of {shortest} to {longest} characters in {n_buckets:,} rows"
        )
    return Subwords(shortest, longest, n_buckets, n_words), n_dimensions, n_entries


def _dictionary(
    path: Path, content: mmap.mmap, n_entries: int, n_words: int, wanted: Collection[str]
) -> tuple[dict[str, int], bytearray, int]:
    """Return the row of each wanted word, all words, and the end of the dictionary."""
    words = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
    rows: dict[str, int] = {}
    vocabulary = bytearray()
    at = _BEGINNING.size
    for row in range(n_entries):
        end = content.find(b"\0", at, at + _MAX_WORD)
        after = end + 1 + _ENTRY.size
        if end < 0 or after > len(content):
            raise InputError(f"{path} ends, or is damaged, in entry {row + 1:,} of its dictionary")
        if row < n_words:
            vocabulary += content[at:end] + b"\n"
        if row < n_words and (word := words.get(content[at:end])) is not None:
            if word in rows:
                entries = f"entry {rows[word] + 1:,} and again in entry {row + 1:,}"
                raise InputError(f"{path}: {word!r} is in {entries}")
            rows[word] = row
        at = after
    return rows, vocabulary, at


def _after_matrix(
    path: Path, content: mmap.mmap, at: int, expected: tuple[int, int] | None = None
) -> int:
    """Return the end of a matrix, which must have the expected shape."""
    if at + _MATRIX.size > len(content):
        raise InputError(f"{path} ends before its matrices")
    is_quantised, *shape = _MATRIX.unpack_from(content, at)
    if is_quantised:
        raise InputError(f"{path} is quantised, as .ftz files are; {_FULL}")
    end = at + _MATRIX.size + _NUMBER_SIZE * int(shape[0] * shape[1])
    if expected not in {None, tuple(shape)} or min(shape) < 0 or end > len(content):
        raise InputError(
            f"{path} is damaged: it claims a matrix of shape {tuple(shape)}"
            + (f", expected {expected}" if expected else "")
        )
    return end


formats.EmbeddingFormat(
    describes=_DESCRIBES,
    recognises=lambda path: beginning_of(path).startswith(_MAGIC),
    gives=formats.WORDS,
    load=_load,
).register("fasttext")
