"""Similarities of all pairs of the inputs under an embedding, every metric a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.embeddings.metrics import WordBags

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.core.output import OutputFolder
    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.embeddings.metrics import Metric
    from medsim.embeddings.metrics.workers import Workers
    from medsim.evaluations.inputs import EvaluationInput
    from medsim.kernels.types import Ids

T = TypeVar("T", bound=np.ndarray[Any, Any])


def pairs_path(name: str) -> str:
    """Return where the pairs of an input lie."""
    return f"pairs/input={name}/data.parquet"


def scores_path(name: str, embedding: str, metric: str) -> str:
    """Return where the similarities of an input's pairs lie."""
    return f"scores/input={name}/embedding={embedding}/metric={metric}/data.parquet"


def coverage_path(name: str, embedding: str, of: str) -> str:
    """Return where it lies which "terms" of an input, or which "words", an embedding has."""
    return f"coverage/input={name}/embedding={embedding}/{of}.parquet"


def write_similarities(
    one: EvaluationInput,
    name: str,
    has: EmbeddedTerms,
    metrics: Mapping[str, Metric],
    output: OutputFolder,
    metadata: Mapping[str, str],
    workers: Workers,
) -> None:
    """Write the similarities of an input's pairs, and which of its terms and words are covered.

    A file of a metric has a row per pair in order of pair_id; a pair with a term that is not
    covered has no similarity. What an interrupted run wrote is left as it is.

    Args:
        one: the input.
        name: of the embedding.
        has: the terms of this and other inputs as the embedding has them.
        metrics: by name; those that are for such embeddings.
        output: where files are written.
        metadata: of the files.
        workers: share out the work, and are told how many pairs are done.
    """
    pairs = one.pairs()
    numbers = has.terms.select("term").with_row_index("row")
    first, second = (
        pairs.select(pl.col(side).alias("term"))
        .join(numbers, on="term", maintain_order="left")["row"]
        .to_numpy()
        .astype(np.int32)
        for side in ("term1", "term2")
    )
    _write_coverage(one.name, name, has, np.union1d(first, second), output, metadata)
    covered = has.covered[first] & has.covered[second]
    left, right = first[covered], second[covered]
    for metric, compares in metrics.items():
        path = scores_path(one.name, name, metric)
        if output.is_complete(path):
            workers.advance(len(pairs))
            continue
        found = np.full(len(pairs), np.nan, np.float32)
        found[covered] = finite(compares.similarities(has.embedded, left, right, workers), metric)
        workers.advance(len(pairs) - len(left))
        similarity = pl.Series("similarity", found).fill_nan(None)
        output.write(path, pl.DataFrame([pairs["pair_id"], similarity]), metadata)


def finite(similarities: T, metric: str) -> T:
    """Return similarities as they are, if all are numbers.

    Raises:
        InputError: one is none.
    """
    if not np.isfinite(similarities).all():
        raise InputError(
            f"under {metric} a similarity is no finite number: the vectors' values are too large"
        )
    return similarities


def _write_coverage(
    one: str,
    name: str,
    has: EmbeddedTerms,
    rows: Ids,
    output: OutputFolder,
    metadata: Mapping[str, str],
) -> None:
    """Write which terms of an input are covered, and which words of theirs are known."""
    if output.is_complete(coverage_path(one, name, "terms")) and output.is_complete(
        coverage_path(one, name, "words")
    ):
        return
    output.write(coverage_path(one, name, "terms"), has.terms[rows], metadata)
    words = pl.Series("word", [], pl.String)
    if isinstance(has.embedded, WordBags) and has.words is not None:
        bags = has.embedded
        used = [bags.words[bags.starts[row] : bags.starts[row + 1]] for row in rows]
        words = has.words[np.unique(np.concatenate([*used, np.empty(0, np.int32)]))]
    output.write(coverage_path(one, name, "words"), words.sort().to_frame(), metadata)
