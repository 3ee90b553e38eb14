"""Embedding negatives: the second term is the allowed one with the highest cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.builds.negatives import STRATEGIES
from medsim.builds.negatives.candidates import TERMINOLOGY, CandidateSource, served_negatives
from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from medsim.builds.negatives import NegativeSampler, Sampling, TermIndex
    from medsim.embeddings.lookup import CosineSearch
    from medsim.kernels.types import Ids


def embedding_negatives(index: TermIndex, sampling: Sampling) -> NegativeSampler:
    """Return a sampler of the nearest terms by cosine, computed in single precision.

    It is the strategy "minimal Levenshtein distance" of Schulz and Juric 2020, section 3.2, with
    the cosine of an embedding instead of the distance, so it finds terms that the embedding
    confuses. A term without a vector is not a candidate, and gets no negatives as a first term. See
    ``medsim.builds.negatives.Strategy``.
    """
    embedding = index.embedding
    if embedding is None:
        raise OptionError("embedding negatives need an embedding of the terms")

    shared: list[CandidateSource] = []

    def source_of(name: str, pool_ids: Ids) -> CandidateSource:
        if shared:
            return shared[0]
        term_ids = pool_ids[embedding.rows[pool_ids] >= 0]

        def prepare() -> CosineSearch:
            from medsim.embeddings.lookup import CosineSearch  # noqa: PLC0415 — imports FAISS

            rows = embedding.rows[term_ids]
            every = len(rows) == len(embedding.vectors)  # then in the same order, without a copy
            return CosineSearch(
                embedding.vectors if every else embedding.vectors[rows],
                index.components[term_ids],
                index.hashes[term_ids],
                seed=sampling.seed,
                threads=sampling.threads,
            )

        source = CandidateSource(name, term_ids, prepare)
        if name == TERMINOLOGY:
            shared.append(source)
        return source

    return served_negatives(index, source_of)


STRATEGIES.register("embedding", embedding_negatives)
