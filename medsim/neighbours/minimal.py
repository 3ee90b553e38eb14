"""Finds the pairs of names that one changed word tells apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.neighbours.difference import DifferenceClassifier, blanks_of, words_in
from medsim.neighbours.search import pairs_within

if TYPE_CHECKING:
    from medsim.kernels.types import Ids

MINIMAL_KINDS = ("side", "negation", "opposite", "number", "roman", "code", "letter")
"""The kinds of differences that one word makes; see ``DifferenceClassifier``."""

_ROWS = ["row1", "row2"]


def minimal_pairs(lower: pl.Series, components: Ids, threads: int) -> pl.DataFrame:
    """Return all pairs of unlinked names that differ in one word, by one of ``MINIMAL_KINDS``.

    A word is exchanged for another, is left out, or has another letter in one place.

    Args:
        lower: distinct names in lower case.
        components: int32[n_names]; pairs within a component are left out.
        threads: number of threads; results do not depend on it.

    Returns:
        row1 and row2, rows of names, the smaller first; difference, the kind. In order of the rows.
    """
    schema = {"row": pl.Int32, "key": pl.String, "is_short": pl.Boolean}
    keyed = pl.DataFrame(_keys(lower), schema, orient="row").unique()
    keyed = keyed.filter(pl.col("key").is_duplicated())
    both = keyed.join(keyed, on="key", suffix="2").filter(~pl.all_horizontal("^is_short.*$"))
    exchanged = both.select(row1="row", row2="row2")
    near = pl.DataFrame(pairs_within(lower, 1, threads=threads)[:2].T, exchanged.schema)
    pairs = pl.concat([exchanged, near]).unique().filter(pl.col("row1") < pl.col("row2"))
    is_linked = np.equal(*(components[pairs[row].to_numpy()] for row in _ROWS))
    pairs = pairs.filter(~pl.Series(is_linked)).sort(_ROWS)
    between = DifferenceClassifier(lower).between
    texts = (lower.gather(pairs[row]).to_list() for row in _ROWS)
    kinds = [between(*pair).kind for pair in zip(*texts, strict=True)]
    return pairs.with_columns(difference=pl.Series(kinds, dtype=pl.String)).filter(
        pl.col("difference").is_in(MINIMAL_KINDS)
    )


def _keys(lower: pl.Series) -> Iterator[tuple[int, str, bool]]:
    """Yield the row of each name with its words, and with a blank for each word.

    Two names that differ in one word share a text, which is not that of both without a word. The
    last value says whether a word is left out. Blanks of only one word match nothing else.
    """
    words = [words_in(name) for name in lower]
    blanks = {word: blanks_of(word) for word in {word for of_name in words for word in of_name}}
    n_words = Counter(blank for of_word in blanks.values() for blank in of_word)
    for row, of_name in enumerate(words):
        yield row, " ".join(of_name), False
        for at, word in enumerate(of_name):
            for blank in blanks[word]:
                if not blank or n_words[blank] > 1:
                    words_left = filter(None, (*of_name[:at], blank, *of_name[at + 1 :]))
                    yield row, " ".join(words_left), not blank
