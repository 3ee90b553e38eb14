"""Splits terms into words, each in the form for which an embedding has a vector.

A term is split at white space. A token with only punctuation is not a word. For any other token,
the first of these that is in the vocabulary is used:

1. the token itself;
2. the token without its outer punctuation;
3. its parts, split at inner punctuation, each as a separate word. They are used if any of them is
   known (``parts=fallback``), before the others (``always``), or not at all (``never``).

Each of them is looked up unchanged, then in lower case (``case=fallback``); only in lower case
(``lower``); or only unchanged (``keep``). If digits are replaced (``digits=hash`` or ``zero``) the
same forms follow with every digit replaced, so words whose digits are in the vocabulary come first.

An embedding that can embed unseen words does so for words without a known form: without outer
punctuation, and in the last of these forms: in lower case unless ``case=keep``, with digits
replaced if the option says so. Lower case is the safer guess: even if a model was trained on mixed
case, most of its text was in lower case.

Punctuation is every character in Unicode's categories of punctuation and symbols, so "+", "<" and
"%" are included, and combining accents are not.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from dataclasses import dataclass
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.terms import lowered
from medsim.kernels.packing import gather, starts_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from medsim.embeddings.options import EmbeddingOptions
    from medsim.embeddings.sources import WordVectors
    from medsim.kernels.types import Flags, Ids, Starts

_DIGIT = re.compile(r"\d")
_REPLACED = {"hash": "#", "zero": "0"}


class _Spaced(dict[int, int]):
    """A table for ``str.translate`` that replaces punctuation by spaces.

    It is filled on demand, because looking characters up in Unicode takes most of the time.
    """

    def __missing__(self, code: int) -> int:
        self[code] = ord(" ") if unicodedata.category(chr(code))[0] in "PS" else code
        return self[code]


_SPACED = _Spaced()


@dataclass(frozen=True, slots=True, kw_only=True)
class TermWords:
    """The words of terms, as rows of word vectors.

    Attributes:
        word_ids: int32[n_found], the words that have a vector, term by term, in the order of the
            term's text; repeated words are repeated.
        starts: int64[n_terms + 1]; term ``i`` has ``word_ids[starts[i]:starts[i + 1]]``.
        covered: bool[n_terms], whether a term counts as covered, which needs one word with a vector
            or, with ``coverage=all``, a vector for every word. A term without words is not covered.
        n_words: int32[n_terms], the number of words of each term, with or without a vector.
    """

    word_ids: Ids
    starts: Starts
    covered: Flags
    n_words: Ids


def forms(terms: Iterable[str], options: EmbeddingOptions) -> frozenset[str]:
    """Return every form under which a word of a term may be looked up."""
    return frozenset(
        form
        for token in {token for term in terms for token in term.split()}
        for word in chain(*_readings(token, options))
        for form in _spellings(word, options)
    )


def unseen_forms(
    terms: Iterable[str], known: Container[str], options: EmbeddingOptions
) -> frozenset[str]:
    """Return the forms to embed for words without a known form."""
    tokens = {token for term in terms for token in term.split()}
    read = {form for token in tokens for form in _read(token, known, options)}
    return frozenset(form for form in read if form not in known)


def words_of(
    terms: Iterable[str], vectors: WordVectors, options: EmbeddingOptions, coverage: str = "any"
) -> TermWords:
    """Return the words of each term, given the embedding's vectors of their forms.

    ``coverage`` decides which terms count as covered if the options do not.
    """
    rows = {word: row for row, word in enumerate(vectors.words)}
    known = set(compress(vectors.words, vectors.in_vocabulary))
    token_ids: dict[str, int] = {}
    flat, n_tokens = array("i"), array("i")
    for term in terms:
        tokens = term.split()
        flat.extend([token_ids.setdefault(token, len(token_ids)) for token in tokens])
        n_tokens.append(len(tokens))
    read_ids, n_read_ids, n_read = array("i"), array("i"), array("i")
    for token in token_ids:
        words = _read(token, known, options)
        ids = [rows[form] for form in words if form in rows]
        read_ids.extend(ids)
        n_read_ids.append(len(ids))
        n_read.append(len(words))

    of_tokens = np.array(flat, np.int32)
    term_starts = starts_of(n_tokens)
    word_ids, token_starts = gather(np.array(read_ids, np.uint32), starts_of(n_read_ids), of_tokens)
    starts = token_starts[term_starts]
    n_found = np.diff(starts)
    n_words = np.diff(starts_of(np.array(n_read, np.int32)[of_tokens])[term_starts])
    covered = n_found > 0
    if (options.coverage or coverage) == "all":
        covered &= n_found == n_words
    return TermWords(
        word_ids=word_ids.view(np.int32),
        starts=starts,
        covered=covered,
        n_words=n_words.astype(np.int32),
    )


def _read(token: str, known: Container[str], options: EmbeddingOptions) -> list[str]:
    """Return the forms of a token's words: known ones, else the last form of each word."""
    wholes, parts = _readings(token, options)
    for whole in wholes:
        for form in _spellings(whole, options):
            if form in known:
                return [form]
    read = []
    for part in parts:
        spelled = _spellings(part, options)
        read.append(next((form for form in spelled if form in known), spelled[-1]))
    if not wholes or any(form in known for form in read):
        return read
    return _spellings(wholes[-1], options)[-1:]


def _readings(token: str, options: EmbeddingOptions) -> tuple[list[str], list[str]]:
    """Return the forms of a token as one word, and the words that it splits into."""
    if token.isalnum():
        return ([], [token]) if options.parts == "always" else ([token], [])
    parts = token.translate(_SPACED).split()
    if not parts:
        return [], []
    if options.parts == "always":
        return [], parts
    stripped = token[token.index(parts[0]) : token.rindex(parts[-1]) + len(parts[-1])]
    wholes = [token] if stripped == token else [token, stripped]
    return wholes, parts if options.parts == "fallback" and len(parts) > 1 else []


def _spellings(word: str, options: EmbeddingOptions) -> list[str]:
    """Return the forms of a word in order of preference."""
    spelled = [] if options.case == "lower" else [word]
    if options.case != "keep":
        spelled += lowered([word])
    if mark := _REPLACED.get(options.digits):
        spelled += [_DIGIT.sub(mark, form) for form in spelled]
    return spelled
