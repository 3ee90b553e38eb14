"""Lower-cases terms (only this module does) and packs them into arrays."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from medsim.core.canonical import text_parts
from medsim.kernels.types import Codes, Hashes, Starts, starts_of

MAX_NAME = 10_000
"""The maximum number of characters of a name.

Names in terminologies have at most some thousands; UMLS allows 3,000. The time to compare two names
grows with the product of their lengths: milliseconds at this limit, minutes for a name of 10 MB.
"""

TOO_LONG = f"has more than {MAX_NAME:,} characters"
"""What messages say about a name that is too long."""

TERM_SCHEMA = {"term_id": pl.Int32, "term": pl.String, "lower_term": pl.String, "node_id": pl.Int32}


def lowered(terms: Sequence[str]) -> list[str]:
    """Return each term in lower case and in Unicode's normal form C (NFC), by Python's full rules.

    So canonically equivalent terms, which look the same, are equal.
    """
    return [unicodedata.normalize("NFC", term.lower()) for term in terms]


def spaced(phrase: str) -> str:
    """Return a phrase in lower case with spaces for underscores, such as Heart_attack."""
    return lowered([phrase.replace("_", " ")])[0]


def last_lemma(word: str, lemma_of: Callable[[str], str]) -> str:
    """Return the lemma of a word, repeated until a word is its own lemma.

    If lemmas form a cycle, such as bacteria and bacterium in simplemma's dictionary, the result is
    the longest one that does not end in s, and so is not a plural.
    """
    chain: list[str] = []
    while word not in chain:
        chain.append(word)
        word = lemma_of(word)
    lemmas = chain[chain.index(word) :]
    return max(lemmas, key=lambda lemma: (not lemma.endswith("s"), len(lemma), lemma))


def lowered_column(terms: pl.Series) -> pl.Series:
    """Return a column of terms in lower case, like ``lowered``; null stays null."""
    lower = terms.str.to_lowercase().alias("lower_term")
    # Polars and Python have different versions of Unicode; ASCII is the same in both.
    not_ascii = (terms.str.len_bytes() != terms.str.len_chars()).arg_true()
    return lower.scatter(not_ascii, lowered(terms.gather(not_ascii).to_list()))


def numbered(spellings: pl.Series) -> pl.DataFrame:
    """Return the term table of distinct spellings.

    Returns:
        A row per term in order of code points. ``term_id`` numbers the rows, so ids sort like
        texts. ``node_id`` numbers the distinct lower-cased terms in order, so two terms are equal
        ignoring case exactly if their nodes are equal.
    """
    terms = spellings.sort()
    lower = lowered_column(terms)
    node = lower.rank("dense").cast(pl.Int32) - 1
    ids = pl.int_range(terms.len(), dtype=pl.Int32, eager=True)
    columns = {"term_id": ids, "term": terms, "lower_term": lower, "node_id": node}
    return pl.DataFrame(columns, schema=TERM_SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedTerms:
    """Terms as one flat array of code points.

    Attributes:
        codes: uint32[n_code_points], the code points of all terms, concatenated; or numbers for
            them, see ``Codes``.
        starts: int64[n_terms + 1]; term ``i`` is ``codes[starts[i]:starts[i + 1]]``.
    """

    codes: Codes
    starts: Starts

    def __len__(self) -> int:
        return len(self.starts) - 1


def pack(terms: pl.Series) -> PackedTerms:
    """Return the terms as arrays, in batches, without creating a Python object per term."""
    starts = starts_of(terms.str.len_chars().to_numpy())
    codes = np.empty(starts[-1], np.uint32)
    first = 0
    for part, text in text_parts(terms):
        begin, first = first, first + len(part) - 1
        room = codes[starts[begin] : starts[first]]
        if len(room) == len(text):  # all ASCII
            room[:] = np.frombuffer(text, np.uint8)
        else:
            room[:] = np.frombuffer(str(text, "utf-8").encode("utf-32-le"), np.uint32)
    return PackedTerms(codes=codes, starts=starts)


_HASHED_TERMS = 1 << 20  # packed at a time


def content_hashes(terms: pl.Series) -> Hashes:
    """Return ``term_hashes`` of a column of terms."""
    from medsim.kernels.packing import term_hashes  # noqa: PLC0415 — imports Numba

    parts = [np.empty(0, np.uint64)]
    for first in range(0, len(terms), _HASHED_TERMS):
        exact = pack(terms.slice(first, _HASHED_TERMS))
        parts.append(term_hashes(exact.codes, exact.starts))
    return np.concatenate(parts)


_TRIGRAM, _CODE_BITS = 3, 21  # bits of a code point


def trigrams_of(texts: pl.Series) -> tuple[Hashes, Starts]:
    """Return the character trigrams of texts of at least two characters, as numbers.

    Those of text ``i`` are ``trigrams[starts[i]:starts[i + 1]]``, in order of the text.
    """
    packed = pack(texts)
    codes = packed.codes.astype(np.uint64)
    begins = np.ones(len(codes), np.bool_)  # whether a trigram begins at each character
    for last in range(1, _TRIGRAM):
        begins[packed.starts[1:] - last] = False
    trigrams = np.zeros(len(codes), np.uint64)
    for place in range(_TRIGRAM):
        trigrams = (trigrams << np.uint64(_CODE_BITS)) | np.roll(codes, -place)
    starts = packed.starts - (_TRIGRAM - 1) * np.arange(len(packed.starts))
    return trigrams[begins], starts


def is_multi_word(term: pl.Expr) -> pl.Expr:
    """Return booleans: whether each term has more than one word, that is, inner white space."""
    return term.str.contains(r"\S\s+\S")


def numbers_of(names: pl.Series, distinct: pl.Series) -> pl.Series:
    """Return the rows of names among distinct names, null for other names: int32[n_names]."""
    rows = pl.DataFrame({"name": distinct, "row": np.arange(len(distinct), dtype=np.int32)})
    numbered = pl.DataFrame({"name": names})
    return numbered.join(rows, on="name", how="left", maintain_order="left")["row"]
