"""Terms as an embedding has them: which embedding is meant, and its vectors of the terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.core.errors import counted
from medsim.core.kinds import TERM_COLUMNS
from medsim.embeddings import Request, TermVectors, WordVectors
from medsim.embeddings.metrics import TermPoints, WordBags
from medsim.embeddings.objects import KnownVectors, ModelSource
from medsim.embeddings.sources import names_no_revision, open_source
from medsim.embeddings.tokens import forms, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from medsim.core.progress import Progress
    from medsim.embeddings import VectorSource
    from medsim.embeddings.metrics import Embedded
    from medsim.embeddings.options import EmbeddingOptions, EmbeddingSpec
    from medsim.kernels.types import Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEmbedding:
    """An embedding that is to be evaluated, with the fingerprint of its source.

    The fingerprint is empty where only vectors that were made tell; see ``settled``.
    """

    spec: EmbeddingSpec
    source: VectorSource
    fingerprint: str

    def provenance(self) -> dict[str, Any]:
        """Return the place, format, fingerprint and options of the embedding, for manifests.

        What is neither file nor address has an identity as well: by what it is known. A vocabulary
        is part of the content.
        """
        identity, vocabulary = self.source.identity, self.spec.options.vocabulary
        return {
            "path": self.source.location,
            "format": self.source.format_name,
            "fingerprint": self.fingerprint,
            "options": self.spec.options.deciding(),
            **({} if identity is None else {"identity": identity}),
            **({} if vocabulary is None else {"vocabulary": str(vocabulary)}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedTerms:
    """Terms as an embedding has them.

    Attributes:
        embedded: the vectors that metrics compare.
        covered: whether each term has a vector.
        terms: ``TERM_COLUMNS``; words are not counted where an embedding takes terms as a whole.
        words: the word of each row of word vectors; None where it takes terms as a whole.
        n_dimensions: of its vectors.
        n_vocabulary: how many words or terms it has in all; None where it can embed any.
        vocabulary: all its words, distinct, in order of code points; None where it takes terms as a
            whole.
    """

    embedded: Embedded
    covered: Flags
    terms: pl.DataFrame
    words: pl.Series | None
    n_dimensions: int
    n_vocabulary: int | None
    vocabulary: pl.Series | None = None


def identify(spec: EmbeddingSpec, progress: Progress) -> NamedEmbedding:
    """Return an embedding with its source and the fingerprint of that."""
    with progress.stage(f"identify {spec.name}") as stage:
        source = open_source(spec)
        if names_no_revision(spec.place):
            progress.warn(
                f"{spec.name}: {spec.place} names no revision, and {source.location} is read; name "
                "it so, and every run reads the same model"
            )
        digest = source.fingerprint()
        stage.found(f"{source.describes}, {digest[:12] or 'known by the vectors that it makes'}")
    return NamedEmbedding(spec=spec, source=source, fingerprint=digest)


def settled(
    named: NamedEmbedding, terms: Sequence[str], progress: Progress, *, threads: int
) -> NamedEmbedding:
    """Return an embedding with its fingerprint.

    A function or a model without a version is known by the vectors that it makes of the terms
    that are used; it makes them here, once, and they are kept in memory.

    Args:
        named: an embedding.
        terms: all that are used, distinct, in order of code points.
        progress: told of it.
        threads: how many may compute.
    """
    model = named.source
    if named.fingerprint or not isinstance(model, ModelSource):
        return named
    options = named.spec.options
    with progress.stage(f"embed {len(terms):,} terms by {named.spec.name}") as stage:
        request = Request(
            terms=terms, words=(), options=options, threads=threads, cache=None, stage=stage
        )
        source = KnownVectors(
            location=model.location,
            format_name=model.format_name,
            describes=model.describes,
            gives=model.gives,
            identity=model.identity,
            terms=terms,
            made=model.read(request),
        )
        digest = source.fingerprint()
        stage.found(f"{digest[:12]}, whose vectors are not kept, as it has no version")
    return replace(named, source=source, fingerprint=digest)


def embed_terms(
    named: NamedEmbedding,
    terms: Sequence[str],
    progress: Progress,
    *,
    threads: int,
    cache: Path | None,
    coverage: str = "any",
) -> EmbeddedTerms:
    """Return terms as an embedding has them.

    Where its options do not say which terms count as covered, ``coverage`` does.
    """
    spec, options = named.spec, named.spec.options
    with progress.stage(f"embed {len(terms):,} terms by {spec.name}") as stage:
        words = forms(terms, options)
        request = Request(
            terms=terms, words=words, options=options, threads=threads, cache=cache, stage=stage
        )
        embedded = _embedded(terms, read_vectors(named, request, progress), options, coverage)
        n_covered = int(np.count_nonzero(embedded.covered))
        stage.found(f"{n_covered:,} covered, {embedded.n_dimensions} dimensions")
    return embedded


def read_vectors(
    named: NamedEmbedding, request: Request, progress: Progress
) -> WordVectors | TermVectors:
    """Return the vectors for a request; a zero vector counts as none, and is counted in a warning.

    It has no direction, so it has no cosine with another. That Jaccard indices are defined does not
    matter: under all metrics the same pairs are compared, whatever the source of the vectors.
    """
    found = named.source.read(request)
    is_zero = ~np.asarray(found.vectors.any(axis=1))
    if isinstance(found, TermVectors):
        is_zero &= found.covered
    if not is_zero.any():
        return found
    name, kind = named.spec.name, "word" if isinstance(found, WordVectors) else "term"
    progress.warn(
        f"{name} has {counted(int(np.count_nonzero(is_zero)), kind)} with a zero vector, which has "
        f"no direction; such {kind}s count as out of vocabulary"
    )
    if isinstance(found, TermVectors):
        return replace(found, covered=found.covered & ~is_zero)
    return replace(
        found,
        words=[word for word, zero in zip(found.words, is_zero, strict=True) if not zero],
        vectors=found.vectors[~is_zero],
        in_vocabulary=found.in_vocabulary[~is_zero],
    )


def _embedded(
    terms: Sequence[str],
    found: WordVectors | TermVectors,
    options: EmbeddingOptions,
    coverage: str,
) -> EmbeddedTerms:
    embedded: Embedded = TermPoints(vectors=found.vectors)
    words, n_words, n_unknown, vocabulary = None, None, None, None
    if isinstance(found, WordVectors):
        bags = words_of(terms, found, options, coverage)
        embedded = WordBags(vectors=found.vectors, words=bags.word_ids, starts=bags.starts)
        words = pl.Series("word", found.words, pl.String)
        vocabulary = _vocabulary(found)
        covered, n_words, n_unknown = bags.covered, bags.n_words, bags.n_unknown
    else:
        covered = found.covered
    columns = {"term": terms, "covered": covered, "n_words": n_words, "n_unknown_words": n_unknown}
    return EmbeddedTerms(
        embedded=embedded,
        covered=covered,
        terms=pl.DataFrame(columns, schema=TERM_COLUMNS),
        words=words,
        n_dimensions=found.vectors.shape[1],
        n_vocabulary=found.n_vocabulary,
        vocabulary=vocabulary,
    )


def _vocabulary(found: WordVectors) -> pl.Series:
    """Return all words of an embedding; bytes that are no UTF-8 are written as escapes."""
    text = pl.Series("word", [found.vocabulary.decode("utf-8", "backslashreplace")])
    words = text.str.split("\n").explode().unique().sort()
    return words.filter(words != "")
