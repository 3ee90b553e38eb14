"""Lower-cases terms, the one place where that happens, and packs them into arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.kernels.packing import starts_of, taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Codes, Rows, Starts

TERM_SCHEMA = {"term_id": pl.Int32, "term": pl.String, "lower_term": pl.String, "node_id": pl.Int32}


def lowered(terms: Sequence[str]) -> list[str]:
    """Return each term in lower case, by Unicode's full rules as Python applies them."""
    return [term.lower() for term in terms]


def numbered(spellings: pl.Series) -> pl.DataFrame:
    """Return the term table of distinct spellings.

    Returns:
        A row per term in order of code points: ``term_id`` counts the rows, so that ids compare
        as their texts do; ``node_id`` counts the distinct lower-cased terms in their order, so
        that two terms are equal ignoring case exactly if their nodes are equal.
    """
    terms = spellings.sort()
    lower = pl.Series("lower_term", lowered(terms.to_list()), dtype=pl.String)
    node = lower.rank("dense").cast(pl.Int32) - 1
    ids = pl.int_range(terms.len(), dtype=pl.Int32, eager=True)
    columns = {"term_id": ids, "term": terms, "lower_term": lower, "node_id": node}
    return pl.DataFrame(columns, schema=TERM_SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedTerms:
    """Terms as one flat array of code points.

    Attributes:
        codes: uint32[n_code_points], the code points of all terms, one term after the other.
        starts: int64[n_terms + 1]; term ``i`` is ``codes[starts[i]:starts[i + 1]]``.
    """

    codes: Codes
    starts: Starts

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, rows: Rows) -> PackedTerms:
        """Return the terms at ``rows``, int[n_rows], in that order."""
        codes, starts = taken(self.codes, self.starts, rows)
        return PackedTerms(codes=codes, starts=starts)


def pack(terms: Sequence[str]) -> PackedTerms:
    """Return the terms as arrays; a lone surrogate keeps its code point."""
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    text = "".join(terms).encode("utf-32-le", "surrogatepass")
    return PackedTerms(codes=np.frombuffer(text, np.uint32), starts=starts_of(lengths))


def unpack(packed: PackedTerms) -> list[str]:
    """Return the terms of packed arrays."""
    text = packed.codes.tobytes().decode("utf-32-le", "surrogatepass")
    return [text[begin:end] for begin, end in pairwise(packed.starts.tolist())]


def is_multi_word(term: pl.Expr) -> pl.Expr:
    """Return whether terms have more than one word, which is white space inside: booleans."""
    return term.str.contains(r"\S\s+\S")
