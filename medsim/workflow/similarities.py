"""Similarities of all pairs of the inputs under an embedding, every metric a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from medsim.embeddings import Request, TermVectors, WordVectors, find_format, fingerprint
from medsim.embeddings.tokens import forms, words_of
from medsim.errors import InputError
from medsim.metrics import TermPoints, WordBags
from medsim.schema import TERM_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.embeddings import Format
    from medsim.embeddings.options import EmbeddingOptions, EmbeddingSpec
    from medsim.kernels.types import Flags, Ids
    from medsim.metrics import Embedded, Metric
    from medsim.metrics.workers import Workers
    from medsim.progress import Progress
    from medsim.workflow.inputs import EvaluationInput
    from medsim.workflow.output import OutputFolder

T = TypeVar("T", bound=np.ndarray[Any, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEmbedding:
    """An embedding that is to be evaluated.

    Attributes:
        spec: how the user names it.
        format_name: of its format.
        format: how it is read.
        fingerprint: of its files, see ``medsim.embeddings.fingerprint``.
    """

    spec: EmbeddingSpec
    format_name: str
    format: Format
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedTerms:
    """Terms as an embedding has them.

    Attributes:
        embedded: what metrics compare.
        covered: bool[n_terms].
        terms: a row per term: term, covered, n_words, n_unknown_words; the latter two are null
            where an embedding takes terms as a whole.
        words: what each row of word vectors is of; None where an embedding takes terms as a whole.
        n_dimensions: of its vectors.
        n_vocabulary: how many words or terms it has in all; None where it can embed any.
    """

    embedded: Embedded
    covered: Flags
    terms: pl.DataFrame
    words: pl.Series | None
    n_dimensions: int
    n_vocabulary: int | None


def pairs_path(name: str) -> str:
    """Return where the pairs of an input lie."""
    return f"pairs/input={name}/data.parquet"


def scores_path(name: str, embedding: str, metric: str) -> str:
    """Return where the similarities of an input's pairs lie."""
    return f"scores/input={name}/embedding={embedding}/metric={metric}/data.parquet"


def coverage_path(name: str, embedding: str, of: str) -> str:
    """Return where it lies which "terms" of an input, or which "words", an embedding has."""
    return f"coverage/input={name}/embedding={embedding}/{of}.parquet"


def identify(spec: EmbeddingSpec, progress: Progress) -> NamedEmbedding:
    """Return an embedding with its format and the fingerprint of its files.

    Raises:
        InputError: it is missing, or in no known format.
    """
    with progress.stage(f"identify {spec.name}") as stage:
        name, found = find_format(spec.path, spec.options)
        digest = fingerprint(spec.path, found, spec.options)
        stage.found(f"{found.describes}, {digest[:12]}")
    return NamedEmbedding(spec=spec, format_name=name, format=found, fingerprint=digest)


def embed_terms(
    named: NamedEmbedding,
    terms: Sequence[str],
    progress: Progress,
    *,
    threads: int,
    cache: Path | None,
) -> EmbeddedTerms:
    """Return terms as an embedding has them.

    Args:
        named: the embedding.
        terms: distinct, in order of code points.
        progress: told of the stage.
        threads: how many may compute.
        cache: the folder that keeps what encoders made.
    """
    spec = named.spec
    with progress.stage(f"embed {len(terms):,} terms by {spec.name}") as stage:
        request = Request(
            terms=terms,
            words=forms(terms, spec.options),
            options=spec.options,
            threads=threads,
            cache=cache,
            stage=stage,
        )
        found = named.format.load(spec.path, request)
        if isinstance(found, WordVectors):
            embedded = _as_bags(terms, found, spec.options)
        else:
            embedded = _as_points(terms, found)
        n_covered = int(np.count_nonzero(embedded.covered))
        stage.found(f"{n_covered:,} covered, {embedded.n_dimensions} dimensions")
    return embedded


def _as_bags(terms: Sequence[str], found: WordVectors, options: EmbeddingOptions) -> EmbeddedTerms:
    bags = words_of(terms, found, options)
    counts = {"n_words": bags.n_words, "n_unknown_words": bags.n_unknown}
    return EmbeddedTerms(
        embedded=WordBags(vectors=found.vectors, words=bags.word_ids, starts=bags.starts),
        covered=bags.covered,
        terms=pl.DataFrame({"term": terms, "covered": bags.covered, **counts}, schema=TERM_COLUMNS),
        words=pl.Series("word", found.words, pl.String),
        n_dimensions=found.vectors.shape[1],
        n_vocabulary=found.n_vocabulary,
    )


def _as_points(terms: Sequence[str], found: TermVectors) -> EmbeddedTerms:
    counts = {"n_words": [None] * len(terms), "n_unknown_words": [None] * len(terms)}
    return EmbeddedTerms(
        embedded=TermPoints(vectors=found.vectors),
        covered=found.covered,
        terms=pl.DataFrame(
            {"term": terms, "covered": found.covered, **counts}, schema=TERM_COLUMNS
        ),
        words=None,
        n_dimensions=found.vectors.shape[1],
        n_vocabulary=found.n_vocabulary,
    )


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
        if output.done(path):
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
    if output.done(coverage_path(one, name, "terms")) and output.done(
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
