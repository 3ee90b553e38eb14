"""Checks of embedding negatives against the vectors of their terms, by NumPy alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from medsim.builds.datasets import set_keys
from medsim.core.checks import Finding
from medsim.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.builds.negatives import Embedding
    from medsim.builds.recomputed_checks import Recomputed, Sample
    from medsim.core.progress import Stage
    from medsim.kernels.types import Flags, Ids, Table, Values, Vectors

_SIDES = ("term1_id", "term2_id")
_ROUNDING = 1e-6  # of a cosine in single precision, and of vectors that an encoder makes again
_TERMS_AT_ONCE = 1 << 15
_FIRSTS_AT_ONCE = 16  # so that their cosines with all terms fit in memory


def check_similarities(recomputed: Recomputed) -> Finding:
    """Return whether stored similarities are the cosines of the terms' vectors."""
    embedding, wrong = _embedding(recomputed), []
    for key in set_keys("embedding"):
        pairs = recomputed.pairs[key].drop_nulls(_SIDES)
        expected = _cosines(embedding, *(pairs[side].to_numpy() for side in _SIDES))
        found = pairs["similarity"].fill_null(np.nan).to_numpy()
        agree = np.isclose(found, expected, rtol=0, atol=_ROUNDING, equal_nan=True)
        wrong += [str(key)] * int(np.count_nonzero(~agree))
    return Finding("similarities", "Similarities are cosines of the vectors.", wrong)


def check_most_similar(recomputed: Recomputed, sample: Sample, stage: Stage) -> Finding:
    """Return whether sampled first terms have their most similar allowed terms.

    Each is compared with every term that has a vector, in double precision. Candidates whose
    cosines differ by no more than rounding may stand for each other.
    """
    embedding, index = _embedding(recomputed), recomputed.derived.index
    wrong, n_compared, n_first_terms = [], 0, 0
    for every in recomputed.sets("embedding", sample, stage):
        missing = (embedding.rows[every.negatives] < 0).any(axis=0)
        wrong += [str(every.key)] * int(np.count_nonzero(missing))
        one = replace(every, pool=every.pool[embedding.rows[every.pool] >= 0])
        embedded = np.unique(one.positives[0])
        embedded = embedded[embedding.rows[embedded] >= 0]
        firsts = one.sampled(embedded, index.hashes, sample)
        n_compared, n_first_terms = n_compared + len(firsts), n_first_terms + len(embedded)
        for first, cosines in _compared_with_all(embedding, firsts, one.pool):
            chosen = np.isin(one.pool, one.chosen(first))
            allowed, n_wanted = ~one.refused(first, index), one.n_wanted(first)
            if not _are_most_similar(chosen, cosines, allowed, n_wanted):
                wrong.append(str(one.key))
            stage.advance()
    compared = sample.text(n_compared, n_first_terms)
    stage.found(compared)
    return Finding(
        "most_similar",
        f"{compared} have the most similar terms that brute force finds.",
        wrong,
        n_compared=n_compared,
        n_first_terms=n_first_terms,
    )


def _embedding(recomputed: Recomputed) -> Embedding:
    """Return the vectors of the terms."""
    if recomputed.derived.index.embedding is None:
        raise InputError(f"{recomputed.build.folder}: its embedding negatives need their embedding")
    return recomputed.derived.index.embedding


def _compared_with_all(
    embedding: Embedding, firsts: Ids, pool: Ids
) -> Iterator[tuple[int, Values]]:
    """Yield first terms and their cosines with all terms of a pool: float64[n_pool]."""
    rows = embedding.rows[pool]
    for begin in range(0, len(firsts), _FIRSTS_AT_ONCE):
        batch = firsts[begin : begin + _FIRSTS_AT_ONCE]
        queries = _units(embedding.vectors[embedding.rows[batch]])
        cosines = np.zeros((len(batch), len(pool)))
        for at in range(0, len(pool), _TERMS_AT_ONCE):
            block = slice(at, at + _TERMS_AT_ONCE)
            cosines[:, block] = queries @ _units(embedding.vectors[rows[block]]).T
        yield from zip(batch.tolist(), cosines, strict=True)


def _are_most_similar(chosen: Flags, cosines: Values, allowed: Flags, n_wanted: int) -> bool:
    """Return whether as many terms are chosen as are due, all allowed, and none left is nearer.

    The arrays, [n_pool], are of one first term.
    """
    n_due = min(n_wanted, int(np.count_nonzero(allowed)))
    if np.count_nonzero(chosen) != n_due or (chosen & ~allowed).any():
        return False
    left = allowed & ~chosen
    if n_due == 0 or not left.any():
        return True
    return bool(cosines[left].max() <= cosines[chosen].min() + _ROUNDING)


def _cosines(embedding: Embedding, left_ids: Ids, right_ids: Ids) -> Values:
    """Return the cosine of each pair: float64[n_pairs], NaN where one has no vector."""
    left, right = embedding.rows[left_ids], embedding.rows[right_ids]
    known = np.flatnonzero((left >= 0) & (right >= 0))
    cosines = np.full(len(left), np.nan)
    for begin in range(0, len(known), _TERMS_AT_ONCE):
        pairs = known[begin : begin + _TERMS_AT_ONCE]
        first, second = (_units(embedding.vectors[rows[pairs]]) for rows in (left, right))
        cosines[pairs] = (first * second).sum(axis=1)
    return cosines


def _units(vectors: Vectors) -> Table:
    wide = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    scaled: Table = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return scaled
