"""Splits terms into words, each in the form for which an embedding has a vector.

A term is split at white space. A token with only punctuation is not a word. For any other token,
the first of these that is in the vocabulary is used:

1. the token itself;
2. the token without its outer punctuation;
3. its parts, split at inner punctuation, each as a separate word. They are used if any of them is
   known (``parts=fallback``), before the others (``always``), or not at all (``never``).

Each of them is looked up unchanged, then in lower case (``case=fallback``); only in lower case
(``lower``); unchanged, then in upper case (``upper``; also for ``fallback`` if the vocabulary has
no lower case); or only unchanged (``keep``). If digits are replaced (``digits=hash`` or ``zero``)
the same forms follow with every digit replaced, so words whose digits are in the vocabulary come
first.

A term of several words may have a vector as a phrase: joined by spaces, else by underscores, in
each case as for words. It is used if the words do not cover the term (``phrases=fallback``), before
the words (``always``), or not at all (``never``).

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
from collections.abc import Container, Iterable
from dataclasses import replace
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.terms import lowered, spaced
from medsim.embeddings.metrics import WordBags
from medsim.kernels.types import Flags, Ids, gathered, starts_of

if TYPE_CHECKING:
    from medsim.embeddings.formats import WordVectors
    from medsim.embeddings.options import EmbeddingOptions

_DIGIT = re.compile(r"\d")
_REPLACED = {"hash": "#", "zero": "0"}
_UPPER = re.compile(rb"[A-Z]")
_NOT_UPPER = re.compile(rb"^(?!<).*[a-z]", re.MULTILINE)  # except for marks such as </s>


class _Spaced(dict[int, int]):
    """A table for ``str.translate`` that replaces punctuation by spaces.

    It is filled on demand, because looking characters up in Unicode takes most of the time.
    """

    def __missing__(self, code: int) -> int:
        self[code] = ord(" ") if unicodedata.category(chr(code))[0] in "PS" else code
        return self[code]


_SPACED = _Spaced()


def forms(terms: Iterable[str], options: EmbeddingOptions) -> frozenset[str]:
    """Return every form under which a word of a term may be looked up."""
    return frozenset(
        form
        for token in {token for term in terms for token in term.split()}
        for word in chain(*_readings(token, options))
        for form in _spellings(word, options)
    )


def phrases_of(terms: Iterable[str], options: EmbeddingOptions) -> frozenset[str]:
    """Return every term of several words, as ``spaced`` returns phrases; none if not looked up."""
    if options.phrases == "never":
        return frozenset()
    several = (" ".join(tokens) for term in terms if len(tokens := term.split()) > 1)
    return frozenset(spaced(form) for term in several for form in _spellings(term, options))


def fitted(options: EmbeddingOptions, vocabulary: bytes | bytearray) -> EmbeddingOptions:
    """Return options with ``case=upper`` for ``fallback`` if a vocabulary is in upper case."""
    is_upper = options.case == "fallback" and _UPPER.search(vocabulary)
    if is_upper and not _NOT_UPPER.search(vocabulary):
        return replace(options, case="upper")
    return options


def unseen_forms(
    terms: Iterable[str], known: Container[str], options: EmbeddingOptions
) -> frozenset[str]:
    """Return the forms to embed for words without a known form."""
    tokens = {token for term in terms for token in term.split()}
    read = {form for token in tokens for form in _read(token, known, options)}
    return frozenset(form for form in read if form not in known)


def find_words(
    terms: Iterable[str], vectors: WordVectors, options: EmbeddingOptions, coverage: str = "any"
) -> tuple[WordBags, Flags, Ids]:
    """Return the words of each term, given the embedding's vectors of their forms.

    Args:
        terms: the terms.
        vectors: the vectors, among them those of ``forms``.
        options: how words are looked up.
        coverage: which terms count as covered if the options do not say.

    Returns:
        The words with a vector as bags, in the order of the term's text, with repeats; whether each
        term is covered, bool[n_terms]: if one word has a vector or, with ``coverage=all``, every
        word, and never without words; and the number of words of each term, with or without a
        vector, int32[n_terms].
    """
    rows = {word: row for row, word in enumerate(vectors.words)}
    known = set(compress(vectors.words, vectors.in_vocabulary))
    options = fitted(options, vectors.vocabulary)
    all_needed = (options.coverage or coverage) == "all"
    phrases = {word for word in known if "_" in word or " " in word}
    token_ids: dict[str, int] = {}
    flat, n_tokens = array("i"), array("i")
    for term in terms:
        tokens = term.split()
        if phrases and len(tokens) > 1 and (phrase := _phrase(tokens, phrases, options)):
            has = [form in rows for token in tokens for form in _read(token, known, options)]
            if options.phrases == "always" or not (all(has) if all_needed else any(has)):
                tokens = [f" {phrase}"]
        flat.extend([token_ids.setdefault(token, len(token_ids)) for token in tokens])
        n_tokens.append(len(tokens))
    read_ids, n_read_ids, n_read = array("i"), array("i"), array("i")
    for token in token_ids:
        words = [token[1:]] if token[0] == " " else _read(token, known, options)
        ids = [rows[form] for form in words if form in rows]
        read_ids.extend(ids)
        n_read_ids.append(len(ids))
        n_read.append(len(words))

    of_tokens = np.array(flat, np.int32)
    term_starts = starts_of(n_tokens)
    n_ids = np.array(n_read_ids, np.int64)
    token_starts, slots = gathered(starts_of(n_ids)[of_tokens], n_ids[of_tokens])
    starts = token_starts[term_starts]
    n_found = np.diff(starts)
    n_words = np.diff(starts_of(np.array(n_read, np.int32)[of_tokens])[term_starts])
    covered = n_found > 0
    if all_needed:
        covered &= n_found == n_words
    word_ids = np.array(read_ids, np.int32)[slots]
    bags = WordBags(vectors=vectors.vectors, words=word_ids, starts=starts)
    return bags, covered, n_words.astype(np.int32)


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


def _phrase(tokens: list[str], phrases: Container[str], options: EmbeddingOptions) -> str | None:
    """Return the known phrase of a term with several words, if there is one."""
    spellings = _spellings(" ".join(tokens), options) if options.phrases != "never" else []
    forms = (form.replace(" ", joint) for form in spellings for joint in " _")
    return next((form for form in forms if form in phrases), None)


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
    if options.case == "upper":
        spelled.append(word.upper())
    elif options.case != "keep":
        spelled += lowered([word])
    if mark := _REPLACED.get(options.digits):
        spelled += [_DIGIT.sub(mark, form) for form in spelled]
    return spelled
