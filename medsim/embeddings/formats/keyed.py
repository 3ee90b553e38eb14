"""Takes the wanted rows of an embedding that has a list of words or terms beside its vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import InputError
from medsim.core.terms import lowered
from medsim.embeddings import TERMS, WORDS, TermVectors, WordVectors
from medsim.embeddings.formats.found import first_not_finite
from medsim.embeddings.options import TOKEN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from pathlib import Path

    from medsim.embeddings import Request
    from medsim.kernels.types import Rows, Vectors

FITTING: dict[str, tuple[str, ...]] = {WORDS: ("keys", *TOKEN_OPTIONS), TERMS: ("keys", "case")}
"""The options that fit rows of words and rows of terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The words or terms that name the rows of an embedding.

    Attributes:
        path: of the file that has them.
        values: one a row.
        kind: what they are, "words" or "terms".
    """

    path: Path
    values: Sequence[str]
    kind: str


def keyed(
    keys: Keys, request: Request, take: Callable[[Rows], Vectors]
) -> WordVectors | TermVectors:
    """Return the vectors of the wanted words, or of the terms.

    A term has the row that bears its text; else, with ``case=fallback``, the first row that bears
    it in another case. With ``case=lower`` case never counts, with ``case=keep`` always.

    Args:
        keys: of the rows.
        request: what is wanted.
        take: returns float32[n_rows, n_dimensions] for increasing rows, int64[n_rows].

    Raises:
        InputError: a key that is looked up comes twice, or its vector is not finite.
    """
    if keys.kind == TERMS:
        return _terms(keys, request, take)
    rows = _rows(keys, frozenset(request.words))
    return WordVectors(
        words=list(rows),
        vectors=_taken(keys, np.array(list(rows.values()), np.int64), take),
        in_vocabulary=np.ones(len(rows), np.bool_),
        n_vocabulary=len(keys.values),
    )


def _terms(keys: Keys, request: Request, take: Callable[[Rows], Vectors]) -> TermVectors:
    terms, case = request.terms, request.options.case
    exact = {} if case == "lower" else _rows(keys, frozenset(terms))
    row_of = np.array([exact.get(term, -1) for term in terms], np.int64)
    if case != "keep":
        lower = lowered(terms)
        wanted = frozenset(text for text, row in zip(lower, row_of, strict=True) if row < 0)
        folded: dict[str, int] = {}
        for row, key in enumerate(lowered(keys.values)):
            if key in wanted:
                folded.setdefault(key, row)
        rest = np.array([folded.get(text, -1) for text in lower], np.int64)
        row_of = np.where(row_of < 0, rest, row_of)
    covered = row_of >= 0
    rows, places = np.unique(row_of[covered], return_inverse=True)
    taken = _taken(keys, rows, take)
    vectors = np.zeros((len(terms), taken.shape[1]), np.float32)
    vectors[covered] = taken[places]
    return TermVectors(vectors=vectors, covered=covered, n_vocabulary=len(keys.values))


def _rows(keys: Keys, wanted: Container[str]) -> dict[str, int]:
    """Return the row of each key that is wanted, in order of row."""
    rows: dict[str, int] = {}
    for row, key in enumerate(keys.values):
        if key in wanted:
            if key in rows:
                raise InputError(
                    f"{keys.path}: {key!r} stands in row {rows[key] + 1:,} and again in row "
                    f"{row + 1:,}"
                )
            rows[key] = row
    return rows


def _taken(keys: Keys, rows: Rows, take: Callable[[Rows], Vectors]) -> Vectors:
    """Return the vectors of rows, all of them finite."""
    vectors = take(rows)
    if (at := first_not_finite(vectors)) is not None:
        raise InputError(
            f"{keys.path}: the vector of {keys.values[rows[at]]!r}, row {rows[at] + 1:,}, has a "
            "value that is not finite as float32"
        )
    return vectors
