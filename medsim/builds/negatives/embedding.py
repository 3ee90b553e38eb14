"""Embedding negatives: the second term is the allowed one with the highest cosine."""

from __future__ import annotations

from typing import Any

import numpy as np

from medsim.builds.negatives import SAMPLERS, NegativeSampler, PositiveSet, Sampling, TermIndex
from medsim.builds.negatives.candidates import (
    TERMINOLOGY,
    CandidateSource,
    PoolSearch,
    among,
    pool_of,
    served_negatives,
)


def embedding_negatives(index: TermIndex, sampling: Sampling) -> NegativeSampler:
    """Return a sampler of the nearest terms by cosine, computed in single precision.

    It is the strategy "minimal Levenshtein distance" of Schulz and Juric 2020, section 3.2, with
    the cosine of an embedding instead of the distance, so it finds terms that the embedding
    confuses. A term without a vector is not a candidate, and gets no negatives as a first term. See
    ``medsim.builds.negatives.SamplerFactory``.
    """
    embedding: Any = index.embedding  # a build with this strategy has one
    shared: list[CandidateSource] = []

    def source_of(positives: PositiveSet) -> CandidateSource:
        name, pool_ids = pool_of(index, positives)
        if name == TERMINOLOGY and shared:
            return shared[0]
        others = np.setdiff1d(positives.term1_ids, pool_ids)  # first terms in another language
        term_ids, other_ids = (ids[embedding.rows[ids] >= 0] for ids in (pool_ids, others))
        points = np.concatenate([term_ids, other_ids])

        def prepare() -> PoolSearch:
            from medsim.embeddings.lookup import CosineSearch  # noqa: PLC0415 — imports FAISS

            rows, only_first = embedding.rows[points], ~index.components[other_ids]
            same = not len(other_ids) and len(rows) == len(embedding.vectors)  # then in this order
            search = CosineSearch(
                embedding.vectors if same else embedding.vectors[rows],
                np.concatenate([index.components[term_ids], only_first]),
                index.hashes[points],
                seed=sampling.seed,
                threads=sampling.threads,
            )
            return among(points, search.nearest)

        source = CandidateSource(name, term_ids, np.sort(points), prepare)
        if name == TERMINOLOGY:
            shared.append(source)
        return source

    return served_negatives(source_of)


SAMPLERS.register("embedding", embedding_negatives)
