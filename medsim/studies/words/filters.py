"""Filters of words that people cannot rate."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.manifest import Skipped

if TYPE_CHECKING:
    from collections.abc import Callable

_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|omicron|pi|rho|sigma|"
    "tau|upsilon|phi|chi|psi|omega"
)
_AUXILIARY = re.compile(
    "be|am|is|are|was|were|been|being|have|has|had|having|do|does|did|done|doing|"
    "can|could|may|might|must|shall|should|will|would|ought"
)


def has_white_space(word: str) -> bool:
    """Return whether a text is several words."""
    return any(letter.isspace() for letter in word)


def is_greek(word: str) -> bool:
    """Return whether a word has a Greek letter, or is the name of one, such as alpha."""
    names = (unicodedata.name(letter, "") for letter in unicodedata.normalize("NFKC", word))
    return bool(_GREEK.fullmatch(word)) or any("GREEK" in name for name in names)


def filtered(
    words: pl.DataFrame, *, min_length: int, min_count: int
) -> tuple[pl.DataFrame, tuple[Skipped, ...]]:
    """Return the words that remain, and how many were left out by each filter.

    A word counts for the first filter that leaves it out; a digit is any character that is a
    number, and auxiliaries are the forms of be, have and do.
    """
    filters: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("not a single word", has_white_space),
        ("a symbol, or a hyphen", lambda word: not word.isalnum()),
        ("a digit", lambda word: not word.isalpha()),
        ("a Greek letter or its name", is_greek),
        ("an auxiliary or modal verb", lambda word: bool(_AUXILIARY.fullmatch(word))),
        (f"fewer than {min_length} letters", lambda word: len(word) < min_length),
    )
    left_out = []
    for reason, rejects in filters:
        rejected = pl.Series([rejects(word) for word in words["word"].to_list()], dtype=pl.Boolean)
        left_out.append(Skipped(reason=reason, n_rows=int(rejected.sum())))
        words = words.filter(~rejected)
    kept = words.filter(pl.col("count") >= min_count)
    n_rare = words.height - kept.height
    return kept, (*left_out, Skipped(reason=f"a count below {min_count}", n_rows=n_rare))
