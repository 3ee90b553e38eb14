"""Similarities of all pairs of the inputs under an embedding, every metric a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.embeddings.metrics import WordBags
from medsim.evaluations.output import coverage_path, scores_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.embeddings.metrics import Metric, Workers
    from medsim.evaluations.inputs import EvaluationInput
    from medsim.evaluations.output import EvaluationFiles
    from medsim.kernels.types import Ids

T = TypeVar("T", bound=np.ndarray[Any, Any])


def write_similarities(
    one: EvaluationInput,
    name: str,
    has: EmbeddedTerms,
    metrics: Mapping[str, Metric],
    files: EvaluationFiles,
    workers: Workers,
) -> None:
    """Write the similarities of an input's pairs, and which of its terms and words are covered.

    A file of a metric has a row per pair in order of pair_id; a pair with a term that is not
    covered has no similarity. What an interrupted run wrote is left as it is.
    """
    pairs = one.pairs
    first, second = (rows_of(has, pairs[side]) for side in ("term1", "term2"))
    _write_coverage(one.name, name, has, np.union1d(first, second), files)
    covered = has.covered[first] & has.covered[second]
    left, right = first[covered], second[covered]
    for metric, compares in metrics.items():
        path, own = (
            scores_path(one.name, name, metric),
            workers.costing(compares.cost(has.n_dimensions)),
        )
        if files.exist(path):
            own.advance(len(pairs))
            continue
        found = np.full(len(pairs), np.nan, np.float32)
        found[covered] = finite(compares.similarities(has.embedded, left, right, own), metric)
        own.advance(len(pairs) - len(left))
        similarity = pl.Series("similarity", found).fill_nan(None)
        files.write(path, pl.DataFrame([pairs["pair_id"], similarity]))


def rows_of(has: EmbeddedTerms, terms: pl.Series) -> Ids:
    """Return which of an embedding's terms these are: int32[n_terms]."""
    rows = has.terms.select("term").with_row_index("row")
    wanted = terms.alias("term").to_frame()
    found = wanted.join(rows, on="term", how="left", maintain_order="left")["row"]
    return found.to_numpy().astype(np.int32)


def finite(similarities: T, metric: str) -> T:
    """Return similarities as they are; InputError is raised if one is no finite number."""
    if not np.isfinite(similarities).all():
        raise InputError(
            f"under {metric} a similarity is no finite number: the vectors' values are too large"
        )
    return similarities


def _write_coverage(
    one: str, name: str, has: EmbeddedTerms, rows: Ids, files: EvaluationFiles
) -> None:
    """Write which terms of an input are covered, and which words of theirs are known."""
    terms_path, words_path = (coverage_path(one, name, of) for of in ("terms", "words"))
    if files.exist(terms_path, words_path):
        return
    files.write(terms_path, has.terms[rows])
    words = pl.Series("word", [], pl.String)
    if isinstance(has.embedded, WordBags) and has.words is not None:
        bags = has.embedded
        used = [bags.words[bags.starts[row] : bags.starts[row + 1]] for row in rows]
        words = has.words[np.unique(np.concatenate([*used, np.empty(0, np.int32)]))]
    files.write(words_path, words.sort().to_frame())
